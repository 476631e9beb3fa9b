import Accounts
import Automation
import Base

/// The versions of a campaign file, and what each of them changed.
enum CampaignHistory {
    /// How many are listed.
    private static let most = 100

    static var routes: [Route] {
        [Route(method: .get, path: "/campaign/history", right: .right(.seeCampaigns), subject: .campaign, answer: show)]
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        // A file of this name may have been another app's.
        let versions = try site.accounts.versions(of: item.file, count: most).filter { visit.may(.seeCampaigns, app: $0.app) }
        let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
        let present = CampaignSaving.text(of: bytes)
        let chosen = visit.query["version"].flatMap(Int64.init) ?? versions.first?.number
        let mayEdit = visit.may(.edit, app: item.app)
        let now = ShownFile.digest(of: Array(present.utf8))
        let lines: [HTML] = versions.map { version in
            let who: HTML = version.person.name.map { "<b dir=\"auto\">\($0.text)</b>" } ?? "found as it is, written outside of the console"
            let mark: HTML = version.digest == now ? " <span class=\"chip\">as it is now</span>" : ""
            let link = "/campaign/history" + FormFields.query([("file", item.file), ("version", "\(version.number)")])
            let current: HTML = version.number == chosen ? " aria-current=\"true\"" : ""
            return
                "<li><a href=\"\(link)#difference\"\(current)>Version \(TextFormat.count(Int(version.number)))</a>, \(Words.moment(version.at)), \(who)\(mark)</li>"
        }
        let list: HTML =
            versions.isEmpty
            ? "<p class=\"note\">Nobody has saved this campaign in the console yet.</p>" : "<ul class=\"list\">\(lines)</ul>"
        if let chosen, !versions.contains(where: { $0.number == chosen }) { throw Refusal.notFound }
        let change = try chosen.map { try Change(number: $0, among: versions, file: item.file, present: present, site) }
        let content: HTML = """
            \(Words.head("History", "<p><a href=\"\(Words.path(ofCampaign: item.file))\" dir=\"auto\">\(item.name ?? item.file)</a></p>"))
            \(Words.panel("Versions", id: "versions", list))
            \(change?.panel(mayEdit: mayEdit) ?? "")
            """
        return .page(Page(title: "History of \(item.name ?? item.file)", place: .campaigns, content: content))
    }

    /// What a version changed, and how the present text differs from it.
    private struct Change {
        let number: Int64
        let file: String
        let text: String
        let present: String
        /// nil for the first version.
        let before: String?

        init(number: Int64, among versions: [CampaignVersion], file: String, present: String, _ site: Site) throws {
            guard let text = try site.accounts.text(ofVersion: number, of: file) else { throw Refusal.notFound }
            let earlier = versions.first { $0.number < number }
            (self.number, self.file, self.text, self.present) = (number, file, text, present)
            before = try earlier.flatMap { try site.accounts.text(ofVersion: $0.number, of: file) }
        }

        func panel(mayEdit: Bool) -> HTML {
            let query = FormFields.query([("file", file), ("version", "\(number)")])
            let edit: HTML = """
                <p><a href="/campaign/edit\(query)">Go back to this version</a> \
                <span class="note">opens it in the editor; nothing changes before you save</span></p>
                """
            let since: HTML =
                text == present ? "" : "<h3>From this version to the file as it is now</h3>\(LineDiff.html(from: text, to: present))"
            let what = before.map { LineDiff.html(from: $0, to: text) } ?? "<p class=\"note\">It is the first.</p>"
            return Words.panel(
                "What version \(TextFormat.count(Int(number))) changed", id: "difference", "\(what)\(since)\(mayEdit ? edit : "")")
        }
    }
}
