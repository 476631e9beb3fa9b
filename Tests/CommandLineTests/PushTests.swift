import Base
import Foundation
import TestCommands
import Testing

@Suite("volley push")
struct PushTests {
    /// The simulator's ledger line for the only push that it got.
    private func ledgerLine(_ server: LedgeredServer) throws -> JSONValue {
        let ledger = try String(contentsOf: server.folder.url.appendingPathComponent("ledger.jsonl"), encoding: .utf8)
        return try JSONValue(parsing: String(try #require(ledger.split(separator: "\n").last)))
    }

    @Test("a payload may be YAML or JSON; push type, priority, collapse and expiry go with it")
    func options() throws {
        let folder = try ProjectFolder()
        try folder.write("payload.yaml", "aps: {alert: {title: Hi}, badge: 3}\nown: [1, two]\n")
        try folder.write("payload.json", #"{"aps": {"alert": "Hi", "badge": 3}, "own": [1, 2]}"#)
        for payload in ["payload.yaml", "payload.json"] {
            let pushed = try folder.volley(
                "push", "--token", ProjectFolder.token(1), "--payload", payload, "--priority", "low", "--collapse", "x",
                "--expires", "4h")
            #expect(pushed.status == 0, "\(pushed.errors)")
        }
        // The simulator checks that they match: this topic has no suffix, so Volley must have added
        // it.
        let voip = try folder.volley(
            "push", "--token", ProjectFolder.token(1), "--payload", "payload.yaml", "--push-type", "voip", "--json")
        #expect(try voip.json()["status"] == .integer(200), "\(voip.output)")
        // Background pushes must not be urgent: APNs' answer is shown, with what to do.
        let urgent = try folder.volley("push", "--token", ProjectFolder.token(1), "--silent", "--priority", "high")
        #expect(urgent.status == 3, "\(urgent.output)")
        #expect(
            urgent.output.contains("400 BadPriority") && urgent.output.contains("APNs does not know the priority"),
            "\(urgent.output)")
        try folder.write("broken.yaml", "aps: {alert: Hi\n")
        let broken = try folder.volley("push", "--token", ProjectFolder.token(1), "--payload", "broken.yaml")
        #expect(broken.status == 2 && broken.errors.contains("broken.yaml:"), "\(broken.errors)")
        let when = try folder.volley("push", "--token", ProjectFolder.token(1), "--title", "x", "--expires", "soon")
        #expect(
            when.status == 2 && when.errors.contains("'soon' is neither a length of time nor a date"), "\(when.errors)")
    }

    @Test("a badge that would be added is refused, as in a campaign, and so is a push in which nothing can be seen")
    func badgeAndBlank() throws {
        let folder = try ProjectFolder()
        func push(_ arguments: String...) throws -> VolleyBinary.Result {
            try VolleyBinary.run(["push", "--token", ProjectFolder.token(1)] + arguments, in: folder.url)
        }
        let added = try push("--title", "Hi", "--badge", "+1")
        #expect(
            added.status == 2 && added.errors.contains("APNs cannot add to a badge")
                && added.errors.contains("Write --badge 1."),
            "\(added.errors)")
        #expect(try push("--title", "Hi", "--badge=-1").status == 2)
        #expect(try push("--title", "Hi", "--badge", "7").status == 0)
        let blank = try push("--title", "")
        #expect(blank.status == 2 && blank.errors.contains("there is nothing to push"), "\(blank.errors)")
        let image = try push("--title", "Hi", "--image", "https://example.com/a.jpg")
        #expect(image.status == 2 && image.errors.contains("volley push --payload FILE"), "\(image.errors)")
        try folder.writeCampaign()
        let to = try folder.volley("send", "campaign.yaml", "--to", ProjectFolder.token(1))
        #expect(to.status == 2 && to.errors.contains("volley send campaign.yaml --test"), "\(to.errors)")
    }

