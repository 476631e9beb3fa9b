import Base
import Foundation
import TestCommands
import Testing

/// Names, cells and the output of other programs do not control a terminal or a log.
@Suite("Control characters")
struct ControlCharacterTests {
    /// ESC, BEL, a C1 character and one that changes the direction of text.
    private static let evil = "e\u{1B}]0;x\u{07}v\u{9B}i\u{202E}l"
    private static let shown = "e\\u001B]0;x\\u0007v\\u009Bi\\u202El"

    private func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            $0 == "\n" || $0 == "\t"
                || $0.properties.generalCategory != .control && !(0x202A...0x202E).contains($0.value)
        }
    }

    @Test("of file names they are shown, on both streams")
    func fileNames() throws {
        let folder = try ProjectFolder()
        let missing = try folder.volley("check", "\(Self.evil).yaml")
        #expect(
            missing.status == 2 && isHarmless(missing.errors) && missing.errors.contains(Self.shown),
            "\(missing.errors)")
        let made = try folder.volley("init", Self.evil)
        #expect(
            made.status == 0 && isHarmless(made.output) && made.output.contains("wrote \(Self.shown)/volley.yaml"),
            "\(made.output)")
        // In JSON they are unchanged.
        let other = try folder.volley("init", Self.evil + "\u{7F}", "--json")
        #expect(isHarmless(other.output), "\(other.output)")
        guard case .array(let files)? = try other.json()["files"] else {
            Issue.record("no files")
            return
        }
        #expect(files.first?.stringValue == Self.evil + "\u{7F}/volley.yaml")
    }

    @Test("line breaks of file names begin no line of a message")
    func lineBreaks() throws {
        let folder = try ProjectFolder()
        let forged = "a\n\tAll was sent.yaml", shown = "a\\u000A\\u0009All was sent.yaml"
        #expect(try folder.volley("check", forged).errors.hasPrefix("\(shown): "))
        try folder.write(forged, "name: [\n")
        #expect(try folder.volley("check", forged).errors.hasPrefix("\(shown):"))
        try folder.writeCampaign(forged)
        let list = try folder.volley("schedule", "--list", ".")
        #expect(list.output.contains("sent by hand: ") && list.output.contains(shown), "\(list)")
        #expect(!list.output.split(separator: "\n").contains { $0.hasPrefix("\tAll was sent") }, "\(list)")
    }

    @Test("of a hook's output they are shown")
    func hooks() throws {
        let folder = try ProjectFolder()
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try folder.write("hook.txt", Self.evil + "\tx\n")
        try folder.write("volley.yaml", "notices: [{command: [/bin/cat, hook.txt]}]\n" + project)
        let told = try folder.volley("notify")
        #expect(told.status == 0 && told.errors == "/bin/cat: \(Self.shown)\tx\n", "\(told.errors)")
    }

    @Test("of cells they are shown in the CSV; what a line break, a quote or a tab is stays, and no formula runs")
    func cells() throws {
        let cells = [Self.evil, "\t=1+1", "two\tthree", "del\u{7F}"]
        let rows = cells.enumerated().map { "\(ProjectFolder.token($0.offset)),\"\($0.element)\"" }
        let folder = try ProjectFolder(export: "device_token,alias\n" + rows.joined(separator: "\n") + "\n")
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let csv = try folder.volley("report", "last", "--format", "csv")
        #expect(
            csv.status == 0
                && csv.output.unicodeScalars.allSatisfy {
                    $0 == "\n" || $0 == "\t" || $0 == "\u{202E}" || $0.value >= 0x20
                },
            "\(csv)")
        for cell in ["e\\u001B]0;x\\u0007v\\u009Bi", ",'=1+1,", "two\tthree", "del\\u007F"] {
            #expect(csv.output.contains(cell), "\(cell)")
        }
    }
}
