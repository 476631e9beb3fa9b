import Accounts
import Automation
import Base
import Campaigns
import Reports
import Runs

/// The first page: what a person can do next, what waits for them, what happens now, what comes,
/// how the last runs went, and what went wrong.
enum TodayPage {
    /// How far it looks ahead and back, in days.
    static let days = 7.0
    /// The most lines of a list.
    private static let most = 30

    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let project = try site.project()
        let listing = try site.archive.listing()
        let runs = listing.runs.filter { visit.may(.seeCampaigns, app: $0.app) }
        // Times that cannot be read do not hide anything else.
        let schedule = Result { try site.campaigns.schedule(project: project, now: visit.now) }
        let times = (try? schedule.get()).map { CalendarPage.visible($0, listing, visit) } ?? []
        let items = try site.campaigns.items(project: project, now: visit.now).filter {
            visit.may(.seeCampaigns, app: $0.app)
        }
        let drafts = try DraftPages.panel(visit, site)
        let unfinished = UnfinishedCampaigns(items, listing.runs, site)
        let problems = try TodayProblems(
            (runs, times, unfinished.others), unread: schedule.mistakes, listing, visit, site
        ).html
        let new: HTML =
            visit.maySomewhere(.edit) ? "<p><a class=\"button main\" href=\"/campaigns/new\">New campaign</a></p>" : ""
        guard !items.isEmpty || !runs.isEmpty else {
            let content: HTML = "\(Words.head("Today"))\(firstSteps(new, visit))\(drafts)\(problems)"
            return .page(Page(title: "Today", place: .today, content: content))
        }
        let needing = Set(project.apps.filter(\.needsApproval).map(\.name.value))
        let plans = runs.filter { $0.isPlan && !$0.isHeld && !$0.isTest && isRecent($0.plannedAt, visit.now) }
        let content: HTML = """
            \(Words.head("Today"))
            \(new)
            \(Rejections.panel(runs, visit, site))
            \(waiting(plans, needing, TimeApproval.waiting(times, visit, site), visit))
            \(unfinished.panel(visit))
            \(drafts)
            \(sending(runs, site))
            \(coming(times, visit))
            \(RecentResults.panel(runs, visit))
            \(problems)
            """
        return .page(Page(title: "Today", place: .today, content: content))
    }

    static func isRecent(_ moment: Timestamp, _ now: Timestamp) -> Bool {
        moment >= now.adding(seconds: -days * 86_400)
    }

    /// Instead of empty boxes, before there is a campaign or a run.
    private static func firstSteps(_ new: HTML, _ visit: Visit) -> HTML {
        let mayEdit = visit.maySomewhere(.edit)
        return """
            <p class="lead">Nothing has been sent yet. Three steps lead to the first push:</p>
            <ol class="list panel steps">
            <li><h2>Write a campaign</h2><p>\(mayEdit ? "Start from a sale, a reminder or another sample, and say who gets it." : "An editor starts one from a sample.")</p>\(new)</li>
            <li><h2>Look at it</h2><p>The preview shows phones with your texts and counts the devices. A test goes to your own phone.</p></li>
            <li><h2>Have it sent</h2><p>A plan freezes audience and texts. If the app requires it, another person approves it; then it is sent, and you read here \
            how it went.</p></li>
            </ol>
            """
    }

    private static func sending(_ runs: [RunSummary], _ site: Site) -> HTML {
        let items: [HTML] = runs.filter(\.isLive).map { run in
            let rate: HTML =
                site.rate.perSecond(of: run).map { " · \(TextFormat.count(Int($0.rounded()))) a second" } ?? ""
            return """
                <li><p>\(Words.link(to: run)) \(Words.chips(of: run)) \(run.badges)</p>
                <p class="note">\(TextFormat.count(run.settled)) of \(TextFormat.devices(run.audience))\(rate)</p>\(Words.bar(of: run))</li>
                """
        }
        return items.isEmpty ? "" : Words.panel("Being sent now", id: "now", "<ul class=\"list\">\(items)</ul>")
    }

    // MARK: - What waits

    /// Plans that wait: first those that this person can do something about.
    private static func waiting(
        _ plans: [RunSummary], _ needing: Set<String>, _ ahead: (own: [HTML], others: [HTML]), _ visit: Visit
    ) -> HTML {
        func waitsForApproval(_ run: RunSummary) -> Bool { needing.contains(run.app) && !run.isApproved }
        let toApprove = plans.filter { waitsForApproval($0) && visit.may(.approve, app: $0.app) }
        let toSend = plans.filter {
            !waitsForApproval($0) && !$0.isForATime && $0.audience > 0 && visit.may(.controlSending, app: $0.app)
        }
        let others = plans.filter { waitsForApproval($0) && !visit.may(.approve, app: $0.app) }
        func lines(_ runs: [RunSummary], _ what: HTML) -> [HTML] {
            runs.prefix(most).map { run in
                """
                <li><p>\(Words.link(to: run)) \(run.badges)</p>
                <p class="note">\(what): \(run.audience == 0 ? "no device would get it" : "\(TextFormat.devices(run.audience))" as HTML), planned \(Words.moment(run.plannedAt))</p></li>
                """
            }
        }
        let own = lines(toApprove, "Waits for an approval") + ahead.own + lines(toSend, "Can be sent")
        let list: HTML = own.isEmpty ? "<p class=\"note\">Nothing waits.</p>" : "<ul class=\"list\">\(own)</ul>"
        let elsewhere = lines(others, "An approver decides") + ahead.others
        return """
            \(own.isEmpty && !elsewhere.isEmpty ? "" : Words.panel("Waits for you", id: "waiting", list))
            \(elsewhere.isEmpty ? "" : Words.panel("Waits for others", id: "others", "<ul class=\"list\">\(elsewhere)</ul>"))
            """
    }

    private static func coming(_ times: [ScheduleList.Time], _ visit: Visit) -> HTML {
        let now = visit.now
        let end = now.adding(seconds: days * 86_400)
        let coming = times.filter { ($0.state?.isOpen ?? true) && $0.ends >= now && $0.begins < end }
        let table =
            coming.isEmpty
            ? "<p class=\"note\">No campaign has a time within the next seven days.</p>"
            : CalendarPage.table(coming.prefix(most), visit)
        let more: HTML =
            coming.count > most
            ? "<p class=\"note\"><a href=\"/calendar\">All \(TextFormat.count(coming.count)) times</a></p>" : ""
        return Words.panel("Next seven days", id: "next", "\(table)\(more)")
    }
}

