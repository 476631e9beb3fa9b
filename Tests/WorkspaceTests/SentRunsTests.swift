import Audience
import Base
import Foundation
import PushServices
import Runs
import Testing

@testable import Workspace

/// What the other runs of a folder mean for a campaign.
@Suite("Runs that were sent earlier")
final class SentRunsTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-sent-\(UUID().uuidString)"
    ).path

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static func token(_ device: Int) -> String {
        "aa" + String(repeating: "0", count: 60) + String(10 + device)
    }

    private static func settings(_ pushType: PushType = .alert) -> RunSettings {
        var settings = RunSettings(
            environment: .sandbox, topic: "com.example.shop", pushType: pushType, renderingRules: 5)
        settings.schedule = FrozenSchedule(Schedule(zone: .named(.utc)), nil)
        settings.schedule?.occurrence = LocalTime("2026-12-01T09:00")
        return settings
    }

    /// A plan of a campaign whose file is gone.
    private func plan(_ campaign: String, devices: Range<Int>, _ settings: RunSettings = settings()) throws -> RunFile {
        let id = "20261201-090000-\(campaign)-7f3a"
        let writer = try RunWriter(folder: folder, id: id)
        for (slot, device) in devices.enumerated() {
            try writer.put(Recipient(token: Target(normalized: Self.token(device))), at: slot)
        }
        return try writer.finish(
            RunPlan(
                id: id, campaign: campaign, app: "shop", campaignFile: "\(folder)/\(campaign).yaml",
                campaignSource: "name: \(campaign)\napp: shop\n", projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2),
                fields: [], plannedAt: .now(), planHash: "", rows: devices.count, audience: devices.count, skipped: [:],
                settings: .success(settings), preview: .null))
    }

    private func send(_ run: RunFile) throws {
        try run.append(.epochBegan("1-a", at: .now(), from: [.planned]))
        try run.append(.claimed(0..<run.plan.audience, at: .now()))
        try run.append(
            .settled([
                (0..<run.plan.audience).map {
                    Settlement(recipient: $0, outcome: .accepted, status: 200, attempts: 1, settledAt: .now())
                }
            ]))
        try run.append(.state(.finished, at: .now()))
        run.close()
    }

    @Test(
        "a background push, which no person notices, does not count for a frequency cap",
        arguments: [PushType.alert, .background])
    func background(pushType: PushType) throws {
        try send(plan("spring", devices: 0..<2, Self.settings(pushType)))
        let history = FrequencyHistory(
            app: "shop", lists: ["sandbox"], caps: [FrequencyCap(pushes: 1, seconds: 3600)], now: .now())
        let capped = try #require(try history.cappedDevices(beside: nil, in: RunsFolder(folder)))
        let isCapped = Array(Self.token(1).utf8).withUnsafeBufferPointer { capped.contains(token: $0) }
        #expect(isCapped == (pushType == .alert))
    }

    @Test(
        "a renamed campaign has used its time if it shares half of the smaller audience, however the audience has grown"
    )
    func renamed() throws {
        let before = try plan("spring", devices: 0..<4)
        try send(before)
        func holder(_ campaign: String, devices: Range<Int>) throws -> String? {
            let run = try plan(campaign, devices: devices)
            defer { run.close() }
            return try #require(ScheduledTime(run, Self.settings(), isScheduler: false)).runByItsFile()
        }
        #expect(try holder("summer", devices: 2..<14) == before.plan.id)
        #expect(try holder("autumn", devices: 3..<15) == nil)
    }
}
