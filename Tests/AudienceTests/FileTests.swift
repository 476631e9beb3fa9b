import Base
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Audience

@Suite struct FileTests {
    private let rows = "token,tags\n\(token(1)),a\n\(token(2)),b\n"

    private func everyone(_ path: String) -> AudienceQuery { AudienceQuery(path).with { $0.everyone = true } }

    private func gzip(_ text: String) -> [UInt8] { StoredGzip.member(Array(text.utf8)) }

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
        #expect(sink.recipients.map(\.token.text) == [token(1), token(2)])
    }

    @Test("gzip of several members is read to its end, padding included")
    func gzipMembers() throws {
        let folder = TemporaryFolder()
        let whole = gzip("token,tags\n\(token(1)),a\n") + gzip("") + gzip("\(token(2)),b\n")
        #expect(try everyone(folder.file("devices.csv.gz", whole)).run().result.audience == 2)
        let padded = folder.file("padded.csv.gz", StoredGzip.padded(whole) + [UInt8](repeating: 0, count: 512))
        #expect(try everyone(padded).run(chunkSize: 5).result.audience == 2)
    }

    /// The contents of a file, read in steps of this many bytes.
    private func inflated(_ path: String, stepSize: Int) throws -> [UInt8] {
        var source = try ByteSource(path: path, isGzip: true, noting: SourceFiles())
        var bytes: [UInt8] = []
        var step = [UInt8](repeating: 0, count: stepSize)
        while true {
            let count = try step.withUnsafeMutableBufferPointer { try source.read(into: $0) }
            if count == 0 { return bytes }
            bytes += step[..<count]
        }
    }

    @Test(
        "a member's header and the trailer before it may lie across any two reads of the disk",
        arguments: [0, 2, 4, 8, 10, 14, 16, 30])
    func memberAcrossReads(fields: UInt8) throws {
        let folder = TemporaryFolder()
        let fields = StoredGzip.Fields(rawValue: fields)
        let second = Array("the second member\n".utf8)
        // A stored member has 23 bytes in addition to its text; the disk is read 65,536 bytes at a
        // time.
        for distance in stride(from: -9, to: 60, by: fields == .headerChecksum ? 1 : 3) {
            let first = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536 - distance - 23)
            let member = StoredGzip.member(first)
            try #require(member.count == 65_536 - distance)
            let path = folder.file("\(distance).gz", member + StoredGzip.member(second, fields))
            if try inflated(path, stepSize: 1 << 16) != first + second { Issue.record("\(distance)") }
        }
    }

    @Test("what gzip packs comes out, however little is asked for at a time", arguments: ["-1", "-6", "-9"])
    func packedByGzip(level: String) throws {
        let folder = TemporaryFolder()
        var random = SeededRandom(5)
        let text = (0..<3000).map { "\(token(Int.random(in: 0..<1 << 40, using: &random))),tag\($0 % 7),\($0)\n" }
            .joined()
        let path = folder.file("devices.csv", text)
        try #require(system("gzip -k \(level) '\(path)'") == 0)
        defer { unlink(path + ".gz") }
        for stepSize in [1, 2, 3, 7, 100, 5000, 1 << 20] {
            if try inflated(path + ".gz", stepSize: stepSize) != Array(text.utf8) {
                Issue.record("\(stepSize) at a time")
            }
        }
    }

    @Test("gzip that is cut off, damaged or followed by something else is an error that says how far it got")
    func brokenGzip() throws {
        let folder = TemporaryFolder()
        let whole = gzip("token,tags\n" + (0..<500).map { "\(token($0)),a\n" }.joined())
        var damaged = whole
        for place in whole.count / 2..<whole.count / 2 + 40 { damaged[place] ^= 0x55 }
        let cases = [
            ("ends too early", Array(whole.dropLast(9))), ("is damaged", damaged),
            ("something else", whole + Array("more".utf8)),
        ]
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
            ("missing.csv", nil, "no such file"), ("empty.csv", [], "empty"),
            ("blank.csv", [0x0A, 0x0A], "no header row"),
            ("utf16.csv", [0xFF, 0xFE, 0x61, 0], "UTF-16"), ("utf16be.csv", [0xFE, 0xFF, 0, 0x61], "UTF-16"),
            ("zipped.csv", [0x1F, 0x8B, 8, 0], "compressed"), ("book.csv", [0x50, 0x4B, 3, 4], "spreadsheet"),
            ("devices.xlsx", [0x50, 0x4B, 3, 4], "spreadsheet"), ("devices.zip", [0x50, 0x4B, 3, 4], "zip archive"),
            ("devices.txt", [0x61, 0x0A], "name does not say"),
            ("excel.csv", Array("sep=;\ndevice_token;tags\n".utf8), "Remove that line"),
            (
                "title.csv", Array("Export of 2024-01-01\ndevice_token,tags\n".utf8),
                "line 2 seems to have them. Remove the line above it"
            ),
            (
                "notes.csv", Array("Devices; 2024\r\n\r\n\"device_token\";\"tags\"\r\n".utf8),
                "line 3 seems to have them"
            ),
            (
                "mysql.csv", Array("+-------+------+\n| token | tags |\n+-------+------+\n".utf8),
                "Export it with `psql --csv`, or with `mysql --batch`"
            ),
            (
                "psql.csv", Array(" token | tags \n-------+------\n a | b\n(1 row)\n".utf8),
                "a table as a database program draws it"
            ),
            ("markdown.csv", Array("| token | tags |\r\n|---|---|\r\n".utf8), "a table as a database program draws it"),
            (
                "book.csv", [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1, 0, 0],
                "this is a spreadsheet (.xls). Save it as 'CSV UTF-8'"
            ),
            (
                "book.csv", Array("<html><table><tr><td>token</td></tr></table></html>\n".utf8),
                "this is a web page or XML, not CSV"
            ),
            ("letter.csv", Array("{\\rtf1 token}\n".utf8), "RTF"),
            (
                "single.csv", Array("'token','tags'\n'a','b'\n".utf8),
                "quotes that CSV does not have: 'token'. Export the file with straight"
            ),
            ("curly.csv", Array("“token”,“tags”\n".utf8), "quotes that CSV does not have: “token”"),
            ("mysql.csv", Array("`token`\n".utf8), "quotes that CSV does not have: `token`"),
            (
                "array.jsonl", Array("[{\"token\": 1}, {\"token\": 2}]\n".utf8),
                "its name says that each line is an object. Let its name end in .json"
            ),
            ("pretty.jsonl", Array("[\n  {\"token\": 1},\n  {\"token\": 2}\n]\n".utf8), "the file is a JSON array"),
            ("plain.csv.gz", [0x61, 0x2C, 0x62, 0x0A], "is not compressed"),
            ("zip.csv.gz", [0x50, 0x4B, 3, 4], "zip archive"),
            ("cut.csv.gz", [0x1F, 0x8B, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], "damaged"),
            (
                "wrapped.json", Array("{ \"devices\": [ {\"token\": 1}] }".utf8),
                "the list of devices, below \"devices\""
            ),
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

    @Test(
        "rows of signs that are values are CSV",
        arguments: [
            "token|tags|note\n||\n-|-|-\n", "<token>,tags\na,b\n", "token,tags\n--,--\n+,-\n", "'token',tags\na,b\n",
        ])
    func values(text: String) {
        let separator = UInt8(ascii: text.contains("|") ? "|" : ",")
        let lines = text.split(separator: "\n")
        let header = lines[0].utf8.split(separator: separator).map { String($0) ?? "" }
        for line in lines.dropFirst() {
            #expect(HeaderCheck.foreignForm(header, next: line.utf8) == nil, "\(line)")
        }
    }

    @Test("a folder is not read as an export")
    func folderAsExport() {
        let mistakes = everyone("/tmp").mistakes()
        #expect(mistakes.first?.message.contains("name does not say") == true)
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
        let files = try AudienceQuery.expand(paths: [
            "\(folder.path)/c.jsonl", "\(folder.path)/?.csv", "\(folder.path)/a.csv", odd,
        ])
        #expect(files == ["c.jsonl", "a.csv", "b.csv", "[odd].csv"].map { "\(folder.path)/\($0)" })
        let lock = folder.file("~$a.csv", "\u{5}Anna")
        #expect(try AudienceQuery.expand(paths: ["\(folder.path)/*a.csv"]) == ["\(folder.path)/a.csv"])
        #expect(try AudienceQuery.expand(paths: [lock]) == [lock], "a file that is named is read")
        let error = #expect(throws: Diagnostics.self) {
            try AudienceQuery.expand(paths: ["\(folder.path)/*.tsv", "x.csv", "y*"])
        }
        #expect(error?.all.count == 2)
    }

    @Test("a glob looks into folders of any depth, past what is none, and into no hidden ones")
    func deepGlobs() throws {
        let root = try Folders(), path = root.path
        try root.make(["a/x/no.txt", "b/x/no.txt", "b/y/yes.txt", ".hidden/x/no.txt", "file"])
        #expect(try AudienceQuery.expand(paths: [path + "/*/x/no.txt"]) == ["a", "b"].map { "\(path)/\($0)/x/no.txt" })
        #expect(
            try AudienceQuery.expand(paths: [path + "/[!a]/*/*.txt"]) == ["\(path)/b/x/no.txt", "\(path)/b/y/yes.txt"])
        #expect(try AudienceQuery.expand(paths: [path + "/.h*/x/no.txt"]) == ["\(path)/.hidden/x/no.txt"])
        #expect(
            try AudienceQuery.matches(of: path + "/file/*.txt").isEmpty
                && AudienceQuery.matches(of: path + "/none/*").isEmpty)
        #expect(try AudienceQuery.matches(of: path + "/none/no.txt") == [path + "/none/no.txt"])
    }

    @Test(
        "a glob that cannot look into a folder is refused, and names it: files in it may be meant",
        arguments: ["*/no.txt", "*/*.txt", "b/*.txt", "*/deep/no.txt"], ["gone", "b"])
    func closedGlobs(pattern: String, target: String) throws {
        let root = try Folders()
        try root.make(["a/no.txt", "a/deep/no.txt"])
        try FileManager.default.createSymbolicLink(atPath: root.path + "/b", withDestinationPath: target)
        let error = #expect(throws: Diagnostics.self) { try AudienceQuery.expand(paths: ["\(root.path)/\(pattern)"]) }
        let said = try #require(error?.all.first)
        #expect(said.description.contains("\(root.path)/b") && said.remedy != nil, "\(said)")
        #expect(
            said.message.contains(target == "b" ? "links lead in a circle" : "a link that leads nowhere"), "\(said)")
    }

    /// A folder with folders in it.
    private final class Folders {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("volley-globs-\(UUID().uuidString)")
            .path

        init() throws { try FilePaths.makeFolder(path) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func make(_ files: [String]) throws {
            for file in files {
                try FilePaths.makeFolder(FilePaths.folder(of: "\(path)/\(file)"))
                try FilePaths.create("\(path)/\(file)", bytes: [])
            }
        }
    }

    @Test("a list of names is trimmed, without blank lines and comments")
    func nameFile() throws {
        let folder = TemporaryFolder()
        let path = folder.file("vip.txt", "\u{FEFF}user1\r\n\r\n# staff\n  小明 \t\nuser#2\rlast")
        #expect(try NameFile.read(path) == ["user1", "小明", "user#2", "last"])
        for chunkSize in 1...40 {
            var names: [String] = []
            try NameFile.forEachName(in: path, limits: ReadingLimits(chunkSize: chunkSize)) { name, line in
                names.append("\(line) \(String(decoding: name, as: UTF8.self))")
            }
            #expect(names == ["1 user1", "4 小明", "5 user#2", "6 last"])
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
