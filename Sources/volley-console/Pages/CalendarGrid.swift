import Automation
import Base
import Runs

/// A month or a week of the calendar: each day with the times of campaigns, and with the runs that
/// were sent by hand. Days and clocks are those of a campaign's zone; next to them are the viewer's
/// where scripts run, UTC otherwise.
struct CalendarGrid {
    /// What a page shows.
    private enum Span {
        case month(year: Int, month: Int)
        /// The number of its Monday.
        case week(Int)
    }

    /// What is on a day.
    private struct Entry {
        var at: LocalTime
        /// A month shows few of a day's many.
        var content: () -> HTML
    }

    private static let minutesOfDay = 24 * 60
    private static let years = 2000...2100
    /// The most entries of a day in a month; the week shows all.
    private static let mostOfDay = 6

    private let span: Span
    private let today: Int
    private let entries: [Int: [Entry]]

    /// - Parameter campaigns: the files of campaigns by their names, as far as the person may see
    ///   them.
    init(_ times: [ScheduleList.Time], _ runs: [RunSummary], campaigns: [String: String], _ visit: Visit) {
        let zone = ZoneDatabase.system.displayZone
        let today = zone.localTime(at: visit.now).dayNumber
        self.today = today
        span = Self.week(visit.query["week"]) ?? Self.month(visit.query["month"]) ?? Self.month(of: today)
        let scheduled = Set(times.compactMap(\.run))
        let planned: [Entry] = times.compactMap { time in
            LocalTime(time.occurrence).map { local in Entry(at: local) { Self.entry(time, at: local) } }
        }
        let sent: [Entry] = runs.compactMap { run in
            guard let begun = run.startedAt, !run.isTest, !scheduled.contains(run.id) else { return nil }
            let local = zone.localTime(at: begun)
            return Entry(at: local) { Self.entry(run, begun, at: local, zone, file: campaigns[run.campaign]) }
        }
        entries = Dictionary(grouping: planned + sent, by: \.at.dayNumber).mapValues { $0.sorted { $0.at < $1.at } }
    }

