package import Base
package import Campaigns
package import Content
package import PushServices
package import Runs

extension MessageCatalog {
    /// The messages of a run's campaign, as planned.
    package init(frozenIn plan: RunPlan) throws(Diagnostics) {
        let (campaign, _) = try Campaign.read(
            source: plan.campaignSource, file: plan.campaignFile, services: plan.services, now: plan.plannedAt)
        try self.init(campaign, for: plan.services, run: plan.id, isPlanned: true)
    }

    /// The messages of a campaign.
    /// - Parameter run: the id that tracked pushes name; nil for that of a preview.
    package init(
        _ campaign: Campaign, for services: [any PushService] = [PushServices.standard], run: String? = nil,
        isPlanned: Bool = false
    ) throws(Diagnostics) {
        try self.init(
            campaign.content, for: services, variants: campaign.variants, campaign: campaign.name.value,
            dealing: campaign.variantDealing, tracking: PushTracking(campaign, run: run), isPlanned: isPlanned)
    }

    /// The variant of each device; nil when all get the same.
    package var variantsOfDevices: VariantNames? {
        guard !variantNames.isEmpty else { return nil }
        let chooser = MessageChooser(self)
        return VariantNames(variantNames) { chooser.variant(of: $0.token, alias: $0.alias) }
    }
}

extension PushTracking {
    /// nil for a campaign whose pushes are not tracked.
    /// - Parameter run: nil for a preview.
    package init?(_ campaign: Campaign, run: String? = nil) {
        guard let pushes = campaign.delivery.tracking, let place = campaign.delivery.trackingPosition else {
            return nil
        }
        self.init(
            run: run ?? RunID.sample(campaign: campaign.name.value), campaign: campaign.name.value,
            includesSilent: pushes == .silentToo,
            place: place)
    }
}
