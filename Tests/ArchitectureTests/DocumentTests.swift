import Foundation
import Testing

/// README.md and docs: pages that people read.
@Suite("The documentation")
struct DocumentTests {
    /// A page, by its path from the root.
    private struct Page {
        var path: String
        /// Its lines, except those of code blocks.
        var lines: [Substring]

        init(_ path: String) throws {
            self.path = path
            var isCode = false
            let text = try String(contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8)
            lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
                if line.hasPrefix("```") { isCode.toggle() }
                return !isCode && !line.hasPrefix("```")
            }
            try #require(!isCode, "\(path): a code block is not closed")
        }

        /// The targets of links: paths from the root, with the anchor after `#`, "" without one.
        /// Web addresses are left out.
        var links: [(path: String, anchor: String)] {
            lines.flatMap { line in line.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) } }
                .filter { !$0.contains("://") }
                .map { link in
                    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
                        String.init)
                    let folder = URL(fileURLWithPath: "/" + path).deletingLastPathComponent()
                    let target =
                        parts[0].isEmpty ? "/" + path : folder.appendingPathComponent(parts[0]).standardized.path
                    return (String(target.dropFirst()), parts.count > 1 ? parts[1] : "")
                }
        }

        /// Cells of tables, and sentences and parts of sentences, of 45 characters or more.
        var facts: [String] {
            var prose: [String] = [], cells: [String] = []
            for line in lines where !line.hasPrefix("#") {
                if line.hasPrefix("|") {
                    cells += line.split(separator: "|").map(String.init)
                } else if line.isEmpty || line.hasPrefix("- ") || prose.isEmpty {
                    prose.append(String(line))
                } else {
                    prose[prose.count - 1] += " " + line
                }
            }
            let sentences = prose.flatMap {
                $0.replacing(/[.:;?!]\s/) { "\($0.output)\n" }.split(separator: "\n").map(String.init)
            }
            return (cells + sentences).map { $0.split(separator: /\s+/).joined(separator: " ") }.filter {
                $0.count >= 45
            }
        }

        /// The anchors of headings: small letters, digits and `_`, hyphens for blanks.
        var anchors: Set<String> {
            Set(
                lines.filter { $0.hasPrefix("#") }.map { heading in
                    String(
                        heading.drop { $0 == "#" }.dropFirst().lowercased().compactMap { character in
                            if character == " " { return "-" }
                            return character.isLetter || character.isNumber || "-_".contains(character)
                                ? character : nil
                        })
                })
        }
    }

    private static let changelog = "CHANGELOG.md"

    private static func pages() throws -> [Page] {
        let docs = SourceFile.root.appendingPathComponent("docs")
        let names = FileManager.default.enumerator(atPath: docs.path)?.compactMap { $0 as? String } ?? []
        let pages = names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
        return try (["README.md"] + pages).map(Page.init)
    }

    @Test("no page has a shell read the services' variables, as `&` would cut an address short")
    func environmentFile() throws {
        for page in try Self.pages() {
            let text = try String(contentsOf: SourceFile.root.appendingPathComponent(page.path), encoding: .utf8)
            #expect(!text.contains(/(?:\bsource|(?:^|[\s;`])\.)\s+\/etc\/volley\/environment/), "\(page.path)")
        }
    }

    @Test("lines of prose have at most 120 columns; rows of tables cannot be broken")
    func columns() throws {
        for page in try Self.pages() {
            let long = page.lines.filter { $0.count > 120 && !$0.hasPrefix("|") }
            #expect(long.isEmpty, "\(page.path)")
        }
    }

    @Test("the README is a front page")
    func frontPage() throws {
        let text = try String(contentsOf: SourceFile.root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 181)
    }

    @Test("a fact is told once; other pages link to it")
    func facts() throws {
        var places: [String: [String]] = [:]
        for page in try Self.pages() {
            for fact in page.facts { places[fact, default: []].append(page.path) }
        }
        #expect(places.count > 1500)
        #expect(places.filter { $0.value.count > 1 } == [:])
    }

    @Test("every link leads to a file, and to a heading in it")
    func links() throws {
        let pages = try Self.pages() + [Page(Self.changelog)]
        let anchors = Dictionary(uniqueKeysWithValues: pages.map { ($0.path, $0.anchors) })
        for page in pages {
            for (path, anchor) in page.links {
                #expect(
                    FileManager.default.fileExists(atPath: SourceFile.root.appendingPathComponent(path).path),
                    "\(page.path): \(path)")
                #expect(anchor.isEmpty || anchors[path]?.contains(anchor) == true, "\(page.path): \(path)#\(anchor)")
            }
        }
    }

    @Test("the newest version of the changelog is the program's")
    func version() throws {
        let versions = try Page(Self.changelog).lines.compactMap {
            $0.firstMatch(of: #/^## (\d+\.\d+\.\d+)/#)?.output.1
        }
        let source = try String(
            contentsOf: SourceFile.root.appendingPathComponent("Sources/Base/Version.swift"), encoding: .utf8)
        #expect(source.firstMatch(of: #/volleyVersion = "(.*)"/#)?.output.1 == versions.first)
    }

    @Test("samples in Swift are Swift, page by page", arguments: ["docs/ios-app.md"])
    func samples(path: String) throws {
        let text = try String(contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8)
        let samples = text.matches(of: /(?s)```swift\n(.*?)```/).map { String($0.1) }
        #expect(samples.count >= 3)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "volley-sample-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try samples.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        #expect(try SwiftCompiler.mistakes(["-parse", file.path]) == nil)
    }

    @Test("the README names every page")
    func reached() throws {
        let pages = try Self.pages()
        let named = Set(try #require(pages.first { $0.path == "README.md" }).links.map(\.path))
        #expect(pages.count > 20)
        #expect(pages.map(\.path).filter { $0 != "README.md" && !named.contains($0) } == [])
    }
}
