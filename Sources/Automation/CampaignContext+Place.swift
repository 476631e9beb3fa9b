import Base
import Campaigns
import Planning
import Runs

extension CampaignContext {
    /// Rejects a campaign with another runs folder than that of `volley schedule`: that folder has
    /// another record, and other orders.
    func checkPlace(of catalog: RunsFolder) throws(Diagnostic) {
        let folder = FilePaths.absolute(self.catalog.place)
        guard folder == FilePaths.absolute(catalog.place) else {
            throw Diagnostic(
                "its runs folder is \(folder), but this volley schedule uses \(catalog.place)", file: campaign.file,
                remedy:
                    "Start another volley schedule for this campaign, or name one runs folder for all campaigns with --runs.",
                [.ask(.giveOwnSender)])
        }
    }
}
