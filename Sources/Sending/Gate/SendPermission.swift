import Workspace
import Base
import Campaigns
import Delivery
import Glibc
import Runs

/// Drives `SendGate` for a run: checks, claims and records as the gate requires. Every way to send
/// goes through `pass`, every retry through `retrying`.
struct SendPermission {
    let run: RunFile
    let settings: RunSettings
    let choice: ProjectChoice
    /// Whether `volley schedule` sends, rather than a person.
    var isScheduler = false
    /// Whether the plan stays if it is refused; if not, no message suggests a command for it.
    var isKept = true

    /// The facts that were found, and the message for each one that prevents the step.
    private struct Inspection {
        var facts: SendGate.Facts
        var epoch = ""
        var reached = 0, claimed = 0
        var siblings: [String] = []
        var givenUp: Set<String> = []
        var texts: [SendGate.Refusal: [Diagnostic]] = [:]

        /// Whether `body` succeeds; if it throws, the error is kept as the text of the refusal.
        mutating func keep(_ refusal: SendGate.Refusal, _ body: () throws -> Void) -> Bool {
            do { try body() } catch {
                texts[refusal] = Diagnostics(explaining: error).all
                return false
            }
            return true
        }
    }

    private var record: SendingHistory { run.catalog.history }
    private var time: ScheduledTime? { ScheduledTime(run, settings, isScheduler: isScheduler) }

    // MARK: - Before the question

    /// The refusal that the step would meet now; nil if it would pass. Claims nothing: `pass`
    /// checks again.
    func refusal(of step: SendGate.Step) throws -> SendRefused? {
        let look = try inspect(step)
        return try SendGate.refusal(of: step, look.facts).map { try refused($0, look, step) }
    }

    /// Checks that the step would pass now.
    /// - Throws: `SendRefused`.
    func check(_ step: SendGate.Step) throws {
        if let refused = try refusal(of: step) { throw refused }
    }

    // MARK: - Passing

    /// Lets the run begin or continue: afterwards it is on record as running, and this process has
    /// the right to send it.
    /// - Throws: `SendRefused`, or what else prevents it. Nothing was sent, and nothing is claimed.
    func pass(_ step: SendGate.Step) throws -> SendPermit {
        let time = time
        var gate = SendGate(step)
        var before: ScheduledRun?
        var seen = Inspection(facts: .unknown)
        var failure: (any Error)?
        var epoch = ""
        /// Whether no step has failed so far; the first error is kept for the refusal.
        func isDone(_ body: () throws -> Void) -> Bool {
            do { try body() } catch { failure = failure ?? error }
            return failure == nil
        }
        var action = gate.start()
        while true {
            switch action {
            case .lock: action = gate.locked(isDone { try run.lockForSending(isSending: step != .retry) })
            case .look:
                do { seen = try inspect(step) } catch {
                    run.unlock()
                    throw error
                }
                action = gate.saw(seen.facts)
            case .claimTime: action = gate.timeClaimed(isDone { before = try time?.claim() })
            case .record: action = gate.recorded(isDone { epoch = try note(seen) })
            case .begin:
                action = gate.began(
                    isDone { try run.append(.epochBegan(epoch, at: .now(), from: Self.states(for: step))) })
            case .confirm:
                action = gate.confirmed(
                    isDone {
                        let confirmed = try run.append(.epochConfirmed(givenUp: seen.givenUp))
                        if confirmed.beginning == .isOvertaken { throw RefusalText.isOvertaken(run) }
                    })
                if failure != nil { _ = try? run.append(.state(.stopped, cause: .ledger(.beginNotNoted), at: .now())) }
            case .returnTime:
                try? time?.returnTime(before)
                action = gate.timeReturned()
            case .admit: return SendPermit(run: run, time: time)
            case .refuse(let why):
                if why != .isBusy { run.unlock() }
                throw try failure ?? refused(why, seen, step)
            }
        }
    }

    /// Makes a retry while no other command can resume, retry or prune the run.
    /// - Throws: `SendRefused` if the run may not be retried; what `body` throws.
    func retrying<Value>(_ body: () throws -> Value) throws -> Value {
        // Check before taking the lock: "not over yet" tells the reader more than "another command
        // holds it".
        try check(.retry)
        _ = try pass(.retry)
        defer { run.unlock() }
        return try body()
    }

