import Base
import Campaigns
import Runs

/// When a campaign was sent last, if that is only hours ago: the same push twice in a day is mostly a slip.
struct LastSending {
    /// Longer ago is another day's sending.
    static let hours = 12

    let run: String
    let began: Timestamp
    let devices: Int
    /// What sends to those of it that were not reached, and to nobody who may have been; blank when nothing does.
    private let remedy: String
    private let now: Timestamp

    /// nil when the last run is older, went elsewhere, or only to the simulator.
    init?(of last: RunStore, environment: FrozenEnvironment, now: Timestamp) {
        guard environment.name != "simulator", let began = try? last.status().startedAt,
            now.epochSeconds - began.epochSeconds < Int64(Self.hours * 3600),
            let settings = try? RunSettings(json: last.plan.settings, runFile: last.path), settings.environment.name == environment.name
        else { return nil }
        (run, self.began, devices, self.now) = (last.plan.id, began, last.plan.audience, now)
        remedy =
            switch try? last.status().state {
            case .finished: " `volley retry \(run) --outcome failed` sends to those for whom it failed."
            case .cancelled: GateRefusals.remedyForUnsent(last).map { " \($0)" } ?? ""
            default: " `volley resume \(run)` goes on with it."
            }
    }

    /// `2 h ago, at 2026-12-01T09:00:00Z, to 5,000 devices`
    var words: String {
        let ago = TextFormat.duration(seconds: Double(max(0, now.epochSeconds - began.epochSeconds)))
        return "\(ago) ago, at \(began), to \(TextFormat.count(devices)) device\(devices == 1 ? "" : "s")"
    }

    func warning(_ context: CampaignContext) -> Diagnostic {
        .warning(
            .sentRecently, "this campaign was sent \(words); a new run sends it to them again",
            at: context.campaign.audience.position,
            remedy: "`volley report \(run)` shows whom it reached.\(remedy)")
    }
}
