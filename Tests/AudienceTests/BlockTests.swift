import Base
import TestSupport
import Testing

@testable import Audience

/// An export is cut into blocks; the places of the cuts must not matter.
@Suite struct BlockTests {
    private let folder = TemporaryFolder()

    /// Compares a scan of everyone in one piece with scans in blocks of these sizes, by one thread
    /// and by three.
    private func expectSame(_ file: String, chunks: [Int], fields: [String] = ["note"], _ comment: Comment? = nil)
        throws
    {
        let query = AudienceQuery(file).with { ($0.everyone, $0.fields) = (true, fields.map { place($0) }) }
        func outcome(_ chunkSize: Int) -> String {
            do throws(any Error) {
                let (result, sink) = try query.run(chunkSize: chunkSize)
                return "\(result.summary) \(sink.recipients.map { "\($0.token.text) \($0.fields)" })"
            } catch { return "\(error)" }
        }
        let whole = outcome(1 << 20)
        for chunkSize in chunks { #expect(outcome(chunkSize) == whole, comment ?? "blocks of \(chunkSize)") }
    }

    @Test("quoted text whose lines look like records is text, wherever blocks end")
    func linesInQuotes() throws {
        let fake = "\n\(token(7)),fake,x\n\(token(8)),\"\"fake\"\",y\n"
        let rows = (0..<40).map { "\(token($0 + 100)),\"\($0 % 3 == 0 ? fake : "plain")\",z" }
        let file = folder.file("devices.csv", "token,note,more\n" + rows.joined(separator: "\n") + "\n")
        try expectSame(file, chunks: [4, 64, 100, 150, 199, 256, 300, 511, 1024, 4096])
    }

    @Test("a quote that is never closed hides the same rows, wherever blocks end")
    func openQuote() throws {
        let rows = (0..<60).map { "\(token($0)),\($0 == 11 ? "\"open" : "plain"),z" }
        let file = folder.file("devices.csv", "token,note,more\n" + rows.joined(separator: "\r\n"))
        try expectSame(file, chunks: [5, 90, 128, 333, 1000])
    }

    @Test("a header of several lines, and a file that ends with its header, are read in any blocks")
    func header() throws {
        let header = "token,\"note\",\"two\nlines\"\n"
        try expectSame(folder.file("a.csv", header + "\(token(1)),x,y\n\(token(2)),x,y"), chunks: [4, 10, 30, 100])
        try expectSame(folder.file("b.csv", header), chunks: [4, 10, 30])
    }

    @Test("every kind of line end may fall on a block's end", arguments: ["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"])
    func lineEnds(end: String) throws {
        let rows = (0..<9).map { "\(token($0)),\($0),z" }
        let file = folder.file("devices.csv", (["token,note,more"] + rows).joined(separator: end) + end)
        try expectSame(file, chunks: Array(66...90))
    }

    @Test("random hostile text gives the same rows in any blocks", arguments: 0..<6)
    func hostile(seed: Int) throws {
        let pieces =
            [
                "a", "\"", "\"", ",", ",", "\n", "\n", "\r\n", "\r", " ", "小", "\"\"", "\"a,b\"", "\"\n\"",
                token(3) + ",",
                "\n" + token(4) + ",x\n",
            ]
            .map { Array($0.utf8) } + [[0xFF], [0]]
        var random = SeededRandom(UInt64(seed))
        for round in 0..<25 {
            var bytes = Array("token,note\n\(token(1)),first\n".utf8)
            for _ in 0..<Int.random(in: 0..<60, using: &random) { bytes += pieces.randomElement(using: &random) ?? [] }
            let file = folder.file("\(round).csv", bytes)
            try expectSame(
                file, chunks: [4, 11, Int.random(in: 12..<200, using: &random)],
                "seed \(seed), round \(round): \(bytes)")
        }
    }

    @Test("an array's objects are found though others stand inside them, wherever blocks end")
    func nestedObjects() throws {
        let inner = "[{\"token\":\"\(token(9))\",\"note\":\"inner\"},\n{\"token\":\"\(token(8))\"},{\"token\":\"},{\"}]"
        let objects = (0..<20).map {
            "{\"token\":\"\(token($0 + 50))\",\"more\":\($0 % 2 == 0 ? inner : "1"),\"note\":\"\($0)\"}"
        }
        for separator in [",", ",\n", " , \r\n "] {
            let file = folder.file("devices.json", "[\n" + objects.joined(separator: separator) + "]\n")
            try expectSame(file, chunks: [4, 50, 100, 171, 400, 900])
        }
    }

    @Test("a mistake in an array is said at its line and column, wherever blocks end")
    func brokenArray() throws {
        let objects = (0..<12).map { "{\"token\":\"\(token($0))\",\"note\":\"小\"}" }
        for broken in ["{\"token\":tru}", "{\"token\":\"x\"", "nonsense", "{\"token\":[1]},7,{}"] {
            for separator in [",", ",\n"] {
                let text = "[" + (objects + [broken] + objects).joined(separator: separator) + "]"
                try expectSame(folder.file("devices.json", text), chunks: [4, 33, 100, 250], "\(broken)")
            }
        }
    }

    @Test("blank files, blank lines and byte order marks give the same in any blocks")
    func blanks() throws {
        try expectSame(
            folder.file("a.jsonl", "\u{FEFF}\n\n{\"token\":\"\(token(1))\",\"note\":\"x\"}\n\n\n"),
            chunks: [4, 5, 20, 80])
        try expectSame(folder.file("b.json", "\u{FEFF} [ ] "), chunks: [4, 6], fields: [])
        try expectSame(folder.file("c.csv", "\u{FEFF}\n\ntoken,note\n\n\n\(token(1)),x\n\n"), chunks: [4, 7, 20])
    }

    @Test("a record beyond the limit stops the scan")
    func tooLong() {
        let file = folder.file("devices.csv", "token,note\n\(token(1)),\"" + String(repeating: "x\n", count: 60_000))
        let query = AudienceQuery(file).with { $0.everyone = true }
        let error = #expect(throws: Diagnostics.self) {
            try query.scan(into: CollectingSink(), limits: ReadingLimits(chunkSize: 4096, maximumRecordSize: 32 << 10))
        }
        #expect(error?.all.first?.message == "a record is longer than 0 MiB")
    }

