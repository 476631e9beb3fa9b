import Foundation
import Testing

/// `make lint` compares code with what the formatter makes of it, but no formatter wraps comments.
@Suite("Widths")
struct WidthTests {
    /// The numbers of lines that are too long. Lines with a literal or a regular expression may be,
    /// as a line break would change it or end it.
    private static func tooLong(_ text: String) -> [Int] {
        func lines(_ text: String) -> [Substring] {
            text.split(separator: "\n", omittingEmptySubsequences: false)
        }
        func isBlank(_ line: Substring) -> Bool { line.allSatisfy { $0 == " " } }
        // Few files are worth reading in full.
        let mayBeLong = lines(text).contains { line in
            line.utf8.count > 100 && (line.contains("//") || line.utf8.count > 120 && !line.contains("\""))
        }
        guard mayBeLong else { return [] }
        let code = lines(SwiftText(text).code)
        let withLiterals = lines(SwiftText(text, keepsLiterals: true).code)
        return lines(text).enumerated().filter { index, line in
            // What is left of a line without its comment is blank, or ends with a blank.
            let hasComment =
                (code[index].last ?? " ") == " "
                && (!isBlank(code[index]) || isBlank(withLiterals[index]))
            if hasComment { return line.count > 100 }
            return code[index] == line && !line.contains("/") && line.count > 120
        }.map { $0.offset + 1 }
    }

    @Test("lines with a comment have at most 100 columns, and lines of code 120")
    func columns() throws {
        let names = ["Sources", "Tests"].flatMap { folder in
            let paths = FileManager.default.enumerator(
                atPath: SourceFile.root.appendingPathComponent(folder).path)
            return (paths?.compactMap { $0 as? String } ?? []).map { "\(folder)/\($0)" }
        }
        let files = ["Package.swift"] + names.filter { $0.hasSuffix(".swift") }.sorted()
        #expect(files.count > 900)
        for path in files {
            let text = try String(
                contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8)
            let long = Self.tooLong(text)
            #expect(long.isEmpty, "\(path), lines \(long): `make format`, and wrap comments")
        }
    }

    @Test("literals may be longer, also with slashes in them; comments and code may not")
    func counting() {
        let words = String(repeating: "a", count: 90)
        #expect(Self.tooLong("f(\"\(words) \(words) \"\n)\n") == [])
        #expect(Self.tooLong("// \(words)aaaaaaa\n/// \(words)aaaaaaa\n") == [2])
        #expect(Self.tooLong("let a = \(words)\nlet b = c  // \(words)\nf(  // \(words)a\n") == [2])
        #expect(Self.tooLong("let a = /\(words)\(words)/\n") == [])
        #expect(Self.tooLong("f(\(words), \(words))\ng(\"\(words)  // \(words)\")\n") == [1])
        #expect(Self.tooLong("let a = \"\"\"\n    // \(words)\(words)\n    \"\"\"\n") == [])
        #expect(Self.tooLong("let a = #\"\"\"\"#\n// \(words)\(words)\n") == [2])
    }
}
