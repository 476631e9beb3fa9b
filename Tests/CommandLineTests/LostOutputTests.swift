import Base
import Foundation
import TestCommands
import Testing

/// Results that cannot be shown: standard output on a full disk, or descriptors that were closed
/// before Volley began. What was done is never reported as if nothing had been done.
@Suite("Results that cannot be shown")
struct LostOutputTests {
    /// Runs the rest of the line with other standard streams.
    private static func redirected(_ redirection: String) -> [String] {
        ["sh", "-c", "exec \"$0\" \"$@\" \(redirection)"]
    }

    private static let full = redirected(">/dev/full"), closed = redirected("<&- >&-"),
        allClosed = redirected("<&- >&- 2>&-")

    private func volley(_ folder: ProjectFolder, _ launcher: [String], _ arguments: String...) throws
        -> VolleyBinary.Result
    {
        try VolleyBinary.start(arguments, in: folder.url, launcher: launcher).finish()
    }

    @Test(
        "a push that APNs took and that cannot be shown is no mistake of the command: exit code 1, and the outcome on standard error"
    )
    func push() throws {
        for launcher in [Self.full, Self.closed] {
            let folder = try ProjectFolder()
            let pushed = try volley(folder, launcher, "push", "--token", ProjectFolder.token(1), "--title", "Hello")
            #expect(pushed.status == 1 && pushed.errors.contains("accepted"), "\(pushed)")
            #expect(pushed.errors.contains("standard output"), "\(pushed.errors)")
            // A stop is still a stop.
            let urgent = try volley(
                folder, launcher, "push", "--token", ProjectFolder.token(1), "--silent", "--priority", "high", "--json")
            #expect(urgent.status == 3 && urgent.errors.contains("BadPriority"), "\(urgent)")
        }
    }

    @Test("a run that was sent and whose report cannot be shown ends with 1, and is whole")
    func send() throws {
        for launcher in [Self.full, Self.closed, Self.allClosed] {
            let folder = try ProjectFolder()
            try folder.writeCampaign()
            #expect(try folder.volley("plan", "campaign.yaml").status == 0)
            let sent = try volley(folder, launcher, "send", "--plan", "last", "--yes", "--json")
            #expect(sent.status == 1, "\(sent)")
            if launcher != Self.allClosed { #expect(sent.errors.contains("standard output"), "\(sent.errors)") }
            let report = try folder.volley("report", "last", "--format", "json")
            #expect(try report.json()["outcomes"]?.int("accepted") == 20, "\(report)")
        }
    }

    @Test("a preview that cannot be shown before anything was sent sends nothing, and leaves no run")
    func preview() throws {
        for launcher in [Self.full, Self.closed, Self.allClosed] {
            let folder = try ProjectFolder()
            try folder.writeCampaign()
            #expect(try volley(folder, launcher, "send", "campaign.yaml", "--yes").status == 2)
            #expect(folder.files(in: "runs").isEmpty)
            #expect(try volley(folder, launcher, "preview", "campaign.yaml").status == 2)
        }
    }

    @Test("no file and no connection gets a closed standard output's number")
    func closedDescriptors() throws {
        let server = try LedgeredServer(devices: 60)
        try server.folder.writeCampaign()
        let sent = try VolleyBinary.start(
            ["send", "campaign.yaml", "--yes", "--json"], in: server.folder.url, launcher: Self.allClosed
        ).finish()
        #expect(sent.status == 1, "\(sent)")
        server.stop()
        #expect(try server.entries().filter { $0.status == 200 }.count == 60)
        let report = try server.folder.volley("report", "last", "--format", "json")
        #expect(try report.json()["outcomes"]?.int("accepted") == 60, "\(report)")
    }

    @Test(
        "a result that goes nowhere is an error of a command that sends nothing",
        arguments: ["runs", "--help", "--version", "schema"])
    func results(command: String) throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        for launcher in [Self.full, Self.closed] {
            let result = try volley(folder, launcher, command)
            #expect(result.status == 2 && result.errors.contains("standard output"), "\(result)")
        }
        #expect(try volley(folder, Self.closed, "runs").errors.contains("standard output is closed"))
    }

    @Test(
        "what was approved, cancelled, planned, imported, removed or written, and cannot be shown, is said and ends with 1"
    )
    func changes() throws {
        for launcher in [Self.full, Self.closed] {
            let folder = try ProjectFolder(app: "environment: simulator\napproval: required")
            try folder.writeCampaign()
            try folder.write("gone.txt", ProjectFolder.token(3) + "\n")
            func changed(_ words: String, _ arguments: String...) throws {
                let result = try VolleyBinary.start(arguments, in: folder.url, launcher: launcher).finish()
                #expect(result.status == 1 && result.errors.contains(words), "\(arguments): \(result)")
            }
            try changed("Planned as", "plan", "campaign.yaml")
            try changed("is approved by Anna", "approve", "last", "--by", "Anna", "--yes", "--json")
            let approved = try folder.volley("report", "last", "--format", "json")
            #expect(approved.output.contains("Anna"), "\(approved)")
            try changed("is cancelled", "cancel", "last")
            try changed("1 device added", "suppression", "import", "gone.txt")
            try changed("1 device removed", "suppression", "remove", "--file", "gone.txt", "--json")
            try changed("wrote", "init", "new")
            #expect(FileManager.default.fileExists(atPath: folder.url.appendingPathComponent("new/welcome.yaml").path))
        }
    }
}
