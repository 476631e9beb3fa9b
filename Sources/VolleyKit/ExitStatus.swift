import Base

/// What a command's exit code says. Scripts rely on the numbers.
public enum ExitStatus: Int32, Sendable {
    /// Done.
    case done = 0
    /// Done, but some recipients were rejected, failed or unknown.
    case doneWithFailures = 1
    /// The command or a file is wrong; nothing was sent.
    case wrong = 2
    /// The run stopped early and can be resumed.
    case stopped = 3
    /// Interrupted; can be resumed.
    case interrupted = 130
}

/// Runs a command and turns whatever it throws into a message and an exit code: the one place where errors meet exit codes.
public func run(_ console: Console, _ command: () throws -> ExitStatus) -> ExitStatus {
    do {
        let status = try command()
        console.clearProgress()
        return status
    } catch let mistakes as Diagnostics {
        for mistake in mistakes.all { console.warn(mistake.description) }
    } catch let mistake as Diagnostic {
        console.warn(mistake.description)
    } catch is ReaderGone {
        return .done
    } catch is CancellationError {
        console.warn("Interrupted. Nothing was sent.")
        return .interrupted
    } catch {
        console.warn("volley: \(error)")
    }
    return .wrong
}
