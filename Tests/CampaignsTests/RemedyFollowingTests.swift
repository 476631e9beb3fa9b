import Base
import PushServices
import Testing

@testable import Campaigns

/// Follows what messages propose: each `Write …`, `Did you mean …?` and `for example: …` is put
/// into the file at the message's place, and the file is read again.
@Suite("Remedies that are followed")
struct RemedyFollowingTests {
    /// A file, and how it is read.
    struct Followed: Sendable, CustomTestStringConvertible {
        var title: String
        var yaml: String
        var read: @Sendable (String) -> [Diagnostic]

        var testDescription: String { title }
    }

    private static func diagnostics<Value>(_ read: () throws(Diagnostics) -> (Value, [Diagnostic])) -> [Diagnostic] {
        do throws(Diagnostics) { return try read().1 } catch { return error.all }
    }

    @Sendable private static func part(_ yaml: String) -> [Diagnostic] {
        diagnostics { () throws(Diagnostics) in try readPart(yaml) }
    }

    @Sendable private static func campaign(_ yaml: String) -> [Diagnostic] {
        diagnostics { () throws(Diagnostics) in try readCampaign(yaml) }
    }

    @Sendable private static func project(_ yaml: String) -> [Diagnostic] {
        diagnostics { () throws(Diagnostics) in try readProject(yaml) }
    }

    /// Every campaign and volley.yaml with a mistake that other tests have.
    static let all: [Followed] = {
        let parts =
            MistakesInAudienceTests.mistakes + MistakesInContentTests.mistakes + MistakesInDeliveryTests.mistakes
            + MistakesInKeysTests.mistakes + MistakesInScheduleTests.mistakes + MistakesInScheduleTests.warnings
            + VariantReadingTests.mistakes + AllowTests.mistakes
        let whole = MistakesInYAMLStructureTests.mistakes + MistakesInYAMLTextsTests.mistakes
        let projects =
            MistakesInProjectTests.mistakes.map(\.yaml)
            + (NoticeSettingTests.mistakes.map { $0.yaml + NoticeSettingTests.apps })
            + (ProxySettingTests.mistakes.map { $0.yaml + ProxySettingTests.apps })
        return parts.map { Followed(title: $0.title, yaml: $0.yaml, read: part) }
            + whole.map { Followed(title: $0.title, yaml: $0.yaml, read: campaign) }
            + projects.map { Followed(title: String($0.prefix(60)), yaml: $0, read: project) }
    }()

    @Test("each proposal of a message removes the mistake and brings no other", arguments: all)
    func follow(_ file: Followed) {
        let before = file.read(file.yaml)
        for mistake in before {
            for proposal in Proposal.all(in: mistake) {
                guard let yaml = proposal.applied(to: file.yaml, at: mistake) else { continue }
                let after = file.read(yaml)
                let old = Set(before.map(\.message))
                let remains = after.contains {
                    $0.message == mistake.message && $0.position?.line == mistake.position?.line
                }
                // A mistake elsewhere was hidden by this one: it is no fault of the proposal.
                let first = (mistake.position?.column ?? 1) - (proposal.key?.count ?? 0) - 3
                let worse = after.filter {
                    $0.severity == .error && !old.contains($0.message) && $0.position?.line == mistake.position?.line
                        && $0.position?.column ?? 1 >= first
                }
                #expect(!remains && worse.isEmpty, "\(mistake)\n\(proposal)\n\(yaml)\n\(worse.map(\.description))")
            }
        }
    }

