import Base
import Campaigns
import Cluster
import Runs

/// With a store, the `volley schedule` of several machines plan and send each time once: the store
/// decides which of them has it, and the record of each machine keeps that machine's own state.
extension ScheduleDaemon {
    /// Whether times may become due. Not while the store is away, nor when it has just come up:
    /// another machine may have them.
    func mayFindTimes(at now: Timestamp) throws -> Bool {
        guard let service else { return true }
        guard service.isInTouch else {
            noteStore(service.trouble)
            return false
        }
        if service.hasToWrite, let trouble = try writeAgain(service, at: now) {
            noteStore(trouble)
            return false
        }
        noteStore(nil)
        guard service.mayFind else {
            noteQuiet()
            return false
        }
        isQuiet = false
        for state in [SharedFiring.State.skipped, .over] {
            let runs = givenUp.filter { $0.value == state }.map(\.key).sorted()
            guard !runs.isEmpty, (try? service.end(runs, as: state)) != nil else { continue }
            for run in runs { givenUp[run] = nil }
        }
        for orphan in service.orphans { try takeOver(orphan, service, at: now) }
        return true
    }

    private func noteQuiet() {
        if !isQuiet { observer(.storeQuiet) }
        isQuiet = true
    }

    private func noteStore(_ trouble: Diagnostic?) {
        guard trouble != nil || service?.isInTouch ?? false else { return }
        let since = storeAbsence?.since ?? .now()
        storeAbsence = trouble.map { .init(why: $0, since: since) }
        switch (storeOutageReports.look(isAway: trouble != nil, uptime: Heartbeats.uptime), trouble) {
        case (.away(let seconds), let trouble?):
            observer(.storeAway(trouble, seconds: seconds))
            // The main loop may wait for the store now, as long as it is away.
            report(isUp: true)
        case (.back(let seconds), _): observer(.storeBack(seconds: seconds))
        default: break
        }
    }

    /// Writes this machine's state of times into the store again: others may have declared this
    /// service dead in the meantime, and the store may have lost its own state.
    /// - Returns: why the store could not be reached.
    /// - Throws: an error of this machine's own record, without which nothing may be sent.
    private func writeAgain(_ service: ScheduleService, at now: Timestamp) throws -> Diagnostic? {
        let runs = try store.scheduledRuns(since: now.adding(seconds: -Scheduler.lookBackSeconds))
        for run in runs where !run.state.isOpen { noteEnd(of: run) }
        var lost: [(run: ScheduledRun, holder: SharedFiring)] = [], own: Set<ScheduledRun.Key> = []
        let open = scheduler.open.filter { sending[$0.key] == nil }.map(\.value.scheduledRun)
        let firings = runs.compactMap(onRecord)
        do {
            try service.write(firings) {
                for run in open.sorted(by: { $0.key.description < $1.key.description }) {
                    // If a campaign's file is gone, its time is claimed when its run is sent.
                    guard let firing = firing(run, .claimed) else { continue }
                    if let holder = try service.claim(firing, until: isOver) {
                        lost.append((run, holder))
                    } else {
                        own.insert(run.key)
                    }
                }
            }
        } catch { return Diagnostic(explaining: error) }
        claimed = own
        for (run, holder) in lost {
            observer(.elsewhere(run.key, machine: holder.machine, run: holder.run))
            try perform(scheduler.lost(run.key, to: .elsewhere(machine: holder.machine, run: holder.run), at: now))
        }
        return nil
    }

    /// A time as this machine's own record has it; nil if another machine has it, and if the store
    /// does not need it.
    private func onRecord(_ run: ScheduledRun) -> SharedFiring? {
        switch run.state {
        case .planning, .waiting: firing(run, .claimed)
        case .sending: firing(run, hasBegun(run) ? .begun : .claimed)
        case .finished, .stopped: firing(run, .begun)
        case .cancelled: firing(run, .over)
        case .skipped where run.problem?.isElsewhere ?? false: nil
        case .skipped: run.run != nil || run.isLeftOut ? firing(run, .skipped) : nil
        }
    }

    /// Whether any push of a run may have been sent.
    private func hasBegun(_ run: ScheduledRun) -> Bool {
        guard let id = run.run, work.catalog.holds(id) else { return false }
        return (try? reading(id) { try $0.hasBegun() }) ?? true
    }

