import Base
import Testing

@testable import Audience

/// Exclusion follows the newest row of a device.
@Suite struct ExclusionMarksTests {
    private let folder = TemporaryFolder()

    private func run(_ rows: [String], selecting tags: [String] = []) throws -> AudienceResult {
        let text = (["token,tags,last_active"] + rows).joined(separator: "\n")
        return try AudienceQuery(folder.file("devices.csv", text)).with {
            $0.everyone = tags.isEmpty
            $0.anyTags = tags
            $0.excludedTags = ["unsubscribed"]
        }.run().result
    }

    @Test("who unsubscribed since is not reached through an older row, whichever is read first", arguments: [false, true])
    func unsubscribedSince(isReversed: Bool) throws {
        let rows = ["\(token(1)),news,2026-01-01", "\(token(1).uppercased()),unsubscribed,2026-05-01"]
        let result = try run(isReversed ? rows.reversed() : rows)
        #expect(result.audience == 0 && result.skipped == [.excluded: 2])
    }

    @Test("a row that nothing selects excludes its device as well")
    func unsubscribedAndNotSelected() throws {
        let result = try run(["\(token(1)),news,2026-01-01", "\(token(1)),unsubscribed,2026-05-01"], selecting: ["news"])
        #expect(result.audience == 0 && result.skipped == [.excluded: 1, .notMatched: 1] && result.isBalanced)
    }

    @Test("who subscribed again is reached")
    func subscribedAgain() throws {
        let result = try run(["\(token(1)),news,2026-05-01", "\(token(1)),unsubscribed,2026-01-01"])
        #expect(result.audience == 1 && result.skipped == [.excluded: 1])
    }

    @Test("of two equally new rows the excluded one decides")
    func equallyNew() throws {
        #expect(try run(["\(token(1)),news,", "\(token(1)),unsubscribed,"]).audience == 0)
    }
}