/// Campaigns with mistakes that were never planned, and whose writers are known: work that is under
/// way, and a problem of no other person.
struct UnfinishedCampaigns {
    private static let mostMistakes = 3
    private let found: [(item: CampaignCache.Item, writers: Set<AccountID>)]
    /// All other campaigns.
    let others: [CampaignCache.Item]

    /// - Parameter runs: of all apps.
    init(_ items: [CampaignCache.Item], _ runs: [RunSummary], _ site: Site) {
        found = items.filter { !$0.mistakes.isEmpty }.compactMap { item in
            let paths: Set = [FilePaths.named(item.path), FilePaths.absolute(item.path)]
            let name = Self.name(of: item)
            let isIts = { (run: RunSummary) in
                run.campaign == name && run.app == item.app || !run.campaignFiles.isDisjoint(with: paths)
            }
            guard !runs.contains(where: { !$0.isTest && isIts($0) }),
                let versions = try? site.accounts.versions(of: item.file)
            else { return nil }
            let writers = Set(versions.compactMap(\.person.account))
            return writers.isEmpty ? nil : (item, writers)
        }
        let files = Set(found.map(\.item.file))
        others = items.filter { !files.contains($0.file) }
    }

    /// Its name, which files are usually called by: a mistake hides the one that is written.
    private static func name(of item: CampaignCache.Item) -> String {
        item.name ?? item.file.split(separator: ".").dropLast().joined(separator: ".")
    }

    /// Those of this person, with what is missing; blank without any.
    func panel(_ visit: Visit) -> HTML {
        let lines: [HTML] = found.compactMap { item, writers in
            guard let person = visit.person?.id, writers.contains(person) else { return nil }
            let missing = item.mistakes.prefix(Self.mostMistakes).map { FieldWords.text($0) }
            return """
                <li><p><a href="/campaign/form\(FormFields.query([("file", item.file)]))" dir="auto">\(Self.name(of: item))</a></p>\
                <p class="note" dir="auto">\(HTML(joined: missing.map { "\($0) " }))</p></li>
                """
        }
        return lines.isEmpty ? "" : Words.panel("To finish", id: "unfinished", "<ul class=\"list\">\(lines)</ul>")
    }
}

/// Plans of this person's campaigns that were rejected, with the reasons, until the campaign is
/// planned again.
enum Rejections {
    private static let most = 20

