import Base
import Foundation
import TestCommands
import Testing

@Suite("rules: where")
struct WhereRuleTests {
    private typealias Device = RuleFolder.Device

    @Test("where: all of these must hold")
    func allOfThese() throws {
        let rules = try RuleFolder(
            Device(1, ["language": "en", "plan": "gold"]), Device(2, ["language": "en", "plan": "free"]),
            Device(3, ["language": "de", "plan": "gold"]))
        #expect(try rules.recipients("everyone: true\nwhere: {language: en, plan: gold}") == [1])
        #expect(try rules.preview("everyone: true\nwhere: {language: en, plan: gold}")["skipped"]?.int("filtered") == 2)
    }

    /// The cells of devices 1, 2, … in the column `x`, a condition, and the devices that satisfy
    /// it.
    struct Notation: CustomTestStringConvertible, Sendable {
        var name: String
        var cells: [String]
        var condition: String
        var holds: Set<Int>
        var testDescription: String { name }
    }

    private static func ago(_ days: Int) -> String {
        Timestamp(epochSeconds: Timestamp.now().epochSeconds - Int64(days) * 86_400).description
    }

    private static let notations = [
        Notation(name: "a value", cells: ["en", "EN", "en-GB", ""], condition: "en", holds: [1]),
        Notation(name: "a list of values (any)", cells: ["en", "de", "fr", ""], condition: "[en, de]", holds: [1, 2]),
        Notation(
            name: "a comparison \">= 3.2.0\": versions compare by number",
            cells: ["3.2.0", "3.10.0", "3.1.9", "3.2", "2.99", ""],
            condition: "\">= 3.2.0\"", holds: [1, 2, 4]),
        Notation(
            name: "a comparison <", cells: ["10.5", "10.25", "-5", "9"], condition: "\"< 10.5\"", holds: [2, 3, 4]),
        Notation(
            name: "a comparison with a negative number", cells: ["-3", "-2.5", "0", "-10"], condition: "\"> -3\"",
            holds: [2, 3]),
        Notation(name: "a comparison >", cells: ["9", "10", "11"], condition: "\"> 9\"", holds: [2, 3]),
        Notation(name: "a comparison <=", cells: ["9", "10", "11"], condition: "\"<= 10\"", holds: [1, 2]),
        Notation(name: "a comparison ==", cells: ["3.2", "3.20", "3.21"], condition: "\"== 3.2\"", holds: [1, 2]),
        Notation(name: "a comparison !=", cells: ["free", "gold"], condition: "\"!= free\"", holds: [2]),
        Notation(
            name: "dates compare as dates",
            cells: ["2026-02-01", "2026-10-01", "2026-02-01T00:00:00+08:00", "1767225600"],
            condition: "\">= 2026-02-01\"", holds: [1, 2]),
        Notation(
            name: "within 30 days", cells: [ago(1), ago(29), ago(31), "", "soon"], condition: "within 30 days",
            holds: [1, 2]),
        Notation(
            name: "older than 90 days", cells: [ago(91), ago(89), ago(400), ""], condition: "older than 90 days",
            holds: [1, 3]),
        Notation(
            name: "true", cells: ["true", "TRUE", "yes", "1", "no", "0", ""], condition: "true", holds: [1, 2, 3, 4]),
        Notation(name: "false", cells: ["true", "False", "n", "0", "yes", ""], condition: "false", holds: [2, 3, 4]),
        Notation(name: "present", cells: ["x", "", " "], condition: "present", holds: [1]),
        Notation(name: "missing", cells: ["x", "", " "], condition: "missing", holds: [2, 3]),
    ]

    @Test("where conditions", arguments: notations)
    func condition(_ notation: Notation) throws {
        let rules = try RuleFolder()
        let devices = notation.cells.enumerated().map { Device($0.offset + 1, ["x": $0.element, "y": "y"]) }
        try rules.folder.write("devices.csv", RuleFolder.csv(devices))
        #expect(try rules.recipients("everyone: true\nwhere: {x: \(notation.condition)}") == notation.holds)
    }

    @Test("where: an unknown column is an error at its place, with the nearest one")
    func unknownColumn() throws {
        let rules = try RuleFolder(Device(1, ["language": "en"]))
        let mistakes = try rules.mistakes(audience: "everyone: true\nwhere:\n  langage: en")
        #expect(
            mistakes.contains("campaign.yaml:6:5: devices.csv has no column 'langage'. Did you mean 'language'?"),
            "\(mistakes)")
    }
}
