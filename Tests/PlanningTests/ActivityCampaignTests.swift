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

    @Test("a broadcast is one call to its channel, for which no export is read")
    func broadcast() throws {
        let folder = try project("{event: update, state: {goals: 1}}")
        let channel = "dHN0LXNyY2gtY2hubA=="
        func write(_ state: String) throws {
            try folder.write(
                "campaign.yaml",
                "name: score\napp: shop\naudience: {channel: \(channel)}\nactivity: {event: update, state: {goals: \(state)}}\n")
        }
        try write("1")
        try folder.write("devices.csv", "")
        let json = try folder.preview(isJSON: true).json()
        #expect(json["audience"] == .integer(1) && json["by"] == .string("apns"))
        #expect(json["calls"]?.text == #"[{"selector":"channel","calls":1,"count":1,"first":["\#(channel)"]}]"#)
        #expect(json["in_words"]?["audience"] == .string("The phones that follow the channel \(channel)."))
        let shown = try folder.preview()
        #expect(shown.output.contains("channel \(channel)") && shown.output.contains("‹goals 1›"), "\(shown.output)")
        #expect(try folder.plan().status == 0)
        try write("\"{{ alias }}\"")
        #expect(
            try folder.check().errors.contains(
                "'alias' differs from device to device, but a broadcast is the same for all phones of its channel. Write the same text for all."
            ))
    }

    @Test("a broadcast may have 5,120 bytes")
    func size() throws {
        let folder = try project("{event: update, state: {goals: 1}}")
        func plans(_ characters: Int) throws -> Bool {
            try folder.write(
                "campaign.yaml",
                "name: score\napp: shop\naudience: {channel: abcd}\nactivity: {event: update, state: {text: \"\(String(repeating: "x", count: characters))\"}}\n"
            )
            return try folder.preview(isJSON: true).json()["audience"] == .integer(1)
        }
        #expect(try plans(4900) && !plans(5100))
    }
}