    static func panel(_ runs: [RunSummary], _ visit: Visit, _ site: Site) -> HTML {
        // A damaged list of activities hides nothing else; Activity says what is wrong with it.
        guard let person = visit.person, visit.maySomewhere(.edit),
            let page = try? site.accounts.activities(ActivityFilter(kind: .rejected), count: most)
        else { return "" }
        let lines: [HTML] = page.activities.compactMap { activity in
            guard case .rejected(_, let reason) = activity.kind, TodayPage.isRecent(activity.at, visit.now),
                let run = runs.first(where: { $0.id == activity.subject }), run.state == .cancelled,
                !runs.contains(where: {
                    $0.campaign == run.campaign && $0.app == run.app && $0.plannedAt > run.plannedAt
                }),
                isAuthor(person.account, of: run, site)
            else { return nil }
            let name: HTML = activity.person.name.map { "<b dir=\"auto\">\($0.text)</b>" } ?? "An approver"
            let why: HTML = reason.isEmpty ? "" : ": <q dir=\"auto\">\(reason)</q>"
            return """
                <li><p>\(Words.link(to: run))</p><p>\(name) rejected the plan\(why)</p>
                <p class="note">\(Words.moment(activity.at)). Change the campaign, and ask again.</p></li>
                """
        }
        return lines.isEmpty ? "" : Words.panel("Rejected", id: "rejected", "<ul class=\"list\">\(lines)</ul>")
    }

    /// Whether a person asked for the approval, or wrote the text of the plan.
    private static func isAuthor(_ account: String, of summary: RunSummary, _ site: Site) -> Bool {
        let orders = (try? site.orders.orders(ofRun: summary.id).orders) ?? []
        if orders.contains(where: { if case .plan = $0.order.kind { $0.order.by == account } else { false } }) {
            return true
        }
        guard let run = try? site.catalog.open(summary.id) else { return false }
        defer { run.close() }
        let file = run.plan.campaignFile.split(separator: "/").last.map(String.init) ?? ""
        let digest = ShownFile.digest(of: Array(run.plan.campaignSource.utf8))
        return (try? site.accounts.writers(ofText: digest, in: file, after: []).contains(account)) ?? false
    }
}

/// The last runs that ended, with a small chart of their outcomes.
enum RecentResults {
    private static let most = 8
    /// Of a column of the chart.
    private static let width = 36, gap = 12, height = 60

    /// Blank without any.
    static func panel(_ runs: [RunSummary], _ visit: Visit) -> HTML {
        let ended = runs.filter { run in
            run.startedAt != nil && run.state.hasEnded && !run.isTest && run.outcomes != nil
                && visit.may(.readReports, app: run.app)
        }.prefix(most)
        guard !ended.isEmpty else { return "" }
        let lines: [HTML] = ended.map { run in
            """
            <li><p><a href="\(Words.path(of: run.id))/report" dir="auto">\(run.campaign)</a> \(Words.chips(of: run)) \(run.badges)</p>
            <p class="note">\(TextFormat.count(run.count(.accepted))) of \(TextFormat.devices(run.audience)) accepted, begun \(Words.moment(run.startedAt ?? run.plannedAt))</p></li>
            """
        }
        return Words.panel(
            "Recent results", id: "results",
            """
            \(chart(ended.reversed()))<ul class="list">\(lines)</ul><p class="note"><a href="/runs">All runs</a></p>
            """)
    }

    /// A column for each run, the oldest first: its outcomes as shares of its devices. The list
    /// says the same in words.
    private static func chart(_ runs: [RunSummary]) -> HTML {
        let columns: [HTML] = runs.enumerated().map { place, run in
            let whole = Double(max(1, run.audience))
            var bottom = height
            let parts: [HTML] = Outcome.allCases.filter { run.count($0) > 0 }.map { outcome in
                let own = max(1, Int((Double(run.count(outcome)) / whole * Double(height)).rounded()))
                let top = max(0, bottom - own)
                defer { bottom = top }
                return
                    "<rect class=\"\(outcome.name)-bar\" x=\"\(place * (width + gap))\" y=\"\(top)\" width=\"\(width)\" height=\"\(bottom - top)\"/>"
            }
            return
                "<g>\(parts)<title>\(run.campaign): \(TextFormat.percent(Double(run.count(.accepted)) / whole)) accepted</title></g>"
        }
        let total = runs.count * (width + gap) - gap
        return """
            <svg class="results" viewBox="0 0 \(total) \(height)" width="\(total)" height="\(height)" role="img" \
            aria-label="Outcomes of the last \(TextFormat.counted(runs.count, one: "run"))">\(columns)</svg>
            """
    }
}
