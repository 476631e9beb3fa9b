import Audience
import Base
import Campaigns
import Foundation
import Runs

@testable import VolleyKit

/// A folder of runs for the same ten devices.
final class PlannedFolder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("volley-planned-\(UUID().uuidString)").path
    let settings: RunSettings

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        settings = RunSettings(
            environment: .sandbox, topic: "com.example.shop", pushType: .alert, priority: .high, unknownPolicy: .resend,
            frequencyCaps: [FrequencyCap(pushes: 1, seconds: 3600)], needsApproval: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    static func token(_ device: Int) -> String { "aa" + String(repeating: "0", count: 61) + "\(device)" }

    func plan(_ id: String, at moment: Timestamp = .now()) throws -> RunStore {
        let writer = try RunWriter(folder: path, id: id)
        for device in 0..<10 {
            try writer.put(Recipient(token: DeviceToken(normalized: Self.token(device)), fields: []), at: device)
        }
        return try writer.finish(
            RunPlan(
                id: id, campaign: "c", app: "shop", campaignFile: "c.yaml", campaignSource: "", projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: moment, planHash: "", rows: 10, audience: 10, skipped: [:],
                settings: settings.json, preview: .object([])))
    }

    func begin(_ run: RunStore) throws { try run.setState(.running, reason: "", at: .now()) }
}
