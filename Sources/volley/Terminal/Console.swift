import Audience
import Automation
public import Base
import Glibc
import Logging
public import Logs
import Planning
import PushServices
import Reports
public import Runs
import Sending
import Synchronization

/// The output of a command: results go to standard output, everything else to standard error.
///
/// A reader that closes standard output early (`volley report … | head`) is not an error: the rest
/// is dropped, and a run that is being sent continues.
public final class Console: Sendable {
    /// What a command may show.
    public struct Options: Sendable {
        /// Whether to show only results and errors, without progress or other messages.
        public var isQuiet: Bool
        /// Whether to show more details.
        public var isVerbose: Bool
        /// Whether a line may show progress; false if several things happen at once.
        public var hasProgress: Bool
        /// How messages are written for programs; nil for people.
        public var log: LogFormat?

        /// Creates a choice of what to show.
        public init(isQuiet: Bool = false, isVerbose: Bool = false, hasProgress: Bool = true, log: LogFormat? = nil) {
            self.isQuiet = isQuiet
            self.isVerbose = isVerbose
            self.hasProgress = hasProgress
            self.log = log
        }
    }

    /// What may be shown.
    public let options: Options
    /// Whether standard output, standard error and standard input are a terminal.
    let outputIsTerminal: Bool, errorIsTerminal: Bool, inputIsTerminal: Bool
    /// Where messages go if programs read them; nil for people.
    private let log: Logger?
    /// Whether the terminal understands the sequences that colour and overwrite: TERM is not
    /// `dumb`.
    private let isCapable: Bool
    private let isOutputClosed = Atomic(false)
    private let hasProgressLine = Atomic(false)

