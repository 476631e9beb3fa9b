import Base
public import Delivery

/// What a run that is being sent waits for.
public enum ProgressWait: Hashable, Sendable {
    /// Something about the service or the pace.
    case delivery(SendWait)
    /// Answers have arrived and cannot be written into the run file.
    case runFile

    /// Whether the run makes no progress until the wait ends.
    public var isTrouble: Bool {
        switch self {
        case .delivery(.store), .delivery(.outage), .delivery(.connection), .delivery(.quota), .delivery(.credential), .runFile: true
        case .delivery: false
        }
    }
}

/// Notices when answers arrive but are not written into the run file. A value; the caller passes the time.
struct RecordingWatch {
    private static let patienceSeconds = 2.0

    private var recorded = 0
    private var stuckSince: Double?

    /// Whether the same answers have waited for two seconds.
    /// - Parameters:
    ///   - answered: how many settlements were handed over to be recorded.
    ///   - recorded: how many settlements are on the disk.
    mutating func isStuck(answered: Int, recorded: Int, at seconds: Double) -> Bool {
        guard answered > recorded, recorded == self.recorded, let since = stuckSince else {
            self.recorded = recorded
            stuckSince = answered > recorded ? seconds : nil
            return false
        }
        return seconds - since >= Self.patienceSeconds
    }
}
