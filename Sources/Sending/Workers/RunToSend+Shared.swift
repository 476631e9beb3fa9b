import Base
import Campaigns
import Delivery
import Cluster
import PushServices
import Runs
import Workspace

/// Sending a run through the store, from the machine that has its file.
extension RunToSend {
    /// Whether other machines may help to send the run: volley.yaml names a store, and the run goes
    /// to servers that they can also reach.
    static func goesThroughStore(_ plan: RunPlan, _ project: Project, _ settings: RunSettings) -> Bool {
        project.store != nil && !plan.isTest
            && !settings.services.contains { $0.environment.isSimulator }
    }

    /// The same of this run.
    var goesThroughStore: Bool { Self.goesThroughStore(run.plan, project, settings) && !run.isWithoutStore }

    /// Sets this process's clock by the store's, before the first token is dated, and tells the
    /// store of orders to other runs that it missed.
    /// - Throws: `Diagnostic`: the store cannot be used. Nothing was sent.
    static func askStore(of project: Project, for run: RunFile, _ context: SendingContext) throws {
        guard let settings = project.store else { return }
        let store = try StoreAddress(variable: settings.variable).open(asked: context.cancellation)
        context.clock.correct(bySeconds: try store.clockOffsetSeconds())
        let others = ((try? store.runsToSend(ofApps: project.apps.map(\.name.value))) ?? []).filter {
            $0 != run.plan.id
        }
        passOnOrders(ofRuns: others, store, in: run.catalog)
    }

    /// Publishes the run, sends it until it has ended for all, and brings back its outcomes.
    /// - Parameters:
    ///   - stage: for the run's own file.
    ///   - time: the time of a schedule that begins with it; nil without one.
    ///   - others: the runs of the campaign that had begun when `RunsInStore` judged them.
    ///   - former: what the file said before.
    /// - Returns: how it ended, as the file says.
    func sendShared(
        _ stage: RunSender, _ options: RunOptions, for time: SharedFiring?, besides others: JudgedRuns?,
        after former: FormerEpoch
    ) -> RunEnd {
        var opened: Store?
        let ledger: SharedLedger, end: RunEnd
        let waiting: ([String]) -> Void = { options.observer(.waitingForMachines($0)) }
        do {
            guard let settings = project.store else { return stage.send() }
            let store = try StoreAddress(variable: settings.variable).open(asked: options.cancellation, isPatient: true)
            {
                [observer = options.observer] in observer($0.map(RunEvent.storeAway) ?? .storeBack)
            }
            opened = store
            // A run that was begun without the store continues without it.
            if try run.claims().made > 0, try run.sharedSince() == nil, try !store.holds(run.plan.id) {
                others?.lock?.release()
                return stage.send()
            }
            ledger = try store.publish(run)
            if let end = try sendWithoutStore(stage, ledger, after: former, besides: others, waiting) { return end }
            ledger.begins(time)
            ledger.begins(besides: time == nil ? others : nil)
            end = known(try sendAsWorker(stage, ledger, after: former, waiting), ledger)
        } catch StoreRefusal.isOvertaken(let runs) {
            let end = RunEnd.stopped(.described("\(StoreRefusal.isOvertaken(runs))"))
            do {
                // If it never began there, its file has all of it.
                try opened?.reopen(run)?.fetch()
                guard former.isCancelled else { return stage.recorded(end) }
                try run.append(.state(.cancelled, cause: .cancelled, at: .now()))
                return end
            } catch { return stage.recorded(.stopped(.ledger(.unusable("\(error)")))) }
        } catch { return ended(by: error, stage, opened) ?? stage.recorded(.stopped(.ledger(.unusable("\(error)")))) }
        do {
            try ledger.awaitLastAnswers(waiting: waiting)
            try ledger.fetch()
        } catch {
            return ended(by: error, stage, opened) ?? stage.recorded(.stopped(.ledger(.recordingFailed("\(error)"))))
        }
        shareReached(ledger, options.observer)
        let recorded = stage.recorded(end)
        guard recorded == .cancelled else { return recorded }
        do { try noteForgetting(ledger) } catch { return .stopped(.ledger(.endNotRecorded("\(error)"))) }
        return recorded
    }

    /// Sends as a worker of the run until it has ended, for all or for this process. A process that
    /// was suspended, or was cut off from the store, and was declared dead takes part again, as
    /// another worker: the others may have gone on, or ended the run.
    private func sendAsWorker(
        _ stage: RunSender, _ ledger: SharedLedger, after former: FormerEpoch, _ waiting: ([String]) -> Void
    ) throws -> RunEnd {
        let epoch = try run.status().epoch
        var hasBegun = false
        while true {
            do {
                // What others have decided about this epoch since must not be taken back.
                if !hasBegun {
                    try ledger.takeUp(
                        epoch: epoch, after: former.epoch, isAfterAll: former.isCancelled,
                        at: stage.options.context.clock.now(),
                        waiting: waiting)
                    hasBegun = true
                }
                let end = try stage.send(through: ledger, file: run)
                guard end == .stopped(.ledger(.takenOver)), !ledger.store.isGivenUp else { return end }
            } catch is SendingRevoked {}
            stage.options.observer(.rejoins)
            stage.options.cancellation.wait(milliseconds: Self.rejoiningMilliseconds)
            try ledger.rejoin()
            if !hasBegun { hasBegun = try ledger.status().epoch == epoch }
        }
    }

    /// Before a worker that was declared dead joins again: one that cannot stay must not keep the
    /// database busy.
    private static let rejoiningMilliseconds = 500