    /// Creates a console on the process's own streams.
    public init(_ options: Options = Options()) {
        self.options = options
        outputIsTerminal = isatty(STDOUT_FILENO) == 1
        errorIsTerminal = isatty(STDERR_FILENO) == 1
        inputIsTerminal = isatty(STDIN_FILENO) == 1
        isCapable = EnvironmentVariables["TERM"] != "dumb"
        let format = options.log ?? (JournalStream.isStandardError ? .journal : nil)
        log = format.map { format in Logger(label: "volley") { _ in LineLog(format) } }
        // A closed pipe must be an error of write(2), not a signal that ends the process in the
        // middle of a run.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Whether results may be coloured: on a capable terminal, unless NO_COLOR is set
    /// (no-color.org).
    var colour: Bool { outputIsTerminal && isCapable && (EnvironmentVariables.filled("NO_COLOR") == nil) }

    /// The width of the terminal in columns: 100 without a terminal, and at least 60.
    var width: Int { max(60, columns(of: STDOUT_FILENO)) }

    private func columns(of terminal: Int32) -> Int {
        var size = winsize()
        guard ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
        return Int(size.ws_col)
    }

    /// Whether progress lines are wanted and can be overwritten.
    var showsProgress: Bool { errorIsTerminal && isCapable && log == nil && !options.isQuiet && options.hasProgress }

    /// Whether to print an occasional line about the progress of a single run, because lines cannot
    /// be overwritten.
    var staysInformed: Bool {
        (!errorIsTerminal || !isCapable || log != nil) && !options.isQuiet && options.hasProgress
    }

    /// Prints a result, and a line break after it.
    public func out(_ text: String) throws {
        try write(Array((TextFormat.printable(text, keepsStyles: colour) + "\n").utf8))
    }

    /// Prints a JSON document as the result.
    func out(_ document: JSONValue) throws { try out(document.indentedText) }

    /// Prints the answer of a command that has already done something. If that fails, the error
    /// must not suggest that nothing was done.
    /// - Parameter done: what was done, for standard error if the answer cannot be shown.
    /// - Returns: `.done`, or `.doneWithFailures` if the answer could not be shown.
    func answer(_ text: String, done: String) -> ExitStatus {
        do { try out(text) } catch {
            warn("\(done) But the result could not be shown: \(error)")
            return .doneWithFailures
        }
        return .done
    }

    /// Writes part of a result.
    /// - Throws: a `Diagnostic` if standard output fails (a full disk); a reader that went away is
    ///   not an error.
    func write(_ bytes: [UInt8]) throws {
        guard !isOutputClosed.load(ordering: .relaxed) else { return }
        clearProgress()
        switch WriteAll.write(bytes, to: STDOUT_FILENO) {
        case 0: return
        case EPIPE: isOutputClosed.store(true, ordering: .relaxed)
        case EBADF:
            throw Diagnostic("standard output is closed", remedy: "Redirect it to a file, a pipe or /dev/null.")
        case let code: throw FileError.system(code).diagnostic("standard output cannot be written", file: nil)
        }
    }

    /// Whether the reader of standard output has gone, so that writing more is pointless.
    var isReaderGone: Bool { isOutputClosed.load(ordering: .relaxed) }

    /// Shows a message, except with `--quiet`.
    func say(_ text: String, about subject: LogSubject = .none) { if !options.isQuiet { tell(.info, text, subject) } }

    /// Shows a message only with `--verbose`.
    func detail(_ text: @autoclosure () -> String, about subject: LogSubject = .none) {
        if options.isVerbose, !options.isQuiet { tell(.debug, text(), subject) }
    }

    /// Shows a message, even with `--quiet`.
    public func warn(_ text: String, about subject: LogSubject = .none) { tell(.warning, text, subject) }

    /// Shows why a command failed.
    func fail(_ text: String) { tell(.error, text, .none) }

    /// Shows warnings and errors, one line each; warnings not with `--quiet`.
    func show(_ diagnostics: [Diagnostic], about subject: LogSubject = .none) {
        for diagnostic in diagnostics {
            let isWarning = diagnostic.severity == .warning
            if !isWarning || !options.isQuiet {
                tell(isWarning ? .warning : .error, log == nil ? diagnostic.description : diagnostic.inLog, subject)
            }
        }
    }

    /// Shows a line that the next one overwrites; shows nothing without a terminal. It ends before
    /// the word that the terminal's width would cut, because a line that wraps cannot be
    /// overwritten.
    func progress(_ line: String) {
        guard showsProgress else { return }
        let line = Self.whole(TextFormat.printable(line), columns: columns(of: STDERR_FILENO) - 1)
        hasProgressLine.store(true, ordering: .relaxed)
        tell("\r\u{1B}[2K\(line)")
    }

    /// The words at the beginning of a line that fit into columns.
    static func whole(_ line: String, columns: Int) -> String {
        guard TextWidth.columns(line) > columns else { return line }
        return TextWidth.wrapped(line, to: columns).first ?? ""
    }

    /// Removes the progress line.
    func clearProgress() {
        guard hasProgressLine.exchange(false, ordering: .relaxed) else { return }
        tell("\r\u{1B}[2K")
    }

    /// Refuses a command that asks before it does something, where nothing can be asked: without
    /// `--yes` no command does it unasked.
    /// - Parameters:
    ///   - isConfirmed: `--yes`.
    ///   - does: what the command does, as `sends`.
    ///   - remedy: what else can be done, and what was not done.
    func checkCanAsk(unless isConfirmed: Bool, _ command: String, does: String, remedy: String) throws(Diagnostic) {
        if isConfirmed || inputIsTerminal { return }
        throw Diagnostic("\(command) asks before it \(does), and standard input is not a terminal", remedy: remedy)
    }

    /// Waits for a yes; anything else is a no. Call this only if standard input is a terminal
    /// (`checkCanAsk`).
    /// - Throws: `CancellationError` if the person interrupts instead of answering.
    func confirms(_ question: String) throws -> Bool {
        clearProgress()
        tell("\(TextFormat.printable(question)) [y/N] ")
        guard Interruption.process.waitForRequest(orReadable: STDIN_FILENO) else {
            warn("")
            throw CancellationError()
        }
        guard let answer = readLine(strippingNewline: true) else { return false }
        return ["y", "yes"].contains(answer.lowercased())
    }

    private func tell(_ level: Logger.Level, _ text: String, _ subject: LogSubject) {
        clearProgress()
        guard let log else { return tell(TextFormat.printable(text) + "\n") }
        log.log(level: level, "\(text)", metadata: subject.metadata)
    }

    /// Writes to standard error. If that fails, there is nowhere left to report it.
    private func tell(_ text: String) { _ = WriteAll.write(Array(text.utf8), to: STDERR_FILENO) }
}

/// Shows the conversion of older run files as a line on a terminal.
extension Console {
    /// Shows how far a conversion is, and removes the line at its end.
    public var conversionObserver: Observer<RunConversion> {
        Observer { conversion in
            guard !conversion.isOver else { return self.clearProgress() }
            let share = TextFormat.percent(Double(conversion.done) / Double(conversion.total))
            self.progress("converting  \(share)  \(conversion.place), which an older Volley wrote")
        }
    }
}

/// Shows planning as lines on a terminal.
extension Console {
    var planningObserver: PlanningObserver { Observer { self.show($0) } }

