import Base
import Foundation
import PushServices
import Runs
import TestCommands
import Testing

@testable import Planning

@Suite("The last sending of a campaign")
struct PreviousSendingTests {
    @Test("it is recent for twelve hours, where it went and never in the simulator")
    func recent() throws {
        let folder = try ProjectFolder(), began = Timestamp(epochSeconds: 1_800_000_000)
        for environment in [FrozenEnvironment.production, .simulator] {
            let id = "20261201-090000-spring-sale-\(environment.name)"
            let writer = try RunWriter(folder: folder.url.path, id: id)
            try writer.put(Recipient(token: Target(normalized: ProjectFolder.token(1))), at: 0)
            let run = try writer.finish(
                RunPlan(
                    id: id, campaign: "spring-sale", app: "shop", campaignFile: "c.yaml", campaignSource: "",
                    projectFile: "volley.yaml", seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: began,
                    planHash: "",
                    rows: 1, audience: 1, skipped: [:],
                    settings: .success(
                        RunSettings(
                            environment: environment, topic: "com.example.shop", pushType: .alert, renderingRules: 5)),
                    preview: .null))
            defer { run.close() }
            try run.append(.state(.running, at: began))
            for (hours, isRecent) in [(0.0, true), (11.99, true), (12.01, false)] {
                let sending = try #require(PreviousSending(of: run, now: began.adding(seconds: hours * 3600)))
                #expect(sending.isRecent(in: environment) == (isRecent && environment != .simulator), "\(hours) h")
                #expect(!sending.isRecent(in: .sandbox))
            }
        }
    }
}
