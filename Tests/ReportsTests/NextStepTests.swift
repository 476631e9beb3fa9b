import Base
import Foundation
import PushServices
import Runs
import Testing

@testable import Reports

/// The beginning of a report's text: result, next step, where the run went, what was sent.
@Suite struct NextStepTests {
    /// A run with these numbers of recipients by outcome, in a state.
    private func run(
        _ folder: TemporaryFolder, _ outcomes: [Outcome: Int], _ state: RunState = .finished, reason: String = "",
        isTest: Bool = false,
        settings: RunSettings = settings(), preview: JSONValue = .null
    ) throws -> RunFile {
        let list = Outcome.allCases.flatMap { [Outcome](repeating: $0, count: outcomes[$0, default: 0]) }
        let run = try makeRun(folder, isTest: isTest, preview: preview, settings: settings, recipients(list.count))
        guard state != .planned else { return run }
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<list.count, at: start))
        let reasons: [Outcome: String] = [
            .invalidToken: "Unregistered", .rejected: "PayloadEmpty", .failed: "ServiceUnavailable", .unsent: "Expired",
        ]
        try run.append(
            .settled([
                list.enumerated().map {
                    Settlement(
                        recipient: $0.offset, outcome: $0.element, status: $0.element == .accepted ? 200 : 0,
                        reason: reasons[$0.element] ?? "",
                        attempts: 1, settledAt: start)
                }
            ]))
        if state != .running {
            try run.append(
                .state(state, cause: reason.isEmpty ? nil : .described(reason), at: start.adding(seconds: 60)))
        }
        return run
    }

    private let id = "20261201-090000-spring-sale-7f3a"

    private func commands(
        _ outcomes: [Outcome: Int], _ state: RunState = .finished, isTest: Bool = false,
        settings: RunSettings = settings()
    )
        throws
        -> [String?]
    {
        let folder = try TemporaryFolder()
        return try Report(run(folder, outcomes, state, isTest: isTest, settings: settings)).nextSteps.map(\.command)
    }

    @Test("a run that went well, or lost only devices without the app, leaves nothing to do")
    func nothing() throws {
        #expect(try commands([.accepted: 20]).isEmpty)
        #expect(try commands([.accepted: 200, .invalidToken: 2]).isEmpty)
        #expect(try commands([:]).isEmpty)
    }

    @Test("what is left to do comes with its command, what concerns most devices first")
    func largestFirst() throws {
        #expect(try commands([.accepted: 20, .failed: 3]) == ["volley retry \(id) --outcome failed"])
        #expect(try commands([.accepted: 20, .unknown: 3]) == ["volley retry \(id) --outcome unknown"])
        #expect(
            try commands([.accepted: 50, .failed: 3, .unknown: 1, .unsent: 9, .rejected: 6])
                == ["volley retry \(id) --outcome unsent", nil, "volley retry \(id) --outcome failed"])
    }

    @Test(
        "a cancelled run of which the store has forgotten something says that a person cancelled it, and what is not known"
    )
    func forgotten() throws {
        let folder = try TemporaryFolder()
        let run = try run(folder, [.accepted: 5, .unsent: 3], .running)
        try run.append(.state(.cancelled, cause: .ledger(.forgotten(entries: 4)), at: start.adding(seconds: 60)))
        var report = try Report(run)
        #expect(
            report.nextSteps.map(\.command) == [
                "volley resume \(id)",
                "volley report \(id) --format csv --outcome accepted,unknown --output \(FilePaths.absolute(folder.path))/reached-\(id).csv",
            ])
        #expect(
            report.status.because?.hasPrefix("A person cancelled it. Besides: The store has forgotten 4 entries")
                == true)
        #expect(report.headline.hasSuffix("3 were never sent, as far as is known."), "\(report.headline)")
        for face in [TextMedium.terminal, .console] {
            report.face = face
            let page = ReportPage(report, madeBy: "V", madeAt: start).content.markup
            #expect(page.contains("A person cancelled it") && page.contains("also after what was forgotten"))
        }
    }

    @Test("of a run that other machines send, no device is unsent that they may have sent to, before that was fetched")
    func notFetched() throws {
        let folder = try TemporaryFolder(), run = try makeRun(folder, recipients(10))
        try run.append(.state(.running, at: start))
        try run.noteShared(at: start)
        try run.append(.claimed(0..<6, at: start))
        func settled(_ id: Int, _ outcome: Outcome, _ own: OwnReason? = nil) -> Settlement {
            own.map { Settlement(recipient: id, outcome: outcome, own: $0, settledAt: start) }
                ?? Settlement(recipient: id, outcome: outcome, status: 200, attempts: 1, settledAt: start)
        }
        try run.append(
            .settled([
                [
                    settled(0, .accepted), settled(1, .accepted), settled(2, .unsent, .interrupted),
                    settled(3, .unsent, .frequencyCap),
                ]
            ]))
        for state in [RunState.running, .stopped, .cancelled] {
            if state != .running {
                try run.append(.state(state, cause: .ledger(.takenOver), at: start.adding(seconds: 60)))
            }
            let report = try Report(run)
            #expect(
                report.count(.unsent) == 1 && report.count(.unknown) == 7 && report.count(.accepted) == 2, "\(state)")
            #expect(report.reasonCounts == ["FrequencyCap": 1, "NotKnownHere": 7])
            #expect(report.nextSteps.allSatisfy { !($0.command ?? "").contains("cancel") })
            var csv = ""
            try ReportCSV.write(run) { csv += String(decoding: $0, as: UTF8.self) }
            #expect(csv.split(separator: "\n").count { $0.contains(",unknown,") && $0.contains(",NotKnownHere,") } == 7)
            #expect(csv.split(separator: "\n").count { $0.contains(",unsent,") } == 1)
            let text = report.text(width: 100, colour: false)
            #expect(text.contains("not known here") && !text.contains("never sent "), "\(text)")
        }
        try run.noteFetched()
        #expect(try Report(run).count(.unsent) == 6)
    }

    @Test("where the store is lost, a step ends the run, and the next one lists the devices that a new plan leaves out")
    func lostStore()
        throws
    {
        let folder = try TemporaryFolder(), run = try makeRun(folder, recipients(10))
        try run.append(.state(.running, at: start))
        try run.noteShared(at: start)
        try run.append(.state(.stopped, cause: .ledger(.unusable("it is not there")), at: start.adding(seconds: 60)))
        #expect(try Report(run).nextSteps.map(\.command) == ["volley resume \(id)", "volley cancel \(id)"])
        try run.append(.state(.cancelled, cause: .cancelled, at: start.adding(seconds: 61)))
        let last = try #require(try Report(run).nextSteps.last)
        #expect(
            last.words.contains("a new plan reaches the rest")
                && last.command?.contains("--outcome accepted,unknown") == true, "\(last)")
    }

    @Test(
        "an order that other machines do not have yet is not told as if it held for all",
        arguments: [RunOrder.pause, .cancel])
    func onlyHere(order: RunOrder) throws {
        let folder = try TemporaryFolder(), run = try makeRun(folder, recipients(10))
        try run.append(.state(.running, at: start))
        try run.noteShared(at: start)
        try run.append(.ordered(order, at: start))
        let word = order == .pause ? "Paused" : "Cancelled",
            command = "volley \(order == .pause ? "pause" : "cancel") \(id)"
        var report = try Report(run)
        #expect(report.headline.hasPrefix("\(word) here, and not yet for the other machines: "), "\(report.headline)")
        #expect(report.nextSteps.map(\.command) == [command])
        #expect(report.json["only_here"] == .bool(true))
        for (face, advice) in [(TextMedium.terminal, command), (.console, order == .pause ? "“Pause”" : "“Cancel”")] {
            report.face = face
            let page = ReportPage(report, madeBy: "V", madeAt: start).content.markup
            #expect(page.contains("not yet for the other machines") && page.contains(advice), "\(page)")
        }
        let list = try RunList(runs: [run], broken: []).text(width: 160, colour: false)
        #expect(
            list.contains(order.state.rawValue + " [only here]") && list.contains("[only here]: the store"), "\(list)")
        try run.notePassedOn(order)
        #expect(try Report(run).headline.hasPrefix("\(word): ") && Report(run).json["only_here"] == nil)
    }

    @Test(
        "a run that passed a limit of its campaign says that it keeps the limit, and how the rest is sent with another one"
    )
    func passedLimit() throws {
        let folder = try TemporaryFolder(), stopped = try makeRun(folder, recipients(20))
        try stopped.append(.state(.running, at: start))
        try stopped.append(.claimed(0..<10, at: start))
        let settlements = (0..<10).map { id in
            Settlement(
                recipient: id, outcome: id < 5 ? .accepted : .invalidToken, status: id < 5 ? 200 : 410,
                reason: id < 5 ? "" : "Unregistered", attempts: 1, settledAt: start)
        }
        try stopped.append(.settled([settlements]))
        let passed = ExceededLimit(
            outcome: .invalidToken, count: 5, answers: 10, limit: StopShare(millionths: 200_000),
            lastReason: "Unregistered")
        try stopped.append(.state(.stopped, cause: .limit(service: "apns", passed), at: start))
        var report = try Report(stopped)
        #expect(report.nextSteps.map(\.command).first == "volley resume \(id)")
        #expect(report.nextSteps.first?.words.contains("with the limit of its plan") == true)
        #expect(
            report.nextSteps.last?.words.contains("delivery.stop_when in the campaign, then plan") == true,
            "\(report.nextSteps)")
        for face in [TextMedium.terminal, .console] {
            report.face = face
            let page = ReportPage(report, madeBy: "V", madeAt: start).content.markup
            #expect(page.contains("the limit of its plan"), "\(page)")
        }
    }

    @Test(
        "in the console, a report’s page names buttons and people to ask, and no command", arguments: RunState.allCases)
    func console(state: RunState) throws {
        let mixtures: [[Outcome: Int]] = [
            [.accepted: 20], [.accepted: 20, .failed: 3], [.accepted: 5, .unknown: 2], [.accepted: 5, .unsent: 4],
            [.accepted: 3, .failed: 1, .unknown: 1, .unsent: 2, .rejected: 2, .invalidToken: 1], [.rejected: 5],
            [.unsent: 5],
        ]
        let suppressed = try JSONValue(
            parsing:
                #"{"skipped_why":[{"reason":"suppressed","rows":2,"why":"gone; `volley suppression list` shows since when"}]}"#
        )
        let causes: [StopCause?] = [
            nil, .service("apns", .refused(reason: "PayloadEmpty", status: 400, clockLagSeconds: nil)),
            .service("apns", .notTheService(status: 200)),
            .service("apns", .refused(reason: "BadTopic", status: 400, clockLagSeconds: nil)),
        ]
        for outcomes in mixtures {
            for isTest in [false, true] {
                for cause in state == .stopped ? causes : [nil] {
                    let folder = try TemporaryFolder()
                    let run = try run(
                        folder, outcomes, state == .stopped ? .running : state, isTest: isTest, preview: suppressed)
                    if state == .stopped {
                        try run.append(.state(.stopped, cause: cause, at: start.adding(seconds: 60)))
                    }
                    var report = try Report(run)
                    #expect(report.nextSteps.allSatisfy { $0.command?.hasPrefix("volley ") ?? true })
                    report.face = .console
                    let page = ReportPage(report, madeBy: "V", madeAt: start).content.markup
                    let command = page.firstMatch(
                        of:
                            #/(<code>|`)volley [^<`]*|volley (retry|resume|report|send|suppression|doctor)[^<]*| --[a-z]+/#
                    )
                    if let command { Issue.record("\(state) \(outcomes) \(command.0)") }
                }
            }
        }
    }

    @Test("whoever gave no answer is not sent to again without being told that it may be twice")
    func unknown() throws {
        let folder = try TemporaryFolder()
        let step = try #require(try Report(run(folder, [.accepted: 20, .unknown: 3])).nextSteps.first)
        #expect(step.words == "3 devices gave no answer and may have got it; if twice is better than never:")
    }

    @Test(
        "a row of an export is named with the folders of the server, except in the console", arguments: [false, true])
    func foldersOfExports(isConsole: Bool) throws {
        let folder = try TemporaryFolder()
        let why = "these rows cannot be read; the first is /srv/shop/devices.csv:12"
        let note = JSONValue.object(pairs: [
            ("reason", .string("bad_row")), ("rows", .integer(2)), ("why", .string(why)),
        ])
        let run = try makeRun(
            folder, skipped: [.badRow: 2], preview: .object(pairs: [("skipped_why", .array([note]))]), recipients(3))
        try run.append(.state(.running, at: start))
        var report = try Report(run)
        if isConsole { report.face = .console }
        let page = ReportPage(report, madeBy: "V", madeAt: start).content.markup
        #expect(page.contains("the first is \(isConsole ? "" : "/srv/shop/")devices.csv:12"), "\(page)")
    }

    @Test("where a second answer refused a push, nothing says that no answer came")
    func refusedAgain() throws {
        let folder = try TemporaryFolder(), run = try makeRun(folder, recipients(3))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<3, at: start))
        let lost = [OwnReason.noAnswer, .refusedAgain].enumerated().map {
            Settlement(recipient: $0.offset + 1, outcome: .unknown, own: $0.element, settledAt: start)
        }
        try run.append(
            .settled([[Settlement(recipient: 0, outcome: .accepted, status: 200, attempts: 1, settledAt: start)] + lost]
            ))
        try run.append(.state(.finished, at: start.adding(seconds: 60)))
        let report = try Report(run)
        #expect(report.nextSteps.first?.words.hasPrefix("2 devices gave no certain answer and may") == true)
        #expect(
            report.guide.note(.unknown) == "no certain answer came"
                && report.guide.title(.unknown) == "No certain answer")
        let text = report.text(width: 100, colour: false),
            page = ReportPage(report, madeBy: "V", madeAt: start).content.markup
        for words in [text, page] {
            #expect(words.contains("no certain answer"), "\(words)")
            for untrue in ["no answer came", "gave no answer", "got no answer"] {
                #expect(!words.contains(untrue), "\(words)")
            }
        }
    }

    @Test("a run that is not over is gone on with, and a plan is sent, approved or waits for its time")
    func unfinished() throws {
        #expect(try commands([.accepted: 20, .unsent: 9], .stopped) == ["volley resume \(id)"])
        #expect(try commands([.accepted: 20, .unsent: 9], .paused) == ["volley resume \(id)"])
        #expect(try commands([.accepted: 20, .unsent: 9], .cancelled) == ["volley resume \(id)"])
        #expect(try commands([.accepted: 20], .running) == ["volley report \(id)"])
        #expect(try commands([.unsent: 20], .planned) == ["volley send --plan \(id)"])
        let approval = settings { $0.needsApproval = true }
        #expect(try commands([.unsent: 20], .planned, settings: approval) == ["volley approve \(id) --by NAME"])
        let schedule = settings {
            $0.schedule = FrozenSchedule(Schedule(zone: .named(.utc)), nil)
            $0.schedule?.occurrence = LocalTime("2026-12-01 09:00")
        }
        #expect(try commands([.unsent: 20], .planned, settings: schedule) == [nil])
        #expect(try commands([.accepted: 2], isTest: true) == ["volley send spring.yaml"])
    }

    /// A run that a service stopped, with the text of its report and page.
    private func stopped(
        _ outcomes: [Outcome: Int], by service: any PushService = APNs(), _ stop: ServiceStop,
        _ change: (inout RunSettings) -> Void = { _ in }
    ) throws -> (step: NextStep?, text: String, page: String) {
        let folder = try TemporaryFolder()
        let run = try run(
            folder, outcomes,
            settings: settings {
                $0.services[0].serviceName = service.name
                change(&$0)
            })
        try run.append(.state(.stopped, cause: .service(service.name, stop), at: start))
        let report = try Report(run)
        return (
            report.nextSteps.first, report.text(width: 4000, colour: false),
            ReportPage(report, madeBy: "Volley", madeAt: start).html.markup
        )
    }

    @Test(
        "a message that a service does not accept is corrected and planned again, as Because says: a run keeps it",
        arguments: [
            ("jpush", 400, "1002"), ("jpush", 400, "1009"), ("jpush", 400, "1099"), ("jpush-audience", 400, "1003"),
            ("rongcloud", 400, "1002"), ("fcm", 400, "INVALID_ARGUMENT"), ("getui", 400, "20001 (x)"),
            ("getui-audience", 403, "30016"),
        ])
    func refusedMessage(service: String, status: Int, reason: String) throws {
        let service = try #require(PushServices.named(service))
        let stop = ServiceStop.refused(reason: reason, status: status, clockLagSeconds: nil)
        let all = try stopped([.unsent: 20], by: service, stop)
        #expect(all.step?.command == "volley send spring.yaml", "\(all.text)")
        #expect(all.text.contains("Next: correct the campaign's content, then plan and send it again:"))
        let next = try #require(all.page.components(between: "id=\"next\"", and: "</section>").first)
        #expect(!all.text.contains("volley resume") && !next.contains("volley resume"))
        guard !service.choosesDevices else { return }
        let some = try stopped([.accepted: 3, .unknown: 1, .unsent: 20], by: service, stop)
        let file = try #require(some.step?.command?.split(separator: " ").last)
        #expect(
            some.step?.command?.hasPrefix("volley report \(id) --format csv --outcome accepted,unknown --output /")
                == true)
        // The campaign need not be in the working directory: both name the same file.
        #expect(
            file.hasSuffix("/reached-\(id).csv") && some.text.contains("`exclude: {devices: \(file)}` in the campaign"),
            "\(some.text)")
        #expect(some.text.contains("without the 4 devices that have its push or may have it"))
        #expect(some.page.contains("--outcome accepted,unknown"))
    }

    @Test("what stops a run but not because of its message is resumed once it is mended")
    func refusedSender() throws {
        for (service, status, reason) in [
            ("jpush", 401, "1004"), ("jpush", 403, "2008"), ("rongcloud", 401, "1001"), ("getui", 403, "30004"),
        ] {
            let service = try #require(PushServices.named(service))
            let all = try stopped(
                [.unsent: 20], by: service, .refused(reason: reason, status: status, clockLagSeconds: nil))
            #expect(all.step?.command == "volley resume \(id)", "\(reason)")
        }
    }

    @Test("a run that stopped with nothing left to send is not resumed")
    func nothingLeft() throws {
        let stop = ServiceStop.refused(reason: "InvalidProviderToken", status: 403, clockLagSeconds: nil)
        let rejected = try stopped([.rejected: 1], stop)
        #expect(rejected.step?.command == "volley send spring.yaml")
        #expect(
            rejected.text.contains("Next: nothing is left to send; fix the cause, then plan and send it again:"),
            "\(rejected.text)")
        let failed = try stopped([.accepted: 9, .failed: 2, .unknown: 1], stop) { $0.unknownPolicy = .skip }
        #expect(failed.step?.command == "volley cancel \(id)")
        #expect(failed.text.contains("`volley retry \(id)` sends to 3 devices again"), "\(failed.text)")
        for shown in [rejected.page, failed.page, rejected.text, failed.text] {
            #expect(!shown.contains("volley resume"))
        }
        let done = try stopped([.accepted: 9, .invalidToken: 1], stop)
        #expect(
            done.step == nil && done.page.contains("<p>Nothing is left to send.</p>")
                && !done.page.contains("<code></code>"))
        let resent = try stopped([.accepted: 9, .unknown: 1], stop) { $0.unknownPolicy = .resend }
        #expect(resent.step?.command == "volley resume \(id)")
    }

    @Test(
        "in the console, a retry of devices that were never sent to says whether it reaches those that frequency left out",
        arguments: [false, true])
    func missedAndCapped(isCapped: Bool) throws {
        let folder = try TemporaryFolder(), run = try makeRun(folder, recipients(3))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<3, at: start))
        let unsent = [(1, OwnReason.expired), (2, isCapped ? .frequencyCap : .expired)].map {
            Settlement(recipient: $0, outcome: .unsent, own: $1, settledAt: start)
        }
        try run.append(
            .settled([
                [Settlement(recipient: 0, outcome: .accepted, status: 200, attempts: 1, settledAt: start)] + unsent
            ]))
        try run.append(.state(.finished, at: start.adding(seconds: 60)))
        var report = try Report(run)
        report.face = .console
        let page = ReportPage(report, madeBy: "V", madeAt: start).content.markup
        #expect(
            page.contains("“Retry unsent” on the page")
                && page.contains("devices that frequency left out.") == isCapped, "\(page)")
    }

    @Test(
        "of a campaign with times, a new plan is sent with --now, which no time refuses: of a held run as of one that stopped",
        arguments: [
            // Schedule in the preview, whether the run has a time, the addition to `volley send`,
            // the console's text.
            ("null", false, "", "plans it again"),
            (#"{"repeat":null,"ignored":false}"#, false, "", "plans it again"),
            (#"{"repeat":null,"ignored":false}"#, true, " --now", "write a later time"),
            (#"{"repeat":null,"ignored":true}"#, false, " --now", "write a later time"),
            (#"{"repeat":"0 9 * * mon","ignored":false}"#, true, " --now", "plans it again"),
        ])
    func newPlanOfTimes(schedule: String, hasTime: Bool, now: String, inConsole: String) throws {
        let preview = try JSONValue(parsing: #"{"schedule":\#(schedule)}"#), command = "volley send spring.yaml\(now)"
        let settings = settings {
            guard hasTime else { return }
            $0.schedule = FrozenSchedule(Schedule(zone: .named(.utc)), nil)
            $0.schedule?.occurrence = LocalTime("2026-12-01 09:00")
        }
        for (outcomes, state) in [([Outcome.unsent: 20], RunState.planned), ([.accepted: 3, .unsent: 17], .cancelled)] {
            let folder = try TemporaryFolder(),
                run = try run(folder, outcomes, state, settings: settings, preview: preview)
            _ = try RestoredRuns(
                in: folder.path,
                .init(backupAt: start, restoredAt: start.adding(seconds: 600), sending: [], nothingSentSince: false))
            var report = try Report(run)
            let steps = report.nextSteps, last = try #require(steps.last)
            #expect(report.isHeld && steps.count == 3)
            #expect(last.command == command || last.words.contains("Then `\(command)` sends it"), "\(last)")
            report.face = .console
            let page = ReportPage(report, madeBy: "V", madeAt: start).content.markup
            #expect(
                page.contains(inConsole) && (inConsole == "plans it again" || !page.contains("plans it again")),
                "\(page)")
        }
        let folder = try TemporaryFolder(),
            run = try run(folder, [.unsent: 20], .stopped, settings: settings, preview: preview)
        #expect(try Report(run).sendAgain == command)
    }

    @Test("the report of a run that a retry has taken over leads to it, and advises no other retry")
    func takenOver() throws {
        let folder = try TemporaryFolder(), later = start.adding(seconds: 60)
        let first = try run(folder, [.accepted: 3, .unsent: 17], .cancelled)
        func page() throws -> String {
            var report = try Report(first, chain: RunChain(of: first))
            report.face = .console
            return ReportPage(report, madeBy: "V", madeAt: start).content.markup
        }
        #expect(try page().contains("“Retry unsent”"))
        let retry = try makeRun(
            folder, id: "20261202-090000-spring-sale-0002", plannedAt: later, retryOf: first.plan.id, recipients(17))
        try retry.append(.state(.running, at: later))
        #expect(try page().contains("The page of \(retry.plan.id) shows its progress."))
        #expect(try !page().contains("“Retry unsent”"))
    }

    @Test(
        "of a run that was put back elsewhere, the campaign that was put back with it is named; without one, the planned path"
    )
    func campaignPutBackElsewhere() throws {
        let original = try TemporaryFolder(), copy = try TemporaryFolder()
        let run = try makeRun(copy, project: original.path + "/", recipients(20))
        _ = try RestoredRuns(
            in: copy.path,
            .init(backupAt: start, restoredAt: start.adding(seconds: 600), sending: [], nothingSentSince: false))
        func command() throws -> String? { try Report(run).nextSteps.last?.command }
        for name in ["/volley.yaml", "/spring.yaml"] {
            #expect(FileManager.default.createFile(atPath: original.path + name, contents: nil))
        }
        #expect(try command() == "volley send \(original.path)/spring.yaml")
        for name in ["/volley.yaml", "/spring.yaml"] {
            #expect(FileManager.default.createFile(atPath: copy.path + name, contents: nil))
        }
        #expect(try command() == "volley send \(copy.path)/spring.yaml")
        try FileManager.default.removeItem(atPath: original.path + "/spring.yaml")
        #expect(try command() == "volley send \(copy.path)/spring.yaml")
    }

    @Test(
        "all that a held run had not sent by the backup has one reason, in every form, whatever had kept it from being sent"
    )
    func heldReasons() throws {
        let folder = try TemporaryFolder(), run = try makeRun(folder, recipients(20))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<5, at: start))
        try run.append(
            .settled([
                [
                    Settlement(recipient: 0, outcome: .accepted, status: 200, attempts: 1, settledAt: start),
                    Settlement(recipient: 1, outcome: .unsent, reason: OwnReason.paused.rawValue, settledAt: start),
                    Settlement(recipient: 2, outcome: .unsent, reason: OwnReason.expired.rawValue, settledAt: start),
                ]
            ]))
        try run.append(.state(.cancelled, at: start))
        _ = try RestoredRuns(
            in: folder.path,
            .init(backupAt: start, restoredAt: start.adding(seconds: 600), sending: [], nothingSentSince: false))
        let report = try Report(run)
        #expect(
            report.isHeld && report.notKnownSinceBackup == 17
                && report.headlineOfHeld.contains("17 others may have got"))
        #expect(report.reasonCounts == ["NotKnownSinceBackup": 17, "ProcessEnded": 2])
        var lines: [UInt8] = []
        try ReportCSV.write(run) { lines += $0 }
        let unsent = String(decoding: lines, as: UTF8.self).split(separator: "\n").filter { $0.contains(",unsent,") }
        #expect(unsent.count == 17 && unsent.allSatisfy { $0.contains(",NotKnownSinceBackup,") }, "\(unsent)")
    }

    @Test("of two services, what one does not accept is planned again, and what another left is resumed")
    func twoServices() throws {
        let folder = try TemporaryFolder()
        let run = try ServiceReportTests.run(folder)
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<50, at: start))
        try run.append(.settled([(0..<50).map { ServiceReportTests.settled($0, .accepted, 200) }]))
        let message = StopCause.service("fcm", .refused(reason: "INVALID_ARGUMENT", status: 400, clockLagSeconds: nil))
        let outage = StopCause.service("apns", .outage(lastReason: "503", seconds: 600))
        func steps(_ stops: [(String, StopCause)], finished: [String] = []) throws -> (
            commands: [String?], text: String
        ) {
            let partial = PartialStop(stopped: stops.map { .init(service: $0.0, cause: $0.1) }, finished: finished)
            try run.append(.state(.stopped, cause: .services(partial), at: start))
            let report = try Report(run)
            return (report.nextSteps.map(\.command), report.text(width: 4000, colour: false))
        }
        let list =
            "volley report \(run.plan.id) --format csv --outcome accepted,unknown --output \(FilePaths.absolute(folder.path))/reached-\(run.plan.id).csv"
        let both = try steps([("apns", outage), ("fcm", message)])
        #expect(both.commands == ["volley resume \(run.plan.id)", list], "\(both.text)")
        #expect(
            both.text.contains("this sends what is left through APNs:")
                && both.text.contains("correct the content for FCM"))
        let one = try steps([("fcm", message)], finished: ["apns"])
        #expect(one.commands == [list] && !one.text.contains("volley resume"), "\(one.text)")
    }

    @Test("the first screen says what came of it, what to do, where it went and what was sent")
    func firstScreen() throws {
        let folder = try TemporaryFolder()
        func message(_ recipients: Int64, _ texts: [(String, String)]) -> JSONValue {
            .object(pairs: [("recipients", .integer(recipients))] + texts.map { ($0.0, .string($0.1)) })
        }
        let messages: [JSONValue] = [
            message(10, [("title", "Hallo")]),
            message(90, [("title", "Hi {{ first_name }}"), ("body", "Only until\nSunday")]),
        ]
        let preview = JSONValue.object(pairs: [("messages", .array(messages))])
        let text = try Report(
            run(folder, [.accepted: 90, .failed: 7, .unknown: 3], settings: settings(.production), preview: preview)
        )
        .text(
            width: 100, colour: false)
        #expect(
            text.hasPrefix(
                """
                APNs accepted 90 of 100 pushes (90.0 %). 7 failed and 3 got no answer.
                Next: 7 devices failed temporarily; this sends to them again, but not to devices that gave no answer
                and may have got it:
                      volley retry \(id) --outcome failed

                  Campaign     spring-sale
                  App          shop
                  Environment  production
                  Text         Hi {{ first_name }} · Only until Sunday (one of 2 texts)
                  Run          \(id)

                """), "\(text)")
        let rows = text.split(separator: "\n").map { $0.split(separator: " ").first ?? "" }
        let order = rows.filter { word in Outcome.allCases.contains { $0.name == word } }
        #expect(order == ["accepted", "failed", "unknown", "invalid_token", "rejected", "unsent"])
    }

    @Test("a server of one's own is named with its port, and the simulator as what it is")
    func environments() throws {
        let server = FrozenEnvironment.server(host: "apns.test", port: 2197, certificateAuthority: nil)
        for (environment, words) in [(server, "apns.test:2197"), (.simulator, "simulator: no device gets it")] {
            let folder = try TemporaryFolder()
            let text = try Report(run(folder, [.accepted: 1], settings: settings(environment))).text(
                width: 100, colour: false)
            #expect(text.contains("  Environment  \(words)\n"), "\(text)")
        }
    }
}
