import Base
import Foundation
import PushServices
import Runs
import Testing

@testable import Workspace

@Suite("what happened to a plan's campaign file")
struct CampaignChangeTests {
    private static let now = Timestamp(epochSeconds: 1_796_115_600)
    private static let text =
        "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\n"

    private func campaign(_ at: String?, title: String = "Hi") -> String {
        Self.text.replacing("Hi", with: title) + (at.map { "schedule: {timezone: UTC, at: \"\($0)\"}\n" } ?? "")
    }

    /// - Parameters:
    ///   - planned: what the plan was made from.
    ///   - time: that it was planned for; nil for none.
    ///   - present: what the file holds; nil if it is gone.
    private func change(
        from planned: String, for time: String? = nil, to present: String?, retryOf: String? = nil, isTest: Bool = false
    ) throws -> CampaignChange? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-change-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        if let present { try FilePaths.replace("\(folder)/c.yaml", bytes: Array(present.utf8)) }
        return CampaignChange(
            since: try plan(from: planned, for: time, in: folder, retryOf: retryOf, isTest: isTest), at: Self.now)
    }

    private func plan(
        from planned: String, for time: String? = nil, in folder: String, retryOf: String? = nil, isTest: Bool = false
    ) throws -> RunPlan {
        var settings = RunSettings(
            environment: .simulator, topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        if let time {
            settings.schedule = FrozenSchedule(Schedule(zone: .named(.utc)), nil)
            settings.schedule?.occurrence = LocalTime(time)
        }
        return RunPlan(
            id: "20261201-090000-spring-sale-7f3a", campaign: "spring-sale", app: "shop",
            campaignFile: "\(folder)/c.yaml",
            campaignSource: planned, projectFile: "volley.yaml", seed: RunSeed(high: 1, low: 2), fields: [],
            plannedAt: Self.now,
            planHash: "", rows: 1, audience: 1, skipped: [:], settings: .success(settings), preview: .null,
            retryOf: retryOf,
            isTest: isTest)
    }

    @Test(
        "a file that holds the plan's text has no change, also with a byte order mark; one that is gone or has another text has one"
    )
    func kinds() throws {
        #expect(try change(from: Self.text, to: Self.text) == nil)
        #expect(try change(from: Self.text, to: "\u{FEFF}" + Self.text) == nil)
        #expect(try change(from: Self.text, to: nil) == .gone)
        #expect(try change(from: Self.text, to: campaign(nil, title: "Ho")) == .changed(again: nil))
        #expect(try change(from: Self.text, to: "name: [") == .changed(again: nil))
        // A retry sends what was sent; a test needs no approval.
        #expect(try change(from: Self.text, to: campaign(nil, title: "Ho"), retryOf: "r") == nil)
        #expect(try change(from: Self.text, to: nil, retryOf: "r") == .gone)
        #expect(try change(from: Self.text, to: nil, isTest: true) == nil)
    }

    @Test("a file behind a path that cannot be followed is not called gone") func unreadable() throws {
        // Root may search every folder, so the path itself is one that the system refuses.
        let plan = try plan(from: Self.text, in: "/" + String(repeating: "n", count: 300))
        #expect(CampaignChange(since: plan, at: Self.now) == .unreadable)
        // The folder is a file by now.
        #expect(try CampaignChange(since: self.plan(from: Self.text, in: "/dev/null"), at: Self.now) == .gone)
    }

    @Test(
        "a new text says at which time it is sent in addition to the plan, and not when the plan has one of its times")
    func again() throws {
        let planned = campaign("2026-12-01 09:00"), time = "2026-12-01 09:00"
        #expect(try change(from: planned, for: time, to: campaign(time, title: "Ho")) == .changed(again: nil))
        // Another time; and a plan that is sent by hand, of a campaign that got a time.
        for (planned, time) in [(planned, time), (Self.text, nil)] {
            guard case .changed(let again?)? = try change(from: planned, for: time, to: campaign("2099-12-02 09:00"))
            else {
                Issue.record("\(planned)")
                continue
            }
            #expect(again.hasPrefix("2099-12-02 09:00 "))
        }
        #expect(try change(from: planned, for: time, to: campaign("2020-01-01 09:00")) == .changed(again: nil))
        let words = CampaignChange.changed(again: "2099-12-02 09:00 UTC").sentences(calling: "c.yaml")
        #expect(words.contains("c.yaml was changed") && words.contains("as it was frozen"))
        #expect(words.contains("is sent again at its own time"))
    }
}
