import Base
import Testing

@testable import Content

@Suite("Conditions that nobody means")
struct ConditionSenseTests {
    private func said(_ condition: String) -> [String] {
        var parser = TemplateParser(plain("{% if \(condition) %}a{% endif %}"))
        _ = parser.parse()
        return parser.mistakes.map { "\($0.severity == .error ? "error" : "warning"): \($0.message)" }
    }

    @Test(
        "what no cell satisfies is a mistake",
        arguments: [
            "city == 'Lyon' and city == 'Berlin'", "city == 'Lyon' and city != 'Lyon'",
            "plan == 'gold' and plan == 'Gold'",
            "points > 100 and points < 50", "points >= 10 and points < 10", "points == 5 and points > 10",
            "points > 5 and points == blank",
            "app_version > '3.10.0' and app_version < '3.9.0'", "day >= '2026-12-01' and day < '2026-11-01'",
            "member == true and member == false", "member == 'true' and member != true",
            "city == blank and city == 'Lyon'",
            "language == 'de' and language == 'en'", "a == 'x' and city == 'Lyon' and city == 'Berlin'",
            "a == 'x' or city == 'Lyon' and city == 'Berlin'",
        ])
    func impossible(condition: String) {
        let found = said(condition)
        #expect(found.first?.hasPrefix("error: no cell satisfies both:") == true && found.count == 1, "\(found)")
    }

    @Test(
        "what each cell satisfies is a mistake",
        arguments: [
            "city != 'Lyon' or city != 'Berlin'", "plan != 'gold' or plan != 'Gold'", "points > 50 or points < 100",
            "points >= 10 or points < 10", "points != 5 or points > 3", "city == blank or city != blank",
            "language != 'de' or language != 'en'",
            "city != 'Lyon' or a == 'x' or city != 'Berlin'",
        ])
    func certain(condition: String) {
        let found = said(condition)
        #expect(
            found.first?.hasPrefix("error: every cell satisfies one of them:") == true && found.count == 1, "\(found)")
    }

    @Test(
        "what can hold and fail is left alone",
        arguments: [
            "city == 'Lyon' or city == 'Berlin'", "city != 'Lyon' and city != 'Berlin'", "points > 50 and points < 100",
            "points < 50 or points > 100",
            "points >= 10 and points <= 10", "points > 10 or points == blank", "points != blank and points > 5",
            "city != blank and city == 'Lyon'",
            "language == 'de' and language != 'de-AT'", "language != 'de' or language != 'de-AT'",
            "tags contains 'a' and tags contains 'b'",
            "app_version > '3.9.0' and app_version < '3.10.0'", "member == true or member == false",
            "first_name and first_name != 'Anna'",
            "points == '5' and points == 5", "a != 'x' or b != 'y'", "points > 5 or city == 'Lyon' or points < 3",
        ])
    func fine(condition: String) { #expect(said(condition).isEmpty) }

    @Test(
        "of 'and' beside 'or' it is said how they are read",
        arguments: ["a == 'x' and b == 'y' or c == 'z'", "a == 'x' or b == 'y' and c == 'z'"])
    func order(condition: String) {
        let found = said(condition)
        #expect(
            found.count == 1 && found[0].hasPrefix("warning:") && found[0].contains("is read from the right"),
            "\(found)")
    }

    private func unreachable(_ text: String) -> [WarningName] {
        var parser = TemplateParser(plain(text))
        _ = parser.parse()
        return parser.mistakes.compactMap(\.name)
    }

    @Test("a branch behind a wider one is warned of")
    func branches() {
        #expect(unreachable("{% if points > 10 %}a{% elsif points > 100 %}b{% endif %}") == [.conditionNeverHolds])
        #expect(
            unreachable("{% if plan != 'a' %}a{% elsif plan == 'b' and city == 'Lyon' %}b{% endif %}") == [
                .conditionNeverHolds
            ])
        #expect(unreachable("{% if points > 100 %}a{% elsif points > 10 %}b{% endif %}").isEmpty)
        #expect(
            unreachable("{% if points > 10 and city == 'x' %}a{% elsif points > 100 %}b{% else %}c{% endif %}").isEmpty)
        #expect(unreachable("{% if plan == 'gold' %}a{% elsif plan == 'Gold' %}b{% else %}c{% endif %}").isEmpty)
        #expect(
            unreachable("{% if language == 'de' %}a{% elsif language == 'de-AT' %}b{% endif %}") == [
                .conditionNeverHolds
            ])
        #expect(unreachable("{% if language == 'de-AT' %}a{% elsif language == 'de' %}b{% endif %}").isEmpty)
        #expect(unreachable("{% if language == 'de' %}a{% elsif language == 'den' %}b{% endif %}").isEmpty)
    }

    @Test(
        "of versions that were compared as numbers the remedy makes them versions",
        arguments: [
            (
                "{% if release >= '3.9' and release < '3.10' %}a{% endif %}",
                "release >= '3.9.0' and release < '3.10.0'."
            ),
            ("{% if release < '3.9' or release > '3.10' %}a{% endif %}", "release < '3.9.0' or release > '3.10.0'."),
            (
                "{% if release >= '3.10' %}a{% elsif release >= '3.9' %}b{% endif %}",
                "release >= '3.10.0' … release >= '3.9.0'."
            ),
        ])
    func versions(text: String, remedy: String) {
        var parser = TemplateParser(plain(text))
        _ = parser.parse()
        let remedies = parser.mistakes.compactMap(\.remedy)
        #expect(
            remedies.count == 1 && remedies[0].hasSuffix("for versions write all three numbers: \(remedy)"),
            "\(remedies)")
    }

    @Test("of prices it stays what it was")
    func prices() {
        var parser = TemplateParser(plain("{% if price > 9.99 and price < 5.50 %}a{% endif %}"))
        _ = parser.parse()
        #expect(parser.mistakes.compactMap(\.remedy) == ["Correct one of them, or write 'or' if one is enough."])
    }

    @Test("the remedy of two opposites is not the other word, which would be as wrong", arguments: ["and", "or"])
    func opposites(word: String) {
        var parser = TemplateParser(plain("{% if city == 'Lyon' \(word) city != 'Lyon' %}a{% endif %}"))
        _ = parser.parse()
        #expect(parser.mistakes.map(\.remedy) == ["Correct one of them, or remove the condition."])
    }
}