    private static func states(for step: SendGate.Step) -> Set<RunState> {
        // A killed process left `running` behind.
        step == .begin ? [.planned] : [.stopped, .paused, .cancelled, .running]
    }

    /// Notes in the record next to the runs that this run is about to begin or continue.
    /// - Returns: the id of the new epoch.
    private func note(_ seen: Inspection) throws -> String {
        var new = NewEpoch(
            after: seen.epoch, reached: seen.reached, claimed: seen.claimed, in: settings.listName,
            for: ScheduledTime.onRecord(run, settings))
        new.siblings = seen.siblings
        new.givenUp = seen.givenUp
        new.parentEpoch = settings.parentEpoch
        switch try run.append(.epochNoted(new, at: .now())).beginning {
        case .noted: return new.epoch
        case .isOutdated: throw outdated()
        case .isOvertaken: throw RefusalText.isOvertaken(run)
        case .timeIsTaken(let other): throw time?.isTaken(by: other) ?? outdated()
        }
    }

    // MARK: - Checking

    private func inspect(_ step: SendGate.Step) throws -> Inspection {
        try run.requireRecipients()
        let status = try run.status()
        let entry = try record.entry(of: run.plan.id)
        var look = Inspection(
            facts: .unknown, epoch: status.epoch, reached: try run.reached(), claimed: try run.claims().made)
        look.facts.state = .init(status.state)
        // A process that was killed at the wrong moment may have noted the beginning in the record,
        // and not in the run file.
        look.facts.hasBegun = try run.hasBegun() || entry.map { $0.previousEpoch != look.epoch } ?? false
        let isOlder =
            try entry?.isNewer(than: run, epoch: look.epoch, reached: look.reached, claimed: look.claimed) ?? false
        let isRetriedUnseen = step == .retry && LedgerGap.restored(run) != nil
        look.facts.isOutdated =
            try isOlder || isRetriedUnseen || status.state == .planned && record.isCancelled(run.plan.id)
        look.facts.isInPlace = look.keep(.isMisplaced) {
            // A copy that was fetched also shows which devices the run has reached, and its retry
            // is a run of this machine.
            if try step == .retry && run.copiedAt() != nil { return try run.checkNotReplaced() }
            try run.checkPlace(home: settings.runsFolder)
            try checkKnowsAll(step)
        }
        guard SendGate.refusal(of: step, look.facts) == nil else { return look }
        let presents = try CurrentProject.all(of: run, in: choice)
        look.facts.isUnchanged = look.keep(.isChanged) {
            if step == .goOn { try run.checkIntegrity() }
            try goingOn(step) { try run.checkUnchanged() }
        }
        look.facts.settingsHold = look.keep(.settingsChanged) {
            let hasBegun = step != .begin || run.plan.retryOf != nil
            try goingOn(step) { for present in presents { try present.checkUnchanged(settings, hasBegun: hasBegun) } }
        }
        look.facts.lacksApproval = try lacksApproval(presents)
        if step == .begin, let parent = run.plan.retryOf {
            look.siblings = try record.retries(of: parent).filter { $0 != run.plan.id }
        }
        let siblings = look.siblings
        look.facts.isRetried = !look.keep(.isRetried) { try checkSiblings(step, onRecord: siblings) }
        if step == .goOn {
            look.givenUp = try RunChain(of: run).abandonedRetries(of: run.plan.id, record)
            let isRetried = try !retries().isEmpty || !look.givenUp.isSuperset(of: record.retries(of: run.plan.id))
            look.facts.isRetried = look.facts.isRetried || isRetried
        }
        look.facts.parentWentOn = try parentWentOn()
        if step == .begin, !isScheduler, !run.plan.waves.isEmpty {
            look.facts.isTooLate = try WaveAgenda(of: run, settings).isTooLateForAll(at: .now())
        }
        if step == .begin {
            look.facts.runsBesideAnother = !look.keep(.runsBesideAnother) {
                if let other = try runBeingSentBeside() { throw RefusalText.runsBesideAnother(run, other) }
            }
        }
        look.facts.isSuperseded =
            step != .retry
            && !look.keep(.isSuperseded) {
                if let why = try supersession(presents) { throw why }
            }
        if let time {
            let (whose, mistake) = try time.inspect(step)
            look.facts.time = whose
            look.texts[.timeIsTaken] = mistake.map { [$0] }
        }
        return look
    }

