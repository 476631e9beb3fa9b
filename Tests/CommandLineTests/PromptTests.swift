import Base
import Foundation
import TestCommands
import Testing

/// What a person at a terminal is asked before anything is sent.
@Suite("prompts at a terminal")
struct PromptTests {
    /// The lines of the last question.
    private func question(_ terminal: VolleyAtTerminal) -> [String] {
        let lines = terminal.shown.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.lastIndex(where: { $0.contains(" goes to ") }) else { return [] }
        return Array(lines[start...])
    }

    @Test(
        "the question holds the number, the environment, the last run and the expiry, and anything but a yes sends nothing"
    )
    func firstTime() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(delivery: "expires: 4h")
        let terminal = try VolleyAtTerminal(["send", "campaign.yaml"], in: folder.url)
        #expect(terminal.waits(for: "[y/N]"), "\(terminal.shown)")
        #expect(
            question(terminal) == [
                "'test' goes to 20 devices of shop.", "  Environment  simulator: no device gets it",
                "  Last run     none: it was never sent from here", "  Expires      4 h after it begins",
                "Send it? [y/N] ",
            ])
        terminal.type("\n")
        #expect(terminal.finish() == 2)
        #expect(terminal.shown.contains("Nothing was sent, and the plan was removed."))
        #expect(folder.files(in: "runs").filter { $0.hasSuffix(".sqlite") }.isEmpty)
    }

    @Test(
        "a campaign that went out a short while ago is asked about with the time, the devices and how many accepted it; a yes sends it again"
    )
    func sentRecently() throws {
        let server = try LedgeredServer(devices: 5)
        try server.folder.writeCampaign(delivery: "expires: 2030-12-01 18:00 +01:00")
        #expect(try server.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        let terminal = try VolleyAtTerminal(["send", "campaign.yaml"], in: server.folder.url)
        #expect(terminal.waits(for: "[y/N]"), "\(terminal.shown)")
        let question = question(terminal)
        #expect(question.count == 5 && question[0] == "'test' goes to 5 devices of shop.", "\(question)")
        #expect(question.dropFirst().first?.hasPrefix("  Environment  localhost:") == true, "\(question)")
        let last = question.dropFirst(2).first ?? ""
        #expect(
            last.contains(
                /^  Last run     \d+ (s|min) ago \(20\d\d-\d\d-\d\d \d\d:\d\d UTC\): 5 of 5 devices accepted it$/),
            "\(last)")
        #expect(
            question.dropFirst(3).first?.hasPrefix("  Expires      2030-12-01 17:00 UTC, in ") == true, "\(question)")
        #expect(question.last == "It was sent only hours ago. Send it again? [y/N] ")
        terminal.type("y\n")
        #expect(terminal.finish() == 0, "\(terminal.shown)")
        #expect(try server.accepted().values.allSatisfy { $0.count == 2 })
    }

    @Test("a plan is asked about like a campaign, and is kept after a no; who rehearsed elsewhere reads where")
    func plan() throws {
        let server = try LedgeredServer(devices: 3)
        try server.folder.writeCampaign()
        let project = try String(contentsOf: server.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try server.folder.writeProject(app: "environment: simulator")
        #expect(try server.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        try server.folder.write("volley.yaml", project)
        #expect(try server.folder.volley("plan", "campaign.yaml").status == 0)
        let terminal = try VolleyAtTerminal(["send", "--plan", "last"], in: server.folder.url)
        #expect(terminal.waits(for: "[y/N]"), "\(terminal.shown)")
        let question = question(terminal)
        #expect(
            question.dropFirst(2).first?.hasSuffix(": 3 of 3 devices accepted it, in simulator") == true, "\(question)")
        #expect(
            question.dropFirst(3).first
                == "  Expires      after 30 days, as the campaign does not say: until then APNs keeps it for phones that are off"
        )
        #expect(question.last == "Send it? [y/N] ")
        terminal.type("n\n")
        #expect(terminal.finish() == 2)
        #expect(terminal.shown.contains("Nothing was sent; the plan is kept."))
    }
}
