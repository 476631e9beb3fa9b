import Base
import Cryptography
import Foundation
import TestCommands
import Testing

/// What commands say of an app with two services before anything is sent, with the real binary. Its pushes go to simulators that Volley
/// starts itself.
@Suite("warnings about the services of an app")
struct SeveralServicesWarningTests {
    private static func registration(_ number: Int) -> String {
        "dPx3c9Qk2Lm0aBcDeFgHiJ:APA91b" + String(repeating: "a", count: 100) + "\(number)"
    }

    private func folder(
        _ export: String, columns: String, apns: String = "environment: simulator", more: String = ""
    ) throws -> ProjectFolder {
        let folder = try ProjectFolder(export: export)
        try folder.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                topic: com.example.shop
                \(apns)
                services:
                  fcm: {project: shop-1a2b, environment: simulator}
                columns: \(columns)
            \(more)
            """)
        try folder.writeCampaign()
        return folder
    }

    private let byPlatform = "{service: {column: platform, map: {ios: apns, android: fcm}}}"

    @Test("a service that reaches nobody of an audience is named, with what its devices would be")
    func withoutDevices() throws {
        let rows = "token,platform\n\(ProjectFolder.token(1)),ios\n\(Self.registration(2)),Droid\n"
        let shop = try folder(rows, columns: byPlatform)
        let preview = try shop.volley("preview", "campaign.yaml")
        #expect(
            preview.errors.contains(
                "volley.yaml:7:7: warning: no device of the audience is reached through FCM. Its devices are rows with 'android' in the column "
                    + "'platform' and a registration token in the column 'token' or 'device_token'; if these are in another, name it in "
                    + "volley.yaml: columns: {fcm_token: NAME}. If the audience has no such devices, allow the warning in the campaign. "
                    + "[service-without-devices]"),
            "\(preview)")
        let unmapped = try folder(rows, columns: "{service: {column: platform, map: {ios: apns}}}").volley("preview", "campaign.yaml")
        #expect(
            unmapped.errors.contains(
                "In the map of the column 'platform' no cell stands for FCM: write the one that its devices have, `CELL: fcm`."),
            "\(unmapped)")
        // The targets are in a column that volley.yaml does not name.
        try shop.write("devices.csv", "token,fcm_token,platform\n\(ProjectFolder.token(1)),,ios\n,\(Self.registration(2)),android\n")
        let elsewhere = try shop.volley("preview", "campaign.yaml")
        #expect(
            elsewhere.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(
                "those of FCM are read from the column 'token' or 'device_token', unless volley.yaml names another: columns: {fcm_token: NAME}"
            ),
            "\(elsewhere)")
        try shop.write("devices.csv", rows.replacing("Droid", with: "android"))
        #expect(try shop.volley("preview", "campaign.yaml").errors.contains("service-without-devices") == false)
        // Columns of its own, all blank, and none at all: one warning for each.
        let own = try folder("token,fcm_token\n\(ProjectFolder.token(1)),\n", columns: "{tags: labels}")
        let blank = try own.volley("preview", "campaign.yaml")
        #expect(blank.errors.contains("rows with a registration token in the column 'fcm_token'. If"), "\(blank)")
        try own.write("devices.csv", "token,fcmToken\n\(ProjectFolder.token(1)),\(Self.registration(1))\n")
        for command in ["check", "preview"] {
            let found = try own.volley(command, "campaign.yaml")
            #expect(found.errors.contains("`columns: {fcm_token: fcmToken}`. [column-not-found]"), "\(found)")
            #expect(!found.errors.contains("service-without-devices"), "\(found)")
        }
    }

    @Test("where the accounts of several services were changed since a plan, each change names its service")
    func changedAccounts() throws {
        let shop = try folder("token,platform\n\(ProjectFolder.token(1)),ios\n\(Self.registration(2)),android\n", columns: byPlatform)
        #expect(try shop.volley("plan", "campaign.yaml").status == 0)
        let project = try String(contentsOf: shop.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try shop.write("volley.yaml", project.replacing("com.example.shop", with: "com.example.other").replacing("1a2b", with: "3c4d"))
        let sent = try shop.volley("send", "--plan", "last", "--yes")
        #expect(
            sent.status == 2
                && sent.errors.contains(
                    "for APNs, the topic was com.example.shop and is com.example.other now; for FCM, the project was shop-1a2b and is shop-3c4d now"
                ), "\(sent)")
    }

    @Test("a user whom a row names beside a device's token is not pushed to a second time; preview and --why say so")
    func users() throws {
        let shop = try ProjectFolder(
            export: "token,rongcloud_user_id,last_active\n\(ProjectFolder.token(1)),anna,2026-11-01\n,anna,2026-11-02\n,bert,2026-11-02\n")
        try shop.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                services: {rongcloud: {app_key: e0x9wycfx7flq, environment: simulator}}
            """)
        try shop.writeCampaign()
        let preview = try shop.volley("preview", "campaign.yaml")
        #expect(
            preview.output.replacing(/\s+/, with: " ").contains(
                "another row has this user ID beside the target of a device, which stands for the person; RongCloud would push to that device a second time"
            ), "\(preview)")
        let json = try shop.volley("preview", "campaign.yaml", "--json").json()
        #expect(json.int("audience") == 2 && json["skipped"]?.int("duplicate_token") == 1, "\(json)")
        let why = try shop.volley("preview", "campaign.yaml", "--why", "anna").output.replacing(/\s+/, with: " ")
        #expect(
            why.contains("does not get test: duplicate_token")
                && why.contains(
                    "devices.csv:2 has this user ID beside a device token: the push goes there through APNs, so the user ID does not get it again"
                ),
            "\(why)")
    }

    @Test("a simulator beside production is warned of, and all simulators are not")
    func mixed() throws {
        let rows = "token,platform\n\(ProjectFolder.token(1)),ios\n\(Self.registration(2)),android\n"
        #expect(try folder(rows, columns: byPlatform).volley("check", "campaign.yaml").errors.contains("simulator-and-production") == false)
        let key = "environment: production\n    key: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}"
        let shop = try folder(rows, columns: byPlatform, apns: key)
        try shop.write("key.p8", SigningKey.generate().pem)
        chmod(shop.url.appendingPathComponent("key.p8").path, 0o600)
        let check = try shop.volley("check", "campaign.yaml")
        #expect(
            check.errors.contains(
                "warning: pushes through FCM go to a simulator, but those through APNs to production, where they reach people. To rehearse, write "
                    + "environment: simulator for every service; to reach everyone, for none. [simulator-and-production]"),
            "\(check)")
    }

    @Test(
        "a list without --service is that of all services; a complaint on one of them holds for the phone, a token that is gone does not",
        .enabled(if: hasPython))
    func lists() throws {
        let rows = (1...4).map { "\(ProjectFolder.token($0)),\(Self.registration($0))\n" }.joined()
        let shop = try folder("token,fcm_token\n" + rows, columns: "{tags: labels}")
        #expect(
            try shop.volley("suppression", "list").output
                == "No device of shop (simulator) is suppressed.\n\nNo device of shop (fcm:simulator) is suppressed.\n")
        try shop.write("complaints.txt", Self.registration(2) + "\n")
        #expect(try shop.volley("suppression", "import", "complaints.txt", "--service", "fcm", "--reason", "complaint").status == 0)
        let list = try shop.volley("suppression", "list")
        #expect(
            list.output.hasPrefix("No device of shop (simulator) is suppressed.\n\n1 device of shop (fcm:simulator) is suppressed."),
            "\(list)")
        let json = try shop.volley("suppression", "list", "--json").json()
        guard case .array(let lists)? = json["lists"] else {
            Issue.record("\(json)")
            return
        }
        #expect(
            lists.map { $0["environment"]?.stringValue } == ["simulator", "fcm:simulator"] && lists.map { $0.int("devices") } == [0, 1])
        let preview = try shop.volley("preview", "campaign.yaml", "--json").json()
        #expect(preview.int("audience") == 3 && preview["skipped"]?.int("suppressed") == 1, "\(preview)")
        let why = try shop.volley("preview", "campaign.yaml", "--why", ProjectFolder.token(2))
        #expect(why.output.contains("suppressed"), "\(why)")
        // What a run found out about a target is no complaint: the phone is reached by its other one.
        let statement =
            "UPDATE suppressed SET environment = 'simulator', device_token = '\(ProjectFolder.token(3))', run = '20261101-000000-x-1'"
        let edit = "import sqlite3; c = sqlite3.connect('runs/suppressed-shop.sqlite'); c.execute(\"\(statement)\"); c.commit()"
        let python = try RunningVolley(executable: "/usr/bin/python3", ["-c", edit], in: shop.url, environment: [:], input: nil).finish()
        #expect(python.status == 0, "\(python)")
        let services = try shop.volley("preview", "campaign.yaml", "--json").json()["services"]
        guard case .array(let parts)? = services else {
            Issue.record("\(String(describing: services))")
            return
        }
        #expect(parts.map { $0.int("audience") } == [3, 1])
    }

    @Test("a test says which services reach no test device")
    func untested() throws {
        let rows = "token,platform\n\(ProjectFolder.token(1)),ios\n\(Self.registration(2)),android\n"
        let shop = try folder(rows, columns: byPlatform, more: "    test_devices: [\(ProjectFolder.token(9))]")
        let sent = try shop.volley("send", "campaign.yaml", "--test", "--yes")
        #expect(sent.status == 0, "\(sent)")
        #expect(
            sent.errors.contains(
                "warning: no test device is reached through FCM, so what it delivers is not tested. Add one to the app: test_devices: ["),
            "\(sent)")
        #expect(!sent.errors.contains("through APNs, so"), "\(sent)")
        let both = "    test_devices: [\(ProjectFolder.token(9)), \"\(Self.registration(9))\"]"
        let all = try folder(rows, columns: byPlatform, more: both).volley("send", "campaign.yaml", "--test", "--yes")
        #expect(all.status == 0 && !all.errors.contains("no test device"), "\(all)")
    }
}
