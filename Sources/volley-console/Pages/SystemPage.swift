import Base
import Campaigns
import Runs

/// What the people who run Volley look at first when something is wrong.
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
            let apps: [HTML] = project.apps.map { app in
                "<span class=\"chip\" dir=\"auto\">\(app.name.value)\(app.needsApproval ? ", needs approval" : "")</span>"
            }
            facts.append(("Apps", HTML(apps)))
        }
        let mistakes: HTML
        do {
            _ = try site.project()
            mistakes = ""
        } catch {
            mistakes = HTML(Diagnostics(explaining: error).all.map(Words.warning))
        }
        let rows: [HTML] = facts.map { "<dt>\($0)</dt><dd>\($1)</dd>" }
        let broken: [HTML] = listing.broken.map { "<li dir=\"auto\">\(Words.text($0))</li>" }
        let health: HTML =
            broken.isEmpty
            ? "<p>All files of runs can be read.</p>"
            : "<p>\(TextFormat.counted(broken.count, one: "file")) of runs cannot be shown:</p><ul>\(broken.prefix(50).map { $0 })</ul>"
        let content: HTML = """
            \(Words.head("System"))
            \(mistakes)
            \(Words.panel("State", id: "state", "<dl class=\"facts\">\(rows)</dl>"))
            \(Words.panel("Health", id: "health", health))
            """
        return .page(Page(title: "System", place: .system, content: content))
    }
}
