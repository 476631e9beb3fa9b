public import Base
import Glibc
public import Logging
import Synchronization

/// Writes each event as one line, whole, whichever threads write at the same time.
public struct LineLog: LogHandler {
    /// The least level that is written.
    public var logLevel = Logger.Level.debug
    /// What all events have.
    public var metadata: Logger.Metadata = [:]
    private let format: LogFormat
    private let now: @Sendable () -> Timestamp
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - now: the clock that events are dated by.
    ///   - write: called with each line and its line break.
    public init(
        _ format: LogFormat, now: @escaping @Sendable () -> Timestamp = { .now() },
        write: @escaping @Sendable (String) -> Void = LineLog.standardError()
    ) { (self.format, self.now, self.write) = (format, now, write) }

    /// Writes to standard error. A line that is longer than a pipe takes at once would be mixed
    /// with that of another thread.
    public static func standardError() -> @Sendable (String) -> Void {
        let turn = Turn()
        return { line in turn.lock.withLock { _ in _ = WriteAll.write(Array(line.utf8), to: STDERR_FILENO) } }
    }

    private final class Turn: Sendable {
        let lock = Mutex(())
    }

    /// One of the names and values that all events have.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes an event.
    public func log(event: LogEvent) {
        let about = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        write(line(event.level, "\(event.message)", about) + "\n")
    }

    private func line(_ level: Logger.Level, _ message: String, _ about: [(key: String, value: Logger.MetadataValue)])
        -> String
    {
        switch format {
        case .journal: return "<\(level.priority)>\(Self.text(message, about))"
        case .text: return "\(now().descriptionWithMilliseconds) \(level.rawValue) \(Self.text(message, about))"
        case .json:
            let head: [(String, JSONValue)] = [
                ("time", .string(now().descriptionWithMilliseconds)), ("level", .string(level.rawValue)),
                ("message", .string(message)),
            ]
            return JSONValue.object(pairs: head + about.map { ($0.key, Self.value($0.value)) }).text
        }
    }

    /// Numbers stay numbers, so that programs can count with them.
    private static func value(_ value: Logger.MetadataValue) -> JSONValue {
        if case .stringConvertible(let number as Int) = value { return .integer(Int64(number)) }
        return .string("\(value)")
    }
}

extension LineLog {
    /// What an event is about, and its message on one line: programs that collect lines, and the
    /// journal, take each for an event of its own.
    private static func text(_ message: String, _ about: [(key: String, value: Logger.MetadataValue)]) -> String {
        let list = about.map { "\($0.key)=\(TextFormat.inLine("\($0.value)"))" }.joined(separator: " ")
        let text = TextFormat.printable(message).split(whereSeparator: \.isNewline).joined(separator: " | ")
        return "\(list.isEmpty ? "" : "[\(list)] ")\(text)"
    }
}

extension Logger.Level {
    /// The priority of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// How the messages of a process are written where programs read them: one event a line.
public enum LogFormat: String, CaseIterable, Sendable {
    /// `2026-12-01T09:00:00.250Z warning [app=shop campaign=spring-sale run=…] message`
    case text
    /// An object with `time`, `level`, `message`, and what the message is about.
    case json
    /// For the journal of systemd, which adds the time: a priority, what the message is about, and
    /// the message. Source: sd-daemon(3).
    case journal
}

/// Whether standard error leads into the journal of systemd.
public enum JournalStream {
    /// Compares the file that the variable JOURNAL_STREAM names by device and inode with standard
    /// error: a child with its messages going elsewhere also inherits the variable. Source:
    /// systemd.exec(5).
    public static var isStandardError: Bool {
        guard let text = EnvironmentVariables["JOURNAL_STREAM"] else { return false }
        var status = stat()
        return fstat(STDERR_FILENO, &status) == 0 && text == "\(status.st_dev):\(status.st_ino)"
    }
}

/// What a message is about, as far as that is known.
public struct LogSubject: Hashable, Sendable {
    /// The app in volley.yaml.
    public var app: String?
    /// The campaign's name.
    public var campaign: String?
    /// The run's id.
    public var run: String?
    /// Of a run that has ended: `audience`, and how many of its recipients have each outcome.
    public var figures: [String: Int]

    /// Creates a subject.
    public init(app: String? = nil, campaign: String? = nil, run: String? = nil, figures: [String: Int] = [:]) {
        (self.app, self.campaign, self.run, self.figures) = (app, campaign, run, figures)
    }

    /// Nothing in particular.
    public static let none = LogSubject()

    /// The names and values, as a log event has them. Figures are numbers.
    public var metadata: Logger.Metadata {
        var metadata = figures.mapValues { Logger.MetadataValue.stringConvertible($0) }
        for (name, value) in [("app", app), ("campaign", campaign), ("run", run)] where value != nil {
            metadata[name] = "\(value ?? "")"
        }
        return metadata
    }
}
