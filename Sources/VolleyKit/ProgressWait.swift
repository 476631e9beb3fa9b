import Base
import Delivery

/// What a run that is being sent waits for, in words for whoever looks at it.
enum ProgressWait: Hashable, Sendable {
    /// Something about the service or the pace.
    case delivery(SendWait)
    /// Answers are there and cannot be written into the run file.
    case runFile

    /// Whether nothing goes on until it ends.
    var isTrouble: Bool {
        switch self {
        case .delivery(.outage), .delivery(.connection), .runFile: true
        case .delivery: false
        }
    }

    /// A few words for the line of progress.
    /// - Parameter pace: the campaign's; nil when there is none.
    func words(pace: Pace?) -> String {
        switch self {
        case .runFile: "waiting for the disk, or a lock on the run file"
        case .delivery(.connection): "waiting for a connection to APNs"
        case .delivery(.outage(let seconds)): "APNs has taken no push for \(TextFormat.span(seconds: Int64(seconds))); trying again"
        case .delivery(.canary(let answers)): "the first go ahead: waiting for \(Self.answers(answers))"
        case .delivery(.last(let answers, 0)): "waiting for the last \(Self.answers(answers))"
        case .delivery(.last(0, let again)):
            "APNs refused the last \(TextFormat.count(again)) for now; they are tried again"
        case .delivery(.last(let answers, let again)):
            "waiting for the last \(Self.answers(answers)); \(TextFormat.count(again)) are tried again"
        case .delivery(.throttle(let rate)): "slower, as APNs takes no more than \(TextFormat.count(max(1, Int(rate.rounded()))))/s now"
        case .delivery(.server): "as fast as APNs answers"
        case .delivery(.pace): pace.map { "at the pace of \($0)" } ?? "at the pace"
        }
    }

    private static func answers(_ count: Int) -> String { "\(TextFormat.count(count)) answer\(count == 1 ? "" : "s")" }
}

/// When the progress is worth a line where lines stay (a log, a pipe): once a minute, later every ten, and when nothing goes on any more. A value that is told the time.
struct SparseProgress {
    /// Whatever passes sooner is not told.
    private static let patienceSeconds = 10.0
    private static let minute = 60.0, often = 600.0

    private var lastAt = 0.0
    private var troubleSince: Double?
    private var isTroubleTold = false

    /// Whether a line is due.
    /// - Parameter seconds: since the run began, or went on.
    mutating func isDue(_ wait: ProgressWait?, at seconds: Double) -> Bool {
        let isTrouble = wait?.isTrouble ?? false
        troubleSince = isTrouble ? troubleSince ?? seconds : nil
        // Its beginning and its end.
        let isNews = isTroubleTold ? !isTrouble : troubleSince.map { seconds - $0 >= Self.patienceSeconds } ?? false
        guard isNews || seconds - lastAt >= (seconds <= Self.often ? Self.minute : Self.often) else { return false }
        isTroubleTold = isTrouble && (isNews || isTroubleTold || seconds - (troubleSince ?? seconds) >= Self.patienceSeconds)
        lastAt = seconds
        return true
    }
}

/// Notices that answers are there and do not get into the run file. A value that is told the time.
struct RecordingWatch {
    private static let patienceSeconds = 2.0

    private var recorded = 0
    private var stuckSince: Double?

    /// Whether the same answers have waited for two seconds.
    /// - Parameters:
    ///   - answered: settlements that were handed over to be recorded.
    ///   - recorded: those that are on the disk.
    mutating func isStuck(answered: Int, recorded: Int, at seconds: Double) -> Bool {
        guard answered > recorded, recorded == self.recorded, let since = stuckSince else {
            (self.recorded, stuckSince) = (recorded, answered > recorded ? seconds : nil)
            return false
        }
        return seconds - since >= Self.patienceSeconds
    }
}
