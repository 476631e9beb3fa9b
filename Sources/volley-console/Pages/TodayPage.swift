import Accounts
import Automation
import Base
import Campaigns
import Reports
import Runs

/// The first page: what happens now, what waits for a person, what comes, and what went wrong.
enum TodayPage {
    /// How far it looks ahead and back, in days.
    private static let days = 7.0
    /// The most lines of a list.
    private static let most = 30

    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let project = try site.project()
        let listing = try site.archive.listing()
        let runs = listing.runs.filter { visit.may(.seeCampaigns, app: $0.app) }
        // Times that cannot be read do not hide anything else.
        let schedule = Result { try site.campaigns.schedule(project: project, now: visit.now) }
        let times = (try? schedule.get()).map { CalendarPage.visible($0, listing, visit) } ?? []
        let items = try site.campaigns.items(project: project, now: visit.now)
            .filter { visit.may(.seeCampaigns, app: $0.app) }
        let hindrances = try site.campaigns.hindrances(project: project, now: visit.now)
        let broken =
            schedule.mistakes + (visit.may(.seeSystem, app: nil) ? listing.broken : [])
            + (visit.may(.seeCampaigns, app: nil) ? try site.campaigns.unreadable() : [])
        let needing = Set(project.apps.filter(\.needsApproval).map(\.name.value))
        let content: HTML = """
            \(Words.head("Today"))
            \(sending(runs, site))
            \(waiting(runs.filter { isWaiting($0, needing, visit.now) }))
            \(coming(times, visit))
            \(problems(stopped(runs, visit.now) + missed(times, visit.now) + unapproved(times) + unsendable(items, hindrances) + broken.map { "<li dir=\"auto\">\(Words.text($0))</li>" as HTML }))
            """
        return .page(Page(title: "Today", place: .today, content: content))
    }

    /// A plan that must be approved before it can be sent.
    private static func isWaiting(_ run: RunSummary, _ needing: Set<String>, _ now: Timestamp) -> Bool {
        run.state == .planned && !run.isHeld && !run.isTest && !run.isApproved && needing.contains(run.app) && isRecent(run.plannedAt, now)
    }

    private static func isRecent(_ moment: Timestamp, _ now: Timestamp) -> Bool { moment >= now.adding(seconds: -days * 86_400) }

    private static func sending(_ runs: [RunSummary], _ site: Site) -> HTML {
        let live = runs.filter(\.isLive)
        let items: [HTML] = live.map { run in
            let rate: HTML = site.rate.perSecond(of: run).map { " · \(TextFormat.count(Int($0.rounded()))) a second" } ?? ""
            return """
                <li><p>\(Words.link(to: run)) \(Words.chips(of: run)) \(run.badges)</p>
                <p class="note">\(TextFormat.count(run.settled)) of \(TextFormat.devices(run.audience))\(rate)</p>\(Words.bar(of: run))</li>
                """
        }
        return Words.panel(
            "Being sent now", id: "now", items.isEmpty ? "<p class=\"note\">Nothing at the moment.</p>" : "<ul class=\"list\">\(items)</ul>"
        )
    }

    private static func waiting(_ runs: [RunSummary]) -> HTML {
        let items: [HTML] = runs.prefix(most).map { run in
            """
            <li><p>\(Words.link(to: run)) \(run.badges)</p>
            <p class="note">\(run.audience == 0 ? "Nobody would get it" : "\(TextFormat.devices(run.audience))" as HTML), planned \(Words.moment(run.plannedAt))</p></li>
            """
        }
        return Words.panel(
            "Waiting for approval", id: "waiting",
            items.isEmpty ? "<p class=\"note\">Nothing waits.</p>" : "<ul class=\"list\">\(items)</ul>")
    }

    private static func coming(_ times: [ScheduleList.Time], _ visit: Visit) -> HTML {
        let now = visit.now
        let end = now.adding(seconds: days * 86_400)
        let coming = times.filter { ($0.state?.isOpen ?? true) && $0.ends >= now && $0.begins < end }
        let table =
            coming.isEmpty
            ? "<p class=\"note\">No campaign has a time within the next seven days.</p>" : CalendarPage.table(coming.prefix(most), visit)
        let more: HTML =
            coming.count > most ? "<p class=\"note\"><a href=\"/calendar\">All \(TextFormat.count(coming.count)) times</a></p>" : ""
        return Words.panel("Next seven days", id: "next", "\(table)\(more)")
    }

    // MARK: - Problems

    private static func problems(_ lines: [HTML]) -> HTML {
        guard !lines.isEmpty else { return "" }
        let more: HTML = lines.count > most ? "<p class=\"note\">And \(TextFormat.count(lines.count - most)) more.</p>" : ""
        return """
            <section class="warnings" aria-labelledby="problems"><h2 id="problems">Problems</h2><ul>\(lines.prefix(most).map { $0 })</ul>\(more)</section>
            """
    }

    private static func stopped(_ runs: [RunSummary], _ now: Timestamp) -> [HTML] {
        let retried = Set(runs.compactMap(\.retryOf))
        let stopped = runs.filter { $0.state == .stopped && !retried.contains($0.id) && isRecent($0.finishedAt ?? $0.plannedAt, now) }
        return stopped.map { run in
            let why: HTML = run.cause.map { ": \(Prose.html($0.sentence(for: .console)))" } ?? ""
            let held: HTML = run.isHeld ? " It is held, because it was put back from a backup." : ""
            return "<li>\(Words.link(to: run)) stopped\(why)\(held)</li>"
        }
    }

    private static func missed(_ times: [ScheduleList.Time], _ now: Timestamp) -> [HTML] {
        times.filter { $0.problem != nil && isRecent($0.begins, now) }.map { time in
            let sentence = time.problem?.sentence(for: .console) ?? ""
            return
                "<li><span dir=\"auto\">\(time.campaign)</span>, \(time.occurrence.replacing("T", with: " ")): \(Prose.html(sentence))</li>"
        }
    }

    /// Times whose approval does not hold any more.
    private static func unapproved(_ times: [ScheduleList.Time]) -> [HTML] {
        times.compactMap { time in
            guard case .outdated(let given) = time.approval else { return nil }
            return """
                <li><span dir="auto">\(time.campaign)</span>, \(time.occurrence.replacing("T", with: " ")): \
                <span dir="auto">\(given.name)</span> approved it ahead, but \(AdvanceApproval.Flaw.sourceDiffers.sentence); it is not sent \
                without another approval</li>
                """
        }
    }

    /// Campaigns that are not sent: because of mistakes in their files, or for other reasons.
    private static func unsendable(_ items: [CampaignCache.Item], _ hindrances: [String: [Diagnostic]]) -> [HTML] {
        func link(_ item: CampaignCache.Item) -> HTML { "<a href=\"\(Words.path(ofCampaign: item.file))\" dir=\"auto\">\(item.file)</a>" }
        let broken: [HTML] = items.filter { !$0.mistakes.isEmpty }.map { item in
            "<li>\(link(item)) has \(TextFormat.counted(item.mistakes.count, one: "mistake")); nothing is sent from it</li>"
        }
        let hindered: [HTML] = items.compactMap { item in
            hindrances[item.file].map { why in
                "<li>\(link(item)) is not sent at its times. \(HTML(joined: why.map { Words.text($0, withPlace: false) }))</li>"
            }
        }
        return broken + hindered
    }
}

extension Result where Failure == any Error {
    /// What a page says of a failure.
    fileprivate var mistakes: [Diagnostic] {
        guard case .failure(let why) = self else { return [] }
        return Diagnostics(explaining: why).all
    }
}
