public import Base
import Campaigns
import Runs
import Workspace

/// The sources of a campaign's plan now, apart from its devices: an approval ahead of a scheduled
/// time is bound to them.
public struct CampaignSource: Hashable, Sendable {
    /// The campaign's name.
    public var campaign: String
    /// Changes with the campaign's file and with the app's settings in volley.yaml
    /// (`RunSettings.sourceDigest`).
    public var digest: String
    /// Whether Volley chooses the devices. Where a push service does, their number is unknown
    /// before it is sent.
    public var hasOwnDevices: Bool

    /// Reads a campaign's file and its volley.yaml.
    /// - Throws: `Diagnostics`: mistakes in either.
    public init(_ campaign: CampaignFile, now: Timestamp) throws {
        try self.init(CampaignContext.read(campaign, now: now))
    }

    package init(_ context: CampaignContext) throws {
        campaign = context.campaign.name.value
        digest = try RunSettings(context).sourceDigest(with: context.campaign.source)
        hasOwnDevices = context.ownAudience == nil
    }
}
