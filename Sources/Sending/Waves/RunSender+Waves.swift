import Base
import Delivery
import Cluster
import Runs

/// The sending of a run in waves: one sender for each wave, and waits between them.
extension RunSender {
    /// Sends wave after wave, waits between them, and carries out orders from other processes while
    /// it waits.
    func sendWaves() throws -> RunEnd {
        var agenda = try WaveAgenda(of: run, settings)
        var rounds = try begunRounds()
        var deferred = ClaimSet()
        var sent = SentWaves()
        while true {
            agenda.reopen(try reopened(of: &sent), at: clock.now())
            let now = clock.now()
            switch agenda.next(at: now) {
            case .finished:
                if try isOver() { return ended(rounds) }
                if let end = session?.end { return end }
                agenda = try WaveAgenda(of: run, settings)
            case .skip(let wave, _) where !isCoordinating: agenda.markDone(wave)
            case .skip(let wave, let seconds):
                try deferPushes(before: run.plan.waves[wave], besides: &deferred)
                try skip(run.plan.waves[wave], seconds: seconds, at: now)
                agenda.markDone(wave)
            case .wait(let moment, let wave):
                try run.append(.rested)
                var again: [Int] = []
                let (end, wasPaused) = try wait(until: moment, for: run.plan.waves[wave], left: agenda.left) {
                    again = try reopened(of: &sent)
                    return !again.isEmpty
                }
                agenda.reopen(again, at: clock.now())
                if let end { return end }
                // During the wait, approval may have become required, settings may have changed, or
                // another run may have reached the remaining devices.
                if let refusal = try refusal() { return .stopped(.described("\(refusal)")) }
                if wasPaused { agenda.noteActivity(at: clock.now()) }
            case .deliver(let wave, let moment):
                try deferPushes(before: run.plan.waves[wave], besides: &deferred)
                let (end, asked) = try deliver(run.plan.waves[wave], until: moment, in: &rounds)
                agenda.noteActivity(at: clock.now())
                try session?.ledger.returnLeases()
                switch (end, asked) {
                case (.finished, _):
                    agenda.markDone(wave)
                    if session != nil { sent.insert(wave) }
                case (.stopped(let cause), _): return .stopped(cause)
                case (.interrupted, .quietHours): break
                case (.cancelled, _): return .cancelled
                case (.interrupted, .paused):
                    try run.append(.rested)
                    if let end = waitWhilePaused() { return end }
                    // The person that pauses decides when to continue; a pause makes no device
                    // late.
                    agenda.noteActivity(at: clock.now())
                case (.interrupted, _):
                    // A service that another worker stopped ends its segment only.
                    guard let session, !options.cancellation.isRequested else { return .interrupted }
                    if let end = session.end { return end }
                }
            }
        }
    }

    private func deliver(_ wave: RunWave, until moment: Timestamp?, in rounds: inout SendRounds) throws -> (
        RunEnd, SendControl.StopRequest?
    ) {
        let calls = try recordLost()
        let start = WaveAgenda.start(
            try run.claims().first(of: wave.ids), at: clock.now(), settings.schedule?.quietHours,
            try zone(of: wave, in: run))
        options.observer(.wave(devices: wave.ids.count, at: time(clock.now(), of: wave)))
        return try deliver(wave.ids, startingAt: start, until: moment, after: calls, in: &rounds)
    }

    private func skip(_ wave: RunWave, seconds: Int, at now: Timestamp) throws {
        let count = try run.append(.deferred(wave.ids, .tooLate, isTooLate: true, at: now)).count
        if count > 0 {
            options.observer(
                .tooLate(run: run.plan.id, devices: count, wave: time(wave.due, of: wave), seconds: seconds))
        }
    }

    /// Records why the devices before a wave that were passed over are unsent: they wait for the
    /// end of quiet hours.
    /// - Parameter deferred: devices that this process has recorded as deferred; the newly deferred
    ///   ones are added.
    private func deferPushes(before wave: RunWave, besides deferred: inout ClaimSet) throws {
        guard isCoordinating else { return }
        for ids in try run.claims().claimed.gaps(in: 0..<wave.ids.lowerBound).flatMap({ deferred.gaps(in: $0) }) {
            try run.append(.deferred(ids, .quietHours, isTooLate: false, at: clock.now()))
            deferred.insert(ids)
        }
    }

    private func time(_ moment: Timestamp, of wave: RunWave) -> RunEvent.WaveTime {
        RunEvent.WaveTime(moment: moment, zone: try? zone(of: wave, in: run))
    }

    // MARK: - Waiting

    /// The longest time between two checks of the run file and of the clock, which may be set in
    /// between; in milliseconds.
    private static let longestRest = 500

    /// Waits until a moment, or until the run must end.
    /// - Parameter hasWork: called now and then; true ends the wait.
    /// - Returns: how the run ended, nil if it continues; whether it was paused during the wait.
    private func wait(
        until moment: Timestamp, for wave: RunWave, left: Int, unless hasWork: () throws -> Bool
    ) rethrows -> (end: RunEnd?, wasPaused: Bool) {
        var wasPaused = false
        var progress = RunEvent.WaveWait(
            run: run.plan.id, until: time(moment, of: wave), seconds: seconds(until: moment),
            // A wave that was due earlier is held back by quiet hours.
            isForQuietHours: moment > wave.due && settings.schedule?.quietHours != nil, later: left - 1)
        options.observer(.waiting(progress))
        defer { options.observer(.progressOver) }
        while clock.now() < moment {
            clock.rest(
                Int(min(Int64(Self.longestRest), max(1, moment.epochMilliseconds - clock.now().epochMilliseconds))),
                options.cancellation
            )
            options.observer(.tick)
            if options.cancellation.isRequested { return (.interrupted, wasPaused) }
            progress.seconds = max(0, seconds(until: moment))
            options.observer(.waitingProgress(progress))
            if let loss = run.loss(during: .waiting) { return (.stopped(.ledger(loss)), wasPaused) }
            if let end = session?.end { return (end, wasPaused) }
            switch order {
            case .pause:
                if let end = waitWhilePaused() { return (end, true) }
                wasPaused = true
            case .cancel: return (.cancelled, wasPaused)
            case .goOn, nil: break
            }
            if try hasWork() { break }
        }
        return (nil, wasPaused)
    }

    private func seconds(until moment: Timestamp) -> Double {
        Double(moment.epochMilliseconds - clock.now().epochMilliseconds) / 1000
    }
}
