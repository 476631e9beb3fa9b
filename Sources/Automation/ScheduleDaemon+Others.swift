import Base
import Campaigns
import PostgresRuns
import Runs

/// With a store, the `volley schedule` of several machines plan and send each time once: the store decides which of them has it, and the record of each
/// machine keeps what that machine knows.
extension ScheduleDaemon {
    /// Whether times may be found due. Not while the store is away: another machine may have them.
    func isInTouch(at now: Timestamp) throws -> Bool {
        guard let service else { return true }
        guard service.isInTouch else {
            noteStore(service.trouble)
            return false
        }
        noteStore(nil)
        if service.joined != joined {
            joined = service.joined
            try claimAgain(service, at: now)
        }
        for state in [SharedFiring.State.skipped, .over] {
            let runs = givenUp.filter { $0.value == state }.map(\.key).sorted()
            guard !runs.isEmpty, (try? service.end(runs, as: state)) != nil else { continue }
            for run in runs { givenUp[run] = nil }
        }
        for orphan in service.orphans { try takeOver(orphan, service, at: now) }
        return true
    }

    private func noteStore(_ trouble: Diagnostic?) {
        if let trouble, !isStoreAway {
            isStoreAway = true
            observer(.storeAway(trouble))
        } else if trouble == nil, isStoreAway, service?.isInTouch ?? false {
            isStoreAway = false
            observer(.storeBack)
        }
    }

    /// Claims all open times once more: others may have declared this service dead meanwhile. What was given up before is said again, too.
    private func claimAgain(_ service: ScheduleService, at now: Timestamp) throws {
        let since = now.adding(seconds: -Scheduler.lookBackSeconds)
        for run in try store.scheduledRuns(since: since) where !run.state.isOpen { noteEnd(of: run) }
        claimed = []
        let open = scheduler.open.filter { sending[$0.key] == nil }.map(\.value.scheduledRun)
        for run in open.sorted(by: { $0.key.description < $1.key.description }) {
            // Of a campaign whose file is gone, the time is claimed when its run is sent.
            guard let firing = firing(run, .claimed) else { continue }
            guard let holder = try service.claim(firing, until: isOver) else {
                claimed.insert(run.key)
                continue
            }
            observer(.elsewhere(run.key, machine: holder.machine, run: holder.run))
            try perform(scheduler.lost(run.key, to: .elsewhere(machine: holder.machine, run: holder.run), at: now))
        }
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
    /// - Returns: what is to be saved; nil if the process ends while the store is away: then nothing is, and the next process finds the times due.
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
            // What a person wanted to leave out is left to whoever has it: the order is refused.
            guard isNew else { continue }
            observer(.elsewhere(run.key, machine: holder.machine, run: holder.run))
            var elsewhere = run
            (elsewhere.run, elsewhere.state) = (nil, .skipped)
            elsewhere.problem = .elsewhere(machine: holder.machine, run: holder.run)
            saved.append(elsewhere)
        }
        return saved
    }

    /// Notes a time that this machine had claimed and sends nothing for.
    private func noteEnd(of run: ScheduledRun) {
        guard service != nil, !run.state.isOpen, run.state != .finished, !(run.problem?.isElsewhere ?? false), let id = run.run else {
            return
        }
        givenUp[id] = run.state == .skipped ? .skipped : .over
    }

    private func firing(_ run: ScheduledRun, _ state: SharedFiring.State) -> SharedFiring? {
        guard let app = scheduler.campaigns[run.key.campaign]?.app else { return nil }
        return SharedFiring(app: app, campaign: run.key.campaign, occurrence: run.key.occurrence, run: run.run ?? "", state: state)
    }

    /// Whether a claim that the store does not answer is given up.
    private func isOver() -> Bool {
        noteStore(service?.trouble)
        return cancellation.isRequested
    }
}
