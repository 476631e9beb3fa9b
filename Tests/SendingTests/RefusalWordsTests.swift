import Base
import Campaigns
import Delivery
import Glibc
import Reports
import Runs
import Testing
import Workspace

@testable import Sending

/// What the gate says to people that have only the console. Its remedies at the terminal name
/// commands, which they do not have.
@Suite("refusals of the gate in the console")
struct RefusalWordsTests {
    private static let first = "20261101-090000-c-0001", second = "20261101-090000-c-0002",
        third = "20261101-090000-c-0003"

    private static func retry(of run: RunFile) -> RunSettings {
        var settings = RunSettings(environment: .sandbox, topic: "t", pushType: .alert, renderingRules: 5)
        settings.retriedOutcomes = [.failed]
        return settings
    }

    /// Every refusal in every form that it has, by its reason.
    private static func all(_ folder: PlannedFolder) throws -> [(why: SendGate.Refusal, text: Diagnostic)] {
        let plan = try folder.plan(first), other = try folder.plan(second), paused = try folder.plan(third)
        try folder.send(other, to: 3)
        try folder.begin(paused)
        try paused.append(.state(.paused, at: .now()))
        let settings = folder.settings, retry = retry(of: plan)
        let others = try #require(try SupersedingRuns(of: plan, settings))
        let states: [RunState] = [.planned, .running, .paused, .stopped, .finished, .cancelled]
        let steps: [SendGate.Step] = [.begin, .goOn, .retry]
        var texts: [(SendGate.Refusal, Diagnostic)] = [
            (.isOutdated, LedgerGap.isOutdated(plan, moment: .now())),
            (.hasBegun, RefusalText.hasBegun(plan, moment: .now())),
            (.isRetried, try RefusalText.isRetried(plan, by: other, else: nil)),
            (.isRetried, try RefusalText.isRetried(plan, by: nil, else: third)),
            (.isRetried, try RefusalText.siblingHasSent(plan, retry, sibling: second)),
            (.isRetried, RefusalText.siblingIsUnreadable(plan, sibling: second, Diagnostic("it is damaged"))),
            (.parentWentOn, RefusalText.parentWentOn(plan, retry)), (.isTooLate, RefusalText.isTooLate(plan, settings)),
            (.runsBesideAnother, RefusalText.runsBesideAnother(plan, other)),
            (.runsBesideAnother, RefusalText.runsBesideAnother(plan, paused)),
            (.isSuperseded, try RefusalText.isSuperseded(plan, settings, others, isKept: true)),
            (.isSuperseded, try RefusalText.isSuperseded(plan, settings, others, isKept: false)),
            (.isSuperseded, RefusalText.isOvertaken(plan)),
        ]
        texts += steps.map { (.neverBegun, RefusalText.neverBegun(plan, settings, $0)) }
        texts += steps.map { (.needsApproval, RefusalText.needsApproval(plan, $0, ApprovalDemand(of: plan, settings))) }
        texts += steps.flatMap { step in states.map { (.hasOtherState, RefusalText.state(plan, $0, step)) } }
        for (why, run) in [(SendGate.Refusal.isChanged, other), (.settingsChanged, plan)] {
            var changed = Diagnostic("the topic was a and is b now")
            (changed.remedy, changed.remedies) = try RefusalText.remedyForChanges(run, settings)
            texts.append((why, changed))
        }
        do { try plan.checkPlace(home: folder.path + "/elsewhere") } catch {
            texts += Diagnostics(explaining: error).all.map { (.isMisplaced, $0) }
        }
        try texts.append((.isMisplaced, misplaced(plan, folder)))
        try other.lockForSending()
        let again = try RunFile(path: other.path)
        do { try again.lockForSending() } catch { texts += Diagnostics(explaining: error).all.map { (.isBusy, $0) } }
        try texts += timesTaken(folder).map { (.timeIsTaken, $0) }
        for run in [plan, other, paused, again] { run.close() }
        return texts
    }

    @Test(
        "a plan that begins while its withdrawal or rejection waits for it is not cancelled", arguments: [true, false])
    func begunMeanwhile(isWithdrawn: Bool) throws {
        let folder = try PlannedFolder(), run = try folder.plan(Self.first), sender = try RunFile(path: run.path)
        try sender.lockForSending()
        let thread = try WorkerThread("cancel") {
            do { return "\(try isWithdrawn ? withdraw(run) : reject(run, by: "Anna", reason: ""))" } catch {
                return "\(error)"
            }
        }
        usleep(100_000)
        try folder.send(sender, to: 3)
        sender.close()
        let words = thread.join()
        #expect(words.contains("only a plan can be \(isWithdrawn ? "withdrawn" : "rejected")"), "\(words)")
        #expect(try RunFile(path: run.path).status().state == .stopped)
    }

