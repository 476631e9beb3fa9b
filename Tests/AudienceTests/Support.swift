import Base
import Glibc
import Testing

@testable import Audience

/// A folder below /tmp that is removed after its test.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/volley-audience-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    private var names: [String] = []

    /// Whether it contains no files.
    var isEmpty: Bool {
        guard let entries = opendir(path) else { return false }
        defer { closedir(entries) }
        var count = 0
        while readdir(entries) != nil { count += 1 }
        // "." and "..".
        return count == 2
    }

    /// Writes a file and returns its path.
    func file(_ name: String, _ text: String) -> String { file(name, Array(text.utf8)) }

    func file(_ name: String, _ bytes: [UInt8]) -> String {
        let path = "\(path)/\(name)"
        names.append(name)
        let stream = fopen(path, "wb")
        fwrite(bytes, 1, bytes.count, stream)
        if let stream { fclose(stream) }
        return path
    }
}

/// Keeps what a scan passes on.
final class CollectingSink: RecipientSink {
    var slots: [Recipient?] = []
    private var slotServices: [UInt8] = []
    var dropped: [Int] = []
    var finishedSlots: Int?
    var putCount = 0
    let recordLimit: Int

    init(recordLimit: Int = .max) { self.recordLimit = recordLimit }

    func receive(_ batch: RecipientBatch) throws {
        batch.forEach { slot, record in
            putCount += 1
            if slot == slots.count {
                slots.append(Recipient(record))
                slotServices.append(record.service)
            } else {
                (slots[slot], slotServices[slot]) = (Recipient(record), record.service)
            }
        }
    }

    func finish(slots: Int, dropping dropped: BitSet) throws {
        finishedSlots = slots
        dropped.forEach { self.dropped.append($0) }
    }

    var recipients: [Recipient] { slots.indices.filter { !dropped.contains($0) }.compactMap { slots[$0] } }
    /// The numbers of the recipients' services.
    var services: [Int] {
        slots.indices.filter { !dropped.contains($0) && slots[$0] != nil }.map { Int(slotServices[$0]) }
    }
    var ids: [String] { recipients.map(\.registrationID) }
}

/// 2026-11-20T12:00:00Z
let noon = Timestamp(epochSeconds: 1_795_176_000)

func place(_ text: String, line: Int = 7, column: Int = 3) -> SourceText {
    SourceText(text, at: SourcePosition(file: "spring.yaml", line: line, column: column))
}

func condition(_ column: String, _ test: ColumnTest) -> ColumnCondition {
    ColumnCondition(column: place(column), test: test)
}

/// A token of 64 digits that is easy to recognise.
func token(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
}

extension AudienceQuery {
    init(_ files: String..., columns: ExportColumns = ExportColumns()) {
        self.init(files: files, columns: columns, now: noon)
    }

    func with(_ change: (inout AudienceQuery) -> Void) -> AudienceQuery {
        var query = self
        change(&query)
        return query
    }

    /// Scans into a new sink; bad rows are allowed. One thread and three must give the same result,
    /// in memory and on disk.
    func run(
        chunkSize: Int = 256 << 10, verdict: @escaping @Sendable (Recipient) -> SkipReason? = { _ in nil }
    ) throws -> (result: AudienceResult, sink: CollectingSink) {
        let (result, sink) = try run(ReadingLimits(chunkSize: chunkSize, threads: 1), verdict)
        for limits in [
            ReadingLimits(chunkSize: chunkSize, threads: 3),
            ReadingLimits(chunkSize: chunkSize, threads: 1, deviceMemory: 0),
            ReadingLimits(chunkSize: chunkSize, threads: 3, deviceMemory: 2000),
        ] {
            let (other, otherSink) = try run(limits, verdict)
            #expect(other.summary == result.summary, "\(limits)")
            #expect(
                otherSink.recipients == sink.recipients && otherSink.services == sink.services
                    && otherSink.dropped == sink.dropped,
                "\(limits)")
            #expect(otherSink.finishedSlots == sink.finishedSlots, "\(limits)")
        }
        return (result, sink)
    }

    private func run(
        _ limits: ReadingLimits, _ verdict: @escaping @Sendable (Recipient) -> SkipReason?
    ) throws -> (result: AudienceResult, sink: CollectingSink) {
        let sink = CollectingSink()
        let result = try with { $0.maximumBadRowShare = 1 }.scan(
            into: sink, limits: limits,
            checking: {
                { record in
                    RecipientCheck(payloadBytes: record.fields.count, reason: Recipient(record).flatMap(verdict))
                }
            })
        return (result, sink)
    }

    /// The mistakes that a scan throws.
    func mistakes() -> [Diagnostic] {
        do {
            _ = try scan(into: CollectingSink())
            return []
        } catch let mistakes as Diagnostics {
            return mistakes.all
        } catch {
            return [Diagnostic("\(error)")]
        }
    }
}

extension AudienceResult {
    var selectors: [String: Int] { Dictionary(uniqueKeysWithValues: selectedBy.map { ($0.selector, $0.recipients) }) }
    /// Everything that the result contains, as text.
    var summary: String {
        let languages = languages.sorted { $0.key < $1.key },
            skipped = skipped.sorted { $0.key.rawValue < $1.key.rawValue }
        let payloads = payloadBytes.sorted { $0.key < $1.key }
        return "\(rows) \(audience) \(skipped) \(selectedBy) \(languages) \(payloads) \(badRows) \(warnings) \(digest) "
            + "\(firstRecipients.sorted { $0.key < $1.key }) \(largestSkippedPayload)"
    }

    var isBalanced: Bool { rows == audience + skipped.values.reduce(0, +) }
}
