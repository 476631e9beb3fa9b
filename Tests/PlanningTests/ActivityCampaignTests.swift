import Base
import Foundation
import PushServices
import Runs
import Synchronization
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
        let text = try folder.preview().output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("‹driver Mia›"))
        #expect(
            text.contains(
                "these rows have no 'activity_token', a token of a Live Activity, so there is no activity to send to"),
            "\(text)")
    }

    @Test(
        "--why names the newer row that an activity follows when its device has another token, whose tags are not united with it"
    )
    func moved() throws {
        let folder = try project("{event: update, state: {minutes: 5}}")
        let token = ProjectFolder.token
        try folder.write(
            "devices.csv",
            """
            device_token,alias,activity_token,tags
            \(token(1)),anna,\(token(11)),a
            \(token(2)),anna,\(token(11)),b
            \(token(3)),eva,\(token(13)),a

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
                columns: {rows: merge}
            """)
        let said = try folder.explain(token(1)).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(said.contains("devices.csv:3 is newer, or equally new and read later, so it decides"), "\(said)")
        #expect(!said.contains("tags of both rows"), "\(said)")
        let json = try folder.preview(isJSON: true).json()
        #expect(json["audience"] == .integer(1) && json["skipped"]?["duplicate_token"] == .integer(1))
    }

    @Test("--why finds a device by its own token, and says that its activity's is missing")
    func why() throws {
        let folder = try project("{event: update, state: {a: 1}}")
        let said = try folder.explain(ProjectFolder.token(2)).output.split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        #expect(said.contains("its 'activity_token' is blank, so there is no Live Activity to send to"), "\(said)")
    }

    @Test("over FCM a row without the activity's token is missing_token, and no text is blamed")
    func overFCM() throws {
        let folder = try fcm(
            cells: "name: Eva",
            "activity: {event: start, attributes_type: D, attributes: {}, state: {a: 1}}\ncontent: {title: On its way, body: 12 minutes left}"
        )
        let json = try folder.preview(isJSON: true).json()
        #expect(json["audience"] == .integer(1))
        #expect(json["skipped"]?["missing_token"] == .integer(1) && json["skipped"]?["bad_token"] == .integer(1))
        let text = try folder.preview().output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("no 'start_token', a token of a Live Activity, or no registration token,"), "\(text)")
        #expect(
            text.contains("the cell in the column 'start_token' is not a token of a Live Activity: in 1 row"), "\(text)"
        )
    }

    @Test(
        "a test never takes a target from a recipient, whatever the campaign calls its column, and takes that of the test device",
        arguments: ["start_token", "moved", "device_token"])
    func ownTarget(column: String) throws {
        let campaign = """
            content:
              payload:
                message:
                  apns:
                    live_activity_token: "{{ \(column) }}"
                    payload: {aps: {event: update, content-state: {driver: "{{ name }}"}}}
            """
        #expect(throws: (any Error).self) { try test(fcm(cells: "name: Eva", campaign)).close() }
        let run = try test(fcm(cells: "\(column): \(ProjectFolder.token(90))", campaign))
        defer { run.close() }
        #expect(run.plan.audience == 1 && run.plan.previewText.contains("Mia"))
    }

    @Test("a test over APNs goes to the activity that the test device's cells name, and is refused without one")
    func overAPNs() throws {
        let start =
            "{event: start, attributes_type: D, attributes: {}, state: {a: 1}}\ncontent: {title: On its way, body: 12 minutes left}"
        let folder = try project(start)
        #expect(throws: (any Error).self) { try test(folder).close() }
        let settings = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        for name in ["start_token", "started"] {
            let device = "{token: \(ProjectFolder.token(9)), cells: {\(name): \(ProjectFolder.token(90))}}"
            try folder.write("volley.yaml", settings.replacing("\"\(ProjectFolder.token(9))\"", with: device))
            let run = try test(folder)
            defer { run.close() }
            #expect(
                run.plan.previewText.contains("\(Target(normalized: ProjectFolder.token(90)))"),
                "\(run.plan.previewText)")
        }
    }

    @Test("a cell of a test device that is no token of an activity is a mistake, over FCM too")
    func badCell() throws {
        let folder = try fcm(
            cells: "start_token: xyz",
            "activity: {event: start, attributes_type: D, attributes: {}, state: {a: 1}}\n"
                + "content: {title: On its way, body: 12 minutes left}")
        do {
            try test(folder).close()
            Issue.record("planned")
        } catch let mistake as Diagnostic {
            #expect(
                mistake.message.hasPrefix("the start_token of '")
                    && mistake.message.hasSuffix("' is not a token of a Live Activity"))
        }
    }

    @Test(
        "an app with a service without activities gets one mistake for that, and one for a column that the export lacks"
    )
    func severalServices() throws {
        let folder = try project(
            "{event: start, attributes_type: D, attributes: {}, state: {a: 1}}\ncontent: {title: On its way, body: 12 minutes left}"
        )
        try folder.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                devices: devices.csv
                services:
                  fcm: {project: shop-1a2b, environment: simulator}
                  getui: {app_id: abcdefgh12, app_key: abcdefgh12, master_secret: {env: SECRET}, environment: simulator}
            """)
        let mistakes = try folder.check().errors.split(separator: "\n").filter { !$0.contains("warning: ") }
        #expect(mistakes.count == 2, "\(mistakes)")
        #expect(mistakes.contains { $0.contains("a Live Activity goes through") })
        #expect(
            mistakes.contains {
                $0.contains("has no column 'start_token' of the tokens that activities are started with")
            })
    }

    /// An app over FCM with three phones and a test device.
    private func fcm(cells: String, _ campaign: String) throws -> ProjectFolder {
        let registration = ProjectFolder.registration, token = ProjectFolder.token
        let folder = try ProjectFolder(
            export: """
                device_token,start_token,moved,name
                \(registration(1)),\(token(11)),\(token(21)),Mia
                \(registration(2)),,\(token(22)),Ben
                \(registration(3)),xyz,\(token(23)),Eva

                """)
        try folder.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                service: fcm
                project: shop-1a2b
                environment: simulator
                devices: devices.csv
                test_devices: [{token: "\(registration(9))", cells: {\(cells)}}]
            """)
        try folder.write("campaign.yaml", "name: delivery\napp: shop\naudience: {everyone: true}\n\(campaign)\n")
        return folder
    }

    private func test(_ folder: ProjectFolder) throws -> RunFile {
        try planTest(
            CampaignFile(folder.url.appendingPathComponent("campaign.yaml").path),
            PlanOptions(observer: PlanningObserver { _ in }, cancellation: try Cancellation()), at: .now())
    }

    @Test("a start goes to the tokens with which activities are started, in the column that volley.yaml names")
    func start() throws {
        let folder = try project(
            "{event: start, attributes_type: D, attributes: {}, state: {a: 1}}\ncontent: {title: On its way, body: 12 minutes left}"
        )
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
                "name: score\napp: shop\naudience: {channel: \(channel)}\nactivity: {event: update, state: {goals: \(state)}}\n"
            )
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

    /// An app with the services that have activities.
    private func several(testDevices: String = "") throws -> ProjectFolder {
        let token = ProjectFolder.token
        let folder = try ProjectFolder(
            export: """
                device_token,service,start_token
                \(token(1)),apns,\(token(11))
                \(token(2)),apns,
                \(ProjectFolder.registration(3)),fcm,\(token(13))
                1a0018970a8d0000004,jpush,

                """)
        try folder.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                services:
                  fcm: {project: shop-1a2b, environment: simulator}
                  jpush: {app_key: 0123456789abcdef01234567, environment: simulator}
                devices: devices.csv
                columns: {token: device_token, service: service}
            \(testDevices)
            """)
        try folder.write(
            "campaign.yaml",
            """
            name: delivery
            app: shop
            audience: {everyone: true}
            activity: {event: start, attributes_type: D, attributes: {}, state: {a: 1}}
            content: {title: On its way, body: 12 minutes left}
            """)
        return folder
    }

    @Test("an app with several services: each device gets the activity through the service that its row names")
    func ofSeveralServices() throws {
        let json = try several().preview(samples: 3, isJSON: true).json()
        #expect(json["audience"] == .integer(3) && json["skipped"]?["missing_token"] == .integer(1), "\(json.text)")
        guard case .array(let samples)? = json["samples"] else { return #expect(Bool(false)) }
        #expect(samples.map { $0["service"]?.stringValue } == ["apns", "fcm", "jpush"])
        #expect(samples.last?["payload"]?["live_activity"]?["ios"]?["event"] == .string("start"))
    }

    private func testRun(_ folder: ProjectFolder) throws -> (targets: [String], warnings: [String]) {
        let warnings = Mutex<[String]>([])
        let options = PlanOptions(
            observer: PlanningObserver { event in
                if case .warnings(let found) = event { warnings.withLock { $0 += found.map(\.message) } }
            }, cancellation: try Cancellation())
        let run = try planTest(
            CampaignFile(folder.url.appendingPathComponent("campaign.yaml").path), options, at: .now())
        defer { run.close() }
        var targets: [String] = []
        try run.forEachResult { _, recipient, _, _ in
            targets.append("\(recipient.token.text) \(recipient.fields.joined(separator: " "))")
        }
        return (targets, warnings.withLock { $0 })
    }

    @Test("a test goes to the activities of test devices, and to no recipient's; one without a token is named")
    func test() throws {
        let (token, registration) = (ProjectFolder.token, ProjectFolder.registration)
        let folder = try several(
            testDevices: """
                    test_devices:
                      - {name: Anna, token: "\(token(9))", cells: {start_token: "\(token(19))"}}
                      - {name: Ben, token: "\(token(8))"}
                      - {name: Eva, service: fcm, token: "\(registration(7))", cells: {start_token: "\(token(17))"}}
                      - {name: Ida, service: fcm, token: "\(registration(6))"}
                      - {name: Uwe, service: jpush, token: 1a0018970a8d0000009}
                """)
        let (targets, warnings) = try testRun(folder)
        #expect(
            Set(targets.map { $0.trimmingCharacters(in: .whitespaces) }) == [
                "\(token(19)) \(token(19))", "\(registration(7)) \(token(17))", "1a0018970a8d0000009",
            ])
        #expect(warnings.contains("'Ben' has no start_token, so it gets no test of a Live Activity"), "\(warnings)")
        #expect(warnings.contains("'Ida' has no start_token, so it gets no test of a Live Activity"))
    }

    @Test("a person with several devices gets the test of an activity once: their cells name one")
    func testOfPerson() throws {
        let token = ProjectFolder.token
        let folder = try several(
            testDevices: "    test_devices: [{name: Anna, alias: anna, cells: {start_token: \"\(token(19))\"}}]")
        try folder.write(
            "devices.csv",
            "device_token,service,alias,start_token\n\(token(1)),apns,anna,\(token(11))\n\(token(2)),apns,anna,\n")
        let targets = try testRun(folder).targets.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(targets == ["\(token(19)) \(token(19))"])
    }

    @Test("without a token of an activity there is no test, and the mistake says where to write it")
    func noTest() throws {
        let folder = try project(
            "{event: start, attributes_type: D, attributes: {}, state: {a: 1}}\ncontent: {title: On its way, body: 12 minutes left}"
        )
        do {
            _ = try testRun(folder)
            Issue.record("planned")
        } catch let mistake as Diagnostic {
            #expect(mistake.message == "no test device has a start_token, a token of a Live Activity")
            #expect(mistake.remedy?.contains("cells: {start_token: …}") == true)
        }
    }
}
