import Foundation
import Testing

/// The words of comments and of documentation. `words.txt` lists those to avoid, with the words to
/// write instead.
@Suite("Words")
struct WordTests {
    /// A page, or the comments of a Swift file on their lines.
    private struct Prose {
        let path: String
        private let text: String

        /// - Parameter path: ends with `.swift` if only the comments count.
        init(path: String, text: String) throws {
            self.path = path
            guard path.hasSuffix(".swift") else {
                self.text = text
                return
            }
            let code = try NSRegularExpression(pattern: #"^.*?(?:(?<![^\s])//+(?=\s)|$)"#, options: .anchorsMatchLines)
            self.text = code.stringByReplacingMatches(
                in: text, range: NSRange(location: 0, length: text.utf16.count), withTemplate: "")
        }

        func words() throws -> Int {
            try NSRegularExpression(pattern: "[A-Za-z']+").numberOfMatches(
                in: text, range: NSRange(location: 0, length: text.utf16.count))
        }

        /// Where a phrase begins, in any case: on one line, or on two that follow each other. Code
        /// in backticks does not count.
        func lines(of phrase: String) throws -> [Int] {
            let words = phrase.split(separator: " ").joined(separator: #"[ \t]*\n?[ \t]+"#)
            let expression = try NSRegularExpression(pattern: #"```[\s\S]*?```|`[^`]*`|(?i:(\b\#(words)\b))"#)
            return expression.matches(in: text, range: NSRange(location: 0, length: text.utf16.count)).compactMap {
                match in
                guard let place = Range(match.range(at: 1), in: text) else { return nil }
                return text[..<place.lowerBound].utf8.count { $0 == UInt8(ascii: "\n") } + 1
            }
        }
    }

    /// README.md, the pages of docs, and the Swift files of Sources and Tests.
    private static func all() throws -> [Prose] {
        let files = ["Sources", "Tests", "docs"].flatMap { folder in
            let names = FileManager.default.enumerator(atPath: SourceFile.root.appendingPathComponent(folder).path)
            return (names?.compactMap { $0 as? String } ?? []).filter {
                $0.hasSuffix(folder == "docs" ? ".md" : ".swift")
            }
            .map { "\(folder)/\($0)" }
        }
        return try (["README.md"] + files.sorted()).map { path in
            try Prose(
                path: path, text: String(contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8))
        }
    }

    @Test("each word to avoid occurs at most once in 10,000 words of comments and documentation")
    func rare() throws {
        let file = SourceFile.root.appendingPathComponent("Tests/ArchitectureTests/words.txt")
        let avoided = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map(String.init)
        let all = try Self.all(), total = try all.reduce(0) { try $0 + $1.words() }
        #expect(avoided.count > 15 && total > 250_000)
        for phrase in avoided {
            let places = try all.flatMap { prose in try prose.lines(of: phrase).map { "\(prose.path):\($0)" } }
            #expect(
                places.count * 10_000 <= total,
                """
                “\(phrase)” occurs \(places.count) times in \(total) words, where \(total / 10_000) are allowed. \
                Tests/ArchitectureTests/words.txt has the words to write instead. The first places: \
                \(places.prefix(10).joined(separator: ", "))
                """)
        }
    }

    @Test("words are counted in comments and pages, also across lines, but not in code")
    func counting() throws {
        let swift = try Prose(
            path: "a.swift",
            text:
                "/// Who it goes\n/// on,  `who`.\nlet who = \"//who\" // who, whoever\nlet a = 1 // it goes\nlet on = 1\n// on\n"
        )
        #expect(try swift.lines(of: "who") == [1, 3] && swift.lines(of: "goes on") == [1] && swift.words() == 10)
        let page = try Prose(path: "a.md", text: "who `who`\n\n```\nwho\n```\nit goes\n  on")
        #expect(try page.lines(of: "who") == [1] && page.lines(of: "goes on") == [6])
    }
}
