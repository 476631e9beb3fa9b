import Base

/// Dates as people say them.
enum DateWords {
    /// 0 is Sunday.
    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let hour = 3_600

    /// `Tuesday, 1 December 2026`
    static func day(of time: LocalTime) -> String {
        "\(weekdays[time.weekday]), \(time.date.day) \(months[time.date.month - 1]) \(time.date.year)"
    }

    /// `Tuesday, 1 December 2026, 09:00`, for a time of a schedule.
    static func time(_ occurrence: String) -> String {
        LocalTime(occurrence).map { "\(day(of: $0)), \($0.timeOfDay)" } ?? occurrence
    }

    /// `Tuesday, 1 December 2026, 09:00 UTC`; the script writes the viewer's own time in the same
    /// form.
    static func utc(_ moment: Timestamp) -> String { "\(time(String(moment.description.prefix(16)))) UTC" }

    /// `Tue, 09:00 UTC`, where the day is seen next to it.
    static func shortUTC(_ moment: Timestamp) -> String {
        LocalTime(String(moment.description.prefix(16))).map {
            "\(weekdays[$0.weekday].prefix(3)), \($0.timeOfDay) UTC"
        } ?? utc(moment)
    }

    /// `UTC+05:30`
    static func offset(seconds: Int) -> String {
        let (hours, minutes) = (abs(seconds) / hour, abs(seconds) % hour / 60)
        func padded(_ number: Int) -> String { TextFormat.zeroPadded(number, digits: 2) }
        return "UTC" + (seconds < 0 ? "−" : "+") + "\(padded(hours)):\(padded(minutes))"
    }
}
