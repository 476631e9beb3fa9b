import Base
import Foundation
import Testing

@Suite("docs/campaigns.md")
struct WarningDocsTests {
    @Test("explains every warning, and no other")
    func everyName() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("docs/campaigns.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let chapter = try #require(text.split(separator: "## Warnings\n").last).split(separator: "\n## ")[0]
        let rows = chapter.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let names = rows.flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").map(String.init).filter { $0.contains { $0 != " " && $0 != "," } }
        }
        #expect(names.sorted() == WarningName.allCases.map(\.rawValue).sorted())
        #expect(rows.allSatisfy { $0.split(separator: "|").count == 3 })
    }
}
