import Base
import Campaigns
import Runs

extension WaveAgenda {
    /// Collects what is left of a run's waves.
    package init(of run: any RunLedger, _ settings: RunSettings) throws {
        let (skipped, claims) = (try run.skippedWaves(), try run.claims())
        let waves = try run.plan.waves.map { wave in
            let isOver =
                try skipped.contains(wave.ids.lowerBound)
                || claims.contains(all: wave.ids)
                    && run.plan.legs(of: wave.ids).allSatisfy { leg in
                        try run.isSettled(
                            leg.ids, resendsUnknown: settings.ofService(leg.service).unknownPolicy == .resend, closing: [.frequencyCap])
                    }
            return (zone: try run.zone(of: wave), due: wave.due, isOver: isOver)
        }
        let schedule = settings.schedule
        self.init(
            waves, quietHours: schedule?.quietHours, late: schedule?.late ?? .send, planning: schedule?.planning,
            lastActivity: try run.lastClaim())
    }

    /// Whether it is too late for every wave.
    func isTooLateForAll(at now: Timestamp) -> Bool {
        var agenda = self
        while case .skip(let wave, _) = agenda.next(at: now) { agenda.markDone(wave) }
        return agenda.left == 0
    }
}

extension RunLedger {
    /// The time zone of a wave's devices.
    func zone(of wave: RunWave) throws(Diagnostic) -> ZoneRules {
        do throws(Mistake) { return try ZoneDatabase.system.zone(named: wave.zone) } catch {
            throw Diagnostic(error.message, file: place, remedy: error.remedy)
        }
    }
}
