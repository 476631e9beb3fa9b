import Base
import Campaigns
import Glibc
import Reports
import Runs

/// `volley report`: what became of a run.
public enum ReportCommand {
    /// The forms a report is written in.
    public enum Format: String, CaseIterable, Sendable { case text, json, csv }

    /// - Parameters:
    ///   - run: an id, a path, or `last`.
    ///   - output: a file instead of standard output.
    public static func run(_ argument: String, format: Format, output: String?, options: CommonOptions, console: Console) throws
        -> ExitStatus
    {
        let run = try RunStore(path: RunStore.resolve(argument, in: Project.runsFolder(options)), readOnly: true)
        let sink = try ReportSink(file: output, console: console)
        switch format {
        case .text:
            let isFile = output != nil
            let report = try Report(run, chain: RunChain(of: run))
            try sink.write(Array((report.text(width: isFile ? 100 : console.width, colour: !isFile && console.colour) + "\n").utf8))
        case .json: try sink.write(Array((Report(run, chain: RunChain(of: run)).json.indentedText + "\n").utf8))
        case .csv: try ReportCSV.write(run) { try sink.write($0) }
        }
        try sink.finish()
        return .done
    }
}

/// Takes a report to standard output or into a file, which appears under its name only when it is whole.
private final class ReportSink {
    private let console: Console
    private let file: String?
    private var isReplaced = false
    private var stream: UnsafeMutablePointer<FILE>?
    private var partial: String { "\(file ?? "").\(getpid()).partial" }

    init(file: String?, console: Console) throws {
        self.console = console
        self.file = file
        guard let file else { return }
        var status = stat()
        // A pipe or device is written to as it stands; only a regular file is replaced, and only by a whole one.
        isReplaced = stat(file, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        stream = fopen(isReplaced ? partial : file, "w")
        if stream == nil { throw failure() }
    }

    deinit {
        guard let stream else { return }
        fclose(stream)
        if isReplaced { unlink(partial) }
    }

    func write(_ bytes: [UInt8]) throws {
        guard let stream else {
            try console.write(bytes)
            // Nobody reads on: as with any filter, that is a fine end.
            if console.isReaderGone { throw ReaderGone() }
            return
        }
        if fwrite(bytes, 1, bytes.count, stream) != bytes.count { throw failure() }
    }

    func finish() throws {
        guard let stream, let file else { return }
        self.stream = nil
        guard fclose(stream) == 0, !isReplaced || rename(partial, file) == 0 else {
            let failure = failure()
            if isReplaced { unlink(partial) }
            throw failure
        }
    }

    private func failure() -> Diagnostic {
        Diagnostic(
            "the report cannot be written: \(String(cString: strerror(errno)))", file: file,
            remedy: "The run itself is unharmed; try another --output.")
    }
}

/// Standard output was closed by its reader.
struct ReaderGone: Error {}
