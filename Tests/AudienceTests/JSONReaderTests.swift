import Base
import TestSupport
import Testing

@testable import Audience

@Suite struct JSONReaderTests {
    private struct Row: Equatable {
        var place: SourcePosition?
        var cells: [String]?
    }

    private func rows(_ reader: inout some RowReader & ~Copyable, _ count: Int) throws -> [Row] {
        var rows: [Row] = []
        while true {
            switch try reader.next() {
            case .row: rows.append(Row(cells: (0..<count).map { reader.row.text($0, separator: [UInt8(ascii: ";")]) }))
            case .badRow:
                var place = reader.badRow.position
                place?.file = ""
                rows.append(Row(place: place))
            case .needsMore: try reader.refill()
            case .end: return rows
            }
        }
    }

    private func lines(_ bytes: [UInt8], keys: [String] = ["a", "tags"], chunkSize: Int = 256 << 10) throws -> [Row] {
        let folder = TemporaryFolder()
        var reader = try JSONLinesReader(
            path: folder.file("a.jsonl", bytes), isGzip: false, keys: keys, tagsCell: keys.firstIndex(of: "tags"),
            limits: ReadingLimits(chunkSize: chunkSize))
        return try rows(&reader, keys.count)
    }

    private func array(_ text: String, keys: [String] = ["a", "tags"], chunkSize: Int = 256 << 10) throws -> [Row] {
        let folder = TemporaryFolder()
        var reader = try JSONArrayReader(
            path: folder.file("a.json", text), isGzip: false, keys: keys, tagsCell: keys.firstIndex(of: "tags"),
            limits: ReadingLimits(chunkSize: chunkSize))
        return try rows(&reader, keys.count)
    }

