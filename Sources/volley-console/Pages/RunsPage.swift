import Accounts
import Base
import HTTPTypes
import Reports
import Runs

/// All runs, with filters in the address and a fixed number on a page.
enum RunsPage {
    /// Runs of a page.
    static let pageLength = 50

    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let all = try site.archive.listing().runs.filter { visit.may(.readReports, app: $0.app) }
        let filter = Filter(visit.query)
        let runs = all.filter(filter.matches)
        let pages = max(1, (runs.count + pageLength - 1) / pageLength)
        let number = min(max(1, Int(visit.query["page"] ?? "") ?? 1), pages)
        let shown = runs.dropFirst((number - 1) * pageLength).prefix(pageLength)
        let apps = Set(all.map(\.app)).sorted().map { (value: $0, words: $0) }
        let first = filter.with.isEmpty ? nil : all.first { $0.id == filter.with }
        let content: HTML = """
            \(Words.head("Runs"))
            \(first.map { "<p class=\"note\">Check the run to compare with \(Words.link(to: $0)) of \(Words.moment($0.plannedAt)).</p>" as HTML } ?? "")
            <form class="filters" method="get" action="/runs" role="search">\(first.map { hidden("with", $0.id) } ?? "")
            \(Form.text("Campaign or run", name: "q", value: filter.text, attributes: " type=\"search\""))
            \(Form.choice("App", name: "app", among: apps, chosen: filter.app, none: "All"))
            \(Form.choice("State", name: "state", among: RunState.allCases.map { ($0.rawValue, Words.state($0)) }, chosen: filter.state, none: "All"))
            <p><button>Show</button></p></form>
            <p class="note">\(TextFormat.counted(runs.count, one: "run"))\(filter.isAll ? "" : " of \(TextFormat.count(all.count))" as HTML)</p>
            \(comparable(shown, with: first))
            \(turns(number, of: pages, filter))
            """
        return .page(Page(title: "Runs", place: .runs, content: content))
    }

    private static func hidden(_ name: String, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }

    /// Runs with boxes to compare two of them, or one with a run that was chosen on its page.
    private static func comparable(_ runs: ArraySlice<RunSummary>, with first: RunSummary?) -> HTML {
        let others = first.map { first in runs.filter { $0.id != first.id }[...] } ?? runs
        guard others.count > (first == nil ? 1 : 0) else { return table(runs) }
        return """
            <form method="get" action="/comparison">\(first.map { hidden(box + $0.id, "on") } ?? "")\(table(others, isChoice: true))\
            <p><button>\(first == nil ? "Compare the two that are checked" : "Compare it with the one that is checked" as HTML)</button></p></form>
            """
    }

    /// Where the runs of a campaign are shown, to compare one of them with another.
    static func path(comparing run: RunSummary) -> String {
        "/runs" + FormFields.query([("q", run.campaign), ("with", run.id)])
    }

    /// What the boxes of runs begin with: their names are the runs, so that a browser sends those
    /// that are checked.
    private static let box = "run."

    /// Two runs, the earlier one first.
    static func compare(_ visit: Visit, _ site: Site) throws -> Answer {
        let ids = visit.query.keys.filter { $0.hasPrefix(box) }.map { String($0.dropFirst(box.count)) }
        guard ids.count == 2 else {
            let many: HTML =
                "<p class=\"stop\">Check two runs; \(TextFormat.counted(ids.count, one: "run is", many: "runs are")) checked.</p>"
            return .page(
                Page(
                    title: "Compare two runs", place: .runs,
                    content: "\(Words.head("Compare two runs"))\(many)\(back)"))
        }
        let runs = try ids.map { id in
            // A run of another app is not there for this person.
            guard let run = try site.archive.summary(of: id), visit.may(.readReports, app: run.app) else {
                throw Refusal.notFound
            }
            return run
        }.sorted { ($0.plannedAt, $0.id) < ($1.plannedAt, $1.id) }
        let both = try runs.map { summary in
            let run = try site.catalog.open(summary.id)
            defer { run.close() }
            return (plan: run.plan, report: try Report(run))
        }
        let names: [HTML] = zip(["Before", "After"], runs).map {
            "<dt>\($0)</dt><dd>\(Words.link(to: $1)) of \(Words.moment($1.plannedAt)) \(Words.chips(of: $1))</dd>"
        }
        let changes = PlanPart.changes(from: both[0].plan, to: both[1].plan)
        let texts: HTML = changes.markup.isEmpty ? "<p>Texts and rules are the same.</p>" : changes
        let content: HTML = """
            \(Words.head("Compare two runs"))<dl class="facts">\(names)</dl>
            \(Words.panel("What differs", id: "differences", ReportComparison(before: both[0].report, after: both[1].report).html))
            \(Words.panel("Texts and rules", id: "texts", texts))\(back)
            """
        return .page(Page(title: "Compare two runs", place: .runs, content: content))
    }

    private static let back: HTML = "<p class=\"note\"><a href=\"/runs\">All runs</a></p>"

    private struct Filter {
        var text: String, app: String, state: String
        /// The run that was chosen on its page, to compare it with one of these.
        var with: String

        init(_ query: [String: String]) {
            (text, app, state) = (query["q"]?.trimming ?? "", query["app"] ?? "", query["state"] ?? "")
            with = query["with"] ?? ""
        }

        var isAll: Bool { text.isEmpty && app.isEmpty && state.isEmpty }

        func matches(_ run: RunSummary) -> Bool {
            (app.isEmpty || run.app == app) && (state.isEmpty || run.state.rawValue == state)
                && (text.isEmpty || [run.campaign, run.id].contains { $0.lowercased().contains(text.lowercased()) })
        }

        func path(page: Int) -> String {
            "/runs"
                + FormFields.query([
                    ("q", text), ("app", app), ("state", state), ("with", with), ("page", page > 1 ? "\(page)" : ""),
                ])
        }
    }

    /// Runs, a line each.
    /// - Parameter isChoice: whether each has a box, to compare two of them.
    static func table(_ runs: ArraySlice<RunSummary>, isChoice: Bool = false) -> HTML {
        guard !runs.isEmpty else { return "<p class=\"lead\">No run matches.</p>" }
        let lines: [HTML] = runs.map { run in
            var marks: [HTML] = []
            if run.isTest { marks.append("<span class=\"chip\">test</span>") }
            if run.retryOf != nil { marks.append("<span class=\"chip\">retry</span>") }
            let accepted: HTML = run.outcomes == nil ? "…" : "\(TextFormat.count(run.count(.accepted)))"
            let begun: HTML = run.startedAt.map(Words.moment) ?? "–"
            return """
                <tr><th scope="row">\(isChoice ? "<input type=\"checkbox\" name=\"\(box)\(run.id)\" aria-label=\"Compare \(run.id)\"> " : "" as HTML)\(Words.link(to: run)) \(marks)</th><td data-name="State">\(Words.chips(of: run))</td>
                <td data-name="App" dir="auto">\(run.app) \(run.badges)</td><td data-name="Devices" class="number">\(TextFormat.count(run.audience))</td>
                <td data-name="Accepted" class="number">\(accepted)</td><td data-name="Begun">\(begun)</td></tr>
                """
        }
        return """
            <table class="rows"><thead><tr><th scope="col">Campaign</th><th scope="col">State</th><th scope="col">App</th>
            <th scope="col" class="number">Devices</th><th scope="col" class="number">Accepted</th><th scope="col">Begun</th></tr></thead>
            <tbody>\(lines)</tbody></table>
            """
    }

    private static func turns(_ number: Int, of pages: Int, _ filter: Filter) -> HTML {
        guard pages > 1 else { return "" }
        let newer: HTML = number > 1 ? "<a href=\"\(filter.path(page: number - 1))\" rel=\"prev\">Newer</a>" : ""
        let older: HTML = number < pages ? "<a href=\"\(filter.path(page: number + 1))\" rel=\"next\">Older</a>" : ""
        return
            "<nav class=\"turns\" aria-label=\"Pages\">\(newer) <span>Page \(number) of \(pages)</span> \(older)</nav>"
    }
}
