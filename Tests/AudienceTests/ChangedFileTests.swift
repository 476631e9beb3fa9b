import Base
import Glibc
import TestSupport
import Testing

@testable import Audience

/// Calls a closure when the first recipients come: the files are open then.
private final class MeddlingSink: RecipientSink {
    let recordLimit = Int.max
    private var meddle: (() -> Void)?
    private(set) var isFinished = false

    init(_ meddle: @escaping () -> Void) { self.meddle = meddle }

    func receive(_ batch: RecipientBatch) throws {
        meddle?()
        meddle = nil
    }

    func finish(slots: Int, dropping dropped: BitSet) throws { isFinished = true }
}

@Suite("A file that is changed while it is read")
struct ChangedFileTests {
    private static let rows = (1...2_000).map { "\(token($0)),a\n" }

    private static func text(_ format: String) -> String {
        let objects = (1...2_000).map { "{\"token\":\"\(token($0))\",\"tags\":[\"a\"]}" }
        return switch format {
        case "json": "[" + objects.joined(separator: ",\n") + "]"
        case "jsonl": objects.joined(separator: "\n") + "\n"
        default: "token,tags\n" + rows.joined()
        }
    }

    private static func bytes(_ format: String) -> [UInt8] {
        format == "csv.gz" ? StoredGzip.member(Array(text("csv").utf8)) : Array(text(format).utf8)
    }

    private func append(_ path: String, _ text: String = "\n") {
        let stream = fopen(path, "a")
        fputs(text, stream)
        if let stream { fclose(stream) }
    }

    /// The diagnostics of a scan with files that were changed during it; empty if there were none.
    private func scan(_ query: AudienceQuery, _ meddle: @escaping () -> Void) -> [Diagnostic] {
        let sink = MeddlingSink(meddle)
        do {
            _ = try query.with { $0.maximumBadRowShare = 1 }.scan(
                into: sink, limits: ReadingLimits(chunkSize: 1_000, threads: 1))
            return []
        } catch {
            #expect(!sink.isFinished)
            return (error as? Diagnostics)?.all ?? [Diagnostic("\(error)")]
        }
    }

    private func everyone(_ path: String) -> AudienceQuery { AudienceQuery(path).with { $0.everyone = true } }

    @Test("nothing is said of files that stay as they are", arguments: ["csv", "json", "jsonl", "csv.gz"])
    func unchanged(format: String) {
        let folder = TemporaryFolder()
        #expect(scan(everyone(folder.file("devices.\(format)", Self.bytes(format))), {}).isEmpty)
    }

    @Test("one that grows is refused, whatever its format", arguments: ["csv", "json", "jsonl", "csv.gz"])
    func grows(format: String) {
        let folder = TemporaryFolder()
        let path = folder.file("devices.\(format)", Self.bytes(format))
        let found = scan(everyone(path)) { append(path) }
        #expect(found.count == 1 && found[0].file == path, "\(found)")
        #expect(
            found.first?.message.contains("grew from") == true
                && found.first?.message.contains("while it was read") == true, "\(found)")
        #expect(found.first?.remedy?.contains("rename it when it is complete") == true)
    }

    @Test("one that shrinks is refused")
    func shrinks() {
        let folder = TemporaryFolder()
        let path = folder.file("devices.csv", Self.bytes("csv"))
        let found = scan(everyone(path)) { truncate(path, 50_000) }
        #expect(
            found.map(\.message) == [
                "the file shrank from \(TextFormat.count(Self.text("csv").utf8.count)) to 50,000 bytes while it was read"
            ])
    }

    @Test("one that another takes the place of is refused, though the first was read to its end")
    func replaced() {
        let folder = TemporaryFolder()
        let path = folder.file("devices.csv", Self.bytes("csv")), other = folder.file("new.csv", Self.bytes("csv"))
        let found = scan(everyone(path)) { rename(other, path) }
        #expect(found.map(\.message) == ["the file was replaced by another file while it was read"])
    }

    @Test("one that is removed is refused")
    func removed() {
        let folder = TemporaryFolder()
        let path = folder.file("devices.csv", Self.bytes("csv"))
        #expect(
            scan(everyone(path)) { unlink(path) }.map(\.message) == [
                "the file was removed or renamed while it was read"
            ])
    }

    @Test("one that is touched is refused: nobody knows what was written to it")
    func touched() {
        let folder = TemporaryFolder()
        let path = folder.file("devices.csv", Self.bytes("csv"))
        let found = scan(everyone(path)) {
            var times = [timespec(tv_sec: 1_000, tv_nsec: 0), timespec(tv_sec: 1_000, tv_nsec: 0)]
            utimensat(AT_FDCWD, path, &times, 0)
        }
        #expect(found.map(\.message) == ["the file was changed while it was read"])
    }

    @Test(
        "lists that were read before the exports must stay as they were, too",
        arguments: ["excluded.txt", "excluded.csv", "names.txt"])
    func lists(name: String) throws {
        let folder = TemporaryFolder()
        let path = folder.file("devices.csv", Self.bytes("csv"))
        let list = folder.file(name, name.hasSuffix(".csv") ? "token\n\(token(1))\n" : "\(token(1))\n")
        var query = everyone(path)
        if name == "names.txt" {
            // By then the campaign has the names from the file, but the file is still watched.
            #expect(try NameFile.read(list, noting: query.sources) == [token(1)])
        } else {
            query.excludedDevices = [list]
        }
        let found = scan(query) { append(list, "\(token(2))\n") }
        #expect(found.count == 1 && found[0].file == list && found[0].message.contains("grew"), "\(found)")
    }

    @Test("a second scan for samples reads the same file, or none")
    func secondScan() throws {
        let folder = TemporaryFolder()
        let path = folder.file("devices.csv", Self.bytes("csv"))
        let query = everyone(path)
        _ = try query.scan(into: CollectingSink())
        append(path)
        let found = scan(query, {})
        #expect(found.count == 1 && found[0].message.contains("grew"), "\(found)")
        #expect(scan(everyone(path), {}).isEmpty)
    }

    @Test("a trace reads the same file each time, or says so")
    func trace() throws {
        let folder = TemporaryFolder()
        let path = folder.file("devices.csv", Self.bytes("csv"))
        let mistake = #expect(throws: Diagnostics.self) {
            // A judge is made after the headers are read, and before the rows are.
            _ = try everyone(path).trace(
                try TraceSubject(token(3)),
                checking: {
                    append(path)
                    return { _ in RecipientCheck() }
                })
        }
        #expect(mistake?.all.first?.message.contains("grew") == true)
    }

    @Test("a list of tokens that changes while it is imported is refused")
    func tokenList() throws {
        let folder = TemporaryFolder()
        let list = folder.file("gone.txt", (1...2_000).map { "\(token($0))\n" }.joined())
        let mistake = #expect(throws: Diagnostics.self) {
            var isMeddled = false
            try TokenList.read(list, columns: ExportColumns()) { _ in
                if !isMeddled { append(list, "\(token(5_000))\n") }
                isMeddled = true
            }
        }
        #expect(mistake?.all.first?.message.contains("grew") == true)
    }
}
