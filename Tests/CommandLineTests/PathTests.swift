import Base
import Foundation
import TestCommands
import Testing

/// Paths in arguments and files, and what they lead to.
@Suite("Paths")
struct PathTests {
    /// For each option and argument of a program that takes a path, the arguments that give it a
    /// blank one. They come from the program's own description; one without a completion counts if
    /// it has the name of a path.
    private static func blanks(of command: JSONValue, _ path: [String] = []) -> [[String]] {
        guard case .array(let subcommands)? = command["subcommands"] ?? .array([]) else { return [] }
        guard case .array(let arguments)? = command["arguments"] ?? .array([]) else { return [] }
        let names: Set = [
            "file", "files", "folder", "path", "paths", "run", "socket", "ledger", "output", "config", "runs", "into",
        ]
        var blanks: [[String]] = [], before: [String] = []
        for argument in arguments {
            let kind = argument["completionKind"]
            let isPath =
                kind?["file"] != nil || kind?["directory"] != nil
                || names.contains(argument["valueName"]?.stringValue ?? "")
            let isPositional = argument["kind"]?.stringValue == "positional"
            let name = argument["preferredName"]?["name"]?.stringValue ?? ""
            if isPath, argument["kind"]?.stringValue != "flag" {
                blanks += [("", ["--\(name)", ""]), (" ", ["--\(name)= "])].map {
                    path + (isPositional ? before + [$0.0] : $0.1)
                }
            }
            if isPositional { before.append("x") }
        }
        return subcommands.reduce(blanks) { $0 + self.blanks(of: $1, path + [$1["commandName"]?.stringValue ?? ""]) }
    }

    @Test(
        "a blank path is refused by each option and argument that takes one, before anything is done",
        arguments: ["volley", "volley-console"])
    func blank(program: String) throws {
        let folder = try ProjectFolder()
        let executable = URL(fileURLWithPath: VolleyBinary.path).deletingLastPathComponent().appendingPathComponent(
            program
        ).path
        func run(_ arguments: [String]) throws -> VolleyBinary.Result {
            try RunningVolley(executable: executable, arguments, in: folder.url, environment: [:], input: nil).finish()
        }
        let description = try run(["--experimental-dump-help"]).json()
        let blanks = Self.blanks(of: try #require(description["command"]))
        #expect(blanks.count > (program == "volley" ? 100 : 6), "\(blanks.count)")
        let before = folder.files(in: ".")
        for blank in blanks {
            let refused = try run(blank)
            #expect(
                refused.status != 0 && refused.errors.contains("it is blank. Name a file or folder."),
                "\(blank): \(refused)")
        }
        #expect(folder.files(in: ".") == before)
    }

    @Test("from a folder that was removed, nothing is written below the root")
    func removedFolder() throws {
        let folder = try ProjectFolder(), name = "volley-test-\(UUID().uuidString)"
        let refused = try Shell.output(
            "mkdir '\(folder.url.path)/gone'; cd '\(folder.url.path)/gone'; rmdir ../gone; '\(VolleyBinary.path)' backup \(name) --config '\(folder.url.path)/volley.yaml' 2>&1 && exit 1 || true"
        )
        #expect(!refused.contains("/\(name)") && !FileManager.default.fileExists(atPath: "/" + name), "\(refused)")
    }

    @Test("the campaign's own folder is refused as a list, like each other folder")
    func ownFolder() throws {
        let folder = try ProjectFolder()
        for list in [".", "./", "./.", "[gone.txt, .]"] {
            try folder.write("gone.txt", ProjectFolder.token(1))
            try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nexclude: {devices: \(list)}")
            let refused = try folder.volley("preview", "campaign.yaml")
            #expect(refused.status == 2 && refused.errors.contains("this is a folder"), "\(list): \(refused)")
        }
    }

    @Test("where the suppression list is a link that leads nowhere, no command goes on as if there were none")
    func deadList() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let list = folder.url.appendingPathComponent("runs/suppressed-shop.sqlite").path
        try Shell.run("rm -f '\(list)'; ln -s /tmp/volley-no-such-folder/list '\(list)'")
        let said = "this is a link to /tmp/volley-no-such-folder/list, where nothing is"
        for command in [
            ["preview", "campaign.yaml"], ["send", "campaign.yaml", "--yes"], ["suppression", "list"], ["doctor"],
        ] {
            let refused = try VolleyBinary.run(command, in: folder.url)
            #expect(refused.status == 2 && (refused.errors + refused.output).contains(said), "\(command): \(refused)")
        }
        let backup = try VolleyBinary.run(["backup", "kept"], in: folder.url)
        #expect(backup.status == 1 && (backup.errors + backup.output).contains(said), "\(backup)")
    }

    @Test("a folder of runs that is a link that leads nowhere is refused by each command, with what the link leads to")
    func deadRuns() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        try Shell.run("ln -s /tmp/volley-no-such-folder/runs '\(folder.url.path)/runs'")
        for command in [
            ["runs"], ["plan", "campaign.yaml"], ["doctor"], ["backup", "kept"], ["orders"],
            ["prune", "--keep", "1d", "--yes"],
            ["runs", "--runs", "runs"], ["report", "last"],
        ] {
            let refused = try VolleyBinary.run(command, in: folder.url)
            #expect(
                refused.status == 2
                    && (refused.errors + refused.output).contains(
                        "this is a link to /tmp/volley-no-such-folder/runs, where nothing is"),
                "\(command): \(refused)")
        }
    }

    @Test("a name that is not UTF-8 is the reason that is given for a campaign, an export and a list")
    func misencoded() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(audience: "devices: 'm*.csv'\neveryone: true")
        try Shell.run(
            "cd '\(folder.url.path)'; cp devices.csv \"$(printf 'm\\344rz.csv')\"; cp campaign.yaml \"$(printf 'm\\344rz.yaml')\""
        )
        let export = try folder.volley("check", "campaign.yaml")
        #expect(export.status == 2 && export.errors.contains("the name of this file is not UTF-8"), "\(export)")
        let backup = try folder.volley("backup", "kept")
        #expect(
            backup.status == 1 && (backup.errors + backup.output).contains("the name of this file is not UTF-8"),
            "\(backup)")
        for command in ["check", "suppression import"] {
            let file = command == "check" ? "m*.yaml" : "m*.csv"
            let said = try Shell.output(
                "cd '\(folder.url.path)'; '\(VolleyBinary.path)' \(command) \(file) 2>&1 || true")
            #expect(said.contains("the name of this file is not UTF-8"), "\(said)")
        }
    }
}
