import Base
import Campaigns
import Runs

extension WaveAgenda {
    /// Collects what is left of a run's waves.
    package init(of run: any RunLedger, _ settings: RunSettings) throws {
        let claims = try run.claims()
        let waves = try run.plan.waves.map { wave in
            let isOver =
                try claims.skippedWaves.contains(wave.ids.lowerBound)
                || claims.claimed.contains(all: wave.ids)
                    && run.plan.segments(of: wave.ids).allSatisfy { segment in
                        let resends = settings.ofService(segment.service).unknownPolicy == .resend
                        return try run.unsettled(
                            in: segment.ids, OpenOutcomes(resendsUnknown: resends, closing: [.frequencyCap])
                        ).isEmpty
                    }
            return (zone: try Sending.zone(of: wave, in: run), due: wave.due, isOver: isOver)
        }
        let schedule = settings.schedule
        self.init(
            waves, quietHours: schedule?.quietHours, late: schedule?.late ?? .send, planning: schedule?.planning,
            lastActivity: claims.last)
    }

    /// Whether it is too late for every wave.
    func isTooLateForAll(at now: Timestamp) -> Bool {
        var agenda = self
        while case .skip(let wave, _) = agenda.next(at: now) { agenda.markDone(wave) }
        return agenda.left == 0
    }
}

/// The time zone of a wave's devices.
func zone(of wave: RunWave, in run: any RunLedger) throws(Diagnostic) -> ZoneRules {
    do throws(Mistake) { return try ZoneDatabase.system.zone(named: wave.zone) } catch {
        throw Diagnostic(error.message, file: run.place, remedy: error.remedy)
    }
}