    func show(_ event: PlanningEvent, about subject: LogSubject = .none) {
        switch event {
        case .sources(let project, let exports):
            detail("volley.yaml: \(project); exports: \(exports.joined(separator: ", "))", about: subject)
        case .suppressed(let count, let list):
            detail("\(TextFormat.count(count)) devices are suppressed by \(list)", about: subject)
        case .querying(let reached): if showsProgress { progress(reached.line) }
        case .reading(let reached, let seconds): if showsProgress { progress(reached.line(seconds: seconds)) }
        case .readingSomewhere: progress("reading the exports")
        case .readingAgain:
            detail("reading the exports again, for samples of texts that few devices get", about: subject)
        case .readingEnds: clearProgress()
        case .lint(let lint):
            show(lint.shown, about: subject)
            for (warning, reason) in lint.silenced {
                detail("silenced: \(warning.description): \(reason)", about: subject)
            }
        case .warnings(let warnings): show(warnings, about: subject)
        case .testSkipped(let device, let token, let text, let failure):
            warn("\(device) (\(token)) is not sent \(text): \(failure)", about: subject)
        }
    }
}

extension QueryProgress {
    /// `asking warehouse  120,000 rows  9.1 MB`
    fileprivate var line: String {
        guard rows > 0 else { return "asking \(database)" }
        return "asking \(database)  \(TextFormat.count(rows)) rows  \(TextFormat.bytes(bytes))"
    }
}

extension ScanProgress {
    /// `reading  45.2 %  9,040 rows  120,000 rows/s  4,000 recipients  1.2 s left`
    fileprivate func line(seconds elapsed: Double) -> String {
        let seconds = max(elapsed, 0.001)
        let share = bytesTotal > 0 ? Double(bytesRead) / Double(bytesTotal) : 0
        var line = "reading  \(TextFormat.percent(share))  \(TextFormat.count(rows)) rows"
        line += "  \(TextFormat.count(Int(Double(rows) / seconds))) rows/s  \(TextFormat.count(recipients)) recipients"
        if let settled { return line + "  settling  \(TextFormat.percent(settled))" }
        if share > 0.01 { line += "  \(TextFormat.duration(seconds: seconds / share - seconds)) left" }
        return line
    }
}

extension Console {
    /// Sends the proposed run and the project's notices. Shows how the run ended, with its report,
    /// and waits until all notices are sent.
    /// - Throws: why the run may not be sent. Nothing was sent.
    func send(_ proposal: SendProposal, _ stageOptions: RunOptions, _ options: CommonOptions) throws -> ExitStatus {
        let notices = Notices(proposal.run.plan.isTest ? nil : proposal.project, retries: .short, noticeObserver)
        var stageOptions = stageOptions
        stageOptions.observer = Observer { [shown = stageOptions.observer] event in
            notices.notify(of: event)
            shown(event)
        }
        let result = try proposal.send(stageOptions)
        defer { notices.finish(until: Interruption.process) }
        return show(result, options)
    }

    private func show(_ result: RunResult, _ options: CommonOptions) -> ExitStatus {
        var about = LogSubject(result.plan)
        if let report = result.report { about.figures = LogSubject.figures(report.outcomes, of: result.plan.audience) }
        let isShown = showReport(result, options, about: about)
        let id = result.plan.id
        switch result.end {
        case .finished:
            guard !result.blamesSettings else {
                for service in result.report?.blamedServices ?? [] {
                    let tokens = service.target.shortNouns
                    warn(
                        "\(service.displayName) refused the \(tokens) of most test devices. Their \(tokens) are old, or environment or \(service.account.topic.key) in volley.yaml is wrong. "
                            + "`volley doctor \(result.plan.app)` checks them; run it before you send the campaign to its audience.",
                        about: about)
                }
                return .doneWithFailures
            }
            return isShown && result.isClean ? .done : .doneWithFailures
        case .stopped(let cause):
            warn("The run stopped: \(cause.sentence)", about: about)
            // If some services were sent to until their end, this is like any report that is not
            // clean.
            if case .services(let partial) = cause, !partial.finished.isEmpty { return .doneWithFailures }
            return .stopped
        case .interrupted:
            warn("Interrupted; \(Self.rest(of: result)). `volley resume \(id)` continues the run.", about: about)
            return .interrupted
        case .cancelled:
            warn("Cancelled; \(Self.rest(of: result)).", about: about)
            return .stopped
        }
    }

    /// The note of a report about devices that were not sent to. Until a shared run is fetched, its
    /// file lacks what was sent.
    private static func rest(of result: RunResult) -> String {
        result.report?.isShared ?? false
            ? "the store that machines share has what was sent, and the report shows it once it is fetched"
            : "what was not sent is unsent in the report"
    }

    /// Shows the report. An error here does not change what was sent, so it is only reported.
    /// - Returns: whether everything could be shown.
    private func showReport(_ result: RunResult, _ options: CommonOptions, about run: LogSubject) -> Bool {
        do {
            if let failure = result.failure { throw failure }
            if let report = result.report {
                try out(options.isJSON ? report.json.indentedText : report.text(width: width, colour: colour))
            }
            if let check = result.ledger { check.agrees ? say(check.text, about: run) : warn(check.text, about: run) }
            return true
        } catch {
            warn("The run is over, but its report cannot be shown. \(error)", about: run)
            return false
        }
    }
}