    @Test("the remedy for pausing a run that no command resumes is not to resume it")
    func pausingHeld() throws {
        for state in [RunState.planned, .running, .paused, .stopped] {
            let folder = try PlannedFolder(), run = try folder.plan(Self.first)
            if state != .planned { try folder.begin(run) }
            if state == .paused || state == .stopped { try run.append(.state(state, at: .now())) }
            run.close()
            _ = try RestoredRuns(
                in: folder.path, .init(backupAt: .now(), restoredAt: .now(), sending: [], nothingSentSince: false))
            let held = try RunsFolder(folder.path).open(named: Self.first, readOnly: false)
            defer { held.close() }
            do { _ = try pause(held, at: .now()) } catch {
                let mistake = Diagnostic(explaining: error)
                #expect(mistake.remedy?.contains("--nothing-sent-since") == true, "\(state): \(mistake)")
                #expect(
                    !mistake.description.contains("`volley resume")
                        && !mistake.remedies.contains(.resume(run: Self.first)), "\(mistake)")
                continue
            }
            Issue.record("\(state): paused")
        }
    }

    /// A run of another folder.
    private static func misplaced(_ plan: RunFile, _ folder: PlannedFolder) throws -> Diagnostic {
        let other = try PlannedFolder()
        do { try plan.checkPlace(home: other.path) } catch { return Diagnostic(explaining: error) }
        throw Diagnostic("a run of another folder passes")
    }

    /// A time that runs in every state have taken.
    private static func timesTaken(_ folder: PlannedFolder) throws -> [Diagnostic] {
        var settings = folder.settings
        settings.schedule = FrozenSchedule(Schedule(at: LocalTime("2026-12-01 09:00"), zone: .named(.utc)), nil)
        settings.schedule?.occurrence = LocalTime("2026-12-01 09:00")
        let run = try folder.plan("20261101-090000-c-0009", settings)
        defer { run.close() }
        let time = try #require(ScheduledTime(run, settings, isScheduler: false))
        let cancelled = try folder.plan("20261101-090000-c-0010", devices: 0..<2)
        try cancelled.append(.state(.cancelled, at: .now()))
        let finished = try folder.plan("20261101-090000-c-0011", devices: 2..<4)
        try folder.send(finished, to: 2, last: .failed)
        var planning = time.scheduledRun
        (planning.run, planning.state) = ("20261101-090000-c-0012", .planning)
        defer { for run in [cancelled, finished] { run.close() } }
        return ["nowhere", first, second, third, cancelled.plan.id, finished.plan.id].map { time.isTaken(by: $0) } + [
            time.isTaken(by: planning)
        ]
    }

    /// Every reason once; a new one does not compile until it is here.
    private static func next(after why: SendGate.Refusal?) -> SendGate.Refusal? {
        switch why {
        case nil: .isBusy
        case .isBusy: .isMisplaced
        case .isMisplaced: .isOutdated
        case .isOutdated: .hasOtherState
        case .hasOtherState: .neverBegun
        case .neverBegun: .hasBegun
        case .hasBegun: .isChanged
        case .isChanged: .settingsChanged
        case .settingsChanged: .needsApproval
        case .needsApproval: .isRetried
        case .isRetried: .parentWentOn
        case .parentWentOn: .isTooLate
        case .isTooLate: .runsBesideAnother
        case .runsBesideAnother: .isSuperseded
        case .isSuperseded: .timeIsTaken
        case .timeIsTaken: nil
        }
    }

    @Test("every refusal names pages and buttons instead of commands, and says as much as at the terminal")
    func pages() throws {
        let all = try Self.all(PlannedFolder())
        var why = Self.next(after: nil)
        while let reason = why {
            #expect(all.contains { $0.why == reason }, "\(reason)")
            why = Self.next(after: reason)
        }
        let command = #/volley (approve|cancel|plan|preview|prune|report|resume|retry|runs|schedule|send)\b/#
        for (why, text) in all {
            let words = text.inConsole
            #expect(
                !words.contains(command) && !words.contains("`volley") && !words.contains(" --"), "\(why): \(words)")
            if text.description.contains(command) { #expect(!text.remedies.isEmpty, "\(why): \(text)") }
        }
    }

    @Test("a plan that nobody approved names the button, and the terminal’s words stay")
    func approval() throws {
        let folder = try PlannedFolder()
        let plan = try folder.plan(Self.first)
        defer { plan.close() }
        let text = RefusalText.needsApproval(plan, .begin, ApprovalDemand(of: plan, folder.settings))
        #expect(text.inConsole.contains("“Approve” on the page of \(Self.first)"))
        #expect(text.inConsole.contains("“Send” on the page of \(Self.first) sends it."))
        #expect(!text.inConsole.contains(folder.path))
        #expect(
            text.remedy
                == "`volley approve \(Self.first) --by NAME` shows and approves it, then `volley send --plan \(Self.first)` sends it."
        )
    }
}