    private static func month(_ text: String?) -> Span? {
        guard let match = text?.wholeMatch(of: #/([0-9]{4})-([0-9]{2})/#), let year = Int(match.1),
            let month = Int(match.2),
            years.contains(year), (1...12).contains(month)
        else { return nil }
        return .month(year: year, month: month)
    }

    private static func month(of day: Int) -> Span {
        let date = LocalTime(minutes: day * minutesOfDay).date
        return .month(year: date.year, month: date.month)
    }

    private static func week(_ text: String?) -> Span? {
        guard let text, let day = LocalTime(text + "T00:00"), years.contains(day.date.year) else { return nil }
        return .week(monday(of: day.dayNumber))
    }

    /// The Monday of a day's week.
    private static func monday(of day: Int) -> Int { day - (LocalTime(minutes: day * minutesOfDay).weekday + 6) % 7 }

    // MARK: - Entries

    /// The same moment on the viewer's clock, once a script filled it in.
    private static func own(_ moment: Timestamp) -> HTML {
        "<time class=\"note\" datetime=\"\(moment.description)\" data-clock>\(DateWords.shortUTC(moment))</time>"
    }

    private static func entry(_ time: ScheduleList.Time, at local: LocalTime) -> HTML {
        let zone: HTML =
            time.isOnDevicesClock
            ? "each person’s clock: \(own(time.begins)) to \(own(time.ends))"
            : "\(time.zone ?? "") · \(own(time.begins))"
        let state: HTML =
            time.run.map { " <a class=\"note\" href=\"\(Words.path(of: $0))\">\(time.state?.rawValue ?? "run")</a>" }
            ?? time.state.map { " <span class=\"note\">\($0.rawValue)</span>" } ?? ""
        return "<b>\(local.timeOfDay)</b> \(CalendarPage.name(of: time))\(state)<br><span class=\"note\">\(zone)</span>"
    }

    private static func entry(
        _ run: RunSummary, _ begun: Timestamp, at local: LocalTime, _ zone: ZoneRules, file: String?
    ) -> HTML {
        let name: HTML =
            file.map { "<a href=\"\(Words.path(ofCampaign: $0))\" dir=\"auto\">\(run.campaign)</a>" }
            ?? "<span dir=\"auto\">\(run.campaign)</span>"
        return """
            <b>\(local.timeOfDay)</b> \(name) <a class="note" href="\(Words.path(of: run.id))">\(Words.state(run.state))</a><br>\
            <span class="note">\(zone.name) · \(own(begun))</span>
            """
    }

    // MARK: - The page

    var html: HTML {
        let (title, first, count, months): (String, Int, Int, Int?)
        switch span {
        case .week(let monday):
            (title, first, count, months) = (
                "Week of \(DateWords.day(of: LocalTime(minutes: monday * Self.minutesOfDay)))", monday, 7, nil
            )
        case .month(let year, let month):
            let start = LocalTime(year: year, month: month, day: 1)?.dayNumber ?? 0
            let next = LocalTime(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)?.dayNumber ?? start
            let monday = Self.monday(of: start)
            (title, first, months) = ("\(DateWords.months[month - 1]) \(year)", monday, month)
            count = (next - monday + 6) / 7 * 7
        }
        let weeks: [HTML] = stride(from: first, to: first + count, by: 7).map { monday in
            "<tr>\((monday..<monday + 7).map { day($0, month: months) })</tr>"
        }
        let heads: [HTML] = (1...7).map { "<th scope=\"col\">\(DateWords.weekdays[$0 % 7])</th>" }
        return """
            <section class="panel" aria-labelledby="grid"><h2 id="grid">\(title)</h2>\(ways(first))
            <table class="month"><thead><tr>\(heads)</tr></thead><tbody>\(weeks)</tbody></table></section>
            """
    }

    private func day(_ day: Int, month: Int?) -> HTML {
        let local = LocalTime(minutes: day * Self.minutesOfDay), own = entries[day] ?? []
        let shown = month == nil ? own : Array(own.prefix(Self.mostOfDay))
        let week = String(local.description.prefix(10))
        let more: HTML =
            shown.count < own.count
            ? "<li><a href=\"/calendar?week=\(week)\">\(TextFormat.count(own.count - shown.count)) more</a></li>" : ""
        let list: HTML = own.isEmpty ? "" : "<ul>\(shown.map { "<li>\($0.content())</li>" as HTML })\(more)</ul>"
        let looks = [
            own.isEmpty ? "empty" : "", month.map { $0 != local.date.month } ?? false ? "other" : "",
            day == today ? "today" : "",
        ]
        let current: HTML = day == today ? " aria-current=\"date\"" : ""
        return """
            <td class="\(looks.filter { !$0.isEmpty }.joined(separator: " "))"\(current)><p class="day"><span class="number">\(local.date.day)</span>\
            <span class="date">\(DateWords.day(of: local))</span></p>\(list)</td>
            """
    }

    /// To the span before and after, and to the other view.
    private func ways(_ first: Int) -> HTML {
        func week(_ day: Int) -> String {
            "/calendar?week=" + String(LocalTime(minutes: day * Self.minutesOfDay).description.prefix(10))
        }
        func month(_ year: Int, _ month: Int) -> String {
            "/calendar?month=\(year)-\(TextFormat.zeroPadded(month, digits: 2))"
        }
        let (before, after, other): (String, String, HTML)
        switch span {
        case .week(let monday):
            let date = LocalTime(minutes: (monday + 3) * Self.minutesOfDay).date
            (before, after, other) = (
                week(monday - 7), week(monday + 7), "<a href=\"\(month(date.year, date.month))\">Month</a>"
            )
        case .month(let year, let number):
            before = number == 1 ? month(year - 1, 12) : month(year, number - 1)
            after = number == 12 ? month(year + 1, 1) : month(year, number + 1)
            let start = LocalTime(year: year, month: number, day: 1)?.dayNumber ?? first
            other = "<a href=\"\(week((start..<start + 28).contains(today) ? today : start))\">Week</a>"
        }
        return """
            <nav class="turns" aria-label="Calendar"><a href="\(before)" rel="prev">Earlier</a> <a href="/calendar">Today</a> \
            <a href="\(after)" rel="next">Later</a> \(other)</nav>
            """
    }
}
