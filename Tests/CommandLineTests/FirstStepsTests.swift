import Base
import Foundation
import TestCommands
import Testing

/// Obstacles for new users of Volley.
@Suite("first steps")
struct FirstStepsTests {
    @Test(
        "a word that is no command is said with the nearest one",
        arguments: [
            (["preveiw", "welcome.yaml"], "Error: There is no command 'preveiw'. Did you mean 'preview'?\n"),
            (["status"], "Error: There is no command 'status'. Did you mean volley runs?\n"),
            (["frobnicate"], "Error: There is no command 'frobnicate'. `volley --help` lists them.\n"),
            (["welcome.yaml"], "Error: Put a command before the file, for example: volley preview welcome.yaml.\n"),
        ])
    func unknownCommand(arguments: [String], message: String) throws {
        let folder = try ProjectFolder()
        let result = try VolleyBinary.run(arguments, in: folder.url)
        #expect(result.status == 2 && result.errors == message && result.output.isEmpty, "\(result.errors)")
        for known in [["help", "preview"], ["--version"], []] {
            #expect(try VolleyBinary.run(known, in: folder.url).status == 0)
        }
    }

    @Test(
        "a ~ that the shell left as it is never becomes a folder of runs of that name",
        arguments: ["--runs=~/runs", "--config=~/volley.yaml"])
    func unexpandedHome(option: String) throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let result = try VolleyBinary.run(["plan", "campaign.yaml", option], in: folder.url)
        #expect(
            result.status == 2 && result.errors.contains("begins with '~', which the shell or systemd left as it is"),
            "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.url.path + "/~"))
    }

    @Test("volley.yaml in place of a campaign is recognised, as when all files of a folder are checked")
    func projectAsCampaign() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        let result = try folder.volley("check", "volley.yaml", "campaign.yaml")
        #expect(result.status == 2 && result.output == "campaign.yaml: fine\n")
        #expect(
            result.errors
                == "volley.yaml:2:1: this file names apps, as volley.yaml does; it is not a campaign. Name a campaign file; its volley.yaml is checked with it.\n"
        )
    }

    @Test("init in a folder that was made before says so once, and writes nothing")
    func initTwice() throws {
        let folder = try ProjectFolder()
        try folder.write("welcome.yaml", "mine\n")
        let result = try folder.volley("init", ".")
        #expect(result.status == 2)
        #expect(
            result.errors
                == "volley.yaml, welcome.yaml are there already, so nothing was written. Choose another folder: volley init DIR.\n"
        )
        #expect(folder.files(in: ".") == ["devices.csv", "volley.yaml", "welcome.yaml"])
    }

    @Test(
        "a device token that cannot be one is said with the reason",
        arguments: [
            ("7276", "a device token of 4 digits is too short"),
            ("<7276 89f1>", "'<727…9f1>' cannot be a device token, as it holds more"),
            ("72768f1ab", "'7276…f1ab' cannot be a device token, as its 9 digits are no even number"),
            (String(repeating: "ab", count: 300), "a device token of 600 digits is too long"),
            ("", "the device token is blank"),
        ])
    func badToken(token: String, words: String) throws {
        let result = try ProjectFolder().volley("push", "--token", token, "--title", "Hi")
        #expect(result.status == 2 && result.errors.hasPrefix(words), "\(result.errors)")
    }

    @Test(
        "what init writes for a service can be sent to its simulator without a change",
        arguments: ["apns", "fcm", "getui", "jpush", "rongcloud"])
    func initForService(service: String) throws {
        let folder = try ProjectFolder()
        let made = try folder.volley("init", "new", "--service", service)
        #expect(made.status == 0, "\(made)")
        let new = folder.url.appendingPathComponent("new")
        let project = try String(contentsOf: new.appendingPathComponent("volley.yaml"), encoding: .utf8)
        #expect(project.contains("service: ") == (service != "apns"), "\(project)")
        // Devices, also where the service's own pace counts calls.
        #expect(project.contains(service == "rongcloud" ? "pace: 100/s" : "pace: 500/s"), "\(project)")
        let checked = try VolleyBinary.run(["check", "welcome.yaml"], in: new)
        #expect(checked.status == 0 && checked.errors.isEmpty, "\(checked)")
        let sent = try VolleyBinary.run(["send", "welcome.yaml", "--yes", "--json"], in: new)
        let accepted = try sent.json()["outcomes"]?.int("accepted") ?? 0
        #expect(sent.status == 0 && accepted > 50, "\(sent)")
    }

    @Test("init for a service that does not exist writes nothing")
    func initForNoService() throws {
        let folder = try ProjectFolder()
        let made = try folder.volley("init", "new", "--service", "fmc")
        #expect(made.status == 2 && made.errors.contains("--service takes apns"), "\(made)")
        #expect(!folder.files(in: ".").contains("new"))
    }

    @Test("payloads of a single size are not called a range")
    func singleSize() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("preview", "campaign.yaml").output.contains("\nPayload       50 bytes\n"))
        try folder.writeCampaign(content: "title: \"{{ first_name | default: 'Bo' }}\"")
        #expect(
            try folder.volley("preview", "campaign.yaml").output.contains(
                "\nPayload       32 to 33 bytes, half of them at most 33\n"))
    }
}
