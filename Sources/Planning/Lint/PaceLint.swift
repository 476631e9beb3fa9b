import Base
import Campaigns
import PushServices
import Runs

/// Warns about a pace that is too slow to finish in time: before the push expires, before quiet
/// hours begin, before the campaign's next time.
struct PaceLint {
    let context: CampaignContext
    /// How many recipients each service has, and its pace.
    let services: [PreviewService]
    let schedule: PreviewSchedule?
    package let now: Timestamp

    /// The devices whose pushes go out from the same moment on.
    struct Departure {
        var start: Timestamp
        var devices: Int
        var zone: ZoneRules?
    }

    var warnings: [Diagnostic] { services.flatMap(warnings) }

    private func warnings(_ service: PreviewService) -> [Diagnostic] {
        guard let seconds = service.exactSecondsAtPace, service.recipients > 0 else { return [] }
        let devicesPerSecond = Double(service.recipients) / seconds
        let departures = departures(service)
        var (missed, held) = (0, 0)
        var free = departures[0].start
        for departure in departures {
            let begin = max(free, departure.start)
            func left(after seconds: Int64) -> Int {
                departure.devices - min(departure.devices, Int(max(0, Double(seconds)) * devicesPerSecond))
            }
            if let deadline = deadline(of: departure) {
                missed += left(after: deadline.epochSeconds - begin.epochSeconds)
            }
            if let quiet = quietHours, let zone = departure.zone, !quiet.contains(begin, in: zone) {
                held += left(after: quiet.begin(from: begin, in: zone).epochSeconds - begin.epochSeconds)
            }
            free = begin.adding(seconds: Double(departure.devices) / devicesPerSecond)
        }
        let through = services.count > 1 ? " through \(service.service.displayName)" : ""
        let fact =
            "\(service.paceWords), \(TextFormat.devices(service.recipients))\(through) take \(TextFormat.duration(seconds: seconds))"
        var found: [Diagnostic] = []
        if missed > 0, let expiry = context.campaign.delivery.expiry {
            found.append(
                warning(
                    "\(fact), but the push expires \(Self.words(expiry)): \(TextFormat.devices(missed)) would get none",
                    remedy: "Set a faster pace or a later expiry."))
        }
        if held > 0, let quiet = quietHours {
            found.append(
                warning(
                    "\(fact), but the quiet hours \(quiet) begin before that: \(TextFormat.devices(held)) would get it only after the quiet hours",
                    remedy: "Set a faster pace, or begin earlier."))
        }
        // Devices that wait for their own time or for the end of quiet hours would be late at any
        // pace.
        let isPace = departures.allSatisfy { departure in nextTime.map { departure.start < $0.begins } ?? false }
        if isPace, let next = nextTime, free > next.begins {
            found.append(
                warning(
                    "\(fact), but the campaign's next time is \(next.localTime.words): it would not be finished by then",
                    remedy: "Set a faster pace, or fewer times in 'repeat'."))
        }
        return found
    }

    /// A service has about the same part of every wave.
    func departures(_ service: PreviewService) -> [Departure] {
        let waves = schedule?.waves ?? []
        guard !waves.isEmpty else {
            return [Departure(start: now, devices: service.recipients, zone: schedule?.schedule.zone.fallback)]
        }
        let share = Double(service.recipients) / Double(max(1, services.reduce(0) { $0 + $1.recipients }))
        return waves.map { wave in
            Departure(
                start: max(now, wave.due), devices: Int((Double(wave.ids.count) * share).rounded()),
                zone: try? ZoneDatabase.system.zone(named: wave.zone))
        }
    }

    private var quietHours: QuietHours? { schedule?.sendingTime == .now ? nil : schedule?.schedule.quietHours }

    private func deadline(of departure: Departure) -> Timestamp? {
        switch context.campaign.delivery.expiry {
        case .after(let seconds)?: departure.start.adding(seconds: Double(seconds))
        case .at(let moment)?: moment
        case .immediately?, nil: nil
        }
    }

    /// The time after the one that is planned.
    private var nextTime: Occurrence? {
        guard let schedule, case .at(let occurrence) = schedule.sendingTime, schedule.schedule.repeat != nil else {
            return nil
        }
        let week = 7.0 * 86_400
        return schedule.schedule.occurrences(
            from: occurrence.begins.adding(seconds: 1), through: occurrence.begins.adding(seconds: week)
        )
        .first
    }

    private func warning(_ message: String, remedy: String) -> Diagnostic {
        .warning(
            .paceTooSlow, message: message,
            at: context.campaign.delivery.pacePosition ?? context.campaign.audience.position, remedy: remedy
        )
    }

    private static func words(_ expiry: Expiry) -> String {
        switch expiry {
        case .after(let seconds): "after \(TextFormat.duration(seconds: Double(seconds)))"
        case .at(let moment): "at \(moment)"
        case .immediately: "at once"
        }
    }
}