    /// One-edit mistakes in braces, where a comma ends a value, and zones that no campaign may
    /// name.
    static let inBraces = [
        "delivery: {pace: 5,000/s}", "delivery: {expires: 4h, pace: 5,000/s}",
        "delivery: {pace: 1,000,000/h, expires: 4h}",
        "delivery: {pace: 0,5/s}", "delivery: {expires: 1,5h}", "delivery: {expires: 1,5 hours, pace: 10/s}",
        "delivery: {expires: 0,5d}",
        "delivery: {expires: 1,500min}", "delivery: {expires: 2 Dec 2030, 09:00}",
        "delivery: {expires: 2030-12-02, 09:00}",
        "delivery: {expires: 12/01/2030, 9:00}", "delivery: {stop_when: {failed: 0,5%}}",
        "delivery: {stop_when: {failed: 0,5%, after: 9}}",
        "delivery: {stop_when: {failed: 5%, after: 1,000}}", "delivery: {collapse: spring, sale}",
        "schedule: {at: 2 Dec 2030, 09:00, timezone: Asia/Tokyo}",
        "schedule: {timezone: Asia/Tokyo, at: Dec 2, 2030 9:00}",
        "schedule: {at: 2nd December 2030, 09:00, timezone: Asia/Tokyo}",
        "schedule: {at: 2030-12-02, 09:00, timezone: Asia/Tokyo}",
        "schedule: {at: 2030-12-02 09:00, timezone: Europe, Berlin}",
        "schedule: {repeat: 0 9 * * mon,thu, timezone: Asia/Tokyo}",
        "schedule: {repeat: 0 9,18 * * *, timezone: Asia/Tokyo}",
        "schedule: {at: 2030-12-02 09:00, timezone: UTC, late: skip after 1,5h}",
        "content: {title: 20 % off, today, body: b}", "content: {title: a, badge: 1,000}",
        "content: {title: a, data: {price: 19,99}}", "content: {title: a, data: {price: 1,000}}",
        "content: {title: a, data: {city: Lyon, Ulm}}",
        "audience: {everyone: true, max_bad_rows: 0,5%}", "audience: {everyone: true, shrinks_at_most: 12,5%}",
        "audience: {everyone: true, where: {language: de/en}}",
        "audience: {everyone: true, where: {language: de;pt-BR}}",
        "audience: {tags: a, b}", "audience: {everyone: true, where: {store: Lyon, 7}}", "audience: {tags: 1001, yes}",
        "schedule: {at: 2030-12-02 09:00, timezone: \"CST-8\"}", "schedule: {at: 2030-12-02 09:00, timezone: UTC+8}",
        "schedule: {at: 2030-12-02 09:00, timezone: HST10}",
        "schedule: {at: 2030-12-02 09:00, timezone: \"<+0330>-3:30\"}",
        "schedule: {at: 2030-12-02 09:00, timezone: Etc/GMT-8}",
        "schedule: {at: 2030-12-02 09:00, timezone: \"+05:30\"}",
    ]

    @Test(
        "what is proposed for a value cut by its comma, and for an offset as a zone, is read without a mistake",
        arguments: inBraces)
    func followInBraces(_ yaml: String) throws {
        let mistakes = Self.part(yaml + "\n").filter { $0.severity == .error }
        let mistake = try #require(mistakes.first)
        // What is left of the value says nothing of its own.
        #expect(mistakes.count == 1, "\(mistakes.map(\.description))")
        let proposals = Proposal.all(in: mistake)
        #expect(!proposals.isEmpty, "\(mistake)")
        for proposal in proposals {
            let followed = try #require(proposal.applied(to: yaml + "\n", at: mistake), "\(mistake)")
            let after = Self.part(followed).filter { $0.severity == .error }
            #expect(after.isEmpty, "\(mistake)\n\(followed)\n\(after.map(\.description))")
        }
    }