    @Test(
        "values become text: escapes resolved, numbers as written, null blank",
        arguments: [
            (#"{"a":"x\n\"\\\/é\u00e9\uD83D\uDE00"}"#, "x\n\"\\/éé😀"), (#"{"a":1.50e+3}"#, "1.50e+3"),
            (#"{"a":true}"#, "true"),
            (#"{"a":null}"#, ""), (#"{}"#, ""), (#"{"a":1,"b":{"a":[{"a":2}]},"a":"last"}"#, "last"),
            (#"{"\u0061":"key"}"#, "key"),
            (#"{"a":"  trimmed\t"}"#, "trimmed"), (#"{"a":0}"#, "0"), (#"{"a":"\"quoted\""}"#, "\"quoted\""),
            (#"{"a":"\"\""}"#, "\"\""),
        ])
    func values(line: String, expected: String) throws {
        #expect(try lines(Array(line.utf8)).map { $0.cells?[0] } == [expected])
        #expect(try array("[\(line)]").map { $0.cells?[0] } == [expected])
    }

    @Test("tags may be a list or one text")
    func tags() throws {
        let text = #"{"tags":["a","b \u0063",null,7,true]}"# + "\n" + #"{"tags":"x;y"}"# + "\n" + #"{"tags":[ ]}"#
        #expect(try lines(Array(text.utf8)).map { $0.cells?[1] } == ["a;b c;;7;true", "x;y", ""])
    }

    @Test("an object in place of tags, or of a tag, is named with what to write")
    func objectsForTags() throws {
        for (tags, words) in [
            (#"{"vip":true}"#, "where tags are needed; write their names as a list"),
            (#"["a",{"b":1}]"#, "write its name as a text"),
        ] {
            let folder = TemporaryFolder()
            let path = folder.file("t.jsonl", "{\"token\":\"\(token(1))\",\"tags\":\(tags)}\n")
            let mistakes = withExtendedLifetime(folder) { AudienceQuery(path).with { $0.anyTags = ["vip"] }.mistakes() }
            #expect(mistakes.contains { $0.message.contains(words) && $0.position?.line == 1 }, "\(mistakes)")
        }
    }

    @Test("broken lines are unreadable rows with line and column; blank lines are nothing")
    func brokenLines() throws {
        let text = "{\"a\":1}\n\n  \r\n{\"a\":\n{\"小\":x}\n{\"a\":2} ,\n[1]\n{\"a\":3}"
        let rows = try lines(Array(text.utf8))
        #expect(rows.map { $0.place.map { [$0.line, $0.column] } } == [nil, [4, 6], [5, 6], [6, 9], [7, 1], nil])
    }

    @Test(
        "what is JSON but no usable row is one unreadable row",
        arguments: [
            #"{"a":[1]}"#, #"{"a":{}}"#, #"{"tags":[["x"]]}"#, #"{"b":"\u0000"}"#, #"{"a":"\ud800"}"#,
            #"{"a":"\ud800\u0041"}"#,
            #"{"a":"\udc00"}"#, #"{"\ud800":1,"a":2}"#, #"{"a":1,"b\ud83b":2}"#,
        ])
    func flaws(line: String) throws {
        #expect(try lines(Array(line.utf8)).map(\.cells) == [nil])
        #expect(try array("[\(line), {\"a\":1}]").map { $0.cells?[0] } == [nil, "1"])
    }

    @Test(
        "what is no JSON is refused",
        arguments: [
            #"{"a":01}"#, #"{"a":1.}"#, #"{"a":-}"#, #"{"a":1e}"#, #"{"a":tru}"#, #"{"a" 1}"#, #"{"a":1,}"#, #"{a:1}"#,
            #"{"a":"\x"}"#,
            #"{"a":"\u12g4"}"#, "{\"a\":\"\t\"}", #"{"b":[1,]}"#, #"{"b":{"c"}}"#, #"{"a":.5}"#, #"{"a":+1}"#,
            #"{"a":1 2}"#, #"{"a":-01}"#,
        ])
    func syntax(line: String) throws {
        #expect(try lines(Array(line.utf8)).map(\.cells) == [nil])
        #expect(throws: Diagnostic.self) { try array("[\(line)]") }
        #expect(throws: Mistake.self) { try JSONValue(parsing: line) }
    }

    @Test("values nested deeper than 64 levels are refused, those up to it are passed")
    func depth() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(("{\"b\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}").utf8)
        }
        #expect(try lines(nested(63)).map { $0.cells == nil } == [false])
        #expect(try lines(nested(100_000)).map { $0.cells == nil } == [true])
    }

    @Test("random objects read as the small JSON reader reads them, whatever the chunks", arguments: 0..<4)
    func agreesWithJSONValue(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        let pieces = [
            "\"a\"", "\"b\"", "{", "}", ":", ":", ",", "1", "\"x\\u0041\"", "null", "[", "]", " ", "-0.5", "tru",
            "\"小\"", "e",
        ]
        for _ in 0..<150 {
            var text = "{\"a\":\"v\",\"b\":[1,{\"c\":null}]}"
            for _ in 0..<Int.random(in: 0..<3, using: &random) {
                let place = text.index(text.startIndex, offsetBy: Int.random(in: 0...text.count, using: &random))
                if Bool.random(using: &random) {
                    text.insert(contentsOf: pieces.randomElement(using: &random) ?? "", at: place)
                } else if place < text.endIndex {
                    text.remove(at: place)
                }
            }
            let chunkSize = Int.random(in: 1..<40, using: &random)
            let row = try lines(Array(text.utf8), chunkSize: chunkSize).first
            #expect(row?.cells?[0] == expectedCell(text), "seed \(seed), chunk \(chunkSize): \(text)")
            if expectedCell(text) != nil { #expect(try array("[\(text)]", chunkSize: chunkSize) == [row]) }
        }
    }

    private func expectedCell(_ text: String) -> String? {
        guard let value = try? JSONValue(parsing: text), case .object = value else { return nil }
        switch value["a"] {
        case .string(let text): return text
        case .integer(let number): return String(number)
        case .double: return "-0.5"
        case .null, nil: return ""
        default: return nil
        }
    }

    @Test("an array may end a chunk anywhere")
    func everyOffset() throws {
        let text = "\u{FEFF} [ {\"a\": 12, \"tags\": [\"x\", \"\\u0079\"]} ,\n{\"b\":[[{}]],\"a\":\"小\"}, 5, {} ]\n"
        let expected = try array(text)
        #expect(expected.map { $0.cells ?? [] } == [["12", "x;y"], ["小", ""], [], ["", ""]])
        for chunkSize in 1...text.utf8.count { #expect(try array(text, chunkSize: chunkSize) == expected) }
    }

    @Test(
        "a broken array is an error with line and column",
        arguments: [
            ("[{\"a\":1},\n {\"a\":}]", 2, 7, "a value is missing"),
            ("[{\"a\":1}\n{\"a\":2}]", 2, 1, "expected ',' or ']'"),
            ("[{\"a\":1}", 1, 9, "not closed"), ("[{\"a\":1}] x", 1, 11, "something follows"),
            ("{\"a\":1}", 1, 1, "not a JSON array"),
            ("[{\"a\":1},]", 1, 10, "a comma before the ']'"),
            ("[{\"a\":NaN}]", 1, 7, "NaN is not a number of JSON: write null"),
            ("[{\"a\":-Infinity }]", 1, 7, "-Infinity is not a number of JSON: write null"),
            ("[{\"a\":1,}]", 1, 9, "a comma before the '}'"),
            ("[{\"b\":[.5]}]", 1, 8, ".5 is not a number of JSON: write 0.5"), ("[{\"a\":0x1F}]", 1, 7, "write 31"),
            ("[{'a':1}]", 1, 3, "double quotes"), ("[{\"a\":1, // x\n}]", 1, 10, "no comments"),
            ("[{\"a\":tru", 1, 10, "ends within"),
            ("[\n{\"小\":\"x", 2, 8, "ends within"),
        ])
    func brokenArray(text: String, line: Int, column: Int, message: String) throws {
        for chunkSize in [1, 5, 4096] {
            let error = #expect(throws: Diagnostic.self) { try array(text, chunkSize: chunkSize) }
            #expect(error?.position?.line == line && error?.position?.column == column, "\(error?.description ?? "")")
            #expect(error?.message.contains(message) == true, "\(error?.description ?? "")")
        }
    }
}