    /// How the run ended where a person has requested the end, and the store is away or others are
    /// waited for.
    /// - Parameter store: nil before it was reached.
    /// - Returns: nil if something else went wrong.
    private func ended(by error: any Error, _ stage: RunSender, _ store: Store?) -> RunEnd? {
        let isGivenUp = store?.isGivenUp ?? true
        guard stage.options.cancellation.isRequested, isGivenUp || error is CancellationError else { return nil }
        let isShared = (try? run.sharedSince()) != nil
        if isGivenUp, isShared {
            stage.options.observer(.warnings([untold((try? run.orderToPassOn()) ?? nil)]))
        }
        return stage.recorded(.interrupted)
    }

    /// What the store has not got as the process ends.
    /// - Parameter order: that was given before; nil for the interruption alone.
    private func untold(_ order: RunOrder?) -> Diagnostic {
        let id = run.plan.id
        let (what, remedy, remedies): (String, String, [Remedy]) =
            switch order {
            case .cancel:
                ("cancelled", "`volley cancel \(id)`, once it does, ends the run for all.", [.cancel(run: id)])
            case .pause:
                (
                    "paused",
                    "`volley pause \(id)`, once it does, pauses the run for all; `volley cancel \(id)` ends it.",
                    [.cancel(run: id)]
                )
            case .goOn, nil:
                (
                    "interrupted",
                    "`volley cancel \(id)` ends the run for all then; `volley resume \(id)` takes part again.",
                    [.cancel(run: id), .resume(run: id)]
                )
            }
        return Diagnostic(
            "the store could not be told that the run was \(what): machines that help continue it once the store answers",
            file: run.place,
            remedy: remedy, remedies, severity: .warning)
    }
}

extension RunToSend {
    /// Tells other machines which devices the run has sent to, for their frequency caps.
    private func shareReached(_ ledger: SharedLedger, _ observer: RunObserver) {
        do { try SharedReached(ledger.store).share(run, settings, project.app(named: run.plan.app)) } catch {
            guard let place = project.store?.variable.position else { return }
            observer(.warnings([Project.storeAway(error, at: place)]))
        }
    }
}

extension RunSender {
    /// Sends as a worker until the run has ended for all, or for this process, which is a worker no
    /// longer then.
    /// - Parameter file: the run's own, where this machine has it.
    func send(through ledger: SharedLedger, file: RunFile?) throws -> RunEnd {
        let paces = paces, registry = options.context.paces, id = run.plan.id
        let divided = paces.map { DividedPace($0, ofRun: id, registry) }
        let place = try WorkerSession(ledger, file: file, dividing: divided, setting: options.context.clock)
        defer {
            place.leave()
            for pace in paces { registry.setPart(nil, of: pace, run: id) }
        }
        var stage = self
        stage.run = ledger
        stage.session = place
        stage.clock = place.clock
        return stage.send()
    }
}

extension DividedPace {
    /// A pace as a run of this process divides it with other machines.
    fileprivate init(_ keyed: PaceRegistry.Keyed, ofRun run: String, _ registry: PaceRegistry) {
        self.init(
            key: keyed.key, whole: keyed.pace.pace,
            use: { Use(used: registry.used(of: keyed, run: run), left: keyed.pace.left, least: keyed.pace.leastPart) },
            take: { registry.setPart($0, of: keyed, run: run) })
    }
}

/// What a run's file said before the epoch that has just begun.
struct FormerEpoch: Hashable, Sendable {
    /// The epoch; blank if there was none.
    var epoch: String
    /// Why the run had stopped.
    var cause: StopCause?
    /// Whether the file said that it was cancelled: then the person that resumes it knows that.
    var isCancelled: Bool

    /// To be made before the gate is passed.
    init(of run: any RunLedger) throws {
        let status = try run.status()
        (epoch, cause, isCancelled) = (status.epoch, status.cause, status.state == .cancelled)
    }

    /// Whether the file said that the store has forgotten something: then the person that resumes
    /// it knows that.
    var isForgetting: Bool { cause?.isForgetting ?? false }
}

/// A run that continues from its file alone, because its store has forgotten something.
extension RunToSend {
    /// How the run ended. The store has the cause when it no longer has this worker.
    func known(_ end: RunEnd, _ ledger: SharedLedger) -> RunEnd {
        guard case .stopped(.ledger(.takenOver)) = end, let stop = try? ledger.forgetting() else { return end }
        return .stopped(.ledger(stop))
    }

    /// Notes in the file of a cancelled run what its store has forgotten: devices that are unsent
    /// there may have got the push.
    func noteForgetting(_ ledger: SharedLedger) throws {
        // If the run was removed from the store, nothing more can be learned.
        guard let stop = try? ledger.forgetting() else { return }
        try run.append(.state(.cancelled, cause: .ledger(stop), at: .now(), from: [.cancelled]))
    }

    /// Ends a run whose store has forgotten something, or continues it alone. It continues only if
    /// the file said so before: a person must have decided.
    /// - Parameters:
    ///   - others: the runs of the campaign that had begun when it was judged.
    ///   - waiting: called with the machines that are waited for, at each look.
    /// - Returns: how it ended; nil if the store has no sign that it has forgotten something.
    func sendWithoutStore(
        _ stage: RunSender, _ ledger: SharedLedger, after former: FormerEpoch, besides others: JudgedRuns?,
        _ waiting: ([String]) -> Void
    ) throws -> RunEnd? {
        guard let stop = try ledger.forgetting() else { return nil }
        guard former.isForgetting else {
            try ledger.fetch()
            return stage.recorded(.stopped(.ledger(stop)))
        }
        do { try ledger.takeBack(at: .now(), waiting: waiting) } catch {
            // The next resumption tries again.
            _ = stage.recorded(.stopped(.ledger(stop)))
            return .stopped(.ledger(.unusable("\(error)")))
        }
        others?.lock?.release()
        return stage.send()
    }
}
