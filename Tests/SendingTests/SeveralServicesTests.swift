import Audience
import Base
import Glibc
import PushServices
import Runs
import Synchronization
import Testing
import Workspace

@testable import Sending

/// Six devices of APNs and four of FCM.
@Suite("what was sent through several services")
struct SeveralServicesTests {
    private static let campaign = "name: c\napp: shop\naudience: {tags: [a]}\ncontent: {body: Hi}\n"

    private func settled(_ id: Int, _ outcome: Outcome, status: Int = 200, reason: String = "") -> Settlement {
        Settlement(recipient: id, outcome: outcome, status: status, reason: reason, attempts: 1, settledAt: .now())
    }

    private func tokens(_ run: RunFile) throws -> [String] {
        var tokens: [String] = []
        try run.forEachResult { _, recipient, _, _ in tokens.append(recipient.token.text) }
        return tokens
    }

    @Test("is retried through them: each device through its own")
    func retry() throws {
        let folder = try PlannedFolder()
        let run = try folder.plan("a", source: Self.campaign, fcm: 4)
        try folder.begin(run)
        try run.append(.claimed(0..<10, at: .now()))
        try run.append(
            .settled([(0..<10).map { settled($0, [1, 4, 6, 9].contains($0) ? .failed : .accepted, status: 503) }]))
        try run.append(.state(.finished, at: .now()))
        let retry = try #require(try RetryPlanner(run: run, outcomes: [.failed], now: .now()).plan())
        #expect(retry.plan.segments == [RunSegment(ids: 0..<2, service: 0), RunSegment(ids: 2..<4, service: 1)])
        #expect(try tokens(retry) == [1, 4].map(PlannedFolder.token) + [6, 9].map(PlannedFolder.fcmToken))
        let devices = try retry.plan.settings.get().services
        #expect(try devices == run.plan.settings.get().services)
    }

    @Test("through one of them alone is retried as a run of both, so that it goes to the same places")
    func retryOfOne() throws {
        let folder = try PlannedFolder()
        let run = try folder.plan("a", source: Self.campaign, fcm: 4)
        try folder.begin(run)
        try run.append(.claimed(0..<10, at: .now()))
        try run.append(.settled([(0..<10).map { settled($0, $0 > 7 ? .failed : .accepted, status: 503) }]))
        try run.append(.state(.finished, at: .now()))
        let retry = try #require(try RetryPlanner(run: run, outcomes: [.failed], now: .now()).plan())
        #expect(retry.plan.segments == [RunSegment(ids: 0..<2, service: 1)] && retry.plan.serviceCount == 2)
    }

    @Test("is retried without devices that were suppressed since, at each service")
    func retryOfSuppressed() throws {
        let folder = try PlannedFolder()
        let run = try folder.plan("a", at: Timestamp(epochSeconds: 1_790_000_000), source: Self.campaign, fcm: 4)
        try folder.begin(run)
        try run.append(.claimed(0..<10, at: .now()))
        try run.append(.settled([(0..<10).map { settled($0, .failed, status: 503) }]))
        try run.append(.state(.finished, at: .now()))
        let lists = try run.plan.settings.get().services.map {
            run.catalog.suppression(app: "shop", service: $0.service, environment: $0.listName)
        }
        // A complaint counts whatever the clock said; FCM's device is on the list of APNs by
        // mistake.
        let complaints = [PlannedFolder.token(1), PlannedFolder.token(4), PlannedFolder.fcmToken(9)]
        for (list, tokens) in zip(lists, [complaints.prefix(2), complaints.suffix(1)]) {
            _ = try list.add(at: Timestamp(epochSeconds: 1_780_000_000)) { entries in
                for token in tokens {
                    try entries.add(
                        Target(normalized: token), reason: "complaint",
                        invalidSince: Timestamp(epochSeconds: 1_780_000_000))
                }
            }
        }
        let retry = try #require(try RetryPlanner(run: run, outcomes: [.failed], now: .now()).plan())
        let left = [0, 2, 3, 5].map(PlannedFolder.token) + [6, 7, 8].map(PlannedFolder.fcmToken)
        #expect(try tokens(retry) == left)
        #expect(retry.plan.audience == 7 && retry.plan.rows == 10 && retry.plan.skipped == [.suppressed: 3])
        #expect(retry.plan.leftOutOfRetry == "3 devices are suppressed now, and left out")
        #expect(retry.plan.previewText.contains("whose preview follows. 3 devices are suppressed now, and left out."))
    }

