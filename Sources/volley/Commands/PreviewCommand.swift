import Base
import Campaigns
import Content
import Reports
import Planning
import PushServices
import Runs

/// `volley preview`: shows which devices would get a campaign, and what they would get. Nothing is
/// written or sent.
public enum PreviewCommand {
    /// Shows the preview of a campaign.
    /// - Parameters:
    ///   - samples: how many rendered payloads to show of each text; nil for three, or for one of
    ///     each if there are several texts.
    ///   - page: a file for the preview as an HTML page; nil for none.
    ///   - asks: whether the service that chooses the devices checks the calls.
    public static func run(
        file: String, samples: Int?, page: String? = nil, asks: Bool = false, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        Interruption.install()
        let now = Timestamp.now()
        let preview = try Planning.preview(
            CampaignFile(file, in: options.project), samples: samples, console.planning(options), at: now
        ) {
            catalog in
            try ResultFileCheck.check(page, option: "--html", what: "page", runsFolder: catalog.place)
            try checkEnding(of: page)
        }
        if let page { try write(PreviewPage(preview: preview, madeAt: now), to: page, console) }
        let answers =
            asks ? try AskCommand.ask(CampaignFile(file, in: options.project), options: options, console: console) : []
        if options.isJSON {
            let asked = asks ? [JSONMember("asked", .array(answers.map(\.json)))] : []
            guard case .object(let members) = preview.json else { preconditionFailure("a preview is an object") }
            try console.out(.object(members + asked))
        } else {
            let text = preview.text(width: console.width, colour: console.colour, isVerbose: console.options.isVerbose)
            try console.out(([text] + asked(answers, console)).joined(separator: "\n"))
        }
        return answers.allSatisfy(\.isAccepted) ? .done : .doneWithFailures
    }

    /// What the service answered to each call.
    private static func asked(_ answers: [AskCommand.Answer], _ console: Console) -> [String] {
        guard !answers.isEmpty else { return [] }
        return ["", "Checked by the service; nothing was sent"]
            + answers.flatMap { answer in
                TextWidth.wrapped("\(answer.call.words): \(answer.words)", to: max(40, console.width - 4)).enumerated()
                    .map {
                        ($0 == 0 ? "  " : "    ") + $1
                    }
            }
    }

    /// Checks the file's extension: programs choose by it how to open the file.
    private static func checkEnding(of page: String?) throws(Diagnostic) {
        guard let page, let dot = page.lastIndex(of: "."), !page[dot...].contains("/") else { return }
        let ending = page[dot...].dropFirst().lowercased()
        guard ["pdf", "doc", "docx", "xlsx", "xls", "csv", "json", "txt", "png", "jpg", "jpeg"].contains(ending) else {
            return
        }
        throw Diagnostic(
            "a .\(ending) file would hold an HTML page", file: page,
            remedy: "Write --html \(page[..<dot]).html; browsers can print it, also as a PDF.")
    }

    private static func write(_ page: PreviewPage, to file: String, _ console: Console) throws {
        let sink = try OutputSink(file: file, console: console, what: "page", remedy: "Name another file with --html.")
        try sink.write(Array(page.html.markup.utf8))
        try sink.finish()
        console.say("The preview is in \(file).")
    }

    /// Explains step by step why a device gets the campaign, or does not.
    /// - Parameter who: a device token, whole or as `7276…89f1`, an alias, or a registration id.
    public static func explain(file: String, who: String, options: CommonOptions, console: Console) throws -> ExitStatus
    {
        Interruption.install()
        let explanation = try Planning.explain(
            who, CampaignFile(file, in: options.project), console.planning(options), at: .now())
        if options.isJSON {
            try console.out(explanation.json)
        } else {
            try console.out(explanation.text(width: console.width, colour: console.colour))
        }
        return .done
    }
}
