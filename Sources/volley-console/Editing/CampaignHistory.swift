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
        let versions = try site.accounts.versions(of: item.file, count: most)
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
        let changes: HTML? = try chosen.map {
            try difference($0, versions.map(\.number), item.file, present: present, mayEdit: mayEdit, site)
        }
        let content: HTML = """
            \(Words.head("History", "<p><a href=\"\(Words.path(ofCampaign: item.file))\" dir=\"auto\">\(item.name ?? item.file)</a></p>"))
            \(Words.panel("Versions", id: "versions", list))
            \(changes ?? "")
            """
        return .page(Page(title: "History of \(item.name ?? item.file)", place: .campaigns, content: content))
    }

    /// What a version changed, and how the present text differs from it.
    private static func difference(
        _ number: Int64, _ numbers: [Int64], _ file: String, present: String, mayEdit: Bool, _ site: Site
    ) throws -> HTML {
        guard let text = try site.accounts.text(ofVersion: number, of: file) else { throw Refusal.notFound }
        let before = try numbers.first { $0 < number }.flatMap { try site.accounts.text(ofVersion: $0, of: file) }
        let edit: HTML =
            mayEdit
            ? "<p><a href=\"/campaign/edit\(FormFields.query([("file", file), ("version", "\(number)")]))\">Go back to this version</a> <span class=\"note\">opens it in the editor; nothing changes before you save</span></p>"
            : ""
        let since: HTML =
            text == present ? "" : "<h3>From this version to the file as it is now</h3>\(LineDiff.html(from: text, to: present))"
        return Words.panel(
            "What version \(TextFormat.count(Int(number))) changed", id: "difference",
            "\(before.map { LineDiff.html(from: $0, to: text) } ?? "<p class=\"note\">It is the first.</p>")\(since)\(edit)")
    }
}