    @Test(
        "is retried with a device that was called gone before it was planned, as the export said that it registered again; not after"
    )
    func retryOfGone() throws {
        let folder = try PlannedFolder()
        func finished(_ id: String, _ outcome: Outcome) throws -> RunFile {
            let run = try folder.plan(id, source: Self.campaign)
            try folder.begin(run)
            try run.append(.claimed(0..<10, at: .now()))
            let gone = outcome == .invalidToken
            try run.append(
                .settled([
                    (0..<10).map {
                        settled(
                            $0, $0 == 3 ? outcome : .accepted, status: gone ? 410 : 503,
                            reason: gone ? "Unregistered" : "")
                    }
                ]))
            try run.append(.state(.finished, at: .now()))
            return run
        }
        func retry(_ run: RunFile) throws -> RunFile? {
            try RetryPlanner(run: run, outcomes: [.failed], now: .now()).plan()
        }
        SuppressionList.suppressGone(of: try finished("a", .invalidToken), RunObserver { _ in })
        usleep(5000)
        let run = try finished("b", .failed)
        let registered = try #require(try retry(run))
        #expect(try tokens(registered) == [PlannedFolder.token(3)] && registered.plan.leftOutOfRetry == nil)
        try registered.remove()
        let list = run.catalog.suppression(app: "shop", service: APNs(), environment: "sandbox")
        _ = try list.add {
            try $0.add(Target(normalized: PlannedFolder.token(3)), reason: "complaint", invalidSince: .now())
        }
        let refused = #expect(throws: Diagnostic.self) { try retry(run) }
        #expect(refused?.message == "the only device that a retry would go to is suppressed")
    }

    @Test("counts for caps where a later run goes to the same service and server")
    func frequency() throws {
        let folder = try PlannedFolder()
        let run = try folder.plan("20261201-090000-a-7f3a", at: .now().adding(seconds: -100), fcm: 4)
        try folder.send(run, to: 10, in: "sandbox+fcm:simulator")
        run.close()
        func capped(_ lists: Set<String>) throws -> [Bool] {
            let history = FrequencyHistory(app: "shop", lists: lists, caps: folder.settings.frequencyCaps, now: .now())
            let capped = try history.cappedDevices(beside: nil, in: run.catalog)
            return [PlannedFolder.token(0), PlannedFolder.fcmToken(9)].map { token in
                Array(token.utf8).withUnsafeBufferPointer { capped?.contains(token: $0) ?? false }
            }
        }
        #expect(try capped(["sandbox"]) == [true, false])
        #expect(try capped(["production", "fcm:simulator"]) == [false, true])
        #expect(try capped(["sandbox", "fcm:simulator"]) == [true, true])
        #expect(try capped(["production", "fcm:production"]) == [false, false])
    }

    @Test("puts the devices of each service on that service's list")
    func suppression() throws {
        let folder = try PlannedFolder()
        let run = try folder.plan("a", fcm: 4)
        try folder.begin(run)
        try run.append(.claimed(0..<10, at: .now()))
        try run.append(
            .settled([
                (0..<10).map {
                    settled($0, $0 % 5 == 0 ? .accepted : .invalidToken, status: 410, reason: "Unregistered")
                }
            ]))
        try run.append(.state(.finished, at: .now()))
        let added = Mutex<[Int]>([])
        SuppressionList.suppressGone(
            of: run,
            RunObserver { event in if case .suppressed(let count, _) = event { added.withLock { $0.append(count) } } })
        #expect(added.withLock { $0 } == [4, 4])
        let counts = try run.plan.settings.get().services.map {
            try run.catalog.suppression(app: "shop", service: $0.service, environment: $0.listName).count()
        }
        #expect(counts == [4, 4])
    }

    @Test("supersedes a plan for one of them, and is superseded by it")
    func superseding() throws {
        let folder = try PlannedFolder()
        let (plan, other) = (
            try folder.plan("20261101-090000-c-b000"), try folder.plan("20261101-090000-c-a000", fcm: 4)
        )
        try folder.send(other, to: 10, in: "sandbox+fcm:simulator")
        other.close()
        let related = try RelatedRuns(plan, plan.settings())
        #expect(try related.counts(other))
        #expect(try RelatedRuns(other, other.settings()).counts(plan))
    }
}

extension RunFile {
    fileprivate func settings() throws -> RunSettings { try plan.settings.get() }
}