    @Test("a preview keeps the first recipients only, as their newest rows have them")
    func firstRecipients() throws {
        let rows = (0..<200).map { "\(token($0)),\($0),2026-01-01" } + ["\(token(3)),newer,2026-05-05"]
        let file = folder.file("devices.csv", (["token,note,last_active"] + rows).joined(separator: "\n"))
        let query = AudienceQuery(file).with { ($0.everyone, $0.fields) = (true, [place("note")]) }
        for threads in [1, 3] {
            let sink = CollectingSink(recordLimit: 10)
            let result = try query.scan(into: sink, limits: ReadingLimits(chunkSize: 1000, threads: threads))
            #expect(result.audience == 200)
            #expect(sink.slots[3]?.fields == ["newer"] && sink.slots[4]?.fields == ["4"])
            #expect(sink.slots.count < 40)
        }
    }

    @Test("what is only text inside quotes is not seen, wherever blocks end: warnings are the same")
    func warnings() throws {
        let fake = "\n\(token(7)),vip,9\n\(token(8)),vip,9\n"
        let rows = (0..<40).map { "\(token($0 + 100)),\"\($0 % 3 == 0 ? fake : "plain")\",1" }
        let file = folder.file("devices.csv", "token,tags,level\n" + rows.joined(separator: "\n") + "\n")
        let query = AudienceQuery(file).with {
            ($0.anyTags, $0.everyone) = (["vip", "plain"], false)
            $0.conditions = [condition("level", .oneOf(["9"]))]
        }
        let expected = try query.run(chunkSize: 1 << 20).result.warnings
        #expect(expected.count == 2)
        for chunkSize in [64, 150, 199, 300, 511, 1024] {
            #expect(try query.run(chunkSize: chunkSize).result.warnings == expected)
        }
    }

    @Test("a misspelt tag is guessed though the first file has no rows")
    func guessedTag() throws {
        let first = folder.file("a.csv", "token,tags\n"),
            second = folder.file("b.csv", "token,tags\n\(token(1)),discount\n")
        let warnings = try AudienceQuery(first, second).with { $0.anyTags = ["discuont"] }.run().result.warnings
        #expect(warnings.map(\.remedy) == ["Did you mean 'discount'?"])
    }

    @Test("more than sixty columns may be used, each with quotes inside")
    func manyColumns() throws {
        let names = (0..<80).map { "c\($0)" }
        let cells = names.map { "\"\($0) \"\"quoted\"\" \(String(repeating: "x", count: 40))\"" }
        let text = "token,\(names.joined(separator: ","))\n\(token(1)),\(cells.joined(separator: ","))\n"
        let query = AudienceQuery(folder.file("wide.csv", text)).with {
            ($0.everyone, $0.fields) = (true, names.map { place($0) })
            $0.conditions = names.map { condition($0, .present) }
        }
        let recipient = try #require(try query.run().sink.recipients.first)
        #expect(recipient.fields == names.map { "\($0) \"quoted\" \(String(repeating: "x", count: 40))" })
    }

    @Test("a digest of pieces is the digest of the whole")
    func digests() {
        var random = SeededRandom(5)
        let elements = (0..<100).map { _ in random.next() }
        var whole = SequenceDigest()
        for element in elements { whole.append(element) }
        for cut in [0, 1, 37, 99, 100] {
            var (first, second) = (SequenceDigest(), SequenceDigest())
            for element in elements[..<cut] { first.append(element) }
            for element in elements[cut...] { second.append(element) }
            first.append(second)
            #expect(first == whole)
        }
        var swapped = SequenceDigest()
        for element in elements.reversed() { swapped.append(element) }
        #expect(swapped != whole)
    }

    @Test("keys that stand twice are counted, and the last value counts", arguments: ["jsonl", "json"])
    func duplicateKeys(suffix: String) throws {
        let wide = (0..<70).map { "\"k\($0)\":1" }.joined(separator: ",")
        let objects = [
            "{\"note\":\"first\",\"token\":\"\(token(1))\",\"note\":\"last\"}",
            "{\"token\":\"\(token(2))\",\"note\":{\"note\":1},\"x\":1}",
            "{\"token\":\"\(token(3))\",\(wide),\"k69\":2}", "{\"token\":\"\(token(4))\",\(wide)}",
        ]
        let text = suffix == "json" ? "[" + objects.joined(separator: ",") + "]" : objects.joined(separator: "\n")
        let query = AudienceQuery(folder.file("a.\(suffix)", text)).with {
            ($0.everyone, $0.fields) = (true, [place("note")])
        }
        let (result, sink) = try query.run(chunkSize: 300)
        #expect(result.warnings.map(\.message) == ["2 objects of the exports name a key twice; the last value is used"])
        #expect(sink.recipients.first?.fields == ["last"])
    }
}
