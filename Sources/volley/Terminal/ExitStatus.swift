import Base
import Runs

/// The exit code of a command. Scripts rely on the numbers.
public enum ExitStatus: Int32, Sendable {
    /// Done.
    case done = 0
    /// Done, but some recipients were rejected, failed or unknown, or got no push because it
    /// expired or was too late; or the result of something done could not be shown; or a backup
    /// lacks a file.
    case doneWithFailures = 1
    /// The command or a file is wrong; nothing was sent.
    case wrong = 2
    /// The run stopped early and can be resumed.
    case stopped = 3
    /// Interrupted; can be resumed.
    case interrupted = 130
}

/// Runs a command and turns an error into a message and an exit code. Only this function maps
/// errors to exit codes.
/// - Parameter isJSON: whether standard output must be one JSON document even after an error:
///   `{"errors": […]}`.
public func run(_ console: Console, isJSON: Bool, _ command: () throws -> ExitStatus) -> ExitStatus {
    do {
        try ZoneDatabase.system.refusePipe()
        try OpenFilesLimit.ensure()
        try MemoryLimit.ensure()
        try ThreadLimit.ensure()
        try Interruption.ensure()
        DatabaseWait.watch(Interruption.process) {
            console.warn("Another process is using \(FilePaths.inShell($0)). Volley waits for it.")
        }
        let status = try command()
        console.clearProgress()
        return status
    } catch is ClosedOutput {
        return .done
    } catch let error {
        // Another process held a file for as long as there was time to end.
        let isHeld = error is CancellationError || DatabaseWait.isInterrupted
        var mistakes = isHeld ? [] : Diagnostics(explaining: error).all
        // What was waited for when the end was requested, such as a silent store, fails soon after:
        // that is the interruption. The error is shown in case it is another one.
        let isInterrupted = isHeld || Interruption.isRequested
        if isInterrupted {
            let hasSent = SendingFlag.word.pointee != 0
            mistakes.append(Diagnostic("interrupted", remedy: hasSent ? nil : "Nothing was sent."))
        }
        report(mistakes, console, isJSON: isJSON)
        return isInterrupted ? .interrupted : .wrong
    }
}

private func report(_ mistakes: [Diagnostic], _ console: Console, isJSON: Bool) {
    for mistake in mistakes { console.fail(mistake.description) }
    // Standard output itself may have failed; then the message above is all.
    if isJSON { try? console.out(.object(pairs: [("errors", .array(mistakes.map(\.json)))])) }
}

/// Whether this process may have sent anything. This decides the exit code if the process cannot
/// continue.
public enum SendingFlag {
    /// 1 once something may have been sent. It is a separate word in memory, so that a signal
    /// handler can read it without Swift's runtime.
    ///
    /// `nonisolated(unsafe)`: it only changes from 0 to 1, and a reader that is a moment too early
    /// gets the value of that moment.
    public nonisolated(unsafe) static let word: UnsafePointer<Int32> = UnsafePointer(writable)

    private nonisolated(unsafe) static let writable: UnsafeMutablePointer<Int32> = {
        let word = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        word.initialize(to: 0)
        return word
    }()

    static func set() { writable.pointee = 1 }
}
