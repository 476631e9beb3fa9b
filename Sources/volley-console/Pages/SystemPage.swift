import Accounts
import Base
import Campaigns
import Runs

/// What operators of Volley look at first when something is wrong.
enum SystemPage {
    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let listing = try site.archive.listing()
        let project = try? site.project()
        let live = listing.runs.filter(\.isLive).count
        var facts: [(HTML, HTML)] = [
            ("Version", "Volley \(volleyVersion)"), ("Console since", Words.moment(site.startedAt)),
            ("Schedule", site.isSenderAtWork ? "At work" : "Not at work: nothing is sent"),
            ("Runs", "\(TextFormat.count(listing.runs.count)), \(TextFormat.count(live)) being sent or paused"),
        ]
        if let project {
            let apps: [HTML] = project.apps.filter { visit.may(.seeSystem, app: $0.name.value) }.map { app in
                "<span class=\"chip\" dir=\"auto\">\(app.name.value)\(app.needsApproval ? ", needs approval" : "")</span>"
            }
            facts.append(("Apps", HTML(apps)))
        }
        let mistakes: HTML
        do {
            _ = try site.project()
            mistakes = ""
        } catch { mistakes = ErrorPage.words(Diagnostics(explaining: error), visit) }
        let rows: [HTML] = facts.map { "<dt>\($0)</dt><dd>\($1)</dd>" }
        // The name of such a file tells the campaign, and perhaps another app's.
        let unreadable = listing.broken + unreadableRecords(of: site.archive.catalog)
        let shown = visit.may(.seeSystem, app: nil) ? unreadable : []
        let broken: [HTML] = shown.map { "<li dir=\"auto\">\(Words.text($0))</li>" }
        let health: HTML =
            unreadable.isEmpty
            ? "<p>All files of runs, and the records next to them, can be read.</p>"
            : "<p>\(TextFormat.counted(unreadable.count, one: "file")) cannot be read.</p><ul>\(broken.prefix(50).map { $0 })</ul>"
        let content: HTML = """
            \(Words.head("System"))
            \(mistakes)
            \(Words.panel("State", id: "state", "<dl class=\"facts\">\(rows)</dl>"))
            \(Words.panel("Health", id: "health", health))
            """
        return .page(Page(title: "System", place: .system, content: content))
    }

    /// What is wrong with the records next to the runs.
    private static func unreadableRecords(of catalog: RunsFolder) -> [Diagnostic] {
        let reads: [() throws -> [Diagnostic]] = [
            {
                _ = try catalog.schedule.read()
                return []
            }, { try catalog.orders.read(atMost: .max).damaged.map(\.mistake) },
        ]
        let mistakes = reads.flatMap { read in
            do { return try read() } catch { return Diagnostics(explaining: error).all }
        }
        return mistakes + [HistorySnapshot(of: catalog).failure].compactMap(\.self)
    }
}
