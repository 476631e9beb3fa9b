import Base
import Foundation
import TestCommands
import Testing

@testable import Planning

/// From a campaign with a Live Activity to its plan.
@Suite("campaigns with a Live Activity")
struct ActivityCampaignTests {
    private func project(_ activity: String) throws -> ProjectFolder {
        let token = ProjectFolder.token
        let folder = try ProjectFolder(
            export: """
                device_token,alias,activity_token,started,driver
                \(token(1)),anna,\(token(11)),,Mia
                \(token(2)),ben,,\(token(22)),
                \(token(3)),eva,\(token(13)),,

                """)
        try folder.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                devices: devices.csv
                columns: {start_token: started}
                test_devices: ["\(token(9))"]
            """)
        try folder.write("left-out.csv", "device_token\n\(token(3))\n")
        try folder.write(
            "campaign.yaml",
            """
            name: delivery
            app: shop
            audience: {everyone: true, exclude: {devices: left-out.csv}}
            activity: \(activity)
            """)
        return folder
    }

    @Test("an update goes to the activities that run, except those of devices on a list")
    func update() throws {
        let folder = try project("{event: update, state: {driver: \"{{ driver | default: 'on its way' }}\"}}")
        let json = try folder.preview(isJSON: true).json()
        #expect(json["audience"] == .integer(1) && json["skipped"]?["missing_token"] == .integer(1))
        #expect(json["skipped"]?["excluded"] == .integer(1))
        #expect(try folder.preview().output.contains("‹driver Mia›"))
    }

    @Test("a start goes to the tokens with which activities are started, in the column that volley.yaml names")
    func start() throws {
        let folder = try project(
            "{event: start, attributes_type: D, attributes: {}, state: {a: 1}}\ncontent: {title: On its way, body: 12 minutes left}")
        let preview = try folder.preview(isJSON: true).json()
        #expect(preview["audience"] == .integer(1))
        #expect(try folder.plan().status == 0)
    }
}
