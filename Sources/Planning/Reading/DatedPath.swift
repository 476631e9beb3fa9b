import Audience
package import Base

/// Paths of exports that carry a date: `exports/devices-{{ date }}.csv`.
///
/// `{{ date }}` is today, `{{ yesterday }}` the day before, as 2026-12-01, in the zone of the
/// campaign's schedule or, without one, of this machine. `{{ date | date: '%Y%m%d' }}` writes them
/// in another format, with `%Y`, `%m`, `%d`, `%H`, `%M` and `%j` (the day of the year).
package struct DatedPath {
    package let now: Timestamp
    /// nil for this machine's, which is read only for a path that has a date.
    let zone: ZoneRules?

    private static let remedy =
        "Write {{ date }} or {{ yesterday }}; for another format, write {{ date | date: '%Y%m%d' }}."

    /// The files that a path can mean at any date: those of its pattern, in which a date is also a
    /// pattern. A path without either is returned unchanged, even if nothing is there.
    /// - Throws: an error for a folder that could not be read.
    package static func files(ofAnyDate path: String) throws(Diagnostic) -> [String] {
        try AudienceQuery.matches(of: path.replacing(/\{\{.*?\}\}/, with: "*"))
    }

    /// Fills in the dates of a path.
    /// - Throws: `Diagnostic`: the text between the braces is not known, or this machine's zone,
    ///   which it depends on, cannot be read.
    func filled(_ path: SourceText) throws(Diagnostic) -> String {
        var result = ""
        var rest = path.value[...]
        while let start = rest.firstRange(of: "{{") {
            result += rest[..<start.lowerBound]
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else {
                throw Diagnostic(
                    "the path \(quoted(path.value)) has no }} after its {{", at: path.position, remedy: Self.remedy)
            }
            result += try text(for: String(rest[start.upperBound..<end.lowerBound]), at: path.position)
            rest = rest[end.upperBound...]
        }
        return result + rest
    }

    private func quoted(_ text: String) -> String { "'\(TextFormat.foreign(text))'" }

    private func text(for tag: String, at position: SourcePosition) throws(Diagnostic) -> String {
        let parts = tag.split(separator: "|", omittingEmptySubsequences: false).map { trimmed($0) }
        guard ["date", "yesterday"].contains(parts[0]), parts.count <= 2 else {
            throw Diagnostic("\(quoted("{{\(tag)}}")) is not known in a path", at: position, remedy: Self.remedy)
        }
        let clock = if let zone { zone } else { try machineZone(at: position) }
        var time = clock.localTime(at: now)
        if parts[0] == "yesterday" { time = time.adding(minutes: -24 * 60) }
        guard parts.count == 2 else { return try written(time, format: "%Y-%m-%d", at: position) }
        let filter = parts[1].split(separator: ":", maxSplits: 1).map { trimmed($0) }
        guard filter.count == 2, filter[0] == "date", let quote = filter[1].first, "'\"".contains(quote),
            filter[1].count > 2,
            filter[1].last == quote
        else {
            throw Diagnostic("the filter \(quoted(parts[1])) is not known in a path", at: position, remedy: Self.remedy)
        }
        return try written(time, format: String(filter[1].dropFirst().dropLast()), at: position)
    }

    private func machineZone(at position: SourcePosition) throws(Diagnostic) -> ZoneRules {
        do throws(Mistake) { return try ZoneDatabase.system.machineZone } catch {
            throw Diagnostic(
                "the date in this path depends on where this machine is, but \(error.message)", at: position,
                remedy: error.remedy)
        }
    }

    private func trimmed(_ text: some StringProtocol) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    private func written(_ time: LocalTime, format: String, at position: SourcePosition) throws(Diagnostic) -> String {
        let (year, month, day) = time.date
        var result = ""
        var isDirective = false
        for character in format {
            guard isDirective else {
                if character == "%" { isDirective = true } else { result.append(character) }
                continue
            }
            isDirective = false
            switch character {
            case "Y": result += padded(year, width: 4)
            case "m": result += padded(month, width: 2)
            case "d": result += padded(day, width: 2)
            case "H": result += padded(time.minuteOfDay / 60, width: 2)
            case "M": result += padded(time.minuteOfDay % 60, width: 2)
            case "j": result += padded(time.dayNumber - daysFromCivil(year: year, month: 1, day: 1) + 1, width: 3)
            case "%": result += "%"
            default:
                throw Diagnostic(
                    "%\(character) is not known in a path", at: position,
                    remedy: "You can use %Y, %m, %d, %H, %M and %j.")
            }
        }
        guard !isDirective else {
            throw Diagnostic(
                "\(quoted(format)) ends with a single %", at: position, remedy: "You can use %Y, %m, %d, %H, %M and %j."
            )
        }
        return result
    }

    private func padded(_ number: Int, width: Int) -> String { TextFormat.zeroPadded(number, digits: width) }
}
