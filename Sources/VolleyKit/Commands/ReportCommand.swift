import Base
import Campaigns
import Reports
import Runs

/// `volley report`: what became of a run.
public enum ReportCommand {
    /// The forms a report is written in.
    public enum Format: String, CaseIterable, Sendable { case text, json, csv, html }

    /// - Parameters:
    ///   - run: an id, a path, or `last`.
    ///   - output: a file instead of standard output.
    public static func run(_ argument: String, format: Format, output: String?, options: CommonOptions, console: Console) throws
        -> ExitStatus
    {
        let run = try RunStore(path: RunStore.resolve(argument, in: Project.runsFolder(options)), readOnly: true)
        let sink = try OutputSink(
            file: output, console: console, what: "report", remedy: "The run itself is unharmed; try another --output.")
        switch format {
        case .text:
            let isFile = output != nil
            let report = try report(run)
            try sink.write(Array((report.text(width: isFile ? 100 : console.width, colour: !isFile && console.colour) + "\n").utf8))
        case .json: try sink.write(Array((report(run).json.indentedText + "\n").utf8))
        case .html:
            let page = ReportPage(try report(run), madeBy: "Volley \(volleyVersion)", madeAt: .now())
            try sink.write(Array(page.html.markup.utf8))
        case .csv: try ReportCSV.write(run) { try sink.write($0) }
        }
        try sink.finish()
        return .done
    }

    /// With all that is known of other runs.
    private static func report(_ run: RunStore) throws -> Report {
        try Report(run, chain: RunChain(of: run), earlier: run.earlierRuns())
    }
}