    private func reading<Value>(_ id: String, _ body: (RunFile) throws -> Value) throws -> Value {
        let run = try work.catalog.open(id)
        defer { run.close() }
        return try body(run)
    }

    private func takeOver(_ orphan: SharedFiring, _ service: ScheduleService, at now: Timestamp) throws {
        let key = ScheduledRun.Key(campaign: orphan.campaign, occurrence: orphan.occurrence)
        guard let (run, actions) = scheduler.takeOver(key, of: orphan.app, at: now) else { return }
        guard let firing = firing(run, .claimed), try service.claim(firing, until: isOver) == nil,
            try store.claim(run).holder == nil
        else { return scheduler.taken(key) }
        claimed.insert(key)
        observer(.takenOver(key, from: orphan.machine))
        try perform(actions)
    }

    /// Claims times before they are saved.
    /// - Parameter taken: gets the times that other machines have.
    /// - Returns: what must be saved; nil if the process ends while the store is away: then nothing
    ///   is, and the next process finds the times due.
    func claimed(_ runs: [ScheduledRun], _ taken: inout Set<ScheduledRun.Key>) throws -> [ScheduledRun]? {
        guard let service else { return runs }
        var saved: [ScheduledRun] = []
        for run in runs {
            noteEnd(of: run)
            let isNew = run.state == .planning && !claimed.contains(run.key)
            guard isNew || run.isLeftOut, let firing = firing(run, isNew ? .claimed : .skipped) else {
                saved.append(run)
                continue
            }
            let holder: SharedFiring?
            do { holder = try service.claim(firing, until: isOver) } catch {
                guard cancellation.isRequested else { throw error }
                for run in runs { scheduler.taken(run.key) }
                taken.formUnion(runs.map(\.key))
                return nil
            }
            guard let holder else {
                claimed.insert(run.key)
                saved.append(run)
                continue
            }
            taken.insert(run.key)
            scheduler.taken(run.key)
            // A time that a person wanted to skip is left to the machine that has it: the order is
            // refused.
            guard isNew else { continue }
            observer(.elsewhere(run.key, machine: holder.machine, run: holder.run))
            var elsewhere = run
            (elsewhere.run, elsewhere.state) = (nil, .skipped)
            elsewhere.problem = .elsewhere(machine: holder.machine, run: holder.run)
            saved.append(elsewhere)
        }
        return saved
    }

    /// Notes a time that this machine had claimed and will not send.
    func noteEnd(of run: ScheduledRun) {
        guard service != nil, !run.state.isOpen, run.state != .finished, !(run.problem?.isElsewhere ?? false),
            let id = run.run
        else {
            return
        }
        givenUp[id] = run.state == .skipped ? .skipped : .over
    }

    private func firing(_ run: ScheduledRun, _ state: SharedFiring.State) -> SharedFiring? {
        guard let app = scheduler.campaigns[run.key.campaign]?.app ?? appOfPlan(run, state) else { return nil }
        return SharedFiring(
            app: app, campaign: run.key.campaign, occurrence: run.key.occurrence, run: run.run ?? "", state: state)
    }

    /// The app of a campaign whose file is gone, from the plan of a run that was sent.
    private func appOfPlan(_ run: ScheduledRun, _ state: SharedFiring.State) -> String? {
        guard state == .begun, let id = run.run else { return nil }
        return try? reading(id) { $0.plan.app }
    }

    /// Whether to give up a claim that the store does not answer.
    private func isOver() -> Bool {
        noteStore(service?.trouble)
        return cancellation.isRequested
    }
}

/// When to say that the store is away: at once, then every ten minutes, so that the end of a log
/// shows it; and that it is back.
struct StoreOutageReports {
    enum News: Hashable { case away(seconds: Int), back(seconds: Int) }

    private static let pauseSeconds = 600.0

    private var since: Double?
    private var toldAt = 0.0

    /// - Parameter uptime: seconds of a clock that is never set.
    mutating func look(isAway: Bool, uptime: Double) -> News? {
        guard isAway else {
            defer { since = nil }
            return since.map { .back(seconds: Int(uptime - $0)) }
        }
        let begin = since ?? uptime
        guard since == nil || uptime - toldAt >= Self.pauseSeconds else { return nil }
        (since, toldAt) = (begin, uptime)
        return .away(seconds: Int(uptime - begin))
    }
}