    @Test(
        "what is proposed for a month, a year or a date in words of `where` is read without a mistake",
        arguments: [
            "after 2026-11", "since 11/2026", "before 2026", "until 2026-11", "before 01.11.2026", "after 3-5",
            "since 10:00",
            "> 2026-11", "<= 11/2026", ">= 2026", "older than 2026-11-01", "within 2026-11-01", "older than 11/2026",
            "older than 01.11.2026",
        ])
    func followDates(_ condition: String) throws {
        func mistakes(_ condition: String) -> [Diagnostic] {
            Self.part("audience: {everyone: true, where: {last_active: \"\(condition)\"}}\n").filter {
                $0.severity == .error
            }
        }
        let found = mistakes(condition)
        let remedy = try #require(found.first?.remedy)
        let proposals = remedy.matches(of: /"([<>=]+ [^"]+)"/).map { String($0.output.1) }
        #expect(found.count == 1 && !proposals.isEmpty, "\(found)")
        for proposal in proposals { #expect(mistakes(proposal).isEmpty, "\(remedy)") }
        let meant = [
            "older than 2026-11-01": "< 2026-11-01", "> 2026-11": ">= 2026-12-01", "until 2026-11": "< 2026-12-01",
        ]
        if let meant = meant[condition] { #expect(proposals == [meant]) }
    }

    /// Names as headers of exports and tags have them.
    static let oddNames = [
        "device: token", "token #", "\"token\"", "it's", " token", "token ", "- token", "{token}", "a, b", "yes",
        "null", "1001", "0x1F",
        "# a",
        "*token", "&a", "a\tb", "", "令牌: 一", "a\\b", "!t", "100 %", "@id", "`id`", "a\u{2028}b", "token", "设备 id",
    ]

    @Test("the name of a column in a proposal of YAML is that name when it is read", arguments: oddNames)
    func names(_ name: String) throws {
        let written = TextFormat.yaml(name)
        let edit = try #require(YAMLEdit("columns: {token: \(written), tags: [\(written), b]}\nalias: \(written)\n"))
        #expect(try edit.value(at: ["columns", "token"]) == .text(name) && edit.value(at: ["alias"]) == .text(name))
        #expect(try edit.value(at: ["columns", "tags"]) == .list([name, "b"]))
    }

    @Test("most proposals can be followed mechanically")
    func coverage() {
        var (followed, proposed) = (0, 0)
        for file in Self.all {
            for mistake in file.read(file.yaml) {
                let proposals = Proposal.all(in: mistake)
                proposed += proposals.count
                followed += proposals.count { $0.applied(to: file.yaml, at: mistake) != nil }
            }
        }
        #expect(followed > 60, "\(followed) of \(proposed)")
    }
}

/// What a message proposes to write.
struct Proposal: CustomStringConvertible {
    /// The key of `key: value`; nil for something that replaces what the message quotes.
    var key: String?
    var text: String

    var description: String { key.map { "\($0): \(text)" } ?? text }

    /// The proposals of a message: alternatives that must each work.
    static func all(in mistake: Diagnostic) -> [Proposal] {
        guard let remedy = mistake.remedy else { return [] }
        return (entries(remedy) + names(remedy) + rules(remedy) + (entries(remedy).isEmpty ? words(remedy) : [])).filter
        {
            // An example of something that only its author can name.
            !["…", "NAME", "FILE", "REASON"].contains(where: $0.text.contains)
                && $0.text.count { $0 == "\"" }.isMultiple(of: 2)
        }
    }

    /// `Write timezone: Europe/Berlin.`, `for example: expires: 4h.`
    private static func entries(_ remedy: String) -> [Proposal] {
        let form =
            /(?:in quotes|[Ww]rite|[Aa]dd|[Ff]or example|such as|as in)[:,]? (?:for example,? )?([a-z_]+): (.+?)(?=\.$|\. |;|, with |, and in| for | or [a-z_]+: |, or |$)/
        return remedy.matches(of: form).flatMap { match in
            alternatives(String(match.output.2)).map { Proposal(key: String(match.output.1), text: $0) }
        }
    }

    /// `Did you mean 'timezone'?`
    private static func names(_ remedy: String) -> [Proposal] {
        remedy.matches(of: /Did you mean '([^']+)'/).map { Proposal(text: String($0.output.1)) }
    }

