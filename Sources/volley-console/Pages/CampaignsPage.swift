import Accounts
import Automation
import Base
import Campaigns
import Planning
import Runs
import Workspace

/// The campaign files, and the page of one of them.
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
            \(visit.maySomewhere(.edit) ? "<p><a href=\"/campaigns/new\">New campaign</a></p>" : "" as HTML)
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
            marks.append("<span class=\"chip trouble\">\(TextFormat.counted(item.mistakes.count, one: "mistake"))</span>")
        }
        if isHindered { marks.append("<span class=\"chip trouble\">not sent</span>") }
        let about: HTML = item.description.map { "<p class=\"note\" dir=\"auto\">\($0)</p>" } ?? ""
        return """
            <li><p><a href="\(Words.path(ofCampaign: item.file))" dir="auto">\(item.name ?? item.file)</a> \(marks)</p>
            <p class="note" dir="auto">\(item.app.map { "\($0) · " } ?? "")\(item.file)</p>\(about)</li>
            """
    }

    /// One campaign: its source with its mistakes below their lines, and its runs.
    static func source(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try item(visit, site)
        let found = try CampaignFindings(file: item.path, visit, site)
        let (errors, findings) = (found.errors, found.all)
        let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
        let text = String(decoding: bytes, as: UTF8.self)
        let runs =
            visit.maySomewhere(.readReports)
            ? try site.archive.listing().runs.filter { $0.campaign == item.name && visit.may(.readReports, app: $0.app) } : []
        let hindrances = try site.campaigns.hindrances(project: site.project(), now: visit.now)[item.file] ?? []
        let own = findings.filter { $0.position?.file == item.path }
        let others = findings.filter { $0.position?.file != item.path }
        let state: HTML =
            errors.isEmpty
            ? "<p class=\"note\">No mistakes\(findings.isEmpty ? "" : ", but see the warnings" as HTML).</p>"
            : "<p class=\"stop\">\(TextFormat.counted(errors.count, one: "mistake")). Nothing is sent from this file until it is mended.</p>"
        let content: HTML = """
            \(Words.head("\(item.name ?? item.file)", "<p dir=\"auto\">\(item.description ?? "")</p><p><code dir=\"auto\">\(item.file)</code></p>"))
            \(visit.query["saved"] == nil ? "" : "<p class=\"good\" role=\"status\">Saved.</p>" as HTML)
            \(state)
            \(try earlierPlans(item, visit, site))
            \(hindrances.isEmpty ? "" : "<section class=\"warnings\" aria-label=\"Not sent\"><p><b>This campaign is not sent at its times.</b></p><ul>\(hindrances.map { "<li>\(Words.text($0, withPlace: false))</li>" as HTML })</ul></section>" as HTML)
            \(links(item, visit))
            \(others.isEmpty ? "" : "<ul class=\"findings\">\(others.map(finding))</ul>" as HTML)
            \(errors.isEmpty ? try CampaignOrders.panel(item, bytes, visit, site) : "")
            \(Words.panel("Source", id: "source", lines(text, own)))
            \(visit.may(.edit, app: item.app) ? Words.panel("When it is not needed any more", id: "archive", try CampaignArchiving.form(item, digest: ShownFile.digest(of: bytes), visit, site)) : "")
            \(runs.isEmpty ? "" : Words.panel("Runs", id: "runs", RunsPage.table(runs.prefix(10))))
            """
        return .page(Page(title: item.name ?? item.file, place: .campaigns, content: content))
    }

    /// Plans of the file's earlier versions that may still be sent: saving a new one changes nothing about them. Blank without any.
    private static func earlierPlans(_ item: CampaignCache.Item, _ visit: Visit, _ site: Site) throws -> HTML {
        let plans = try site.archive.plans(ofFile: item.path).filter { visit.may(.readReports, app: $0.app) }
        let lines: [HTML] = plans.prefix(10).compactMap { summary in
            // It may have been sent or removed a moment ago.
            guard let run = try? site.catalog.open(summary.id) else { return nil }
            defer { run.close() }
            guard let change = CampaignChange(since: run.plan, at: visit.now) else { return nil }
            return """
                <li>A plan of an earlier version waits: <a href="\(Words.path(of: summary.id))">\(summary.id)</a>. \
                \(change.sentences(calling: "The campaign")) Its page has the button that cancels it.</li>
                """
        }
        return lines.isEmpty ? "" : "<section class=\"warnings\" aria-label=\"Plans of earlier versions\"><ul>\(lines)</ul></section>"
    }

    private static func links(_ item: CampaignCache.Item, _ visit: Visit) -> HTML {
        let query = FormFields.query([("file", item.file)])
        let mayEdit = visit.may(.edit, app: item.app)
        let links: [HTML] =
            (mayEdit ? ["<a href=\"/campaign/form\(query)\">Edit</a>", "<a href=\"/campaign/edit\(query)\">Edit the source</a>"] : [])
            + ["<a href=\"/campaign/preview\(query)\">Preview</a>", "<a href=\"/campaign/history\(query)\">History</a>"]
            + (mayEdit ? ["<a href=\"/campaigns/new\(query)\">Duplicate</a>"] : [])
        return "<p class=\"turns\">\(links)</p>"
    }

    /// The campaign that the query names.
    static func item(_ visit: Visit, _ site: Site) throws -> CampaignCache.Item {
        let file = visit.query["file"] ?? ""
        guard let item = try site.campaigns.items(project: site.project(), now: visit.now).first(where: { $0.file == file }) else {
            throw Refusal.notFound
        }
        return item
    }

    /// The source line by line, with what was found below its line.
    private static func lines(_ text: String, _ findings: [Diagnostic]) -> HTML {
        let byLine = Dictionary(grouping: findings) { $0.position?.line ?? 0 }
        var lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        if lines.last?.isEmpty == true { lines.removeLast() }
        let items: [HTML] = lines.enumerated().map { index, line in
            let found = byLine[index + 1] ?? []
            let notes: HTML = found.isEmpty ? "" : "<ul class=\"findings\">\(found.map(finding))</ul>"
            let look: HTML = found.isEmpty ? "" : " class=\"found\""
            return "<li\(look) id=\"L\(index + 1)\"><code>\(UntrustedText.shown(String(line)))</code>\(notes)</li>"
        }
        return "<ol class=\"source\" dir=\"ltr\">\(items)</ol>"
    }

    /// A mistake or a warning, with its place.
    static func finding(_ diagnostic: Diagnostic) -> HTML {
        let kind = diagnostic.severity == .error ? "Mistake" : "Warning"
        return "<li class=\"\(diagnostic.severity.rawValue)\"><b>\(kind).</b> \(Words.text(diagnostic))</li>"
    }
}

/// Text from outside that is shown as it is written.
enum UntrustedText {
    /// Characters that change the direction of text could make a source look different from what it is: they are shown
    /// as escapes.
    static func shown(_ text: String) -> String { TextFormat.printable(text) }
}
