import Audience
import Base
import Content
import Foundation
import PushServices
import Runs

/// A folder of runs for the same ten devices.
final class PlannedFolder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("volley-planned-\(UUID().uuidString)").path
    let settings: RunSettings

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        var settings = RunSettings(
            environment: .sandbox, topic: "com.example.shop", pushType: .alert,
            renderingRules: MessageCatalog.renderingRules)
        settings.frequencyCaps = [FrequencyCap(pushes: 1, seconds: 3600)]
        self.settings = settings
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    static func token(_ device: Int) -> String { "aa" + String(repeating: "0", count: 61) + "\(device)" }

    /// What FCM calls a device.
    static func fcmToken(_ device: Int) -> String { String(repeating: "Q", count: 140) + "\(device)" }

    /// A plan made after everything that was begun so far.
    /// - Parameter fcm: how many devices, the last ones, go through FCM's simulator instead.
    func plan(
        _ id: String, at moment: Timestamp = .now(), app: String = "shop", devices: Range<Int> = 0..<10,
        source: String = "",
        isTest: Bool = false, fcm: Int = 0, retryOf: String? = nil, _ settings: RunSettings? = nil
    ) throws -> RunFile {
        let writer = try RunWriter(folder: path, id: id, sorter: fcm > 0 ? SegmentSorter(services: 2) : nil)
        for (index, device) in devices.enumerated() {
            let isSecond = index >= devices.count - fcm
            try writer.put(
                Recipient(token: Target(normalized: isSecond ? Self.fcmToken(device) : Self.token(device)), fields: []),
                at: index,
                service: isSecond ? 1 : 0)
        }
        if fcm > 0 { try writer.drop(BitSet(), of: devices.count) }
        var settings = settings ?? self.settings
        if fcm > 0 {
            var second = ServiceSettings(environment: .simulator, topic: "shop-1a2b")
            second.serviceName = FCM().name
            settings.services.append(second)
        }
        settings.place = try SendingHistory(folder: path).order().last
        return try writer.finish(
            RunPlan(
                id: id, campaign: "c", app: app, campaignFile: "c.yaml", campaignSource: source,
                projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: moment, planHash: "", rows: devices.count,
                audience: devices.count, skipped: [:], settings: .success(settings), preview: .object([]),
                retryOf: retryOf, isTest: isTest,
                serviceSegments: writer.segments))
    }

    /// Sends a run to its first devices, or resumes it up to them, and ends it.
    /// - Parameters:
    ///   - outcome: of the last of them; the others are accepted.
    ///   - isCutOff: whether its process is killed before it notes the end.
    func send(
        _ run: RunFile, to count: Int, last outcome: Outcome = .accepted, in environment: String = "sandbox",
        from start: Timestamp = .now(),
        to end: Timestamp = .now(), isCutOff: Bool = false
    ) throws {
        try run.lockForSending()
        let first = try run.claims().claimed.count
        let new = try NewEpoch(
            after: run.status().epoch, reached: run.reached(), claimed: run.claims().made, in: environment)
        let begun = try run.append(.epochNoted(new, at: start)).beginning
        guard begun == .noted else { throw Diagnostic("\(begun)", file: run.path) }
        try run.append(.epochBegan(new.epoch, at: start, from: [.planned, .stopped]))
        try run.append(.epochConfirmed(givenUp: []))
        try run.append(.claimed(first..<count, at: start))
        try run.append(.claimsNoted(run.claims().made))
        try run.append(
            .settled([
                (first..<count).map {
                    Settlement(
                        recipient: $0, outcome: $0 == count - 1 ? outcome : .accepted, status: 200, reason: "",
                        attempts: 1, settledAt: end)
                }
            ]))
        if !isCutOff {
            try run.append(.state(count == run.plan.audience ? .finished : .stopped, at: end))
            try run.append(.epochEnded)
        }
        run.unlock()
    }

    func begin(_ run: RunFile) throws { try run.append(.state(.running, at: .now())) }
}
