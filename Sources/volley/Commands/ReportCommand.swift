import Workspace
import Base
import Campaigns
import Reports
import Runs
import Sending

/// `volley report`: shows the results of a run.
public enum ReportCommand {
    /// The formats of a report.
    public enum Format: String, CaseIterable, Sendable { case text, json, csv, html }

    /// The choice of lines for a CSV, as typed.
    public struct Lines: Sendable {
        /// Names of outcomes; empty for all.
        public var outcomes: [String]
        /// A language as in the CSV, `unknown` for devices without one; nil for all.
        public var language: String?
        /// A variant as in the CSV; nil for all.
        public var variant: String?

        /// Chooses the lines that match all values.
        public init(outcomes: [String] = [], language: String? = nil, variant: String? = nil) {
            self.outcomes = outcomes
            self.language = language
            self.variant = variant
        }

        var areAll: Bool { outcomes.isEmpty && language == nil && variant == nil }
    }

    /// Writes the report of a run.
    /// - Parameters:
    ///   - run: an id, a path, or `last`.
    ///   - earlier: an earlier run; the output then compares both instead of showing one report.
    ///   - isRefreshed: whether its services are first queried for statistics.
    ///   - output: a file; nil for standard output.
    ///   - isForExcel: `--excel`: whether a CSV is laid out for Excel.
    public static func run(
        _ argument: String, comparedWith earlier: String? = nil, isRefreshed: Bool = false, format: Format,
        lines: Lines = Lines(),
        output: String?, isForExcel: Bool = false, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        guard !isForExcel || format == .csv else {
            throw Diagnostic("--excel is for CSV, but the format is \(format.rawValue)", remedy: "Add --format csv.")
        }
        guard lines.areAll || format == .csv else {
            throw Diagnostic(
                "--outcome, --language and --variant choose lines of the CSV, but the format is \(format.rawValue)",
                remedy: "Add --format csv.")
        }
        let filter = try filter(lines)
        let catalog = try Project.catalog(options.project)
        try ResultFileCheck.check(output, option: "--output", what: "report", runsFolder: catalog.place)
        try checkEnding(of: output, format)
        let isComplete = isRefreshed ? try refresh(argument, in: catalog, options, console) : true
        let run = try catalog.openToRead(argument, options.project)
        let before = try earlier.map { try catalog.openToRead($0, options.project) }
        if before != nil, format == .csv {
            throw Diagnostic(
                "a comparison cannot be a CSV", remedy: "Use --format text, json or html, or each run's own CSV.")
        }
        for run in [run, before].compactMap(\.self) {
            if let doubt = try LedgerGap.doubt(about: run) { console.warn("\(doubt)") }
        }
        // Make the document first, so that an error leaves no file behind.
        let document =
            format == .csv
            ? nil
            : try document(
                run, before, format, isFile: output.map { !OutputSink.isStandardOutput($0) } ?? false, console)
        let sink = try OutputSink(
            file: output, console: console, isPrivate: format == .csv, what: "report",
            remedy: "The run itself is unharmed; try another --output.")
        if let document {
            // An HTML page itself keeps its texts from controlling a terminal.
            let shown =
                format == .html
                ? document : TextFormat.printable(document, keepsStyles: output == nil && console.colour)
            try sink.write(Array(shown.utf8))
        } else {
            let form = isForExcel ? ExcelLocale.form : .plain
            let count = try ReportCSV.write(run, filter, as: form) { try sink.write($0) }
            if count == 0, run.plan.audience > 0 { console.say("No device matches; the file holds the header only.") }
            ExcelLocale.warn(ofLines: count, form, console)
        }
        try sink.finish()
        return isComplete ? .done : .doneWithFailures
    }

    /// Queries the services of a run for statistics of its pushes.
    /// - Returns: whether all services with statistics answered.
    private static func refresh(
        _ argument: String, in catalog: RunsFolder, _ options: CommonOptions, _ console: Console
    ) throws -> Bool {
        let run = try catalog.open(named: argument, readOnly: false)
        let troubles = try askStatistics(
            of: run, in: options.project, SendingContext(cancellation: Interruption.process), at: .now())
        try run.closeIntoOneFile()
        for trouble in troubles { console.warn("\(trouble)") }
        return troubles.isEmpty
    }