    /// The file of a run that other machines have also sent may be incomplete: then only the store
    /// can continue it, or complete the file.
    private func checkKnowsAll(_ step: SendGate.Step) throws {
        guard let since = try run.sharedSince() else { return }
        let present = try CurrentProject(of: run, in: choice).project
        guard step == .retry || !RunToSend.goesThroughStore(run.plan, present, settings) else { return }
        throw RefusalText.isSharedOut(run, since, step)
    }

    /// Why other runs of the campaign keep this one from being sent; nil if none does.
    /// - Parameter presents: every volley.yaml that counts for the run; not needed once it has
    ///   begun.
    func supersession(_ presents: [CurrentProject]) throws -> Diagnostic? {
        let isShared = presents.first.map { RunToSend.goesThroughStore(run.plan, $0.project, settings) } ?? false
        for _ in 0..<Self.mostLooks {
            guard let others = try SupersedingRuns(of: run, settings, isShared: isShared) else { return nil }
            do { return try RefusalText.isSuperseded(run, settings, others, isKept: isKept) } catch {
                // The other was a plan that was about to be sent, was refused and has been removed.
                guard others.runs.contains(where: { !run.catalog.holds($0.plan.id) }) else { throw error }
            }
        }
        return RefusalText.isOvertaken(run)
    }

    /// Why a run that has stopped is neither continued nor retried, as others have reached what is
    /// left of it; nil if it may be.
    private func retryOfSuperseded(_ step: SendGate.Step) throws -> Diagnostic? {
        guard step == .retry, try run.status().state == .stopped else { return nil }
        return try supersession([])
    }

    /// Commands that begin and are refused at the same moment are few.
    private static let mostLooks = 5

    /// Runs `body`. If it refuses a run that has begun, the remedy says how a new plan leaves out
    /// the devices that were reached.
    private func goingOn(_ step: SendGate.Step, _ body: () throws -> Void) throws {
        do { try body() } catch var mistake as Diagnostic where step != .begin || run.plan.retryOf != nil {
            // No change can be undone in a damaged file, and it has no report of the devices that
            // it reached.
            if mistake.remedies.contains(.ask(.restoreRun(run.plan.id))) { throw mistake }
            (mistake.remedy, mistake.remedies) = try RefusalText.remedyForChanges(run, settings)
            throw mistake
        }
    }

    /// Whether the run needs an approval that it does not have. A test goes to the app's own test
    /// devices, so it needs none. A plan that was made before volley.yaml required approval needs
    /// one too.
    /// - Parameter presents: every volley.yaml that counts for the run; see `CurrentProject.all`.
    func lacksApproval(_ presents: [CurrentProject]) throws -> Bool {
        guard try !run.plan.isTest && run.approval() == nil else { return false }
        return settings.needsApproval || presents.contains { $0.demandsApproval } || demandBesideCampaign.binds
    }

    private var demandBesideCampaign: ApprovalDemand { ApprovalDemand(of: run, settings) }

    /// Another run of the campaign that a process is sending; nil if none is. Both together would
    /// push twice to each device. A run for a scheduled time may be sent at the same time as
    /// others, because each time is sent once; so may a retry.
    private func runBeingSentBeside() throws -> RunFile? {
        guard run.plan.retryOf == nil, !run.plan.isTest, time == nil else { return nil }
        return try run.catalog.sendingNow(of: run.plan.campaign).first { other in
            defer { other.close() }
            guard other.plan.id != run.plan.id, other.plan.app == run.plan.app, !other.plan.isTest else { return false }
            let theirs = try other.plan.settings.get()
            return try other.unlessRemoved { try settings.sharesList(with: theirs.listName) && run.yields(to: $0) }
                ?? false
        }
    }

    /// Checks that no other retry of the same run has the same devices, before a retry sends its
    /// first push. Two retries can share devices if one was planned where it could not see the
    /// other's file.
    /// - Parameter recorded: other retries of the run that were noted as about to begin on this
    ///   machine.
    func checkSiblings(_ step: SendGate.Step, onRecord recorded: [String]) throws {
        // A process may have ended after the file said that the retry has begun, and before its
        // store did.
        guard let parent = run.plan.retryOf, try step == .begin || step == .goOn && run.claims().made == 0 else {
            return
        }
        let chain = try RunChain(of: run)
        // What other machines have sent is not on record here, but in files that were fetched.
        let fetched = try chain.standingRetries(of: parent).filter { try $0.copiedAt() != nil }.map(\.plan.id)
        let siblings = Set(recorded).subtracting(try chain.abandonedRetries(of: parent, record)).union(fetched).sorted()
        guard !siblings.isEmpty else { return }
        var own: Set<Target> = []
        try run.forEachResult { _, recipient, _, _ in own.insert(recipient.token) }
        for sibling in siblings {
            var isShared = false
            do {
                let other = try run.catalog.open(sibling)
                defer { other.close() }
                try other.forEachResult { _, recipient, _, _ in isShared = isShared || own.contains(recipient.token) }
            } catch { throw RefusalText.siblingIsUnreadable(run, sibling: sibling, error) }
            if isShared { throw try RefusalText.siblingHasSent(run, settings, sibling: sibling) }
        }
    }

