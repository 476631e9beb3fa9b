import Base

/// Dates as people say them.
enum DateWords {
    /// 0 is Sunday.
    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
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

    /// `UTC+05:30`
    static func offset(seconds: Int) -> String {
        let (hours, minutes) = (abs(seconds) / hour, abs(seconds) % hour / 60)
        func padded(_ number: Int) -> String { TextFormat.zeroPadded(number, digits: 2) }
        return "UTC" + (seconds < 0 ? "−" : "+") + "\(padded(hours)):\(padded(minutes))"
    }
}
