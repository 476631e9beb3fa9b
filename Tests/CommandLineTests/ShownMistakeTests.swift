import Foundation
import TestCommands
import TestSupport
import Testing

/// `MistakeTests` of PlanningTests holds what the stages say about each mistake; here the real
/// binary prints the same.
@Suite("mistakes as the command line shows them")
struct ShownMistakeTests {
    @Test(
        "a mistake that check finds, and one that only the preview shows",
        arguments: [("whole-files", "17-wrong-app", 2), ("targets", "281-tokens-of-other-services", 0)])
    func shown(topic: String, name: String, status: Int32) throws {
        let mistake = try #require(MistakeCase.all(of: topic).first { $0.name == name })
        let project = try ProjectFolder(app: MistakeCase.app)
        try mistake.write(into: project.url)
        let checked = try project.volley("check", "campaign.yaml")
        #expect(checked.status == status)
        let previewed = checked.status == 0 ? try project.volley("preview", "campaign.yaml", "--show", "1") : nil
        let transcript = MistakeCase.transcript(
            check: checked.errors + checked.output, preview: previewed.map { $0.errors + $0.output })
        #expect(transcript == mistake.expected)
    }

    @Test("a warning that the campaign allows is shown with --verbose, with the reason")
    func silenced() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign(content: "title: Hello  you\nbody: World")
        let text = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", text + "allow:\n  - {warning: double-blank, reason: Our logo.}\n")
        #expect(try folder.volley("preview", "campaign.yaml").errors.isEmpty)
        #expect(try folder.volley("preview", "campaign.yaml", "--verbose").errors.contains("Our logo."))
    }
}
