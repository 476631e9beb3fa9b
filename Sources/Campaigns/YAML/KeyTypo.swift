import Base
import PushServices

/// A line that was meant as `key: value`, but that YAML does not read as one because its colon is
/// not as YAML needs it.
struct KeyTypo {
    /// Where the key begins, counted from 1.
    let column: Int
    let mistake: Mistake

    /// Looks at a line: `title:Hello`, `title：你好`.
    init?(_ line: [Unicode.Scalar]) {
        let indentation = line.prefix { $0 == " " }.count
        let isEntry = line.dropFirst(indentation).starts(with: "- ".unicodeScalars)
        let start = indentation + (isEntry ? 2 : 0)
        let name = line[start...].prefix {
            $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0 == "-" || ("0"..."9").contains($0))
        }
        guard !name.isEmpty, name.endIndex < line.endIndex else { return nil }
        let rest = line[(name.endIndex + 1)...]
        let key = String(String.UnicodeScalarView(name))
        let value = String(String.UnicodeScalarView(rest)).trimmingSpaces()
        // After a blank, # would begin a comment.
        let needsQuotes = value.hasPrefix("#") && !value.contains("\"")
        let repaired = Self.shortened("\(key): \(needsQuotes ? "\"\(value)\"" : value)")
        let remedy = Self.isOfProject(key) ? "Write it as 'name: value'." : "Write \(repaired)"
        switch line[name.endIndex] {
        // An address such as https://example.com is not a key.
        case ":"
        where rest.first != nil && rest.first != " " && rest.first != "\t" && !rest.starts(with: "//".unicodeScalars):
            mistake = Mistake("a space is missing after the ':' of '\(key)'", remedy: remedy)
        case "：", "﹕":
            mistake = Mistake(
                "the colon after '\(key)' is a full-width one (\(String(line[name.endIndex])))", remedy: remedy)
        default: return nil
        }
        column = start + 1
    }

    /// Whether only volley.yaml has the key: what follows it may be a secret.
    private static func isOfProject(_ key: String) -> Bool {
        ProviderReader.keys.groups.contains { $0.holds(key) } && !CampaignKeys.file.groups.contains { $0.holds(key) }
    }

    private static func shortened(_ line: String) -> String {
        let shown = quoted(line).dropFirst().dropLast()
        return shown.hasSuffix(".") || shown.hasSuffix("…") ? String(shown) : shown + "."
    }
}

/// Characters that look like spaces, but are not spaces to YAML. Word processors, chats and web
/// pages put them at the beginning of a line or after a colon; inside a text they do no harm.
enum SpaceLookalikes {
    /// The first slip that breaks YAML; nil when no slip does.
    static func mistake(in source: YAMLSource) -> Diagnostic? {
        var first: (place: SourcePosition, scalar: Unicode.Scalar, isIndentation: Bool)?
        var lines = 0
        for number in 1...source.lineCount {
            let line = source.line(number)
            guard let index = index(in: line) else { continue }
            lines += 1
            guard first == nil else { continue }
            let isIndentation = line[..<index].allSatisfy { $0 == " " || $0 == "-" }
            first = (SourcePosition(file: source.file, line: number, column: index + 1), line[index], isIndentation)
        }
        guard let first else { return nil }
        let others = lines == 1 ? "" : ", as in \(lines - 1) more \(lines == 2 ? "line" : "lines")"
        return Diagnostic(
            "there is a \(name(of: first.scalar)) \(first.isIndentation ? "at the beginning of this line" : "after the colon")\(others); "
                + "it looks like a space, but is not one in YAML",
            at: first.place,
            remedy:
                "Replace it with a space that you type yourself; it often comes with text copied from a word processor or a web page."
        )
    }

    /// Where a line has one before its key or its list entry, or right after the colon of its key.
    private static func index(in line: [Unicode.Scalar]) -> Int? {
        let start = line.prefix { $0 == " " || isFalse($0) || $0 == "-" }.count
        if start < line.count, let index = line[..<start].firstIndex(where: isFalse) { return index }
        let name = line[start...].prefix { $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || $0 == "-") }
        guard !name.isEmpty, name.endIndex + 1 < line.count, line[name.endIndex] == ":",
            isFalse(line[name.endIndex + 1])
        else {
            return nil
        }
        return name.endIndex + 1
    }

    private static func isFalse(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xA0, 0x1680, 0x2000...0x200F, 0x202F, 0x205F, 0x2060, 0x3000: true
        default: false
        }
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0xA0, 0x202F: "non-breaking space"
        case 0x3000: "full-width space"
        case 0x200B...0x200F, 0x2060: "character without width"
        default: "special space"
        }
    }
}

extension Findings {
    /// Where something that looks like a space broke the file, reports that instead of the mistakes
    /// that follow from it.
    func preferFalseSpaces(in source: YAMLSource) {
        guard hasErrors, let mistake = SpaceLookalikes.mistake(in: source), let line = mistake.position?.line else {
            return
        }
        // A key with a group that is not seen as such is called empty, in the line before.
        replaceErrors(from: line - 1, by: mistake)
    }
}

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
