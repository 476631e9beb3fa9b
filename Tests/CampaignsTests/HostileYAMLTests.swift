import Base
import Testing

@testable import Campaigns

@Suite("Hostile and broken files")
struct HostileYAMLTests {
    private func foundIn(_ bytes: [UInt8]) -> String {
        do throws(Diagnostic) {
            let source = try YAMLSource(file: "c.yaml", bytes: bytes)
            return found { () throws(Diagnostics) in try Campaign.read(source, now: now) }
        } catch {
            return error.description
        }
    }

    private func foundIn(_ text: String) -> String { foundIn(Array(text.utf8)) }

    @Test("a bomb of aliases is refused before it expands")
    func aliasBomb() {
        var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...30 {
            yaml +=
                "a\(level): &a\(level) [" + [String](repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
                + "]\n"
        }
        #expect(
            foundIn(yaml) == """
                c.yaml:4:45: the file holds more than 10000 values, aliases such as *name expanded. \
                Put long lists into a file of their own, one name per line, and write {file: names.txt}.
                """)
    }

    @Test("aliases cannot nest deeper than the file may")
    func aliasDepth() {
        var yaml = "a0: &a0 [x]\n"
        for level in 1...40 { yaml += "a\(level): &a\(level) [[*a\(level - 1)]]\n" }
        #expect(foundIn(yaml).contains("nest deeper than 64 levels"))
    }

    @Test("deep nesting is refused, in every notation", arguments: ["[", "{a: ", "- ", "? ", "[{"])
    func depth(_ opening: String) {
        #expect(foundIn("a:\n  " + String(repeating: opening, count: 65)).contains("nest deeper than 64 levels"))
        #expect(!foundIn(String(repeating: opening, count: 200_000 / opening.utf8.count)).isEmpty)
    }

    @Test("nesting of 64 levels is read")
    func allowedDepth() throws {
        // The file, content and data are three levels, and the text is inside the last.
        let lists = YAMLComposer.maximumDepth - 4
        let nested = String(repeating: "[", count: lists) + "x" + String(repeating: "]", count: lists)
        _ = try readPart("content: {title: a, data: {a: \(nested)}}\n")
        #expect(throws: Diagnostics.self) { try readPart("content: {title: a, data: {a: [\(nested)]}}\n") }
    }

    @Test("too many values are refused")
    func manyValues() {
        #expect(
            foundIn("audience: {tags: [" + String(repeating: "a,", count: 200_000) + "]}").contains(
                "more than 10000 values"))
    }

    @Test(
        "a long row of any single thing ends in an error, soon",
        arguments: [
            "&a ", "*a ", "!", "\"", "'", "%", "|", ">", "a: ", "a", ": ", "- a\n", "\u{3000}", "a:\n", "x: &x y\n",
            "{a,", "---\n",
        ])
    func longRow(_ unit: String) {
        let count = 300_000 / unit.utf8.count
        let clock = ContinuousClock()
        let time = clock.measure { #expect(!foundIn(String(repeating: unit, count: count)).isEmpty) }
        #expect(time < .seconds(5))
    }

    @Test("a very long key is refused without being shown whole")
    func longKey() {
        #expect(foundIn("? " + String(repeating: "x", count: 500_000) + "\n: b\n").utf8.count < 1000)
    }

    @Test("a NUL is named with its place")
    func nul() {
        let text = foundIn("name: a\napp: s\0hop\n")
        #expect(
            text
                == "c.yaml:2:7: there is an invisible control character (U+0000) here. Delete it, or write the line again by hand."
        )
    }

    @Test(
        "control characters that nobody sees are named with their place",
        arguments: [0x07, 0x1B, 0x7F, 0x80, 0x9F] as [UInt32])
    func control(_ code: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(code))
        #expect(foundIn("name: ä\(scalar)b\n").hasPrefix("c.yaml:1:8: there is an invisible control character (U+00"))
    }

    @Test("line separators that editors do not show are refused", arguments: ["\u{2028}", "\u{2029}", "\u{85}"])
    func separators(_ separator: String) {
        #expect(foundIn("name: a\(separator)b\n").hasPrefix("c.yaml:1:8: there is an invisible line separator (U+"))
    }

    @Test("a byte order mark is accepted at the beginning only")
    func byteOrderMark() throws {
        #expect(foundIn("\u{FEFF}" + completed("")).isEmpty)
        #expect(foundIn("\u{FEFF}" + completed("name: A\n")).hasPrefix("c.yaml:1:7: "))
        #expect(
            foundIn("name: a\n\u{FEFF}app: shop\n").hasPrefix(
                "c.yaml:2:1: there is an invisible byte order mark (U+FEFF)"))
    }

    @Test("UTF-16 is named, with and without a byte order mark")
    func utf16() {
        let message =
            "c.yaml: the file is written in UTF-16, not in UTF-8. Save it again with the encoding UTF-8; most editors offer that under 'Save as'."
        let little = Array("name: a\n".utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let big = Array("name: a\n".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        for bytes in [[0xFF, 0xFE] + little, [0xFE, 0xFF] + big, little, big] { #expect(foundIn(bytes) == message) }
    }

    @Test("a byte that is not UTF-8 is named with its place, whatever stands before it")
    func notUTF8() {
        let message =
            ": the file is not UTF-8: the byte 0xFC is not a character here. Save it again with the encoding UTF-8; most editors offer that under 'Save as'."
        #expect(foundIn(Array("name: a\r\napp: 双Gr".utf8) + [0xFC] + Array("n\n".utf8)) == "c.yaml:2:9" + message)
        #expect(foundIn(Array("name: \u{FFFD}".utf8) + [0xFC]) == "c.yaml:1:8" + message)
    }

    @Test("lines end as editors count them", arguments: ["\n", "\r\n", "\r"])
    func lineEnds(_ end: String) {
        let yaml = completed("# comment\n\nname: a\nx: 1\n").split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: end)
        #expect(foundIn(yaml).hasPrefix("c.yaml:4:1: unknown key 'x'"))
    }

    @Test("columns count characters, not bytes")
    func columns() {
        #expect(
            foundIn(completed("audience: {tags: [数码, 折扣], tahs: x}\n")).hasPrefix("c.yaml:1:28: unknown key 'tahs'"))
    }

    @Test("mistakes of every part are told together, in the order of their places")
    func together() {
        let text = foundIn("delivery: {pace: 0/s}\nname: A\ncontent: {badge: \"+1\"}\naudience: {}\n")
        #expect(
            text.split(separator: "\n").map { String($0.prefix(11)) }
                == ["c.yaml:1:1: ", "c.yaml:1:18", "c.yaml:2:7:", "c.yaml:3:18", "c.yaml:4:11"].map {
                    String($0.prefix(11))
                })
    }
}
