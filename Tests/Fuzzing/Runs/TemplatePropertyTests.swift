import Base
import Glibc
import TestSupport
import Testing

@testable import Content

/// Random templates from the grammar, rendered fast and slowly.
@Suite struct TemplatePropertyTests {
    /// Templates of each seed: `VOLLEY_TEMPLATES`.
    private static let templates = getenv("VOLLEY_TEMPLATES").flatMap { Int(String(cString: $0)) } ?? 25

    @Test(
        "whatever a template says, and whatever the cells hold, both ways to render agree",
        arguments: 0..<20 as Range<UInt64>)
    func agree(seed: UInt64) throws {
        var maker = TemplateMaker(seed: seed)
        for _ in 0..<Self.templates {
            let parts = [maker.text(), maker.text()] + (0..<6).map { _ in maker.cell() }
            let choice = UInt8(maker.number(0..<8)) << 5
            let input = [choice] + Array(parts.map { $0.replacing("^", with: "") }.joined(separator: "^").utf8)
            do throws(FuzzFinding) {
                try fuzzTemplate(input)
            } catch {
                Issue.record("\(error)\n\(parts.joined(separator: "\n"))")
            }
        }
    }

    @Test("most of them compile")
    func compile() {
        var maker = TemplateMaker(seed: 1)
        var accepted = 0
        for _ in 0..<500 {
            var parser = TemplateParser(
                SourceText(maker.text(), at: SourcePosition(file: "c.yaml", line: 1, column: 1)))
            _ = parser.parse()
            if parser.mistakes.allSatisfy({ $0.severity == .warning }) { accepted += 1 }
        }
        #expect(accepted > 400)
    }
}

private struct TemplateMaker {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed) }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func one(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }

    private mutating func many(_ range: Range<Int>, _ make: (inout TemplateMaker) -> String) -> [String] {
        let count = number(range)
        var made: [String] = []
        for _ in 0..<count { made.append(make(&self)) }
        return made
    }

    mutating func text(depth: Int = 0) -> String {
        many(1..<5) { maker in
            switch maker.number(0..<(depth > 2 ? 6 : 9)) {
            case 0, 1: maker.words()
            case 2..<6: maker.output()
            default: maker.choice(depth)
            }
        }.joined()
    }

    private mutating func words() -> String {
        one([
            "Hi ", " and ", "\n", "  ", "\"quoted\"", "\\", "é日本👍", "50 % off", "{% raw %}{{ a }}{% endraw %}",
            "{%- comment -%}{% if %}{%- endcomment -%}", "}", ".",
        ])
    }

    private mutating func column() -> String { one(["a", "b", "c", "d", "e", "f"]) }

    private mutating func output() -> String {
        let (open, close) = (one(["{{ ", "{{ ", "{{- "]), one([" }}", " }}", " -}}"]))
        var filters = many(0..<3) { $0.textFilter() }
        switch number(0..<4) {
        case 0: filters.insert(localFilter(), at: 0)
        case 1: filters.append("default: " + one(["'x y'", "''", "12", "'İi ΑΣ'", "\"it's\""]))
        default: break
        }
        return open + ([column()] + filters).joined(separator: " | ") + close
    }

    private mutating func textFilter() -> String {
        one([
            "upcase", "downcase", "capitalize", "strip", "truncate: 3", "truncate: 5, '…'", "truncate: 1, ''",
            "truncate: 4, '👩‍👩‍👧‍👦'",
        ])
    }

    private mutating func localFilter() -> String {
        switch number(0..<5) {
        case 0: "date: '" + one(["short", "medium", "long", "full"]) + "'"
        case 1:
            "date: '"
                + many(1..<5) {
                    $0.one([
                        "%d", "%-d", "%e", "%B", "%b", "%A", "%a", "%^B", "%Y", "%y", "%H", "%I", "%l", "%p", "%j",
                        "%F", "%T", " ", ".",
                    ])
                }.joined()
                + "%m'"
        case 2: one(["number", "number: 0", "number: 2", "number: 9"])
        case 3: "pluralize: 'one', 'more'"
        default:
            "pluralize: "
                + ["zero", "one", "two", "few", "many"].filter { _ in number(0..<2) == 0 }.map { "\($0): '\($0)', " }
                .joined()
                + "other: 'other'"
        }
    }

    private mutating func choice(_ depth: Int) -> String {
        func tag(_ inside: String, _ dashes: Int) -> String {
            "{%\(dashes == 0 ? "-" : "") \(inside) \(dashes == 1 ? "-" : "")%}"
        }
        var text = tag("if " + condition(), number(0..<6)) + self.text(depth: depth + 1)
        if number(0..<3) == 0 { text += tag("elsif " + condition(), number(0..<6)) + self.text(depth: depth + 1) }
        if number(0..<2) == 0 { text += tag("else", number(0..<6)) + self.text(depth: depth + 1) }
        return text + tag("endif", number(0..<6))
    }

    private mutating func condition() -> String {
        var condition = test()
        for connector in many(0..<3, { $0.one([" and ", " or "]) }) { condition += connector + test() }
        return condition
    }

    private mutating func test() -> String {
        let sign = one(["==", "!=", "<", "<=", ">", ">="])
        return switch number(0..<6) {
        case 0: column()
        case 1: column() + one([" == ", " != "]) + one(["blank", "empty", "nil", "true", "false"])
        case 2: column() + " contains " + one(["'a'", "'\"'", "1", "'日'"])
        case 3: column() + " \(sign) " + one(["0", "1", "-2.5", "1000", "1.50"])
        case 4: column() + one([" == ", " != "]) + one(["'x'", "' a '", "'İ'", "'true'", "'False'"])
        default: column() + " \(sign) " + one(["'3.2.0'", "'2026-11-01'", "'10'", "' -2.5 '"])
        }
    }

    mutating func cell() -> String {
        switch number(0..<8) {
        case 0: ""
        case 1: one([" ", "\n\t", "\u{A0}\u{200B}", "\u{3000}"])
        case 2:
            one([
                "1", "2", "5", "21", "1000", "-1234.5", "0.995", "0.5", "2.5", "9.9995", "-0.125", "1.0", "00012",
                "1000000",
                "99999999999999999999.5", "+3", "-0.0",
            ])
        case 3:
            one([
                "2026-11-01", "2026-02-28T23:59:60Z", "2026-11-01 09:30", "2026-11-01T09:30:15.5+08:00", "1795219200",
                "1795219200123",
                "0001-01-01", "9999-12-31", " 2024-02-29 ",
            ])
        case 4: one(["true", "FALSE", "x", "a", "3.10.0", "4.0.0-beta", "never", "1,5"])
        default:
            many(0..<6) { maker in
                maker.one([
                    "a", "B", "i", "I", "İ", "ı", "ij", "IJ", "ß", "ΣΑΣ", "άΐ", "I\u{307}", "ǆ", "e\u{301}", "👩‍👩‍👧‍👦", "🇩🇪",
                    "日本", "\r\n", "\n",
                    "\"", "\\", "\u{1}", " ", "\u{2028}",
                ])
            }.joined()
        }
    }
}