    @Test("nothing that would become a header holds a control character")
    func headerInjection() throws {
        let folder = try ProjectFolder()
        try folder.write("AuthKey_ABC123DEFG.p8", "no key is read before that")
        let push = ["push", "--token", ProjectFolder.token(1), "--title", "x"]
        for value in ["x\r\napns-priority: 1", "x\n", "x\u{1B}y", "x\u{7F}"] {
            let key = ["--environment", "sandbox", "--key", "AuthKey_ABC123DEFG.p8"]
            for (option, arguments) in [
                ("--collapse", ["--collapse", value]), ("--topic", ["--topic", value]),
                ("--key-id", key + ["--team", "T", "--key-id", value]),
                ("--team", key + ["--team", value]),
            ] {
                let pushed = try VolleyBinary.run(push + arguments, in: folder.url)
                #expect(pushed.status == 2, "\(option): \(pushed)")
                #expect(
                    pushed.errors.hasPrefix("\(option) ") && pushed.errors.contains("control character"),
                    "\(pushed.errors)")
            }
        }
        let long = try VolleyBinary.run(push + ["--collapse", String(repeating: "ä", count: 33)], in: folder.url)
        #expect(long.status == 2 && long.errors.contains("64 bytes"), "\(long.errors)")
    }

    @Test(
        "a space or tab at an end, which HTTP/2 does not take, is refused, with the value to write",
        arguments: [" spring", "spring\t"])
    func headerSpaces(value: String) throws {
        let folder = try ProjectFolder()
        for option in ["--collapse", "--topic"] {
            let pushed = try folder.volley("push", "--token", ProjectFolder.token(1), "--title", "x", option, value)
            #expect(pushed.status == 2, "\(pushed)")
            #expect(
                pushed.errors
                    == "\(option) begins or ends with a space, which APNs does not take. Write \(option) 'spring'.\n",
                "\(pushed.errors)")
        }
    }

    @Test("when nobody knows what became of it, the reason and what that means are shown")
    func unknown() throws {
        let server = try LedgeredServer(devices: 1, faults: ["--reset-every", "1"])
        let pushed = try server.folder.volley("push", "--token", ProjectFolder.token(1), "--title", "x")
        #expect(pushed.status == 1, "\(pushed)")
        #expect(
            pushed.output.contains("unknown (StreamReset)") && pushed.output.contains("aborted the request"),
            "\(pushed.output)")
    }

    @Test("without volley.yaml all may be said on the command line, with a key or with a certificate")
    func withoutProject() throws {
        let folder = try ProjectFolder()
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("volley.yaml"))
        let bare = try folder.volley(
            "push", "--topic", "com.example.other", "--environment", "simulator", "--token", ProjectFolder.token(1),
            "--title", "Hello")
        #expect(bare.status == 0, "\(bare.errors)")
        let key = try shell(
            in: folder.url, "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out AuthKey_ABC123DEFG.p8")
        try #require(key == 0, "openssl makes no key")
        let arguments = [
            "push", "--topic", "com.example.other", "--environment", "simulator", "--token", ProjectFolder.token(1),
            "--title", "x",
        ]
        let signed = try VolleyBinary.run(
            arguments + ["--key", "AuthKey_ABC123DEFG.p8", "--team", "DEF123GHIJ", "--json"], in: folder.url)
        #expect(try signed.json()["status"] == .integer(200), "\(signed.errors)")
        let noTeam = try VolleyBinary.run(arguments + ["--key", "AuthKey_ABC123DEFG.p8"], in: folder.url)
        #expect(noTeam.status == 2 && noTeam.errors.contains("--team"), "\(noTeam.errors)")
        let nothing = try folder.volley("push", "--token", ProjectFolder.token(1), "--title", "x")
        #expect(
            nothing.status == 2 && nothing.errors.contains("--topic, and --key or --certificate"), "\(nothing.errors)")
        let wrong = try VolleyBinary.run(
            arguments.map { $0 == "simulator" ? "sandbx" : $0 } + ["--key", "AuthKey_ABC123DEFG.p8", "--team", "T"],
            in: folder.url)
        #expect(wrong.errors.contains("Did you mean 'sandbox'?"), "\(wrong.errors)")
    }

    private func shell(in folder: URL, _ command: String) throws -> Int32 {
        try RunningVolley(executable: "/bin/sh", ["-c", command], in: folder, environment: [:], input: nil).finish()
            .status
    }
}
