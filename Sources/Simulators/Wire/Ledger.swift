import Base
import Glibc

/// What the simulator saw: figures in memory, and lines in a file if one is configured. Only the
/// server's thread uses it.
struct Ledger {
    private var summary = LedgerSummary()
    private var isChanged = false
    private var tokens = TokenTable()
    let file: LedgerFile?
    private var second: Int64 = 0
    private var acceptedInSecond = 0

    init(file: LedgerFile?) { self.file = file }

    /// Counts a request and its pushes when its answer is decided.
    mutating func count(_ request: PushRequest, by rules: any ServiceRules, now: Timestamp) {
        isChanged = true
        summary.requests += 1
        for push in 0..<request.pushCount {
            count(request.answer(to: push), marks: rules.marks(of: push, in: request), now: now)
        }
    }

    /// Counts a push.
    /// - Parameter marks: what tells an accepted push from others.
    private mutating func count(_ answer: Answer, marks: @autoclosure () -> LedgerMarks?, now: Timestamp) {
        guard answer.isAccepted else {
            summary.reasons[answer.reason, default: 0] += 1
            return
        }
        summary.accepted += 1
        if now.epochSeconds != second { (second, acceptedInSecond) = (now.epochSeconds, 0) }
        acceptedInSecond += 1
        summary.peakPerSecond = max(summary.peakPerSecond, acceptedInSecond)
        guard let marks = marks() else { return }
        switch tokens.insert(marks.target, id: marks.id) {
        case .none: summary.acceptedTokens += 1
        case .newID: summary.repeatedTokens += 1
        case .sameID: summary.repeatedIDs += 1
        case .known: break
        }
    }

    mutating func countRefusedStream() {
        isChanged = true
        summary.refusedStreams += 1
    }

    mutating func countResetStream() {
        isChanged = true
        summary.resetStreams += 1
    }

    mutating func countStreamLimitViolation() {
        isChanged = true
        summary.streamLimitViolations += 1
    }

    mutating func countPing() {
        isChanged = true
        summary.pings += 1
    }

    mutating func countConnection() {
        isChanged = true
        summary.connections += 1
    }

    mutating func setProviderTokens(_ count: Int) { summary.providerTokens = count }

    /// The figures; nil if they have not changed since the last call.
    mutating func takeChangedSummary() -> LedgerSummary? {
        guard isChanged else { return nil }
        isChanged = false
        return summary
    }

    /// Whether lines wait to be written.
    var isFileDirty: Bool { file?.isDirty ?? false }

    /// Writes the waiting lines to the file.
    func flush() { file?.flush() }
}

/// The figures of what a simulator saw.
public struct LedgerSummary: Hashable, Sendable {
    /// Requests that were answered, or processed without an answer. With some services a request
    /// carries several pushes.
    public var requests = 0
    /// Pushes accepted, answered or not.
    public var accepted = 0
    /// Distinct tokens among the accepted.
    public var acceptedTokens = 0
    /// Tokens accepted more than once under different apns-ids, and under the same apns-id. Each
    /// push is compared with the first of its token.
    public var repeatedTokens = 0, repeatedIDs = 0
    /// Refused pushes by reason.
    public var reasons: [String: Int] = [:]
    /// The most pushes accepted in one second of the clock.
    public var peakPerSecond = 0
    /// Streams reset with REFUSED_STREAM: beyond a stream limit that the client had not
    /// acknowledged yet, or by `SimulatorFaults.refusedStreamEvery`. Not among `requests`.
    public var refusedStreams = 0
    /// Streams reset with another code, by `SimulatorFaults.resetEvery` and `resetAcceptedEvery`.
    /// Only the latter are among `requests`.
    public var resetStreams = 0
    /// Streams opened beyond a stream limit that the client had acknowledged. That is a client
    /// error, and ends the connection. Not among `requests`.
    public var streamLimitViolations = 0
    /// PINGs from clients, without their answers to the simulator's PINGs.
    public var pings = 0
    /// Connections that completed the TLS handshake.
    public var connections = 0
    /// Distinct provider tokens (compared by their bytes) that were accepted.
    public var providerTokens = 0

    /// A summary without any requests.
    public init() {}
}

/// A file of JSON Lines, with one object per push, in the order of the answers: `time_ms`,
/// `connection`, `stream`, the members of the service (`ServiceRules.describe`), `payload` if
/// configured, and `answered`. `answered` is false if no answer was passed to the connection. A
/// connection that was cut may also have lost answers with `answered` true.
///
/// The pushes of one request follow one another with the same connection and stream; the first of
/// them has the payload.
///
/// The file is written in large pieces, at least ten times a second. It is closed on `deinit`. A
/// pipe or a terminal is written through; what it does not take at once is dropped.
final class LedgerFile {
    private enum Target {
        case file(Int32)
        case stream(OutputPlace)
    }

