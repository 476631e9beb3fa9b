import Accounts
import Automation
import Base
import Campaigns
import Reports
import Runs
import Workspace

/// What went wrong, grouped by its cause. What people left out on purpose is no problem.
struct TodayProblems {
    /// The most lines of a group.
    private static let most = 10
    private var groups: [(title: HTML, lines: [HTML])]

    /// - Parameters:
    ///   - seen: what the person may see.
    ///   - unread: why the times cannot be read.
    init(
        _ seen: (runs: [RunSummary], times: [ScheduleList.Time], items: [CampaignCache.Item]), unread: [Diagnostic],
        _ listing: RunArchive.Listing, _ visit: Visit, _ site: Site
    ) throws {
        let (runs, times, items) = seen
        let hindrances = try site.campaigns.hindrances(project: site.project(), now: visit.now)
        let unreadable =
            unread + (visit.may(.seeSystem, app: nil) ? listing.broken : [])
            + (visit.may(.seeCampaigns, app: nil) ? try site.campaigns.unreadable() : [])
        groups = [
            ("Runs that stopped", Self.stopped(runs, visit.now)),
            ("Times that did not go out as planned", Self.missed(times, visit.now)),
            ("Approvals that do not hold any more", Self.unapproved(times)),
            ("Campaigns that are not sent at their times", Self.hindered(items, hindrances)),
            ("Campaigns with mistakes: nothing is sent from them", Self.broken(items)),
            ("Files that cannot be read", unreadable.map { "<li dir=\"auto\">\(Words.text($0))</li>" }),
        ]
    }

    /// Blank without any.
    var html: HTML {
        let found = groups.filter { !$0.lines.isEmpty }
        guard !found.isEmpty else { return "" }
        let parts: [HTML] = found.map { title, lines in
            let more: HTML =
                lines.count > Self.most
                ? "<p class=\"note\">And \(TextFormat.count(lines.count - Self.most)) more.</p>" : ""
            return "<h3>\(title)</h3><ul>\(lines.prefix(Self.most).map { $0 })</ul>\(more)"
        }
        return
            "<section class=\"warnings\" aria-labelledby=\"problems\"><h2 id=\"problems\">Problems</h2>\(parts)</section>"
    }

    private static func stopped(_ runs: [RunSummary], _ now: Timestamp) -> [HTML] {
        let retried = Set(runs.compactMap(\.retryOf))
        let stopped = runs.filter {
            $0.state == .stopped && !retried.contains($0.id) && TodayPage.isRecent($0.finishedAt ?? $0.plannedAt, now)
        }
        return stopped.map { run in
            let why: HTML = run.cause.map { ": \(Prose.html($0.sentence(for: .console)))" } ?? ""
            let held: HTML = run.isHeld ? " It is held, because it was put back from a backup." : ""
            return "<li>\(Words.link(to: run)) stopped\(why)\(held)</li>"
        }
    }

    private static func missed(_ times: [ScheduleList.Time], _ now: Timestamp) -> [HTML] {
        times.filter { time in time.problem.map { !$0.isOnPurpose } ?? false && TodayPage.isRecent(time.begins, now) }
            .map { time in
                let sentence = time.problem?.sentence(for: .console) ?? ""
                return
                    "<li>\(CalendarPage.name(of: time)), \(DateWords.time(time.occurrence)): \(Prose.html(sentence))</li>"
            }
    }

    private static func unapproved(_ times: [ScheduleList.Time]) -> [HTML] {
        times.compactMap { time in
            guard case .outdated(let given) = time.approval else { return nil }
            return """
                <li>\(CalendarPage.name(of: time)), \(DateWords.time(time.occurrence)): \
                <span dir="auto">\(given.name)</span> approved it ahead, but \(AdvanceApproval.Flaw.sourceDiffers.sentence); it is not sent \
                without another approval</li>
                """
        }
    }

    private static func link(_ item: CampaignCache.Item) -> HTML {
        "<a href=\"\(Words.path(ofCampaign: item.file))\" dir=\"auto\">\(item.file)</a>"
    }

    private static func broken(_ items: [CampaignCache.Item]) -> [HTML] {
        items.filter { !$0.mistakes.isEmpty }.map { item in
            "<li>\(link(item)) has \(TextFormat.counted(item.mistakes.count, one: "mistake"))</li>"
        }
    }

    private static func hindered(_ items: [CampaignCache.Item], _ hindrances: [String: [Diagnostic]]) -> [HTML] {
        items.compactMap { item in
            hindrances[item.file].map { why in
                "<li>\(link(item)): \(HTML(joined: why.map { Words.text($0, withPlace: false) }))</li>"
            }
        }
    }
}

extension ScheduleProblem {
    /// Whether people wanted it so.
    var isOnPurpose: Bool {
        switch self {
        case .leftOut, .sentByHand: true
        case .andBefore(_, let problem): problem.isOnPurpose
        default: false
        }
    }
}

extension Result where Failure == any Error {
    /// What a page says of a failure.
    var mistakes: [Diagnostic] {
        guard case .failure(let why) = self else { return [] }
        return Diagnostics(explaining: why).all
    }
}
