public import Base
import Campaigns
import Runs
import Workspace

/// What a campaign would be planned from now, apart from its devices: what an approval ahead of a scheduled time is bound to.
public struct CampaignSource: Hashable, Sendable {
    /// The campaign's name.
    public var campaign: String
    /// Changes with the campaign's file and with what volley.yaml says of its app (`RunSettings.sourceDigest`).
    public var digest: String
    /// Whether Volley chooses the devices. Where a push service does, their number is unknown before it is sent.
    public var hasOwnDevices: Bool

    /// Reads a campaign's file and its volley.yaml.
    /// - Throws: `Diagnostics`: mistakes in either.
    public init(_ campaign: CampaignFile, now: Timestamp) throws { try self.init(CampaignContext.read(campaign, now: now)) }

    package init(_ context: CampaignContext) throws {
        campaign = context.campaign.name.value
        digest = try RunSettings(context).sourceDigest(with: context.campaign.source)
        hasOwnDevices = context.ownAudience == nil
    }
}
