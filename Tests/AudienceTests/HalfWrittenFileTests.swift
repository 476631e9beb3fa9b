import Base
import TestSupport
import Testing

@testable import Audience

/// An export with a missing part looks complete to a reader that continues after what it cannot
/// read.
@Suite struct HalfWrittenFileTests {
    private let folder = TemporaryFolder()

    private func everyone(_ file: String) -> AudienceQuery { AudienceQuery(file).with { $0.everyone = true } }

    private func rows(_ count: Int) -> [String] { (0..<count).map { "\(token($0)),reg\($0),Ada" } }

    private func csv(_ rows: [String], header: String = "token,registration_id,note") -> [UInt8] {
        Array((header + "\n" + rows.map { $0 + "\n" }.joined()).utf8)
    }

    private func jsonLines(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { Array("{\"token\":\"\(token($0))\",\"note\":\"Ada\"}\n".utf8) }
    }

    private func array(_ count: Int) -> [UInt8] {
        Array(("[\n" + (0..<count).map { "{\"token\":\"\(token($0))\"}" }.joined(separator: ",\n") + "\n]\n").utf8)
    }

    /// The mistakes that every way to read a file reports, for an allowed share of bad rows.
    private func mistakes(_ file: String, share: Double = 1) -> [Diagnostic] {
        let query = everyone(file).with { $0.maximumBadRowShare = share }
        let all = [1 << 20, 4096, 100, 7].flatMap { chunkSize in
            [1, 3].map { threads -> [Diagnostic] in
                do {
                    _ = try query.scan(
                        into: CollectingSink(), limits: ReadingLimits(chunkSize: chunkSize, threads: threads))
                    return []
                } catch { return (error as? Diagnostics)?.all ?? [Diagnostic("\(error)")] }
            }
        }
        for other in all.dropFirst() { #expect(other == all[0]) }
        return all[0]
    }

    private func withZeros(_ bytes: [UInt8], from start: Int, count: Int? = nil) -> [UInt8] {
        let end = count.map { start + $0 } ?? bytes.count
        return Array(bytes[..<start]) + [UInt8](repeating: 0, count: end - start) + Array(bytes[end...])
    }

    // MARK: - Zero bytes

    @Test(
        "a file whose end, or a part of it, is zero bytes is refused with the line, at any size", arguments: [3, 400])
    func zeroBytes(count: Int) throws {
        let files: [(String, [UInt8])] = [
            ("csv", csv(rows(count))), ("jsonl", jsonLines(count)), ("json", array(count)),
        ]
        for (suffix, bytes) in files {
            let half = bytes.count / 2
            let cases = [
                ("end", withZeros(bytes, from: half)), ("middle", withZeros(bytes, from: half, count: 2)),
                ("whole", bytes + [0, 0]),
            ]
            for (name, damaged) in cases {
                let line =
                    name == "whole" ? bytes.split(separator: 0x0A).count + 1 : bytes[..<half].count { $0 == 0x0A } + 1
                for (file, content) in [
                    ("\(name).\(suffix)", damaged), ("\(name).\(suffix).gz", StoredGzip.member(damaged)),
                ] {
                    let mistake = try #require(mistakes(folder.file(file, content)).first, "\(file)")
                    #expect(
                        mistake.message == "the file contains zero bytes, like one that was not completely written",
                        "\(file)")
                    #expect(mistake.position?.line == line, "\(file)")
                }
            }
        }
    }

