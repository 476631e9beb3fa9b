public import Base
import Campaigns
import Glibc
public import Runs

/// What happened to a plan's campaign file after the plan was made. The plan keeps what it froze,
/// and is sent like that once it may be: a change of the file neither corrects nor cancels it. A
/// person that is about to approve or send it is told first.
///
/// ```swift
/// if let change = CampaignChange(since: run.plan, at: .now()) {
///     print(change.sentences(calling: "The file"))
/// }
/// ```
public enum CampaignChange: Hashable, Sendable {
    /// There is no such file any more: it was archived, moved or removed.
    case gone
    /// It cannot be read now, so it may have been changed.
    case unreadable
    /// It holds another text.
    /// - again: a time of that text, in words, at which the campaign is sent in addition to the
    ///   plan; nil for none.
    case changed(again: String?)

    /// nil if the file holds what the plan was made from, and for a test. A retry sends again what
    /// was sent, whatever the file says now.
    public init?(since plan: RunPlan, at now: Timestamp) {
        let file = plan.campaignFile
        guard !plan.isTest, !FilePaths.holds(file, text: plan.campaignSource) else { return nil }
        // A folder that may not be searched, or a disk that fails, does not show whether the file
        // is there.
        if access(file, F_OK) != 0, [ENOENT, ENOTDIR].contains(errno) {
            self = .gone
            return
        }
        guard plan.retryOf == nil else { return nil }
        guard let bytes = try? RegularFile.bytes(of: file, atMost: Self.longestCampaign) else {
            self = .unreadable
            return
        }
        let draft = Campaign.draft(bytes: bytes, file: file, now: now) { _ in plan.services }
        self = .changed(again: draft.campaign?.schedule.flatMap { Self.again($0, plan, at: now) })
    }

    /// In bytes; a longer file is no campaign.
    static let longestCampaign = 1_000_000

    /// The next time of a schedule, if the plan's own is not one of its times: those are sent once,
    /// by that plan.
    private static func again(_ schedule: Schedule, _ plan: RunPlan, at now: Timestamp) -> String? {
        let own = try? plan.settings.get().schedule?.occurrence
        if let own, schedule.occurrence(named: own.description) != nil { return nil }
        // A single time that has just come can still be sent.
        let late = schedule.at.map { schedule.occurrence(at: $0) }.flatMap { schedule.isPast($0, at: now) ? nil : $0 }
        guard let next = schedule.nextOccurrence(from: now) ?? late else { return nil }
        return
            "\(next.localTime.words) \(schedule.zone.isRecipient ? "on each person's clock" : schedule.zone.fallback.name)"
    }

    /// What the plan does all the same, in sentences.
    /// - Parameter file: how to call the campaign's file.
    public func sentences(calling file: String) -> String {
        let asFrozen = "The plan is sent unchanged, as it was frozen"
        return switch self {
        case .gone:
            "\(file) is no longer there: it was archived, moved or removed after this plan was made. \(asFrozen), unless it is cancelled."
        case .unreadable: "\(file) cannot be read now, and may have been changed after this plan was made. \(asFrozen)."
        case .changed(nil): "\(file) was changed after this plan was made. \(asFrozen), without that change."
        case .changed(let again?):
            "\(file) was changed after this plan was made. \(asFrozen), without that change; and the campaign as it is now is sent again at its own time, \(again)."
        }
    }
}
