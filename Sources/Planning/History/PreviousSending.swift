package import Base
import Campaigns
package import Runs

/// When a campaign was sent last, where and to how many. Only hours later it is mostly a slip: the same push twice in a day.
package struct PreviousSending {
    /// Longer ago is another day's sending.
    static let hours = 12

    let run: String
    let began: Timestamp
    let devices: Int
    /// What sends to those of it that were not reached, and to nobody who may have been; blank when nothing does.
    private let remedy: String
    /// How many accepted it; nil while that is not counted.
    let accepted: Int?
    /// Where it went, as `FrozenEnvironment.name`.
    let environment: String
    private let now: Timestamp

    /// nil when the last run's file cannot be read.
    init?(of last: any RecordedRun, now: Timestamp) {
        guard let status = try? last.status(), let began = status.startedAt,
            let settings = try? last.plan.settings.get()
        else { return nil }
        run = last.plan.id
        self.began = began
        devices = last.plan.audience
        self.now = now
        remedy =
            switch status.state {
            case .finished: " `volley retry \(run) --outcome failed` sends to those for whom it failed."
            case .cancelled: RunRemainder.remedyForUnsent(last).map { " \($0)" } ?? ""
            default: " `volley resume \(run)` goes on with it."
            }
        // Counted once when a run ends; before that it would take as long as reading all of it.
        accepted = status.state.hasEnded ? (try? last.figures())?.outcomes[.accepted, default: 0] : nil
        environment = settings.environment.name
    }

    /// Whether the devices of an environment got it only hours ago; the simulator's are nobody's.
    package func isRecent(in environment: FrozenEnvironment) -> Bool {
        environment.name != "simulator" && self.environment == environment.name
            && now.epochSeconds - began.epochSeconds < Int64(Self.hours * 3600)
    }

    private var ago: String { Self.ago(began, now) }

    /// `2 h 5 min ago`
    package static func ago(_ moment: Timestamp, _ now: Timestamp) -> String {
        "\(TextFormat.span(seconds: max(0, now.epochSeconds - moment.epochSeconds))) ago"
    }

    /// `2 h 5 min ago (2026-12-01 09:00 UTC): 4,990 of 5,000 devices accepted it`
    /// - Parameter here: the environment of what is about to be sent; another one is named.
    package func words(here: String) -> String {
        let all = TextFormat.devices(devices)
        let result = accepted.map { "\(TextFormat.count($0)) of \(all) accepted it" } ?? "to \(all), not over yet"
        return "\(ago) (\(began.minuteText)): \(result)" + (environment == here ? "" : ", in \(environment)")
    }

    func warning(_ context: CampaignContext) -> Diagnostic {
        let reached = "\(ago), at \(began), to \(TextFormat.devices(devices))"
        return .warning(
            .sentRecently, "this campaign was sent \(reached); a new run sends it to them again",
            at: context.campaign.audience.position,
            remedy: "`volley report \(run)` shows whom it reached.\(remedy)")
    }
}

extension Timestamp {
    /// `2026-12-01 09:00 UTC`
    package var minuteText: String { description.prefix(16).replacing("T", with: " ") + " UTC" }
}
