import Base
import PushServices

/// A value in braces that its own comma cut: what was meant, and a remedy that the file's reader
/// accepts.
struct CommaTypo {
    /// The keys above the value and, last, its own.
    let path: [String]
    /// The whole value as written, up to the next entry.
    let raw: String
    /// What is between its commas.
    let parts: [String]

    /// - Parameter rest: the line from the value on.
    init(path: [String], rest: some Sequence<Unicode.Scalar>) {
        var text = String.UnicodeScalarView()
        for scalar in rest {
            if scalar == "}" { break }
            text.append(scalar)
        }
        let pieces = String(text).split(separator: ",", omittingEmptySubsequences: false)
        // `pace: 5` is an entry, `09:00` is not.
        let own = pieces.prefix { piece in !piece.contains(": ") && !piece.hasSuffix(":") }
        self.path = path
        raw = own.joined(separator: ",").trimmingSpaces()
        parts = own.map { $0.trimmingSpaces() }.filter { !$0.isEmpty }
    }

    private var key: String { path.last ?? "" }

    /// Whether its key takes a number, a pace or the like, so that the value can be no secret.
    var hasNotation: Bool { Self.notations[key] != nil || Self.numbers.contains(key) }

    var remedy: String {
        let quoted = "\(key): \(TextFormat.yaml(raw, like: .doubleQuoted))"
        // What marketing and the app named themselves has no notation.
        guard !path.dropLast().contains(where: ["data", "where", "cells", "map", "payload"].contains) else {
            return foreignRemedy(quoted)
        }
        if let parse = Self.notations[key]
            ?? (path.dropLast().last == "stop_when" && key != "after" ? Self.stopShare : nil)
        {
            return notationRemedy(parse, quoted)
        }
        if Self.numbers.contains(key), let number = Self.withoutGroups(raw),
            number.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        {
            return "Write \(key): \(number)."
        }
        if Self.numbers.contains(key) { return "'\(key)' takes a whole number: keep one of them." }
        if Self.listKeys.contains(key) { return "For several write \(key): \(list)." }
        let zones = ZoneDatabase.system
        func isPlace(_ name: String) -> Bool {
            name.contains("/") && !name.hasPrefix("Etc/") && (try? zones.zone(named: name)) != nil
        }
        let isZone = ["timezone", "fallback_timezone"].contains(key)
        if isZone, let zone = [parts.joined(separator: "/"), parts.last ?? ""].first(where: { isPlace($0) }) {
            return "It takes one place: write \(key): \(zone)."
        }
        if isZone || Self.choices.contains(key) { return "'\(key)' takes one value: keep one of them." }
        return "Put the text in quotes: \(quoted)."
    }

    private var list: String { "[\(Self.withoutBrackets(parts).map(Self.item).joined(separator: ", "))]" }

    /// Numbers stay numbers in a list.
    private static func item(_ part: String) -> String {
        CoreSchema.value(of: part) == .text ? TextFormat.yaml(part) : part
    }

    /// For conditions and values of the author's own.
    private func foreignRemedy(_ quoted: String) -> String {
        let areDigits = parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard parts.count == 2, areDigits, !raw.contains(" ") else {
            return "For several values write \(key): \(list); for one with a comma, \(quoted)."
        }
        let decimal = "\(key): \(parts[0]).\(parts[1])"
        if let whole = Self.withoutGroups(raw) {
            return "For \(whole) write \(key): \(whole); for the decimal, \(decimal)."
        }
        return "Write \(decimal) for a number, or \(quoted) for a text."
    }

    /// The first way to write the value that its notation accepts; otherwise what the notation says
    /// of it.
    private func notationRemedy(_ parse: (String) throws(Mistake) -> Void, _ quoted: String) -> String {
        let whole = raw.replacing(/[0-9]+[.,][0-9]+ *[A-Za-z]+/) {
            DurationNotation.whole(String($0.output)) ?? String($0.output)
        }
        let decimal = raw.replacing(/([0-9]),([0-9])/) { "\($0.output.1).\($0.output.2)" }
        var last: Mistake?
        for candidate in [raw, Self.withoutGroups(raw), whole, decimal, PaceNotation.slower(decimal)].compactMap(\.self)
        {
            do throws(Mistake) {
                try parse(candidate)
                return candidate == raw ? "Put it in quotes: write \(quoted)." : "Write \(key): \(candidate)."
            } catch {
                if candidate != raw || last == nil { last = error }
            }
        }
        // A date says by itself how it is written here.
        if !OperandRule.dates(meantBy: raw).isEmpty { do { try parse(raw) } catch { last = error } }
        return last?.remedy ?? "Write it without the comma."
    }

    /// `5000/s` for `5,000/s`; nil without groups of thousands.
    private static func withoutGroups(_ text: String) -> String? {
        let without = text.replacing(/(^|[^0-9,])([1-9][0-9]{0,2}(?:,[0-9]{3})+)(?![0-9])/) {
            $0.output.1 + $0.output.2.filter { $0 != "," }
        }
        return without == text ? nil : without
    }

    /// `in (gold, silver)`, as a query has it.
    private static func withoutBrackets(_ parts: [String]) -> [String] {
        guard var first = parts.first, var last = parts.last, parts.count > 1, let open = first.firstIndex(of: "("),
            last.hasSuffix(")"),
            ["", "in", "one of", "any of"].contains(first[..<open].lowercased().trimmingSpaces())
        else { return parts }
        first = String(first[first.index(after: open)...]).trimmingSpaces()
        last = String(last.dropLast()).trimmingSpaces()
        return [first] + parts.dropFirst().dropLast() + [last]
    }

    /// Keys that take a list of names, numbers, or one of a few words.
    private static let listKeys: Set = [
        "tags", "aliases", "registration_ids", "any", "all", "none", "devices", "command", "events", "roots", "proxies",
        "scopes", "prefer",
    ]
    private static let numbers: Set = ["alias_limit", "badge", "after"]
    private static let choices: Set = [
        "app", "priority", "unknown", "by", "wake_app", "silent", "everyone", "service", "environment", "name", "rows",
        "format",
        "approval",
    ]

    private static let stopShare: @Sendable (String) throws(Mistake) -> Void = { text throws(Mistake) in
        _ = try StopReader.share(text)
    }
    /// How keys with a notation of their own are read.
    private static let notations: [String: @Sendable (String) throws(Mistake) -> Void] = [
        "pace": { text throws(Mistake) in _ = try PaceNotation.pace(text) },
        "frequency": { text throws(Mistake) in _ = try FrequencyNotation.cap(text) },
        "expires": { text throws(Mistake) in _ = try DeliveryReader.expiry(text) },
        "at": { text throws(Mistake) in _ = try ScheduleReader.localTime(text, in: nil) },
        "late": { text throws(Mistake) in _ = try ScheduleReader.latePolicy(text) },
        "quiet_hours": { text throws(Mistake) in _ = try QuietHours(text) },
        "repeat": { text throws(Mistake) in _ = try CronRule(text) },
        "share": { text throws(Mistake) in _ = try VariantReader.share(text) },
        "max_bad_rows": { text throws(Mistake) in _ = try Percentage.share(text) },
        "relevance": { text throws(Mistake) in
            guard let value = Double(text), (0...1).contains(value) else {
                throw Mistake("'relevance' is a number from 0 to 1", remedy: "For example: relevance: 0.8.")
            }
        },
        "shrinks_at_most": { text throws(Mistake) in _ = try ShrinkNotation.limit(text) },
    ]
}
