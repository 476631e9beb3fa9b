import Base
import Testing

@testable import Audience

@Suite struct FileTests {
    private let rows = "token,tags\n\(token(1)),a\n\(token(2)),b\n"

    private func everyone(_ path: String) -> AudienceQuery { AudienceQuery(path).with { $0.everyone = true } }

    /// A gzip member (RFC 1952) of stored blocks.
    private func gzip(_ text: String) -> [UInt8] {
        var member: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
        let content = Array(text.utf8)
        func littleEndian(_ number: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
        }
        for start in stride(from: 0, to: max(content.count, 1), by: 0xFFFF) {
            let block = content[start..<min(start + 0xFFFF, content.count)]
            member.append(start + 0xFFFF >= content.count ? 1 : 0)
            member += littleEndian(UInt32(block.count), 2) + littleEndian(~UInt32(block.count), 2) + block
        }
        var checksum: UInt32 = ~0
        for byte in content {
            checksum ^= UInt32(byte)
            for _ in 0..<8 { checksum = checksum & 1 == 1 ? checksum >> 1 ^ 0xEDB8_8320 : checksum >> 1 }
        }
        return member + littleEndian(~checksum, 4) + littleEndian(UInt32(content.count), 4)
    }

    @Test("every format gives the same audience", arguments: ["csv", "tsv", "json", "jsonl", "ndjson", "CSV"])
    func formats(suffix: String) throws {
        let folder = TemporaryFolder()
        let objects = [1, 2].map { "{\"token\":\"\(token($0))\",\"tags\":[\"a\"]}" }
        let text =
            switch suffix.lowercased() {
            case "csv": rows
            case "tsv": rows.split(separator: ",", omittingEmptySubsequences: false).joined(separator: "\t")
            case "json": "[" + objects.joined(separator: ",") + "]"
            default: objects.joined(separator: "\n")
            }
        let (result, sink) = try everyone(folder.file("devices.\(suffix)", text)).run()
        #expect(result.audience == 2)
        #expect(sink.recipients.map(\.token.hex) == [token(1), token(2)])
    }

    @Test("gzip of several members is read to its end, padding included")
    func gzipMembers() throws {
        let folder = TemporaryFolder()
        let whole = gzip("token,tags\n\(token(1)),a\n") + gzip("") + gzip("\(token(2)),b\n")
        #expect(try everyone(folder.file("devices.csv.gz", whole)).run().result.audience == 2)
        let padded = folder.file("padded.csv.gz", whole + [UInt8](repeating: 0, count: 512))
        #expect(try everyone(padded).run(chunkSize: 5).result.audience == 2)
    }

    @Test("gzip that is cut off, damaged or followed by something else is an error that says how far it got")
    func brokenGzip() throws {
        let folder = TemporaryFolder()
        let whole = gzip("token,tags\n" + (0..<500).map { "\(token($0)),a\n" }.joined())
        var damaged = whole
        for place in whole.count / 2..<whole.count / 2 + 40 { damaged[place] ^= 0x55 }
        let cases = [("ends too early", Array(whole.dropLast(9))), ("is damaged", damaged), ("something else", whole + Array("more".utf8))]
        for (index, (message, bytes)) in cases.enumerated() {
            let file = folder.file("\(index).csv.gz", bytes)
            let mistake = try #require(everyone(file).mistakes().first)
            #expect(mistake.file == file && mistake.message.contains(message), "\(mistake)")
            #expect(mistake.message.contains("compressed bytes"))
        }
        let sink = CollectingSink()
        let cut = folder.file("cut.csv.gz", Array(whole.dropLast(9)))
        #expect(throws: Diagnostics.self) { try everyone(cut).scan(into: sink) }
        #expect(sink.finishedSlots == nil, "nothing is planned")
    }

    @Test(
        "what is no readable export is said in words",
        arguments: [
            ("missing.csv", nil, "no such file"), ("empty.csv", [], "empty"), ("blank.csv", [0x0A, 0x0A], "no header row"),
            ("utf16.csv", [0xFF, 0xFE, 0x61, 0], "UTF-16"), ("utf16be.csv", [0xFE, 0xFF, 0, 0x61], "UTF-16"),
            ("zipped.csv", [0x1F, 0x8B, 8, 0], "compressed"), ("book.csv", [0x50, 0x4B, 3, 4], "spreadsheet"),
            ("devices.xlsx", [0x50, 0x4B, 3, 4], "name does not tell"), ("plain.csv.gz", [0x61, 0x2C, 0x62, 0x0A], "damaged"),
            ("latin.csv", [0x74, 0xFC, 0x0A], "not UTF-8"), ("open.csv", [0x22, 0x61, 0x0A], "never closed"),
        ] as [(String, [UInt8]?, String)])
    func unreadable(name: String, content: [UInt8]?, message: String) {
        let folder = TemporaryFolder()
        let path = content.map { folder.file(name, $0) } ?? "\(folder.path)/\(name)"
        let mistakes = everyone(path).mistakes()
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.description.contains(message) == true, "\(mistakes)")
        #expect(mistakes.first?.file == path)
    }

    @Test("a folder is not read as an export")
    func folderAsExport() {
        let mistakes = everyone("/tmp").mistakes()
        #expect(mistakes.first?.message.contains("name does not tell") == true)
        #expect(throws: Diagnostic.self) { try NameFile.read("/tmp") }
    }

    @Test("a byte order mark is no part of the first column's name")
    func byteOrderMark() throws {
        let folder = TemporaryFolder()
        #expect(try everyone(folder.file("a.csv", "\u{FEFF}" + rows)).run(chunkSize: 1).result.audience == 2)
    }

    @Test("globs are sorted, each file comes once, and one that matches nothing is an error")
    func globs() throws {
        let folder = TemporaryFolder()
        for name in ["b.csv", "a.csv", "c.jsonl"] { _ = folder.file(name, rows) }
        let odd = folder.file("[odd].csv", rows)
        let files = try AudienceQuery.expand(paths: ["\(folder.path)/c.jsonl", "\(folder.path)/?.csv", "\(folder.path)/a.csv", odd])
        #expect(files == ["c.jsonl", "a.csv", "b.csv", "[odd].csv"].map { "\(folder.path)/\($0)" })
        let error = #expect(throws: Diagnostics.self) { try AudienceQuery.expand(paths: ["\(folder.path)/*.tsv", "x.csv", "y*"]) }
        #expect(error?.all.count == 2)
    }

    @Test("a list of names is trimmed, without blank lines and comments")
    func nameFile() throws {
        let folder = TemporaryFolder()
        let path = folder.file("vip.txt", "\u{FEFF}user1\r\n\r\n# staff\n  小明 \t\nuser#2\rlast")
        #expect(try NameFile.read(path) == ["user1", "小明", "user#2", "last"])
        for chunkSize in 1...40 {
            var names: [String] = []
            try NameFile.forEachName(in: path, limits: ReadingLimits(chunkSize: chunkSize)) {
                names.append(String(decoding: $0, as: UTF8.self))
            }
            #expect(names == ["user1", "小明", "user#2", "last"])
        }
    }

    @Test("a list of names that is not UTF-8 or not there is an error with its place")
    func brokenNameFile() {
        let folder = TemporaryFolder()
        let path = folder.file("vip.txt", Array("a\nb".utf8) + [0xE4, 0x0A])
        let error = #expect(throws: Diagnostic.self) { try NameFile.read(path) }
        #expect(error?.position?.line == 2 && error?.message == "the line is not UTF-8")
        #expect(throws: Diagnostic.self) { try NameFile.read("\(folder.path)/nobody.txt") }
    }
}
