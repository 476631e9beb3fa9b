public import Base
import Cryptography

/// The approval of a time of a schedule before the time is planned. It holds for a plan from the
/// source that was shown, and for at most the number of devices that was shown; any other plan
/// waits for an approval of its own.
public struct AdvanceApproval: Hashable, Sendable {
    /// Which time of which campaign.
    public var key: ScheduledRun.Key
    /// Of the source that was shown (`RunSettings.sourceDigest`), 64 lower-case hex digits.
    public var digest: String
    /// The largest audience, at least 1.
    public var mostDevices: Int
    /// The name that the approver signs in with.
    public var name: String
    /// When.
    public var approvedAt: Timestamp

    /// An approval.
    public init(key: ScheduledRun.Key, digest: String, mostDevices: Int, name: String, approvedAt: Timestamp) {
        self.key = key
        self.digest = digest
        self.mostDevices = mostDevices
        self.name = name
        self.approvedAt = approvedAt
    }

    /// Why an approval does not hold for a plan.
    public enum Flaw: Hashable, Sendable {
        /// The campaign, or what volley.yaml says of its app, was changed after the approval.
        case sourceDiffers
        /// The plan has more devices than were approved.
        case tooManyDevices(Int, most: Int)
        /// The person may not approve this plan: a role was taken away, or they wrote the campaign.
        case notPermitted(OrderRefusal)
    }

    /// Why it does not hold for a plan; nil if it does, as far as the plan tells.
    public func flaw(for plan: RunPlan) -> Flaw? {
        guard let settings = try? plan.settings.get(), settings.sourceDigest(with: plan.campaignSource) == digest else {
            return .sourceDiffers
        }
        return plan.audience > mostDevices ? .tooManyDevices(plan.audience, most: mostDevices) : nil
    }
}

extension RunSettings {
    /// What a campaign is planned from, apart from its devices: SHA-256 of its text and of these
    /// settings, 64 lower-case hex digits. It is the same for the settings of a campaign that is
    /// about to be planned and for those that its plan froze. A signing key that was renewed does
    /// not change it.
    /// - Parameter campaign: the text of the campaign's file.
    public func sourceDigest(with campaign: String) -> String {
        var source = self
        source.schedule = nil
        source.needsApproval = false
        (source.runsFolder, source.realCampaignFile) = (nil, nil)
        (source.place, source.plannedInStore) = (nil, nil)
        (source.parentEpoch, source.retriedOutcomes) = (nil, nil)
        (source.beside, source.isOfScheduler) = ([], false)
        for number in source.services.indices { source.services[number].credential?.fingerprint = nil }
        // A text that ends like the settings cannot stand for another text with other settings:
        // JSON has no NUL.
        return SHA256.hex(SHA256.digest(of: Array(campaign.utf8) + [0] + Array(source.json.text.utf8)))
    }
}
