import Accounts
import Automation
import Base
import Runs

/// The times of all campaigns, past and to come.
enum CalendarPage {
    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let project = try site.project(), list: ScheduleList
        do { list = try site.campaigns.schedule(project: project, now: visit.now) } catch {
            let mistakes = ErrorPage.words(Diagnostics(explaining: error), visit)
            let content: HTML = """
                \(Words.head("Calendar", "<p>Which times come, and which have been, is not known: something on the server cannot be read.</p>"))
                \(mistakes)
                """
            return .page(Page(title: "Calendar", place: .calendar, content: content))
        }
        let listing = try site.archive.listing()
        let times = visible(list, listing, visit)
        let items = try site.campaigns.items(project: project, now: visit.now).filter {
            visit.may(.seeCampaigns, app: $0.app)
        }
        let files = Dictionary(items.compactMap { item in item.name.map { ($0, item.file) } }) { first, _ in first }
        let runs = listing.runs.filter { visit.may(.seeCampaigns, app: $0.app) }
        let coming = times.filter { $0.ends >= visit.now }
        let past = Array(times.filter { $0.ends < visit.now }.reversed())
        let content: HTML = """
            \(Words.head("Calendar", "<p>Days and times are on the clock of the campaign’s zone. Next to them is your own clock where your browser runs scripts, UTC otherwise. Coming times are known for \(Int(ScheduleList.daysAhead)) days.</p>"))
            \(CalendarGrid(times, runs, campaigns: files, visit).html)
            \(Words.panel("The next \(Int(ScheduleList.daysAhead)) days", id: "coming", section(coming, visit, none: "No campaign has a time in these days.")))
            \(Words.panel("The last \(Int(ScheduleList.daysBack)) days", id: "past", section(past, visit, none: "No campaign had a time in these days.")))
            """
        return .page(Page(title: "Calendar", place: .calendar, content: content))
    }

    /// Instead of the times of a campaign.
    static let unknown: HTML =
        "<p class=\"stop\">The next times are not known: something on the server cannot be read. The <a href=\"/calendar\">calendar</a> says what.</p>"

    /// The times that a person may see. If the campaign's file is gone, the run has the app;
    /// without a run, the time is shown to people with a right to all apps. A paused run is shown
    /// as paused.
    static func visible(_ list: ScheduleList, _ listing: RunArchive.Listing, _ visit: Visit) -> [ScheduleList.Time] {
        list.times.compactMap { time in
            let run = time.run.flatMap { listing[$0] }
            guard visit.may(.seeCampaigns, app: time.app ?? run?.app) else { return nil }
            guard time.state == .sending, let run, run.state == .paused else { return time }
            var paused = time
            paused.notes = ["paused as \(run.id)"] + time.notes.dropFirst()
            return paused
        }
    }

    /// The most times of a list; weeks show all.
    private static let most = 200

    private static func section(_ times: [ScheduleList.Time], _ visit: Visit, none: String) -> HTML {
        guard !times.isEmpty else { return "<p class=\"note\">\(none)</p>" }
        let more: HTML =
            times.count > most
            ? "<p class=\"note\">These are \(most) of \(TextFormat.count(times.count)) times; each week above shows all of its times.</p>"
            : ""
        return "\(table(times.prefix(most), visit))\(more)"
    }

    /// The name of a time's campaign, with a link to it; without its file, with one to its run.
    static func name(of time: ScheduleList.Time) -> HTML {
        let file = time.app == nil ? nil : time.file?.split(separator: "/").last.map(String.init)
        let path = file.map(Words.path(ofCampaign:)) ?? time.run.map(Words.path(of:))
        return path.map { "<a href=\"\($0)\" dir=\"auto\">\(time.campaign)</a>" }
            ?? "<span dir=\"auto\">\(time.campaign)</span>"
    }

    /// The clock of a time: `in Europe/Berlin`.
    static func clock(_ time: ScheduleList.Time) -> String {
        time.isOnDevicesClock ? "on each person’s clock" : time.zone.map { "in \($0)" } ?? ""
    }

    /// What else there is to know of a time.
    static func notes(_ time: ScheduleList.Time) -> String {
        time.notes.filter { $0 != ScheduleList.onDevicesClock }.joined(separator: "; ")
    }

    /// A time on the schedule's clock; on each person's clock, the span that it takes around the
    /// world.
    static func when(_ time: ScheduleList.Time) -> HTML {
        guard time.isOnDevicesClock else {
            return "\(DateWords.time(time.occurrence)) <span class=\"note\">\(time.zone ?? "")</span>"
        }
        return """
            \(DateWords.time(time.occurrence)) \(clock(time)) <span class="note">from \(Words.moment(time.begins)) to \
            \(Words.moment(time.ends))</span>
            """
    }

    /// Times, a line each.
    static func table(_ times: ArraySlice<ScheduleList.Time>, _ visit: Visit) -> HTML {
        let lines: [HTML] = times.map { time in
            let run: HTML = time.run.map { " <a class=\"note\" href=\"\(Words.path(of: $0))\">its run</a>" } ?? ""
            return """
                <tr><th scope="row" dir="auto">\(name(of: time))\(run)</th>
                <td data-name="When">\(when(time))</td>
                <td data-name="Your time">\(Words.moment(time.begins))</td>
                <td data-name="Notes" dir="auto">\(notes(time)) \(TimeApproval.offer(time, visit))\(CampaignOrders.skipForm(time, visit))</td></tr>
                """
        }
        return """
            <table class="rows"><thead><tr><th scope="col">Campaign</th><th scope="col">When</th><th scope="col">Your time</th><th scope="col">Notes</th></tr></thead>
            <tbody>\(lines)</tbody></table>
            """
    }
}
