import Base
import Testing

@testable import Campaigns

/// Where the words of a text are in the file, however the text is written.
@Suite("Places inside texts")
struct ScalarPlacesTests {
    /// Finds `@1@`, `@2@`, … in the body's value, and returns what the file contains at the
    /// reported places.
    private func found(_ yaml: String) throws -> [String] {
        let body = try #require(try readPart(yaml).0.content.body)
        let lines = yaml.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map {
            Array($0.unicodeScalars)
        }
        var markers: [String] = []
        let value = Array(body.value.utf8)
        for offset in value.indices
        where offset + 2 < value.count && value[offset] == 0x40 && (0x30...0x39).contains(value[offset + 1]) {
            let place = body.position(atUTF8Offset: offset)
            guard lines.indices.contains(place.line - 1), place.column <= lines[place.line - 1].count else {
                markers.append("nothing at \(place)")
                continue
            }
            markers.append(String(String.UnicodeScalarView(lines[place.line - 1][(place.column - 1)...].prefix(3))))
        }
        return markers
    }

    @Test(
        "each word is found where it stands",
        arguments: [
            "content:\n  body: é @1@ é @2@\n",
            "content:\n  body: 'a @1@ it''s @2@ '' '' @3@'\n",
            "content:\n  body: \"é @1@ \\\"x\\\" @2@ \\u00e9\\x41\\U0001F600 @3@ \\n\\t@4@\"\n",
            "content:\n  body: |\n    @1@ a\n\n      b @2@\n    é @3@\n",
            "content:\n  body: |-  # a note\n\n    a\n    @1@\n",
            "content:\n  body: |2\n      a @1@\n    @2@\n",
            "content:\n  body: >\n    @1@ a\n    b @2@\n\n    @3@\n      c @4@\n      @5@\n    @6@\n",
            "content:\n  body: >-\n\n\n    @1@ a\n    b @2@\n",
            "content:\n  body: >+2\n      @1@ a\n    b @2@\n\n\n",
            "content:\n  body: a @1@\n    b @2@\n\n\n    é @3@\n",
            "content:\n  body: 'a @1@\n    b @2@  \n\n  it''s @3@'\n",
            "content:\n  body: \"a @1@ \\\n    b @2@\n\n    \\ @3@ \\\n\n    @4@\"\n",
            "content: {title: x, body: \"a\n  @1@\"}\n",
            "content:\r\n  body: |\r\n    @1@ a\r\n    b @2@\r\n",
            "content:\r\n  body: >\r\n    @1@ a\r\n    b @2@\r\n",
        ])
    func places(yaml: String) throws {
        let markers = try found(yaml)
        #expect(!markers.isEmpty)
        #expect(markers == (1...max(1, markers.count)).map { "@\($0)@" })
    }

    @Test("random texts in every style know the places of their words", arguments: 0..<40 as Range<UInt64>)
    func randomTexts(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        for _ in 0..<25 {
            var count = 0
            let lines = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    guard Int.random(in: 0..<3, using: &random) == 0, count < 9 else {
                        return ["a", "é", "日本", "👍", "  b", "c"].randomElement(using: &random) ?? ""
                    }
                    count += 1
                    return "@\(count)@"
                }.joined(separator: " ")
            }
            guard count > 0 else { continue }
            let yaml = write(lines, &random)
            #expect(try found(yaml) == (1...count).map { "@\($0)@" }, "\(yaml)")
        }
    }

    private func write(_ lines: [String], _ random: inout SplitMix) -> String {
        func block(_ sign: String) -> String {
            "content:\n  body: \(sign)\n" + lines.map { "    x\($0)\n" }.joined() + "  title: x\n"
        }
        func flow(_ quote: String) -> String {
            let text = lines.map { $0.split(separator: " ").joined(separator: "  ") }.joined(
                separator: ["\n    ", "\n\n     ", " \n   "].randomElement(using: &random) ?? "\n")
            return "content:\n  body: \(quote)x\(text)\(quote)\n  title: x\n"
        }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return block(["|", "|-", "|+"].randomElement(using: &random) ?? "|")
        case 1: return block([">", ">-", ">+"].randomElement(using: &random) ?? ">")
        case 2: return flow("")
        case 3: return flow("'")
        default: return flow("\"")
        }
    }
}
