import Accounts
import Automation
import Base
import Campaigns
import Runs

/// The campaign files.
enum CampaignsPage {
    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let project = try site.project()
        let all = try site.campaigns.items(project: project, now: visit.now)
            .filter { visit.may(.seeCampaigns, app: $0.app) }
        let hindrances = try site.campaigns.hindrances(project: project, now: visit.now)
        let unreadable = visit.may(.seeCampaigns, app: nil) ? try site.campaigns.unreadable() : []
        let text = visit.query["q"]?.trimming ?? ""
        let found = all.filter { item in
            text.isEmpty
                || [item.file, item.name ?? "", item.app ?? "", item.description ?? ""].contains {
                    $0.lowercased().contains(text.lowercased())
                }
        }
        let content: HTML = """
            \(Words.head("Campaigns"))
            \(visit.maySomewhere(.edit) ? "<p><a class=\"button main\" href=\"/campaigns/new\">New campaign</a></p>" : "" as HTML)
            <form class="filters" method="get" action="/campaigns" role="search">
            \(Form.text("Name, app or description", name: "q", value: text, attributes: " type=\"search\""))
            <p><button>Search</button></p></form>
            <p class="note">\(TextFormat.counted(found.count, one: "campaign"))\(text.isEmpty ? "" : " of \(TextFormat.count(all.count))" as HTML)</p>
            \(found.isEmpty ? "<p class=\"lead\">No campaign matches.</p>" : "<ul class=\"list panel\">\(found.map { line($0, isHindered: hindrances[$0.file] != nil) })</ul>" as HTML)
            \(unreadable.map(Words.warning))
            """
        return .page(Page(title: "Campaigns", place: .campaigns, content: content))
    }

    private static func line(_ item: CampaignCache.Item, isHindered: Bool) -> HTML {
        var marks: [HTML] = []
        if item.isScheduled { marks.append("<span class=\"chip\">has times</span>") }
        if !item.mistakes.isEmpty {
            marks.append(
                "<span class=\"chip trouble\">\(TextFormat.counted(item.mistakes.count, one: "mistake"))</span>")
        }
        if isHindered { marks.append("<span class=\"chip trouble\">not sent</span>") }
        let about: HTML = item.description.map { "<p class=\"note\" dir=\"auto\">\($0)</p>" } ?? ""
        return """
            <li><p><a href="\(Words.path(ofCampaign: item.file))" dir="auto">\(item.name ?? item.file)</a> \(marks)</p>
            <p class="note" dir="auto">\(item.app ?? "") \(Words.file(of: item))</p>\(about)</li>
            """
    }

    /// The campaign that the query names.
    static func item(_ visit: Visit, _ site: Site) throws -> CampaignCache.Item {
        let file = visit.query["file"] ?? ""
        guard
            let item = try site.campaigns.items(project: site.project(), now: visit.now).first(where: {
                $0.file == file
            })
        else {
            throw Refusal.notFound
        }
        return item
    }

    /// A mistake or a warning, with its place.
    static func finding(_ diagnostic: Diagnostic) -> HTML {
        let kind = diagnostic.severity == .error ? "Mistake" : "Warning"
        return "<li class=\"\(diagnostic.severity.rawValue)\"><b>\(kind).</b> \(Words.text(diagnostic))</li>"
    }
}

/// Text from outside that is shown as it is written.
enum UntrustedText {
    /// Characters that change the direction of text could make a source look different from what it
    /// is: they are shown as escapes.
    static func shown(_ text: String) -> String { TextFormat.printable(text) }
}
