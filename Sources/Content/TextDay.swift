public import Base

/// Days and hours in a text that do not exist, that should have been filled in, or that are in the past.
public enum TextDay {
    /// `until DD.MM.`, `until XX.XX.`, `MM/DD/YYYY`, `until ??`
    static func missing(in text: String) -> Substring? {
        text.firstMatch(of: /\b(?:(?:DD|TT|XX|dd|tt|xx)[.\/-](?:MM|XX|mm|xx)|MM[.\/-](?:DD|TT)|(?:YYYY|JJJJ)[.\/-]MM)\b/)?.output
            ?? text.firstMatch(of: /(?i)\b(?:until|till|by|on|from|bis|am|ab|vom)\s+\?\?+(?=\s*(?:$|[.,!–-]|(?:to|bis)\s+\?))/)?.output
    }

    /// `31.11.2026`, `2026-02-30`, `30.02.`, `Feb 30`, `31 June`
    static func impossible(in text: String) -> Substring? {
        for match in text.matches(of: /\b([0-9]{1,2})\.([0-9]{1,2})\.(20[0-9]{2})\b/) {
            if hasNoDay(match.output.3, month: match.output.2, day: match.output.1) { return match.output.0 }
        }
        for match in text.matches(of: /\b(20[0-9]{2})-([0-9]{2})-([0-9]{2})\b/) {
            if hasNoDay(match.output.1, month: match.output.2, day: match.output.3) { return match.output.0 }
            // Day and month swapped.
            if ("13"..."31").contains(match.output.2), ("01"..."12").contains(match.output.3) { return match.output.0 }
        }
        // An amount at the end of a sentence may look like this.
        for match in text.matches(of: /(?:^|[^0-9.,$€£¥])\s?((3[01])\.(0[1-9]|1[0-2])\.)(?![0-9])(?!\s*(?:€|EUR|Euro|CHF|Uhr|%))/) {
            if hasNoDay("2028", month: match.output.3, day: match.output.2) { return match.output.1 }
        }
        return named(text)
    }

    /// With the month's name, in English and German.
    private static func named(_ text: String) -> Substring? {
        let found =
            text.matches(of: /\b(Feb|Apr|Jun|Sep|Nov)[a-z]{0,6}\.?\s(3[01])(?:st|th)?\b(?![.,:]?[0-9])(?!\s*%)/)
            .map { ($0.output.0, $0.output.1, $0.output.2) }
            + text.matches(of: /\b(3[01])(?:st|th)?\.?\s(?:of\s)?(Feb|Apr|Jun|Sep|Nov)[a-z]{0,6}\b/)
            .map { ($0.output.0, $0.output.2, $0.output.1) }
        return found.first { months.contains(lastWord(of: $0.0)) && ($0.2 == "31" || $0.1 == "Feb") }?.0
    }

    private static func lastWord(of day: Substring) -> String {
        day.split { !$0.isLetter }.first { $0.first?.isUppercase ?? false }.map(String.init) ?? ""
    }

    /// Months with fewer than 31 days.
    private static let months: Set<String> = [
        "Feb", "February", "Februar", "Apr", "April", "Jun", "June", "Juni", "Sep", "Sept", "September", "Nov", "November",
    ]

    /// `until 25:00`: a score or a length of time does not follow such a word.
    static func impossibleHour(in text: String) -> Substring? {
        text.firstMatch(
            of: /(?i)\b(?:at|until|till|um|bis|ab)\s+((?:2[5-9]|[3-9][0-9]):[0-5][0-9]|(?:[01]?[0-9]|2[0-3]):[6-9][0-9])\b(?!:)/)?
            .output.1
    }

    private static func hasNoDay(_ year: Substring, month: Substring, day: Substring) -> Bool {
        guard let year = Int(year), let month = Int(month), let day = Int(day), (1...12).contains(month) else { return false }
        return day > daysInMonth(month, year: year)
    }

    // MARK: - Days in the past

    /// Texts that end something on a day in the past: `until 24.12.2025`.
    /// - Parameter texts: with their places.
    public static func past(in texts: [SourceText], now: Timestamp) -> [Diagnostic] {
        // It is still yesterday in some time zones.
        let today = now.epochMilliseconds / 86_400_000 - 1
        return texts.compactMap { text in
            let days = text.value.matches(of: endings).compactMap { match -> Substring? in
                let parts = (match.output.2, match.output.3, match.output.4)
                let date =
                    parts.0.count == 4
                    ? "\(parts.0)-\(padded(parts.1))-\(padded(parts.2))" : "\(parts.2)-\(padded(parts.1))-\(padded(parts.0))"
                guard let moment = Array(date.utf8).withUnsafeBufferPointer(dateMilliseconds) else { return nil }
                return moment / 86_400_000 < today ? match.output.0 : nil
            }
            return days.first.map {
                .warning(
                    .placeholderInText, message: "'\($0)' names a day in the past", at: text.position,
                    remedy: "Write the day that you mean.")
            }
        }
    }

    private static func padded(_ number: Substring) -> String { number.count == 1 ? "0\(number)" : String(number) }

    /// A word for the end of something, and a day with its year.
    private static var endings: Regex<(Substring, Substring, Substring, Substring, Substring)> {
        /(?i)\b(until|till|through|ends|ends on|bis|bis zum|endet am|jusqu['’]au|hasta|hasta el|fino al)\s+([0-9]{1,2}|20[0-9]{2})[.-]([0-9]{1,2})[.-](20[0-9]{2}|[0-9]{1,2})\b/
    }
}
