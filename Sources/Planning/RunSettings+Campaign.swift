import Workspace
import Base
import Campaigns
import Content
import PushServices
import Runs

extension RunSettings {
    /// The settings of a campaign that is about to be planned.
    package init(_ context: CampaignContext) throws {
        let (campaign, app) = (context.campaign, context.app)
        try self.init(app, projectFile: context.project.file, pushType: context.messages.pushType)
        if let priority = campaign.delivery.priority { self.priority = priority }
        expiry = campaign.delivery.expiry
        collapseID = campaign.delivery.collapseID?.value
        // A test goes to devices.
        if let channel = campaign.audience.channel, service.choosesDevices {
            self.channel = channel.value
            // What a channel keeps is not known here, and each of them takes this.
            expiry = expiry ?? .immediately
        }
        if app.hasPaceOfItsService {
            services[0].pace = Pace.slower(campaign.delivery.pace, app.pace(of: app.main))
        } else {
            devicePace = campaign.delivery.pace
        }
        unknownPolicy = campaign.delivery.unknownPolicy(of: app.main.service)
        for (number, service) in app.services.enumerated().dropFirst() {
            services[number].unknownPolicy = campaign.delivery.unknownPolicy(of: service.service)
        }
        stopLimits = campaign.delivery.stopLimits
        // No one notices a background push.
        frequencyCaps = pushType == .background ? [] : context.frequencyCaps
    }
}
