import ArgumentParser
import VolleyKit

struct Runs: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "All runs: campaign, state, audience, outcomes.")

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) { try RunsCommand.run(options: shared.common(json: json), console: console) }
    }
}

struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The delivery report of a run.",
        discussion: "csv has a line for every device: its outcome, APNs' reason, attempts and latency.")

    enum Form: String, CaseIterable, ExpressibleByArgument { case text, json, csv }

    @Argument(help: ArgumentHelp("A run's id, its file, or `last`.", valueName: "run"), completion: .file(extensions: ["sqlite"]))
    var target: String

    @Option(name: .long, help: "The form.")
    var format = Form.text

    @Option(name: .long, help: "A file instead of standard output.", completion: .file())
    var output: String?

    @OptionGroup var json: JSONOption
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let console = shared.console
        try perform(console, json) {
            let form = json.json ? .json : ReportCommand.Format(rawValue: format.rawValue) ?? .text
            return try ReportCommand.run(target, format: form, output: output, options: shared.common(json: json), console: console)
        }
    }
}
