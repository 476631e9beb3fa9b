import Automation
import Base

/// The next times of a campaign according to its saved file: the lines of the calendar, in words.
enum NextTimes {
    private static let count = 5

    static func html(_ item: CampaignCache.Item, _ visit: Visit, _ site: Site) -> HTML {
        let found = try? site.campaigns.nextTimes(of: item, count: count, project: site.project(), now: visit.now)
        let times = found ?? []
        let lines: [HTML] = times.map(line)
        let none: HTML =
            item.mistakes.isEmpty
            ? (item.isScheduled ? "No more: its times have passed." : "It is sent by hand.")
            : "They are known when the file has no mistakes."
        let content: HTML =
            found == nil ? CalendarPage.unknown : times.isEmpty ? "<p class=\"note\">\(none)</p>" : "<ul>\(lines)</ul>"
        return """
            <section class="next" aria-labelledby="next-times"><h2 id="next-times">Next times, as saved</h2>\(content)</section>
            """
    }

    private static func line(_ time: ScheduleList.Time) -> HTML {
        // Not the viewer's own clock, which would be a third one here.
        let (begins, ends) = (DateWords.utc(time.begins), DateWords.utc(time.ends))
        let moment = begins == ends ? begins : "from \(begins) to \(ends)"
        let notes = CalendarPage.notes(time)
        return
            "<li><b>\(DateWords.time(time.occurrence))</b> \(CalendarPage.clock(time)) <span class=\"note\">\(moment)\(notes.isEmpty ? "" : "; \(notes)")</span></li>"
    }
}
