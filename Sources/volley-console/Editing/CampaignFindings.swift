import Accounts
import Base
import Campaigns
import Planning
import Workspace

/// What is wrong with a campaign, and what is worth a warning, as `volley check` finds it: with volley.yaml, lists, the columns of exports
/// and credentials, but without the rows of exports. All pages say the same of the same text.
struct CampaignFindings {
    /// In the order of the file.
    var all: [Diagnostic]

    var errors: [Diagnostic] { all.filter { $0.severity == .error } }

    /// - Parameter text: what the file will hold, where that is not saved yet; nil for what it holds.
    init(file: String, text: String? = nil, _ visit: Visit, _ site: Site) throws {
        let (project, now) = (try site.project(), visit.now)
        let bytes = try text.map { Array($0.utf8) } ?? FilePaths.read(file, atMost: Route.campaignBodyLimit)
        let draft = CampaignSaving.draft(bytes, file: file, project, at: now)
        // What is checked are the exports and keys of that app, and a remedy may name other apps.
        if let app = draft.app, !visit.may(.seeCampaigns, app: app.value) {
            all = [CampaignSaving.foreign(app)]
            return
        }
        var campaign = CampaignFile(file, text: text, in: site.campaigns.choice)
        campaign.isConfined = true
        let result = check(campaign, at: now)
        // Beside a mistake, only the text's own warnings are known.
        all = result.errors.isEmpty ? result.lint?.shown ?? [] : result.errors + draft.findings.filter { $0.severity == .warning }
    }

    /// What was looked at, below what was found.
    static let scope: HTML = """
        Checked: the text, volley.yaml, and the columns of the exports. How many devices get it, and what they read, is in the \
        <i>Preview</i>.
        """
}