    private let target: Target
    private let recordsPayloads: Bool
    private var lines: [UInt8] = []
    private static let pieceBytes = 256 << 10

    /// Creates the file, or empties the ledger of an earlier simulator.
    /// - Throws: a `Diagnostic` if it cannot be written, is nothing that outputs go to
    ///   (`OutputPlace`), or contains something other than a ledger.
    init(path: String, recordsPayloads: Bool) throws(Diagnostic) {
        self.recordsPayloads = recordsPayloads
        switch try OutputPlace(path) {
        case .file(let file): target = .file(try Self.opened(file))
        case let place: target = .stream(place)
        }
        lines.reserveCapacity(Self.pieceBytes + 16384)
    }

    private static func opened(_ path: String) throws(Diagnostic) -> Int32 {
        // O_NONBLOCK: opening a named pipe must not hang before it can be refused.
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        var status = stat()
        if descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
            !isLedger(descriptor)
        {
            close(descriptor)
            throw Diagnostic(
                "the file already exists and is not a ledger", file: path, remedy: "Name another file with --ledger.")
        }
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            ftruncate(descriptor, 0) == 0
        else {
            let error = FileError.system(errno)
            if descriptor >= 0 { close(descriptor) }
            throw error.diagnostic(
                "the ledger cannot be written", file: path, remedy: "Name a file in a folder that you may write to.")
        }
        return descriptor
    }

    deinit { if case .file(let descriptor) = target { close(descriptor) } }

    private static let beginning = "{\"time_ms\":"

    private static func isLedger(_ descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: beginning.utf8.count)
        return pread(descriptor, &bytes, bytes.count, 0) == bytes.count && bytes.elementsEqual(beginning.utf8)
    }

    /// Whether lines wait to be written.
    var isDirty: Bool { !lines.isEmpty }

    /// Adds a line for each push of a request.
    func append(
        _ request: PushRequest, describedBy rules: any ServiceRules, connection: Int, isAnswered: Bool, now: Timestamp
    ) {
        for push in 0..<request.pushCount {
            begin(request, connection: connection, now: now)
            rules.describe(push, of: request, in: self)
            end(request, hasPayload: push == 0, isAnswered: isAnswered)
        }
    }

    /// Begins the line of a push. What follows are members that each begin with a comma, and `end`.
    private func begin(_ request: PushRequest, connection: Int, now: Timestamp) {
        add("{\"time_ms\":")
        add(number: Int(now.epochMilliseconds))
        add(",\"connection\":")
        add(number: connection)
        add(",\"stream\":")
        add(number: Int(request.streamID))
    }

    /// Ends the line.
    private func end(_ request: PushRequest, hasPayload: Bool, isAnswered: Bool) {
        if recordsPayloads, hasPayload { add(",\"payload\":", request.payload) }
        add(isAnswered ? ",\"answered\":true}\n" : ",\"answered\":false}\n")
        if lines.count >= Self.pieceBytes { flush() }
    }

    /// Writes all lines. A full disk, or a pipe that nothing reads, ends the ledger, not the
    /// simulation: lines that cannot be written are dropped.
    func flush() {
        guard isDirty else { return }
        switch target {
        case .file(let descriptor): _ = WriteAll.write(lines, to: descriptor)
        case .stream(let place):
            do throws(FileError) { try StreamOutput(place, .none).write(lines) } catch {}
        }
        lines.removeAll(keepingCapacity: true)
    }

    func add(_ text: StaticString) {
        lines.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Adds text that needs no escapes.
    func add(plain text: String) { lines.append(contentsOf: text.utf8) }

    func add(number: Int) {
        guard number >= 10 else {
            lines.append(UInt8(ascii: "0") + UInt8(max(0, number)))
            return
        }
        let start = lines.count
        var rest = number
        while rest > 0 {
            lines.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        lines[start...].reverse()
    }

    /// Adds a member with text of the request as its value, or null.
    func add(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>?) {
        add(name)
        guard let value else {
            add("null")
            return
        }
        lines.append(UInt8(ascii: "\""))
        if value.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            lines.append(contentsOf: value)
        } else {
            // The line must be valid JSON whatever a faulty sender wrote.
            for byte in String(decoding: value, as: UTF8.self).utf8 { addEscaped(byte) }
        }
        lines.append(UInt8(ascii: "\""))
    }

    /// Adds a member with a text as its value, or null.
    func add(_ name: StaticString, text: String?) {
        guard var text else { return add(name, nil) }
        text.withUTF8 { add(name, $0) }
    }

    private func addEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            lines.append(UInt8(ascii: "\\"))
            lines.append(byte)
        case 0..<0x20, 0x7F:
            add("\\u00")
            for digit in [byte >> 4, byte & 15] {
                lines.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        default: lines.append(byte)
        }
    }
}