    /// `Write "0 9 * * mon"`
    private static func rules(_ remedy: String) -> [Proposal] {
        remedy.matches(of: /(?:[Ww]rite|or) "([^"]+)"/).map { Proposal(text: String($0.output.1)) }
    }

    /// `Write 5000/s, 5000/min or 5000/h.`, `for example: 20% or 0.5%.`
    private static func words(_ remedy: String) -> [Proposal] {
        let form = /(?:Write|write|one of these):? ([^ ,;"'{]*[0-9*%][^ ,;"'{]*(?:(?:, | or )[^ ,;"'{]+)*?)(?:\.|;|$)/
        return remedy.matches(of: form).flatMap { alternatives(String($0.output.1)) }.map { Proposal(text: $0) }
    }

    private static func alternatives(_ text: String) -> [String] {
        text.hasPrefix("{") || text.hasPrefix("[") || text.hasPrefix("\"")
            ? [text]
            : text.split(separator: " or ").flatMap { $0.split(separator: ", ") }
                .map { String($0.last == "." ? $0.dropLast() : $0) }
    }

    /// The file with the proposal in it; nil where that takes a person.
    func applied(to yaml: String, at mistake: Diagnostic) -> String? {
        guard let place = mistake.position else { return nil }
        var lines = yaml.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard place.line <= lines.count else { return nil }
        let line = Array(lines[place.line - 1].unicodeScalars)
        guard place.column <= line.count + 1 else { return nil }
        guard
            let changed = key.map({
                entry($0, line, place.column - 1, isCut: mistake.message.hasPrefix("the comma ends"))
            })
                ?? value(mistake, line, place.column - 1)
        else { return nil }
        lines[place.line - 1] = changed
        return lines.joined(separator: "\n")
    }

    private func value(_ mistake: Diagnostic, _ line: [Unicode.Scalar], _ column: Int) -> String? {
        if text.split(separator: " ").count == 5, let start = line[..<min(column + 1, line.count)].lastIndex(of: "\""),
            let end = line[max(column, start + 1)...].firstIndex(of: "\"")
        {
            // A whole rule of cron.
            return Self.string(line[...start]) + text + Self.string(line[end...])
        }
        guard let old = mistake.message.firstMatch(of: /'([^']+)'/)?.output.1 else { return nil }
        for start in [column, column + 1] where start <= line.count && line[start...].starts(with: old.unicodeScalars) {
            let end = start + old.unicodeScalars.count
            return Self.string(line[..<start]) + text + Self.string(line[end...])
        }
        return nil
    }

    /// - Parameter isCut: whether the value continues behind its commas, up to the next entry.
    private func entry(_ key: String, _ line: [Unicode.Scalar], _ column: Int, isCut: Bool) -> String? {
        let name = Array("\(key):".unicodeScalars)
        let starts = line.indices.filter { start in
            start <= column && line[start...].starts(with: name)
                && (start == 0 || " {,".unicodeScalars.contains(line[start - 1]))
        }
        guard let start = starts.last else { return nil }
        let rest = Self.string(line[start...])
        let cutEnd = rest.firstMatch(of: /}|, *[a-z_]+:[ ]/).map {
            start + rest[..<$0.range.lowerBound].unicodeScalars.count
        }
        guard let end = isCut ? cutEnd : Self.end(of: line, from: start + name.count) else { return nil }
        return Self.string(line[..<start]) + "\(key): \(text)" + Self.string(line[end...])
    }

    /// Where the value of an entry ends on its line; nil if it may continue on the next one.
    private static func end(of line: [Unicode.Scalar], from start: Int) -> Int? {
        let isFlow = line[..<start].count { $0 == "{" || $0 == "[" } > line[..<start].count { $0 == "}" || $0 == "]" }
        guard isFlow else {
            let hasValue = line[start...].contains { $0 != " " }
            return hasValue && !"|>{[".unicodeScalars.contains(line[start...].first { $0 != " " } ?? " ")
                ? line.count : nil
        }
        var (depth, quote) = (0, nil as Unicode.Scalar?)
        for place in start..<line.count {
            let scalar = line[place]
            if let open = quote {
                if scalar == open { quote = nil }
                continue
            }
            switch scalar {
            case "'", "\"": quote = scalar
            case "{", "[": depth += 1
            case "}", "]", ",":
                if depth == 0 { return place }
                if scalar != "," { depth -= 1 }
            default: break
            }
        }
        return nil
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }
}
