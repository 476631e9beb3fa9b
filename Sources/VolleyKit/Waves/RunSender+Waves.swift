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
        console.detail(
            "Sending to \(TextFormat.count(wave.ids.count)) devices at \(localWords(wave, clock.now())).")
        return try deliver(with: Sender(senderSettings(startingAt: start)), wave.ids, until: moment, after: &earlier)
    }

    private func skip(_ wave: RunWave, seconds: Int, at now: Timestamp) throws {
        try deferPushes(before: wave)
        let count = try run.defer(wave.ids, reason: Self.tooLate, isTooLate: true, at: now)
        guard count > 0 else { return }
        console.warn(
            "\(TextFormat.count(count)) device\(count == 1 ? " was" : "s were") to get the push at \(localWords(wave, wave.due)): "
                + "that is too late by \(TextFormat.duration(seconds: Double(seconds))), so \(count == 1 ? "it gets" : "they get") none (schedule.late). "
                + "`volley retry \(run.plan.id) --outcome unsent` sends to them all the same, once the run is over.")
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

    /// `09:00 in Asia/Tokyo (2026-12-01T00:00:00Z)`
    private func localWords(_ wave: RunWave, _ moment: Timestamp) -> String {
        guard let zone = try? run.zone(of: wave) else { return moment.description }
        return "\(zone.localTime(at: moment).words) in \(zone.name) (\(moment))"
    }

    // MARK: - Waiting

    /// Looks into the run file every so many rests.
    private static let restsPerLook = 5

    /// Waits for a moment (nil), or until the run is to end; answers also whether it was paused meanwhile.
    private func wait(until moment: Timestamp, for wave: RunWave, left: Int) -> (end: RunEnd?, wasPaused: Bool) {
        var wasPaused = false
        let seconds = Double(moment.epochMilliseconds - clock.now().epochMilliseconds) / 1000
        let others = left > 1 ? "; \(left - 1) more time\(left == 2 ? "" : "s") after that" : ""
        // Quiet hours hold back what was due before.
        let why = moment > wave.due && settings.schedule?.quietHours != nil ? " for the end of quiet hours" : ""
        console.say(
            "Waiting \(TextFormat.duration(seconds: seconds))\(why) until \(localWords(wave, moment))\(others). "
                + "Ctrl-C ends here, and `volley resume \(run.plan.id)` goes on.")
        var rests = 0
        defer { console.clearProgress() }
        while clock.now() < moment {
            clock.rest()
            isAlive()
            rests += 1
            if Interruption.isRequested { return (.interrupted, wasPaused) }
            guard rests % Self.restsPerLook == 0 else { continue }
            if console.showsProgress {
                let left = max(0, moment.epochSeconds - clock.now().epochSeconds)
                console.progress("waiting  \(TextFormat.span(seconds: left))\(why) until \(localWords(wave, moment))")
            }
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
}