    /// Checks the file's extension: programs choose by it how to open the file.
    private static func checkEnding(of output: String?, _ format: Format) throws(Diagnostic) {
        guard let output, let dot = output.lastIndex(of: "."), !output[dot...].contains("/") else { return }
        let ending = output[dot...].dropFirst().lowercased()
        let endings: [(ending: String, format: Format)] = [
            ("html", .html), ("htm", .html), ("csv", .csv), ("json", .json),
        ]
        if let meant = endings.first(where: { $0.ending == ending })?.format {
            guard meant != format else { return }
            throw Diagnostic(
                "a .\(ending) file would hold the report as \(format.rawValue)", file: output,
                remedy: "Add --format \(meant.rawValue), or name a file with another ending.")
        }
        if ["xlsx", "xls", "ods", "numbers"].contains(ending) {
            throw Diagnostic(
                "Volley does not write .\(ending)", file: output,
                remedy: "Spreadsheets open a CSV: --format csv --output \(output[..<dot]).csv.")
        }
        if ["pdf", "doc", "docx"].contains(ending) {
            throw Diagnostic(
                "Volley does not write .\(ending)", file: output,
                remedy: "Browsers print a page: --format html --output \(output[..<dot]).html.")
        }
    }

    private static func document(_ run: RunFile, _ before: RunFile?, _ format: Format, isFile: Bool, _ console: Console)
        throws -> String
    {
        let (width, colour) = (isFile ? 100 : console.width, !isFile && console.colour)
        let (maker, now) = ("Volley \(volleyVersion)", Timestamp.now())
        // Include everything that is known about other runs.
        let report = try Report(run, chain: RunChain(of: run), earlier: run.earlierRuns())
        guard let before else {
            return switch format {
            case .text: report.text(width: width, colour: colour) + "\n"
            case .json, .csv: report.json.indentedText + "\n"
            case .html: ReportPage(report, madeBy: maker, madeAt: now).html.markup
            }
        }
        let comparison = ReportComparison(before: try Report(before), after: report)
        return switch format {
        case .text: comparison.text(width: width, colour: colour) + "\n"
        case .json, .csv: comparison.json.indentedText + "\n"
        case .html: comparison.page(madeBy: maker, madeAt: now).markup
        }
    }

    private static func filter(_ lines: Lines) throws -> ReportCSV.Filter {
        var filter = ReportCSV.Filter()
        if !lines.outcomes.isEmpty { filter.outcomes = Set(try lines.outcomes.map(OutcomeName.outcome)) }
        (filter.language, filter.variant) = (lines.language, lines.variant)
        return filter
    }
}

/// The names of outcomes, as people type them.
enum OutcomeName {
    /// The outcome with a name.
    /// - Throws: `Diagnostic` with the nearest name, or with all names.
    static func outcome(_ name: String) throws -> Outcome {
        if let outcome = Outcome.allCases.first(where: { $0.name == name }) { return outcome }
        let names = Outcome.allCases.map(\.name)
        let nearest = nearestName(to: name, among: names)
        throw Diagnostic(
            "'\(name)' is not an outcome",
            remedy: nearest.map { "Did you mean '\($0)'?" } ?? "Outcomes are \(names.joined(separator: ", ")).")
    }
}

extension RunsFolder {
    /// Opens the run that a command's argument means. A run that machines share has no file where
    /// only `volley work` is at work.
    func openToRead(_ argument: String, _ choice: ProjectChoice) throws -> RunFile {
        do { return try open(named: argument, readOnly: true) } catch var mistake as Diagnostic {
            let isHere =
                argument == "last"
                ? (try? list()).map { !$0.runs.isEmpty || !$0.broken.isEmpty } ?? true : holds(argument)
            guard !isHere, !argument.contains("/"), let project = try? Project.find(with: choice), project.store != nil
            else {
                throw mistake
            }
            let fetch =
                "If several machines send it, `volley store fetch \(FilePaths.inShell(argument))` makes its file here."
            mistake.remedy = [mistake.remedy, fetch].compactMap(\.self).joined(separator: " ")
            throw mistake
        }
    }
}