    private func retries() throws -> [RunFile] { try RunChain(of: run).standingRetries(of: run.plan.id) }

    func parentWentOn() throws -> Bool {
        // A run that was fetched names the epochs of another machine. Whether its parent continued
        // is in the store (`RunsInStore`).
        guard let id = run.plan.retryOf, try run.copiedAt() == nil else { return false }
        if let epoch = settings.parentEpoch, let entry = try record.entry(of: id) { return !entry.names(epoch) }
        guard run.catalog.holds(id), let parent = try? run.catalog.open(id) else { return false }
        defer { parent.close() }
        let status = try parent.status()
        // The parent was over when the retry was planned. A held lock proves nothing: a command may
        // be about to resume the parent, and will find the retry.
        return ![.finished, .cancelled].contains(status.state)
            || status.finishedAt.map { $0 > run.plan.plannedAt } ?? false
    }

    // MARK: - Messages

    private func refused(_ why: SendGate.Refusal, _ look: Inspection, _ step: SendGate.Step) throws -> SendRefused {
        SendRefused(why: why, diagnostics: try look.texts[why] ?? [diagnostic(why, step)])
    }

    private func diagnostic(_ why: SendGate.Refusal, _ step: SendGate.Step) throws -> Diagnostic {
        switch why {
        case .isOutdated: outdated()
        case .hasBegun:
            try LedgerGap.restored(run) ?? RefusalText.hasBegun(run, moment: try record.entry(of: run.plan.id)?.begunAt)
        case .hasOtherState:
            try LedgerGap.held(run) ?? retryOfSuperseded(step) ?? RefusalText.state(run, run.status().state, step)
        case .neverBegun: RefusalText.neverBegun(run, settings, step)
        case .needsApproval: RefusalText.needsApproval(run, step, demandBesideCampaign)
        case .isRetried: try RefusalText.isRetried(run, by: retries().last, else: record.retries(of: run.plan.id).last)
        case .parentWentOn: RefusalText.parentWentOn(run, settings)
        case .isTooLate: RefusalText.isTooLate(run, settings)
        case .isBusy, .isMisplaced, .isChanged, .settingsChanged, .timeIsTaken, .runsBesideAnother, .isSuperseded:
            // `inspect` and `pass` supply the messages of these.
            Diagnostic("the run cannot be sent now", file: run.place, remedy: "Nothing was sent; try again.")
        }
    }

    private func outdated() -> Diagnostic {
        LedgerGap(of: run)?.diagnostic ?? LedgerGap.restored(run)
            ?? LedgerGap.isOutdated(run, moment: (try? record.entry(of: run.plan.id))?.begunAt)
    }
}

extension SendPermission {
    /// Uses the settings that the plan froze.
    /// - Throws: `Diagnostic`: the settings cannot be read.
    init(_ run: RunFile, in choice: ProjectChoice, isScheduler: Bool = false, isKept: Bool = true) throws {
        try self.init(
            run: run, settings: run.plan.settings.get(), choice: choice, isScheduler: isScheduler, isKept: isKept)
    }
}

extension SendGate.Facts {
    /// The facts before any check: each of them would let the run pass.
    fileprivate static let unknown = SendGate.Facts(
        isInPlace: true, isOutdated: false, state: .planned, hasBegun: false, isUnchanged: true, settingsHold: true,
        lacksApproval: false,
        isRetried: false, parentWentOn: false, isTooLate: false, runsBesideAnother: false, isSuperseded: false,
        time: .unscheduled)
}

extension SendGate.Facts.State {
    fileprivate init(_ state: RunState) {
        switch state {
        case .planned: self = .planned
        case .running, .paused, .stopped: self = .underway
        case .finished: self = .finished
        case .cancelled: self = .cancelled
        }
    }
}