    @Test("zero bytes inside quotes, in a header, and in a list of names are refused, too")
    func zeroBytesElsewhere() throws {
        let quoted = csv(rows(2)) + Array("\(token(7)),\"open\n".utf8) + [0, 0, 0] + Array("\",x\n".utf8)
        #expect(mistakes(folder.file("a.csv", quoted)).first?.position?.line == 5)
        #expect(
            mistakes(folder.file("b.csv", Array("token,no".utf8) + [0, 0, 0])).first?.message.contains("zero bytes")
                == true)
        let list = folder.file("vip.txt", Array("user1\nus".utf8) + [0, 0, 0])
        let mistake = #expect(throws: Diagnostic.self) { try NameFile.read(list) }
        #expect(mistake?.position?.line == 2 && mistake?.message.contains("zero bytes") == true)
    }

    @Test("a single zero byte is a bad character of its row, which counts as bad")
    func singleZeroByte() throws {
        let bytes = csv(rows(4) + ["\(token(5)),reg,A\0a"])
        let (result, _) = try everyone(folder.file("a.csv", bytes)).run()
        #expect(result.audience == 4 && result.skipped == [.badRow: 1])
    }

    @Test("gzip data with zero bytes behind a member, or with its last member cut, is refused")
    func gzipHoles() throws {
        let first = StoredGzip.member(csv(rows(5))),
            second = StoredGzip.member(Array((rows(9)[5...].joined(separator: "\n") + "\n").utf8))
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        let cases: [(String, [UInt8], String)] = [
            ("end", first + zeros(second.count), "is followed by \(second.count) zero bytes"),
            ("one", first + [0], "is followed by 1 zero bytes"),
            ("between", StoredGzip.padded(first) + second, "zero bytes"),
            ("long", StoredGzip.padded(first) + zeros(10_240), "zero bytes"),
            ("cut", first + Array(second.dropLast(9)), "ends too early"),
        ]
        for (name, bytes, words) in cases {
            let found = mistakes(folder.file("\(name).csv.gz", bytes))
            #expect(found.first?.message.contains(words) == true, "\(name): \(found)")
        }
        #expect(try everyone(folder.file("tape.csv.gz", StoredGzip.padded(first))).run().result.audience == 5)
    }

    // MARK: - Quotes

    private func opened(_ count: Int, at opening: Int, closedAt closing: Int? = nil) -> [UInt8] {
        var rows = rows(count)
        rows[opening] = "\(token(opening)),reg,\"Ada"
        if let closing { rows[closing] += "\"" }
        return csv(rows)
    }

    @Test(
        "a quote that is never closed counts as as many bad rows as it hides",
        arguments: [(10, 5), (1000, 20), (1000, 979)])
    func openQuote(count: Int, opening: Int) throws {
        let file = folder.file("devices.csv", opened(count, at: opening))
        #expect(
            mistakes(file, share: 0.01).first?.message.hasPrefix("\(count - opening) of \(count) rows cannot be read")
                == true)
        let (result, _) = try everyone(file).run()
        #expect(result.rows == count && result.audience == opening && result.skipped == [.badRow: count - opening])
        #expect(result.badRows.map(\.position?.line) == [opening + 2])
    }

    @Test("a quote that is closed hundreds of lines later counts the same, and the rows behind it are read")
    func lateQuote() throws {
        let file = folder.file("devices.csv", opened(1000, at: 100, closedAt: 900))
        #expect(mistakes(file, share: 0.5).first?.message.hasPrefix("801 of 1000 rows cannot be read") == true)
        let (result, _) = try everyone(file).run()
        #expect(result.audience == 199 && result.skipped == [.badRow: 801])
        #expect(
            result.badRows.map(\.message) == [
                "a quote is closed only after more than 253 line breaks, in a row of 801 lines"
            ])
    }

    @Test("rows in a quoted cell are hidden, also when they are few", arguments: [",", "\t", ";"], [1, 2, 3, 40])
    func hiddenRows(separator: String, distance: Int) throws {
        var rows = rows(50).map { $0.split(separator: ",").joined(separator: separator) }
        rows[5] = "\(token(5))\(separator)reg\(separator)\"Ada"
        rows[5 + distance] += "\""
        let header = ["token", "registration_id", "note"].joined(separator: separator)
        let file = folder.file("devices.csv", csv(rows, header: header))
        #expect(
            mistakes(file, share: 0.01).first?.message.hasPrefix("\(distance + 1) of 50 rows cannot be read") == true)
        let (result, _) = try everyone(file).run()
        #expect(result.audience == 49 - distance && result.skipped == [.badRow: distance + 1])
    }

    @Test("a quote in the first of the columns hides a row as well")
    func hiddenInFirstColumn() throws {
        let bytes = csv(
            ["\"Ada,\(token(1)),r", "Bob,\(token(2)),r", "Eve\",\(token(3)),r"], header: "note,token,registration_id")
        #expect(try everyone(folder.file("a.csv", bytes)).run().result.skipped == [.badRow: 3])
    }

    @Test("addresses, lists of tokens and commas in cells of several lines are text")
    func linesOfCells() throws {
        let cells = [
            "Main St. 1,\nBerlin, Germany, x\n", "\(token(7))\n\(token(8))", "a,b,c\nd,e,f\ng,h,i", "\n,,\n",
            "\(token(9)),x,y\nend",
        ]
        let bytes = csv(cells.enumerated().map { "\"\($1)\",\(token($0)),r" }, header: "note,token,registration_id")
        #expect(try everyone(folder.file("a.csv", bytes)).run().result.audience == cells.count)
    }

    @Test("text behind a late closing quote, and a wrong number of fields, count their lines as well")
    func brokenLateQuote() throws {
        var rows = rows(60)
        (rows[3], rows[23]) = ("\(token(3)),\"reg,Ada", "\(token(23)),\"reg\",Ada")
        (rows[40], rows[49]) = ("\(token(40)),\"reg,Ada", "\(token(49)),reg\"")
        let (result, _) = try everyone(folder.file("devices.csv", csv(rows))).run()
        #expect(result.audience == 29 && result.skipped == [.badRow: 31])
    }

    @Test("the remedy names the line of the quote, and no share of bad rows")
    func quoteRemedy() throws {
        let file = folder.file("devices.csv", opened(1000, at: 100))
        let mistake = try #require(everyone(file).mistakes().first)
        #expect(
            mistake.remedy?.contains("line 102 of \(file)") == true
                && mistake.remedy?.contains("max_bad_rows") == false, "\(mistake)")
    }

    @Test("a cell of as many lines as a spreadsheet's cell may have is text")
    func longestCell() throws {
        for (breaks, audience) in [(253, 2), (254, 1)] {
            let cell = (0...breaks).map { "line \($0)" }.joined(separator: "\r\n")
            let bytes = csv(["\(token(1)),r,\"\(cell)\"", "\(token(2)),r,x"])
            #expect(try everyone(folder.file("\(breaks).csv", bytes)).run(chunkSize: 512).result.audience == audience)
        }
    }

    // MARK: - Two exports in one file

    @Test(
        "a header among the rows is refused with its line, in any order, in quotes, behind a byte order mark, glued to a row",
        arguments: [
            "token,registration_id,note", "registration_id,token,note", "\"note\",\"token\",\"registration_id\"",
            "\u{FEFF}token,registration_id,note",
            "\u{FEFF}\"token\",registration_id, note", "\(token(99)),r,Adaregistration_id,token,note",
        ], [2, 500])
    func secondHeader(header: String, count: Int) throws {
        let bytes = csv(rows(count) + [header] + rows(count))
        let mistake = try #require(mistakes(folder.file("devices.csv", bytes)).first)
        #expect(mistake.message == "there is a second header among the rows: these are two exports in one file")
        #expect(mistake.position?.line == count + 2)
    }

    @Test("rows that only look like a header are rows; a single column may be written behind another")
    func noSecondHeader() throws {
        let odd = [
            "token,registration_id,Ada", "note,note,token", "\(token(7)),token,note",
            "\(token(8)),registration_id,token",
        ]
        let (result, _) = try everyone(folder.file("a.csv", csv(rows(3) + odd))).run()
        #expect(result.rows == 7 && result.audience == 5 && result.skipped == [.badToken: 2])
        let single = folder.file("b.csv", "token\n\(token(1))\ntoken\n\(token(2))\n")
        #expect(try everyone(single).run().result.audience == 2)
    }
}
