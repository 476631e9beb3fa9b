import Base
import TestSupport
import Testing

@testable import Audience

@Suite struct DelimitedReaderTests {
    /// All rows after the header, as the fast reader sees them.
    private func read(_ bytes: [UInt8], _ name: String = "a.csv", chunkSize: Int = 256 << 10) throws -> [ReferenceCSV
        .Row]
    {
        let folder = TemporaryFolder()
        let path = folder.file(name, bytes)
        let separator = name.hasSuffix("tsv") ? UInt8(ascii: "\t") : UInt8(ascii: ",")
        var reader = try DelimitedReader.open(
            path: path, isGzip: false, separator: separator,
            limits: ReadingLimits(chunkSize: chunkSize, maximumRecordSize: 1 << 20))
        reader.use(columns: Array(reader.header.indices))
        var rows: [ReferenceCSV.Row] = []
        while true {
            switch try reader.next() {
            // The lines of good rows are not public; those of bad rows are compared.
            case .row:
                rows.append(.init(line: 0, cells: reader.header.indices.map { reader.row.text($0, separator: []) }))
            case .badRow:
                rows.append(.init(line: reader.badRow.position?.line ?? -1, cells: nil, lines: reader.badRowLines))
            case .needsMore: try reader.refill()
            case .end: return rows
            }
        }
    }

    /// nil if it refuses the file.
    private func reference(_ bytes: [UInt8], separator: UInt8 = UInt8(ascii: ",")) -> [ReferenceCSV.Row]? {
        let reading = ReferenceCSV.read(bytes, separator: separator)
        guard !reading.isRefused else { return nil }
        return reading.rows.dropFirst().map { $0.cells == nil ? $0 : .init(line: 0, cells: $0.cells) }
    }

    private static let pieces: [[UInt8]] =
        [
            "a", "b", "\"", "\"", ",", ",", "\n", "\r", "\r\n", " ", "\t", ", \"", "\" ,", "小", "xyz", "\"\"",
            "\"a,b\"", "12345678",
        ]
        .map { Array($0.utf8) } + [[0xFF], [0]]

