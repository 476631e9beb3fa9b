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
    init(file: String, text: String? = nil, _ site: Site, at now: Timestamp) throws {
        let project = try site.project()
        let draft = text.map { CampaignSaving.draft($0, file: file, project, at: now) } ?? Campaign.draft(file: file, now: now)
        // One that names files elsewhere is not looked at further.
        let strangers = draft.audience.map { ConsoleRoots(project).mistakes(in: $0, of: file) } ?? []
        guard strangers.isEmpty else {
            all = strangers
            return
        }
        let result = check(CampaignFile(file, text: text, in: site.campaigns.choice), at: now)
        // Beside a mistake, only the text's own warnings are known.
        all = result.errors.isEmpty ? result.lint?.shown ?? [] : result.errors + draft.findings.filter { $0.severity == .warning }
    }

    /// What was looked at, below what was found.
    static let scope: HTML = """
        Checked: the text, volley.yaml, and the columns of the exports. How many devices get it, and what they read, is in the \
        <i>Preview</i>.
        """
}
