import Foundation
import Testing

/// The tables of docs/operating.md against the sources.
@Suite("What Volley reads of the machine")
struct MachineTableTests {
    /// The first cells of the tables, as one text.
    private static func rows() throws -> String {
        let page = try String(contentsOf: SourceFile.root.appendingPathComponent("docs/operating.md"), encoding: .utf8)
        let start = try #require(page.range(of: "## What Volley reads of the machine"))
        let end = try #require(page[start.upperBound...].range(of: "\n## "))
        return page[start.upperBound..<end.lowerBound].split(separator: "\n").filter { $0.hasPrefix("|") }.joined(
            separator: "\n")
    }

    private static func sources() throws -> [(path: String, text: String)] {
        let root = SourceFile.root.appendingPathComponent("Sources").path
        let paths = try #require(FileManager.default.enumerator(atPath: root)).compactMap { $0 as? String }
        return try paths.filter { !$0.hasPrefix("Benchmarks/") && ($0.hasSuffix(".swift") || $0.hasSuffix(".h")) }
            .sorted().map { path in
                (path, try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8))
            }
    }

    /// Text that looks like a variable in a file that reads variables, but is not one.
    private static let others: Set<String> = ["UTC", "TLS", "ELF", "SELECT", "INSERT", "UPDATE", "DELETE"]

    @Test("every environment variable that the sources name is in the table")
    func variables() throws {
        let rows = try Self.rows()
        var found: Set<String> = []
        for (_, text) in try Self.sources() where text.contains("EnvironmentVariables") {
            for name in text.matches(of: /"([A-Z][A-Z_]{1,}|[a-z]+_proxy)"/).map({ String($0.1) })
            where !Self.others.contains(name) {
                found.insert(name)
            }
        }
        #expect(found.count >= 20 && found.contains("TZ") && found.contains("no_proxy"))
        for name in found.sorted() { #expect(rows.contains("`\(name)`"), "\(name) is missing in docs/operating.md") }
    }

    @Test("every file of the system that the sources name is in the table")
    func files() throws {
        let rows = try Self.rows()
        var found: Set<String> = []
        for (_, text) in try Self.sources() {
            for path in text.matches(of: /"(\/(?:etc|proc|sys|usr\/share|dev)\/[a-zA-Z0-9_\/.-]*)/).map({ String($0.1) }
            ) {
                // This process's own streams are outputs, which are elsewhere.
                if ["/proc/", "/sys/", "/proc/self", "/proc/self/fd/1"].contains(path)
                    || path.hasPrefix("/dev/") && path != "/dev/null"
                {
                    continue
                }
                found.insert(path.hasSuffix("/") ? String(path.dropLast()) : path)
            }
        }
        #expect(found.count >= 8 && found.contains("/etc/localtime"))
        for path in found.sorted() { #expect(rows.contains("`\(path)`"), "\(path) is missing in docs/operating.md") }
    }
}
