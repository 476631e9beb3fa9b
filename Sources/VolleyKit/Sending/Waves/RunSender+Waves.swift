import Base
import Delivery
import Runs
import Scheduling

/// A run that goes out in waves: a session of the sender for each, and rests between them.
extension RunSender {
    /// Sends wave after wave, waits between them, and obeys words from elsewhere meanwhile.
    func sendWaves() throws -> RunEnd {
        var agenda = try WaveAgenda(of: run, settings)
        var earlier: EarlierSendings?
        while true {
            let now = clock.now()
            switch agenda.next(at: now) {
            case .finished: return .finished
            case .skip(let wave, let seconds):
                try skip(run.plan.waves[wave], seconds: seconds, at: now)
                agenda.markDone(wave)
            case .wait(let moment, let wave):
                try run.noteEvidenceAtRest()
                let (end, wasPaused) = wait(until: moment, for: run.plan.waves[wave], left: agenda.left)
                if let end { return end }
                // Approval may be demanded since, settings be changed, or another run have reached those who are left.
                if let refusal = try refusal() { return .stopped(reason: "\(refusal)") }
                if wasPaused { agenda.noteActivity(at: clock.now()) }
            case .deliver(let wave, let moment):
                let (end, asked) = try deliver(run.plan.waves[wave], until: moment, after: &earlier)
                agenda.noteActivity(at: clock.now())
                switch (end, asked) {
                case (.finished, _): agenda.markDone(wave)
                case (.stopped(let reason), _): return .stopped(reason: reason)
                case (.interrupted, .quietHours): break
                case (.interrupted, .cancelled): return .cancelled
                case (.interrupted, .paused):
                    try run.noteEvidenceAtRest()
                    if let end = waitWhilePaused() { return end }
                    // Whoever pauses has decided when it goes on: that makes nobody late.
                    agenda.noteActivity(at: clock.now())
                case (.interrupted, _): return .interrupted
                }
            }
        }
    }

    private func deliver(_ wave: RunWave, until moment: Timestamp?, after earlier: inout EarlierSendings?) throws -> (
        SendEnd, SendControl.StopRequest?
    ) {
        try deferPushes(before: wave)
        try recordLost()
        let start = WaveAgenda.start(
            try run.firstClaim(of: wave.ids), at: clock.now(), settings.schedule?.quietHours, try run.zone(of: wave))
        attendance.observer(.wave(devices: wave.ids.count, at: time(clock.now(), of: wave)))
        return try deliver(with: Sender(senderSettings(startingAt: start)), wave.ids, until: moment, after: &earlier)
    }

    private func skip(_ wave: RunWave, seconds: Int, at now: Timestamp) throws {
        try deferPushes(before: wave)
        let count = try run.defer(wave.ids, reason: Self.tooLate, isTooLate: true, at: now)
        if count > 0 { attendance.observer(.tooLate(run: run.plan.id, devices: count, wave: time(wave.due, of: wave), seconds: seconds)) }
    }

    /// Claims leave no gap: who is before a wave, and waits for the end of quiet hours, is put off.
    private func deferPushes(before wave: RunWave) throws {
        let unclaimed = try run.firstUnclaimed()
        guard unclaimed < wave.ids.lowerBound else { return }
        try run.defer(
            unclaimed..<wave.ids.lowerBound, reason: SendControl.StopRequest.quietHours.rawValue, isTooLate: false, at: clock.now())
    }

    /// What the report says of those to whom it became too late.
    static let tooLate = "TooLate"

    private func time(_ moment: Timestamp, of wave: RunWave) -> RunEvent.WaveTime {
        RunEvent.WaveTime(moment: moment, zone: try? run.zone(of: wave))
    }

    // MARK: - Waiting

    /// Looks into the run file every so many rests.
    private static let restsPerLook = 5

    /// Waits for a moment (nil), or until the run is to end; answers also whether it was paused meanwhile.
    private func wait(until moment: Timestamp, for wave: RunWave, left: Int) -> (end: RunEnd?, wasPaused: Bool) {
        var wasPaused = false
        var progress = RunEvent.WaveWait(
            run: run.plan.id, until: time(moment, of: wave), seconds: seconds(until: moment),
            // Quiet hours hold back what was due before.
            isForQuietHours: moment > wave.due && settings.schedule?.quietHours != nil, later: left - 1)
        attendance.observer(.waiting(progress))
        var rests = 0
        defer { attendance.observer(.progressOver) }
        while clock.now() < moment {
            clock.rest()
            attendance.observer(.tick)
            rests += 1
            if attendance.cancellation.isRequested { return (.interrupted, wasPaused) }
            guard rests % Self.restsPerLook == 0 else { continue }
            progress.seconds = max(0, seconds(until: moment))
            attendance.observer(.waitingProgress(progress))
            if let loss = loss(while: "the run was waiting") { return (.stopped(reason: loss), wasPaused) }
            switch try? run.status().state {
            case .paused:
                if let end = waitWhilePaused() { return (end, true) }
                wasPaused = true
            case .cancelled: return (.cancelled, wasPaused)
            default: break
            }
        }
        return (nil, wasPaused)
    }

    private func seconds(until moment: Timestamp) -> Double { Double(moment.epochMilliseconds - clock.now().epochMilliseconds) / 1000 }
}
