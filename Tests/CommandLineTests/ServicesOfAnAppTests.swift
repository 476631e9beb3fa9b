import Base
import Foundation
import TestCommands
import Testing

/// The output of commands that store something, or send, for an app with two services, with the
/// real binary. Its pushes go to simulators that Volley starts itself.
@Suite("commands about the services of an app")
struct ServicesOfAnAppTests {
    private let byPlatform = "{service: {column: platform, map: {ios: apns, android: fcm}}}"

    @Test("where the accounts of several services were changed since a plan, each change names its service")
    func changedAccounts() throws {
        let shop = try ProjectFolder.ofTwoServices(
            "token,platform\n\(ProjectFolder.token(1)),ios\n\(ProjectFolder.registration(2)),android\n",
            columns: byPlatform)
        #expect(try shop.volley("plan", "campaign.yaml").status == 0)
        let project = try String(contentsOf: shop.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try shop.write(
            "volley.yaml",
            project.replacing("com.example.shop", with: "com.example.other").replacing("1a2b", with: "3c4d"))
        let sent = try shop.volley("send", "--plan", "last", "--yes")
        #expect(
            sent.status == 2
                && sent.errors.contains(
                    "for APNs, the topic was com.example.shop and is com.example.other now; for FCM, the project was shop-1a2b and is shop-3c4d now"
                ), "\(sent)")
    }

    @Test(
        "a list without --service is that of all services; a complaint on one of them holds for the phone, a token that is gone does not",
        .enabled(if: hasPython))
    func lists() throws {
        let rows = (1...4).map { "\(ProjectFolder.token($0)),\(ProjectFolder.registration($0))\n" }.joined()
        let shop = try ProjectFolder.ofTwoServices("token,fcm_token\n" + rows, columns: "{tags: labels}")
        #expect(
            try shop.volley("suppression", "list").output
                == "No device of shop (simulator) is suppressed.\n\nNo device of shop (fcm:simulator) is suppressed.\n")
        try shop.write("complaints.txt", ProjectFolder.registration(2) + "\n")
        #expect(
            try shop.volley("suppression", "import", "complaints.txt", "--service", "fcm", "--reason", "complaint")
                .status == 0)
        let list = try shop.volley("suppression", "list")
        #expect(
            list.output.hasPrefix(
                "No device of shop (simulator) is suppressed.\n\n1 device of shop (fcm:simulator) is suppressed."),
            "\(list)")
        let json = try shop.volley("suppression", "list", "--json").json()
        guard case .array(let lists)? = json["lists"] else {
            Issue.record("\(json)")
            return
        }
        #expect(
            lists.map { $0["environment"]?.stringValue } == ["simulator", "fcm:simulator"]
                && lists.map { $0.int("devices") } == [0, 1])
        let preview = try shop.volley("preview", "campaign.yaml", "--json").json()
        #expect(preview.int("audience") == 3 && preview["skipped"]?.int("suppressed") == 1, "\(preview)")
        let why = try shop.volley("preview", "campaign.yaml", "--why", ProjectFolder.token(2))
        #expect(why.output.contains("suppressed"), "\(why)")
        // A run's finding about a target is not a complaint: the phone is reached by its other one.
        let statement =
            "UPDATE suppressed SET environment = 'simulator', device_token = '\(ProjectFolder.token(3))', run = '20261101-000000-x-1'"
        let edit =
            "import sqlite3; c = sqlite3.connect('runs/suppressed-shop.sqlite'); c.execute(\"\(statement)\"); c.commit()"
        let python = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", edit], in: shop.url, environment: [:], input: nil
        ).finish()
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
        let rows = "token,platform\n\(ProjectFolder.token(1)),ios\n\(ProjectFolder.registration(2)),android\n"
        let shop = try ProjectFolder.ofTwoServices(
            rows, columns: byPlatform, more: "    test_devices: [\(ProjectFolder.token(9))]")
        let sent = try shop.volley("send", "campaign.yaml", "--test", "--yes")
        #expect(sent.status == 0, "\(sent)")
        #expect(
            sent.errors.contains(
                "warning: no test device is reached through FCM, so what it delivers is not tested. Add one to the app: test_devices: ["
            ),
            "\(sent)")
        #expect(!sent.errors.contains("through APNs, so"), "\(sent)")
        let both = "    test_devices: [\(ProjectFolder.token(9)), \"\(ProjectFolder.registration(9))\"]"
        let all = try ProjectFolder.ofTwoServices(rows, columns: byPlatform, more: both).volley(
            "send", "campaign.yaml", "--test", "--yes")
        #expect(all.status == 0 && !all.errors.contains("no test device"), "\(all)")
    }
}