    @Test("random hostile text reads as the slow reader reads it, whatever the chunks", arguments: 0..<8)
    func agreesWithReference(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        for _ in 0..<60 {
            var bytes = Array(
                ["a,b\n", "a,b\r\n", "\"a\",\" b\"\r", "\na,b,c\n"].randomElement(using: &random)?.utf8 ?? "".utf8)
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                bytes += Self.pieces.randomElement(using: &random) ?? []
            }
            let expected = reference(bytes)
            for chunkSize in [
                1, 2, 3, Int.random(in: 4..<16, using: &random), Int.random(in: 4..<60, using: &random), 4096,
            ] {
                let rows = try? read(bytes, chunkSize: chunkSize)
                #expect(rows == expected, "seed \(seed), chunk \(chunkSize): \(bytes)")
            }
        }
    }

    @Test("a chunk may end at any byte of a file")
    func everyOffset() throws {
        let text = "id,name\r\n1,\"a \"\"b\"\"\r\nc\"\r\n\r\n2,小明\r3,\"x,y\"\n4\n5,\"open"
        let expected = reference(Array(text.utf8))
        #expect(expected?.count == 5)
        for chunkSize in 1...text.utf8.count + 1 {
            #expect(try read(Array(text.utf8), chunkSize: chunkSize) == expected)
        }
    }

    @Test("TSV is separated by tabs, and commas are text")
    func tabs() throws {
        let rows = try read(Array("a\tb\n1,2\t\"x\ty\"\n".utf8), "a.tsv")
        #expect(rows.map(\.cells) == [["1,2", "x\ty"]])
    }

    @Test(
        "a .csv whose header is separated by semicolons, tabs or bars is read so, in a scan, in the trace of a device and in a list of excluded ones",
        arguments: [";", "\t", "|"], [false, true])
    func otherSeparators(separator: String, isQuoted: Bool) throws {
        let folder = TemporaryFolder()
        let quote = isQuoted ? "\"" : ""
        let rows = [
            ["token", "tags", "note"].map { quote + $0 + quote }, [token(1), "\"a;b\"", "1,5"], [token(2), "b", ""],
            [token(3), "c", ""],
        ]
        let file = folder.file("devices.csv", rows.map { $0.joined(separator: separator) }.joined(separator: "\n"))
        let gone = folder.file(
            "gone.csv", "\(quote)note\(quote)\(separator)\(quote)token\(quote)\nx\(separator)\(token(2))\n")
        let query = AudienceQuery(file).with { $0.anyTags = ["b"] }
        #expect(try query.run(chunkSize: 16).sink.recipients.map(\.token.text) == [token(1), token(2)])
        #expect(try query.with { $0.excludedDevices = [gone] }.run().sink.recipients.map(\.token.text) == [token(1)])
        let trace = try query.trace(TraceSubject(token(2)), checking: { { _ in RecipientCheck() } })
        #expect(trace.rows.count == 1)
    }

    @Test("a comma in the header decides, and text with semicolons stays text")
    func commaWins() throws {
        let folder = TemporaryFolder()
        let file = folder.file("devices.csv", "token,tags;more\n\(token(1)),a;b\n")
        let (result, _) = try AudienceQuery(file).with { $0.everyone = true }.run()
        #expect(result.audience == 1)
        #expect(
            AudienceQuery(file).with { $0.anyTags = ["a"] }.mistakes().first?.message.contains("'tags;more'") == true)
    }

    @Test("quotes, doubled quotes, separators and line breaks in quotes are text")
    func quoting() throws {
        let rows = try read(Array("a,b\n\"Berlin, \"\"Mitte\"\"\",\"two\r\nlines\"\n".utf8))
        #expect(rows.map(\.cells) == [["Berlin, \"Mitte\"", "two\r\nlines"]])
    }

    @Test(
        "blanks around a quoted cell do not belong to it, in the header as in rows",
        arguments: [",", ";", "\t"], ["", " ", "  ", "\t"])
    func blanksAroundQuotes(separator: String, blank: String) throws {
        // Tabs in a header may be its separators.
        guard blank != separator, blank != "\t" || separator == "," else { return }
        func line(_ cells: [String]) -> String {
            cells.map { "\(blank)\"\($0)\"\(blank)" }.joined(separator: separator)
        }
        let text =
            line(["token", "na\(separator)me"]) + "\n" + line(["x", "An\"\"n\(separator)a"]) + "\r\n"
            + line(["", "two\nlines"])
        for chunkSize in [1, 2, 3, 7, 4096] {
            let rows = try read(Array(text.utf8), separator == "\t" ? "a.tsv" : "a.csv", chunkSize: chunkSize)
            #expect(rows.map(\.cells) == [["x", "An\"n\(separator)a"], ["", "two\nlines"]])
        }
    }

    @Test("text next to a quoted cell makes the row unreadable, with blanks as without; a quote within text is text")
    func quotesAndBlanks() throws {
        let rows = try read(Array("a,b\n1, \"x\" y\n2, \"x\"y\n3, 5\" x\n4, x \"y\"\n".utf8))
        #expect(rows.map(\.cells) == [nil, nil, ["3", "5\" x"], ["4", "x \"y\""]])
    }

    @Test("several byte order marks in front are not text")
    func marks() throws {
        for marks in 0...4 {
            let rows = try read(Array((String(repeating: "\u{FEFF}", count: marks) + "a,b\n1,2\n").utf8), chunkSize: 1)
            #expect(rows.map(\.cells) == [["1", "2"]])
        }
    }

    @Test("a row with too few or too many fields is unreadable and names its line")
    func fieldCount() throws {
        let rows = try read(Array("a,b\n1\n\"x\ny\",2\n1,2,3\n".utf8))
        #expect(
            rows == [.init(line: 2, cells: nil), .init(line: 0, cells: ["x\ny", "2"]), .init(line: 5, cells: nil)])
    }

    @Test("a cell of ten megabytes can be read, with a buffer that grows for it")
    func longCell() throws {
        let cell = String(repeating: "0123456789", count: 1 << 20)
        let folder = TemporaryFolder()
        let path = folder.file("long.csv", "a,b\n1,\"\(cell)\"\n2,x\n")
        var reader = try DelimitedReader.open(
            path: path, isGzip: false, separator: UInt8(ascii: ","), limits: ReadingLimits())
        reader.use(columns: [0, 1])
        var counts: [Int] = []
        while true {
            let event = try reader.next()
            if event == .row { counts.append(reader.row.bytes(1).count) }
            if event == .needsMore { try reader.refill() }
            if event == .end { break }
        }
        #expect(counts == [10 << 20, 1])
    }

    @Test("a record beyond the limit stops the scan and says that a quote may be open")
    func tooLongRecord() throws {
        let bytes = Array(("a,b\n1,\"" + String(repeating: "x", count: 2 << 20)).utf8)
        let error = #expect(throws: Diagnostic.self) { try read(bytes) }
        #expect(error?.message == "a record is longer than 1 MiB")
        #expect(error?.remedy?.contains("quote") == true)
    }

    private func invalid(_ bytes: [UInt8]) -> Int? {
        do {
            _ = try UTF8Span(validating: bytes.span)
            return nil
        } catch { return error.byteOffsets.lowerBound }
    }

    @Test("UTF-8 is judged as the standard library judges it")
    func utf8() {
        var random = SeededRandom(9)
        let leads: [UInt8] = [
            0x61, 0x7F, 0x80, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE4, 0xED, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5, 0xFF, 0x9F, 0xA0,
            0x8F, 0x90,
        ]
        let texts: [[UInt8]] = (0..<4000).map { _ in
            var bytes = [UInt8](repeating: 0x41, count: Int.random(in: 0..<90, using: &random))
            for _ in 0..<Int.random(in: 0..<5, using: &random) {
                bytes.append(leads.randomElement(using: &random) ?? 0)
            }
            return bytes + Array(["", "小", "😀é", "abcdefgh"].randomElement(using: &random)?.utf8 ?? "".utf8)
        }
        for bytes in texts {
            let expected = invalid(bytes)
            #expect(bytes.withUnsafeBufferPointer(firstInvalidUTF8) == expected, "\(bytes)")
            #expect(bytes.withUnsafeBufferPointer(cleanPrefix) == expected ?? bytes.count, "\(bytes)")
            let place = Int.random(in: 0...bytes.count, using: &random)
            let withNUL = Array(bytes[..<place] + [0] + bytes[place...])
            #expect(withNUL.withUnsafeBufferPointer(cleanPrefix) == min(invalid(withNUL) ?? place, place), "\(bytes)")
        }
    }

    @Test("so is every beginning of a sequence, with room behind it and without")
    func utf8Beginnings() {
        for lead in UInt8(0x80)...0xFF {
            for second in UInt8.min...0xFF {
                for rest: [UInt8] in [
                    [], [0x7F], [0x80], [0xBF], [0xC0], [0x80, 0x7F], [0x80, 0x80], [0xBF, 0xBF, 0x41, 0x41],
                ] {
                    let bytes = [lead, second] + rest
                    if bytes.withUnsafeBufferPointer(firstInvalidUTF8) != invalid(bytes) { Issue.record("\(bytes)") }
                }
            }
        }
    }

    @Test("a header with more columns than expected is read whole")
    func wideHeader() throws {
        let names = (0..<1000).map { "c\($0)" }.joined(separator: ",")
        for chunkSize in [16, 1 << 20] {
            let rows = try read(Array("\n\(names)\n\(names)9\n".utf8), chunkSize: chunkSize)
            #expect(rows.first?.cells?.last == "c9999")
        }
    }
}
