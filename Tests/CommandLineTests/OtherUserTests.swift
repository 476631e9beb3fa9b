import Base
import Foundation
import TestCommands
import Testing

/// A command that root ran leaves files that the service's user may not use.
@Suite("Files of another user", .enabled(if: geteuid() == 0))
struct OtherUserTests {
    private static let user = "setpriv --reuid 65534 --regid 65534 --clear-groups"

    /// A project in which root has sent once.
    private func sent() throws -> ProjectFolder {
        let folder = try ProjectFolder()
        try folder.write(
            "volley.yaml",
            "runs: runs\nmonitoring: {health: health.json}\n"
                + "apps: {shop: {topic: a.b, environment: simulator, devices: devices.csv, columns: {token: device_token}}}\n"
        )
        let campaign = "app: shop\naudience: {everyone: true}\ncontent: {title: Hello}\n"
        try folder.write("first.yaml", "name: first\n" + campaign)
        try folder.write(
            "later.yaml", "name: later\n" + campaign + "schedule: {at: 2035-12-02 09:00, timezone: Europe/Berlin}\n")
        #expect(
            try shell(folder, "chmod 777 . && mkdir runs && chmod 777 runs && volley send first.yaml --yes").status == 0
        )
        return folder
    }

    private func shell(_ folder: ProjectFolder, _ command: String) throws -> VolleyBinary.Result {
        try RunningVolley(
            executable: "/bin/sh", ["-c", "volley() { '\(VolleyBinary.path)' \"$@\"; }; \(command)"], in: folder.url,
            environment: [:],
            input: nil
        ).finish()
    }

    private func health(_ folder: ProjectFolder) throws -> [String] {
        let text = try String(contentsOf: folder.url.appendingPathComponent("health.json"), encoding: .utf8)
        guard case .array(let problems)? = try JSONValue(parsing: Array(text.utf8))["problems"] else { return [] }
        return problems.map { "\($0["file"]?.stringValue ?? ""): \($0["message"]?.stringValue ?? "")" }
    }

    @Test(
        "are named when schedule starts, in health and by doctor, with the owner and what to do; once given away they are problems no more"
    )
    func record() throws {
        let folder = try sent()
        let command = "timeout -s INT 2 \(Self.user) '\(VolleyBinary.path)' schedule later.yaml"
        let started = try shell(folder, command)
        let words = "sent.db: warning: "
        #expect(
            started.errors.contains(words)
                && started.errors.contains("the record of what was sent; it belongs to root"), "\(started)")
        #expect(
            started.errors.contains("chown ") && started.errors.components(separatedBy: words).count == 2, "\(started)")
        #expect(
            try health(folder).contains {
                $0.contains("sent.db") && $0.contains("belongs to root") && $0.contains("chown")
            })
        let checked = try shell(folder, "\(Self.user) '\(VolleyBinary.path)' doctor --json")
        #expect(checked.status == 2 && checked.output.contains("sent.db"), "\(checked)")
        #expect(try shell(folder, "chown -R 65534:65534 runs; rm health.json").status == 0)
        #expect(try !shell(folder, command).errors.contains("warning: "))
        #expect(try health(folder).isEmpty)
    }

    @Test(
        "every kind of file that the work needs is named",
        arguments: [
            ("touch runs/schedule.lock", "schedule.lock"), ("touch runs/orders.sqlite", "orders.sqlite"),
            ("touch runs/suppressed-shop.sqlite", "suppressed-shop.sqlite"), ("touch runs/sent.db-wal", "sent.db-wal"),
            (
                "mkdir -m 777 runs/console; touch runs/console/accounts.sqlite",
                "accounts.sqlite: nobody may not write this file"
            ),
            ("mkdir runs/console", "runs/console: nobody may not write this folder"),
            (
                "mkdir -m 700 closed; mv devices.csv closed; sed -i s,devices.csv,closed/devices.csv, volley.yaml",
                "closed: nobody may not enter this folder"
            ), ("chmod 600 devices.csv", "devices.csv"),
            ("chown root runs; chmod 755 runs", "runs: nobody may not write this folder"),
            ("chmod 755 . ; touch health.json", "health.json"), ("volley plan first.yaml", "-first-"),
        ])
    func kinds(change: String, name: String) throws {
        let folder = try sent()
        #expect(try shell(folder, "chown -R 65534:65534 runs").status == 0)
        #expect(try shell(folder, change).status == 0)
        let checked = try shell(folder, "\(Self.user) '\(VolleyBinary.path)' doctor")
        #expect(checked.status == 2 && checked.output.contains(name), "\(checked)")
    }

    @Test(
        "a list that a scheduled campaign names is said when schedule starts, in health and by doctor, with the command that helps"
    )
    func list() throws {
        let folder = try sent()
        try folder.write("vip.txt", "user1\n")
        try folder.write(
            "vip.yaml",
            "name: vip\napp: shop\naudience: {aliases: {file: vip.txt}}\ncontent: {title: Hello}\n"
                + "schedule: {at: 2035-12-02 09:00, timezone: Europe/Berlin}\n")
        #expect(try shell(folder, "chown -R 65534 runs && chmod 600 vip.txt").status == 0)
        let started = try shell(folder, "timeout -s INT 2 \(Self.user) '\(VolleyBinary.path)' schedule vip.yaml")
        #expect(
            started.errors.contains("vip.txt: nobody may not read this file; it belongs to root")
                && started.errors.contains("Run `chown nobody "), "\(started)")
        #expect(try health(folder).contains { $0.contains("vip.txt: ") })
        let checked = try shell(folder, "\(Self.user) '\(VolleyBinary.path)' doctor")
        #expect(checked.status == 2 && checked.output.contains("vip.txt"), "\(checked)")
    }

    @Test(
        "a folder that this user may not enter or list is refused by name, with its owner and a command that helps when it is followed",
        arguments: [
            ("700", "everyone: true, exclude: {devices: 'lists/*/no.csv'}"),
            ("711", "everyone: true, exclude: {devices: 'lists/*/*.csv'}"),
            ("700", "everyone: true, exclude: {devices: 'lists/b/*.csv'}"),
            ("700", "everyone: true, exclude: {devices: lists/b/no.csv}"),
            ("700", "everyone: true, exclude: {devices: lists/link.csv}"),
            ("700", "everyone: true, devices: 'lists/*/no.csv'"),
            ("700", "everyone: true, devices: lists/b/no.csv"),
        ])
    func closedFolder(mode: String, audience: String) throws {
        let folder = try sent(), volley = "\(Self.user) '\(VolleyBinary.path)'"
        try folder.write("c.yaml", "name: c\napp: shop\naudience: {\(audience)}\ncontent: {title: Hello}\n")
        let lists = "for list in a b; do mkdir -p lists/$list; cp devices.csv lists/$list/no.csv; done"
        #expect(
            try shell(folder, "chown -R 65534 runs; \(lists); ln -s b/no.csv lists/link.csv; chmod \(mode) lists/b")
                .status == 0)
        for command in ["check", "preview"] {
            let refused = try shell(folder, "\(volley) \(command) c.yaml")
            #expect(refused.status == 2 && refused.errors.contains("lists/b: nobody may not "), "\(refused)")
            #expect(
                refused.errors.contains("it belongs to root") && !refused.errors.contains("there is no"), "\(refused)")
        }
        let refused = try shell(folder, "\(volley) check c.yaml")
        let command = try #require(
            try Regex("Run `([^`]+)`").firstMatch(in: refused.errors)?[1].substring, "\(refused)")
        #expect(try shell(folder, String(command)).status == 0)
        let allowed = try shell(folder, "\(volley) check c.yaml")
        #expect(allowed.status == 0, "\(allowed)")
    }

    @Test("campaigns in a folder that this user may not enter are not said to be missing")
    func closedCampaigns() throws {
        let folder = try sent()
        #expect(try shell(folder, "mkdir -p closed/campaigns; chmod 700 closed").status == 0)
        for command in ["schedule", "serve"] {
            let refused = try shell(
                folder, "\(Self.user) '\(VolleyBinary.path)' \(command) closed/campaigns --config volley.yaml")
            #expect(
                refused.status == 2 && refused.errors.contains("closed: nobody may not enter this folder"), "\(refused)"
            )
        }
    }

    @Test(
        "a campaign or volley.yaml names its owner, and a command that helps when it is followed",
        arguments: [("volley.yaml", "root"), ("first.yaml", "root"), ("first.yaml", "65534")])
    func followed(name: String, owner: String) throws {
        let folder = try sent(), check = "\(Self.user) '\(VolleyBinary.path)' check first.yaml"
        #expect(
            try shell(
                folder,
                "chown -R 65534 runs && chown \(owner) \(name) && chmod \(owner == "root" ? "600" : "000") \(name)"
            ).status
                == 0)
        let refused = try shell(folder, check)
        #expect(refused.status == 2 && refused.errors.contains("\(name): nobody may not read this file"), "\(refused)")
        let command = try #require(
            try Regex("Run `([^`]+)`").firstMatch(in: refused.errors)?[1].substring, "\(refused)")
        #expect(try shell(folder, String(command)).status == 0)
        #expect(try shell(folder, check).status == 0)
    }

    @Test(
        "a hook that this user may not start can be started once its remedy is followed",
        arguments: ["600", "644", "700"])
    func hook(mode: String) throws {
        let folder = try sent()
        try folder.write("hook", "#!/bin/sh\necho hi\n")
        #expect(
            try shell(folder, "chmod \(mode) hook; echo 'notices: [{command: [./hook]}]' >> volley.yaml").status == 0)
        let start = "\(Self.user) '\(VolleyBinary.path)' notify"
        let refused = try shell(folder, start)
        #expect(refused.status != 0 && refused.output.contains("may not execute this program"), "\(refused)")
        let command = try #require(
            try Regex("Run `([^`]+)`").firstMatch(in: refused.output)?[1].substring, "\(refused)")
        #expect(try shell(folder, String(command)).status == 0)
        let started = try shell(folder, start)
        #expect(started.status == 0 && !(started.output + started.errors).contains("Permission denied"), "\(started)")
    }

    @Test("a lock that only root may use ends schedule at its start, with the owner and what to do")
    func lock() throws {
        let folder = try sent()
        #expect(
            try shell(folder, "chown -R 65534:65534 runs; touch runs/schedule.lock; chmod 600 runs/schedule.lock")
                .status == 0)
        let ended = try shell(folder, "\(Self.user) '\(VolleyBinary.path)' schedule later.yaml")
        #expect(
            ended.status == 2 && ended.errors.contains("schedule.lock: warning: ")
                && ended.errors.contains("belongs to root"), "\(ended)")
    }

    @Test("runs that have ended and that this user can read are no problem")
    func ended() throws {
        let folder = try sent()
        #expect(
            try shell(folder, "chown -R 65534:65534 runs; chown root runs/2*.sqlite; chmod 644 runs/2*.sqlite").status
                == 0)
        let checked = try shell(folder, "\(Self.user) '\(VolleyBinary.path)' doctor")
        #expect(checked.status == 0, "\(checked)")
    }
}
