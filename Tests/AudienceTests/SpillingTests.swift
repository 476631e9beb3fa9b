import Base
import Glibc
import TestSupport
import Testing

@testable import Audience

/// Devices that go to disk. Every scan of these tests checks that the results are the same as in
/// memory (`AudienceQuery.run`).
@Suite final class SpillingTests {
    @Test("a partition gives back what was appended to it, in order, also beyond its buffer")
    func partitions() throws {
        var file = PartitionedFile()
        var random = SeededRandom(7)
        var expected: [Int: [(number: UInt64, text: [UInt8])]] = [:]
        for number in 0..<30_000 {
            let partition = [0, 1, 1, 1, 255].randomElement(using: &random) ?? 0
            let text = (0..<Int.random(in: 0...20, using: &random)).map { UInt8(truncatingIfNeeded: number &+ $0) }
            try file.append(UInt64(number), to: partition)
            try file.append(UInt8(text.count), to: partition)
            try text.withUnsafeBytes { try file.append($0, to: partition) }
            expected[partition, default: []].append((UInt64(number), text))
        }
        for partition in [0, 1, 2, 255] {
            var contents = file.contents(of: partition)
            for (number, text) in expected[partition] ?? [] {
                let (foundNumber, count) = (try contents.next(UInt64.self), try contents.next(UInt8.self))
                if try foundNumber != number || contents.next(Int(count ?? 0)) != text {
                    Issue.record("\(number) of \(partition)")
                }
            }
            #expect(try contents.next(UInt8.self) == nil)
        }
    }

    @Test("temporary files lie where files can be made, or it is said what to do")
    func folders() throws {
        let folder = TemporaryFolder()
        var file = ScratchFile(folders: ["/nowhere", folder.path])
        try #expect(withUnsafeBytes(of: UInt64(5)) { try file.append($0) } == 0)
        var number: UInt64 = 0
        try withUnsafeMutableBytes(of: &number) { try file.reader.read(from: 0, into: $0) }
        #expect(number == 5 && folder.isEmpty, "the file has no name")
        let mistake = #expect(throws: Diagnostics.self) {
            var file = ScratchFile(folders: ["/nowhere"])
            _ = try withUnsafeBytes(of: UInt64(5)) { try file.append($0) }
        }
        let description = try #require(mistake?.all.first?.description)
        #expect(
            description.hasPrefix(
                "/nowhere: temporary files cannot be written: there is no such file or folder. Set the environment "))
    }

    @Test("of many recipients noted in any order the first of each group are known")
    func firstRecipients() {
        func ofGroup(_ group: Int, _ selection: Int) -> DeviceClass {
            DeviceClass(selection: selection, language: 0, payloadBytes: 0, group: group, reason: nil)
        }
        var first = FirstRecipients(limit: 10)
        var random = SeededRandom(3)
        for place in Array(0..<1000).shuffled(using: &random) {
            first.note(place: place, ofGroup(place % 3, place * 2))
        }
        let groups = first.inOrder()
        #expect(groups.keys.sorted() == [0, 1, 2])
        #expect(groups[1]?.map(\.place) == (0..<10).map { $0 * 3 + 1 })
        #expect(groups[1]?.map(\.selection) == (0..<10).map { $0 * 6 + 2 })
        var few = FirstRecipients(limit: 10)
        for place in [5, 2, 9] { few.note(place: place, ofGroup(511, place)) }
        #expect(few.inOrder()[511]?.map(\.place) == [2, 5, 9])
    }

    @Test(
        "a preview's samples are those of the newest rows, also when these come after spilling began",
        arguments: [0, 3, 40, 5000, Int.max])
    func samples(recordLimit: Int) throws {
        let folder = TemporaryFolder()
        // Every device comes twice, the second time with a newer row.
        let rows =
            (0..<2000).map { "old\($0),\(token($0)),t,2026-01-01" }
            + (0..<2000).map { "new\($0),\(token($0)),t,2026-02-01" }
        let path = folder.file("devices.csv", "registration_id,token,tags,last_active\n" + rows.joined(separator: "\n"))
        let query = AudienceQuery(path).with { $0.anyTags = ["t"] }
        for deviceMemory in [0, 24 * 700, Int.max] {
            let sink = CollectingSink(recordLimit: recordLimit)
            let result = try query.scan(
                into: sink, limits: ReadingLimits(chunkSize: 4096, threads: 1, deviceMemory: deviceMemory))
            let kept = min(recordLimit, 2000)
            #expect(sink.slots.prefix(kept).map { $0?.registrationID } == (0..<kept).map { "new\($0)" })
            #expect(result.audience == 2000 && result.skipped == [.duplicateToken: 2000] && sink.finishedSlots == 2000)
            #expect(
                result.firstRecipients[0]
                    == (0..<AudienceResult.mostSamples).map { FirstRecipient(slot: $0, selectors: ["tag:t"]) })
        }
    }

    @Test("a scan that is cancelled while recipients come back from the disk ends")
    func cancelled() throws {
        let folder = TemporaryFolder()
        let path = folder.file(
            "devices.csv", "token,tags\n" + (0..<1000).map { "\(token($0)),t" }.joined(separator: "\n"))
        let sink = SlowSink()
        #expect(throws: CancellationError.self) {
            _ = try AudienceQuery(path).with { $0.anyTags = ["t"] }.scan(
                into: sink, limits: ReadingLimits(chunkSize: 4096, threads: 1, deviceMemory: 0),
                isCancelled: { sink.batches > 1 })
        }
        // The first came from memory.
        #expect(sink.batches == 2)
    }
}

/// Takes longer for a batch than the time between two checks whether to continue.
private final class SlowSink: RecipientSink {
    let recordLimit = Int.max
    private(set) var batches = 0

    func receive(_ batch: RecipientBatch) {
        batches += 1
        usleep(150_000)
    }

    func finish(slots: Int, dropping dropped: BitSet) { Issue.record("finished") }
}
