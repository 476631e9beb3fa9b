import Foundation
import Testing

/// The tables of docs/guarantees.md against the tests.
@Suite("What Volley promises")
struct GuaranteeTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The functions of every type in Tests, by the type's name.
    private static func suites() throws -> [String: Set<String>] {
        let folder = SourceFile.root.appendingPathComponent("Tests").path
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
        var suites: [String: Set<String>] = [:]
        for path in (names ?? []).filter({ $0.hasSuffix(".swift") }) {
            let code = SwiftText(try text("Tests/" + path)).code
            var types = code.matches(
                of: /(?m)^(?:@\w+(?:\([^\n]*\))? +)?(?:\w+ )*(?:struct|class|enum|extension) (\w+)/)[...]
            var type = ""
            for function in code.matches(of: /\bfunc (\w+)/) {
                while let next = types.first, next.range.lowerBound < function.range.lowerBound {
                    type = String(types.removeFirst().output.1)
                    suites[type, default: []].formUnion([])
                }
                suites[type, default: []].insert(String(function.output.1))
            }
        }
        return suites
    }

    /// The names in the last cell of each row, by the row's first cell.
    private static func rows() throws -> [(promise: String, names: [String])] {
        try text("docs/guarantees.md").split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| promise |")
        }.map { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return (cells[0], cells[cells.count - 1].matches(of: /`([^`]+)`/).map { String($0.output.1) })
        }
    }

    @Test("each promise names a test that `make test` runs, and no name is out of date")
    func named() throws {
        let suites = try Self.suites(), rows = try Self.rows()
        let lines = try Self.text("Tests/thorough").split(separator: "\n")
        let thorough = Set(lines.compactMap { $0.split(separator: " ").first.map(String.init) })
        #expect(rows.count > 200 && suites.count > 400)
        for (promise, names) in rows {
            var suite = "", isQuick = false
            for name in names {
                let parts = name.split(separator: ".").map(String.init),
                    function = parts.count > 1 || name.first?.isLowercase == true
                guard name.wholeMatch(of: /[\w.]+/) != nil else { continue }
                if parts[0].first?.isUppercase == true {
                    suite = parts[parts.count - (parts.count > 1 && function ? 2 : 1)]
                }
                let functions = suites[suite]
                #expect(functions != nil, "\(name): there is no such suite, for: \(promise)")
                let isTest = !function || functions?.contains(parts[parts.count - 1]) == true
                #expect(isTest || parts.count == 1, "\(name): there is no such test, for: \(promise)")
                let full = function ? "\(suite).\(parts[parts.count - 1])" : suite
                isQuick = isQuick || isTest && functions != nil && !thorough.contains(suite) && !thorough.contains(full)
            }
            #expect(isQuick, "no test that `make test` runs shows: \(promise)")
        }
    }
}
