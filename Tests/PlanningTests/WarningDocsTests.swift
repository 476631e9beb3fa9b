import Base
import Foundation
import PushServices
import Testing

@Suite("docs/reference/warnings.md")
struct WarningDocsTests {
    @Test("explains every warning, and no other")
    func everyName() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("docs/reference/warnings.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let names = rows.flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").map(String.init).filter {
                $0.contains { $0 != " " && $0 != "," }
            }
        }
        #expect(names.sorted() == WarningName.allCases.map(\.rawValue).sorted())
        #expect(rows.allSatisfy { $0.split(separator: "|").count == 3 })
    }
}
