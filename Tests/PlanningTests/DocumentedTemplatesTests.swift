import Base
import Content
import Foundation
import Testing

/// Tests what the tables of docs/reference/templates.md say about templates.
/// `CampaignReferenceTests` runs its examples.
@Suite("The tables of docs/reference/templates.md")
struct DocumentedTemplatesTests {
    private static let text: String = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return (try? String(contentsOf: folder.appendingPathComponent("docs/reference/templates.md"), encoding: .utf8))
            ?? ""
    }()

    /// The rows of the tables whose header begins with these cells.
    private static func rows(_ head: [String]) -> [[String]] {
        let lines = text.components(separatedBy: "\n").map { line in
            line.hasPrefix("|")
                ? line.dropFirst().dropLast().components(separatedBy: "|").map {
                    $0.trimmingCharacters(in: .whitespaces)
                } : []
        }
        guard let start = lines.firstIndex(where: { $0.starts(with: head) }) else { return [] }
        return Array(lines[(start + 2)...].prefix { !$0.isEmpty })
    }

    private func render(_ tag: String, _ cell: String, language: String = "") throws -> String? {
        var content = MessageContent(position: SourcePosition(file: "c.yaml", line: 1, column: 1))
        content.body = SourceText(tag, at: content.position)
        let template = try PayloadTemplate(content)
        var payload: [UInt8] = []
        let failure = template.render([cell], language: language, into: &payload)
        #expect(failure == nil, "\(tag)")
        return try JSONValue(parsing: payload)["aps"]?["alert"]?["body"]?.stringValue
    }

    @Test("every filter gives what its row says")
    func filters() throws {
        let rows = Self.rows(["filter", "makes"])
        #expect(rows.count == 9)
        for row in rows {
            let (filter, cell) = (row[2].replacing("`", with: ""), row[3].replacing("␣", with: " "))
            #expect(try render("{{ a | \(filter) }}", cell) == row[4], "\(filter)")
        }
    }

    @Test("every style of date looks as its row says")
    func dates() throws {
        let rows = Self.rows(["", "en", "en-GB", "de", "zh-Hans"])
        #expect(rows.count == 4)
        for row in rows {
            for (column, language) in ["en", "en-GB", "de", "zh-Hans"].enumerated() {
                let style = row[0].replacing("`", with: "")
                #expect(try render("{{ a | date: '\(style)' }}", "2026-12-24", language: language) == row[column + 1])
            }
        }
    }

    @Test("every example of a text that is not ready gets the warning, and what only looks like one gets none")
    func ready() throws {
        // Columns of the export and the day are known elsewhere.
        let rows = Self.rows(["not ready", "for example"]).filter {
            !$0[0].contains("export") && !$0[0].hasPrefix("a day")
        }
        #expect(rows.count == 7)
        for row in rows {
            for (cell, isReady) in [(row[1], false), (row[2], true)] {
                let examples = cell.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(
                    \.element)
                for example in examples {
                    var content = MessageContent(position: SourcePosition(file: "c.yaml", line: 1, column: 1))
                    content.body = SourceText(example, at: content.position)
                    let names = try MessageCatalog(content).warnings.map(\.name)
                    #expect(names == (isReady ? [] : [.textNotReady]), "\(example)")
                }
            }
        }
    }

    @Test("every comparison is one")
    func comparisons() throws {
        let rows = Self.rows(["comparison", "holds when"])
        #expect(rows.count == 9)
        for row in rows {
            for comparison in row[0].components(separatedBy: ", ") {
                #expect(
                    try render("{% if \(comparison.replacing("`", with: "")) %}x{% else %}x{% endif %}", "1") == "x")
            }
        }
    }
}
