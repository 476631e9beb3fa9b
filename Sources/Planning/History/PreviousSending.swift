public import Base
import Campaigns
public import Runs
import Workspace

/// When a campaign was sent last, where and to how many. Sending it again only hours later is usually a slip: the same push twice in a day.
public struct PreviousSending: Sendable {
    static let hours = RecentSendings.hours

    /// The run.
    public let run: String
    let began: Timestamp
    let devices: Int
    /// The command that sends to the devices that it missed, and to no device that it may have reached; blank when there is no such
    /// command.
    private let remedy: String
    private let remedies: [Remedy]
    /// How many devices accepted it; nil while that is not counted.
    let accepted: Int?
    /// Where it went, as `FrozenEnvironment.name`.
    let environment: String
    /// Whether the run was put back from a backup before it had ended, so that more may have accepted it.
    private let isHeld: Bool
    private let now: Timestamp

    /// nil when the last run's file cannot be read.
    init?(of last: RunFile, now: Timestamp) {
        guard let status = try? last.status(), let began = status.startedAt,
            let settings = try? last.plan.settings.get()
        else { return nil }
        run = last.plan.id
        self.began = began
        devices = last.plan.audience
        self.now = now
        isHeld = RestoredRun(last)?.isHeld ?? false
        (remedy, remedies) =
            switch status.state {
            case .finished: RunRemainder.remedyForFailed(last).map { (" \($0)", [.retry(run: last.plan.id)]) } ?? ("", [])
            case .cancelled: RunRemainder.remedyForUnsent(last).map { (" \($0)", [.ask(.retryUnsent(run: last.plan.id))]) } ?? ("", [])
            case .running: (" `volley report \(run)` shows its progress.", [.watch(run: run)])
            case .planned, .paused, .stopped: (" `volley resume \(run)` resumes it.", [.resume(run: run)])
            }
        // Counted once, when a run ends; until then counting would mean reading the whole run.
        accepted = status.state.hasEnded ? (try? last.figures())?.outcomes[.accepted, default: 0] : nil
        environment = settings.firstService.environment.name
    }

    /// Whether the devices of an environment got it only hours ago; never for the simulator, which has no real devices.
    public func isRecent(in environment: FrozenEnvironment) -> Bool {
        environment.name != "simulator" && self.environment == environment.name
            && now.epochSeconds - began.epochSeconds < Int64(Self.hours * 3600)
    }

    private var ago: String { Self.ago(began, now: now) }

    /// `2 h 5 min ago`
    public static func ago(_ moment: Timestamp, now: Timestamp) -> String {
        "\(TextFormat.span(seconds: max(0, now.epochSeconds - moment.epochSeconds))) ago"
    }

    /// `2 h 5 min ago (2026-12-01 09:00 UTC): 4,990 of 5,000 devices accepted it`
    /// - Parameter here: the environment of the coming run; the words name this sending's environment if it is another one.
    public func words(here: String) -> String {
        let all = TextFormat.devices(devices)
        let atLeast = isHeld ? "at least " : ""
        let result =
            accepted.map { atLeast + "\(TextFormat.count($0)) of \(all) accepted it" }
            ?? (isHeld ? "to up to \(all)" : "to \(all), not finished yet")
        return "\(ago) (\(began.minuteText)): \(result)" + (isHeld ? ", before it was put back from a backup" : "")
            + (environment == here ? "" : ", in \(environment)")
    }

    /// - Parameter lately: says how many of the devices it reached; they need not be those of the coming run.
    func warning(_ context: CampaignContext, _ lately: ReachedLately?) -> Diagnostic {
        let reached = "\(ago), at \(began), to \(TextFormat.devices(devices))"
        let again = lately?.words(ofRun: run).map { ": \($0)" } ?? ""
        return .warning(
            .sentRecently, message: "this campaign was sent \(reached); a new run sends it to them again\(again)",
            at: context.campaign.audience.position,
            remedy: "`volley report \(run)` shows which devices it reached.\(remedy)", [.readReport(run: run)] + remedies)
    }
}
