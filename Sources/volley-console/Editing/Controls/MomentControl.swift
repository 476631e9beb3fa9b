import Base
import Campaigns

/// A date and a time of day, in the fields that browsers have for them.
enum MomentControl {
    private static func date(_ name: String) -> String { name + ".date" }
    private static func time(_ name: String) -> String { name + ".time" }

    /// The names of the fields.
    static func names(_ name: String) -> [String] { [date(name), time(name)] }

    /// A value that those fields cannot show stays one field of text, so that untouched values do
    /// not change.
    static func html(_ value: ShownValue) -> HTML {
        let (date, time) = (value.typed[date(value.name)] ?? "", value.typed[time(value.name)] ?? "")
        if date.isEmpty != time.isEmpty { return html(value, date: date, time: time) }
        guard let moment = moment(value.text) else {
            return value.text.isEmpty ? html(value, date: "", time: "") : value.line()
        }
        return html(value, date: String(moment.words.prefix(10)), time: moment.timeOfDay)
    }

    private static func html(_ value: ShownValue, date: String, time: String) -> HTML {
        value.group(
            """
            <div class="parts">
            \(GroupInput.labelled("Date", name: Self.date(value.name), value: date, attributes: " type=\"date\""))
            \(GroupInput.labelled("Time", name: Self.time(value.name), value: time, attributes: " type=\"time\""))
            </div>
            """)
    }

    /// The values of a form's fields, as the source writes them.
    /// - Parameter shown: what the source held.
    /// - Returns: `shown` where both mean the same; nil when the form has no such fields.
    /// - Throws: a date without a time, or a time without a date.
    static func text(_ name: String, _ form: [String: String], shown: String) throws(Mistake) -> String? {
        guard let date = form[date(name)]?.trimming, let time = form[time(name)]?.trimming else { return form[name] }
        if date.isEmpty, time.isEmpty { return "" }
        guard !time.isEmpty else {
            throw Mistake("the date has no time", remedy: "Choose a time too, or clear the date.")
        }
        guard !date.isEmpty else {
            throw Mistake("the time has no date", remedy: "Choose a date too, or clear the time.")
        }
        let text = "\(date) \(time)"
        return moment(text).map { $0 == moment(shown) } ?? false ? shown : moment(text)?.words ?? text
    }

    /// A time as the language writes it; seconds must be zero.
    private static func moment(_ text: String) -> LocalTime? {
        LocalTime(text.utf8.count == 19 && text.hasSuffix(":00") ? String(text.dropLast(3)) : text)
    }
}

/// A zone of the machine's database, found by typing a part of its name.
enum ZoneControl {
    static func html(_ value: ShownValue, at now: Timestamp) -> HTML {
        let list = value.name + "-list"
        let options: [HTML] = ScheduleZoneNames.ofThisMachine().map { "<option value=\"\($0)\"></option>" }
        return """
            \(value.line(attributes: " list=\"\(list)\" spellcheck=\"false\"", note: clock(value.text, at: now)))
            <datalist id="\(list)">\(HTML(joined: options))</datalist>
            """
    }

    /// The present time of clocks there, by which a person notices a zone that they did not mean.
    private static func clock(_ name: String, at now: Timestamp) -> HTML {
        guard let zone = try? ZoneDatabase.system.zone(named: name) else { return "" }
        let local = zone.localTime(at: now)
        return """
            <span class="note">Clocks there show \(local.timeOfDay) now, \(DateWords.day(of: local)): \
            \(DateWords.offset(seconds: zone.offset(at: now))).</span>
            """
    }
}
