import Base
import Delivery
import PushServices
import Sending

extension RunProgress {
    /// A line for a person, such as
    /// `sending  45.2 %  9,040 of 20,000  500/s  22 s left  at the pace of 500/s  9,040 accepted`.
    /// The wait is before the outcomes, because a narrow terminal cuts the end.
    var line: String {
        var line = "sending  \(TextFormat.percent(total == 0 ? 1 : Double(done) / Double(total)))"
        line += "  \(TextFormat.count(done)) of \(TextFormat.count(total))  \(TextFormat.count(Int(rate)))/s"
        if rate >= 1, done < total { line += "  \(TextFormat.duration(seconds: Double(total - done) / rate)) left" }
        if let wait {
            line += "  \(wait.words(pace: pace, service: service.displayName, isOneOfSeveral: isOneOfSeveral))"
        }
        let parts = Outcome.allCases.compactMap { outcome in
            outcomes[outcome].flatMap { $0 > 0 ? "\(TextFormat.count($0)) \(outcome.name)" : nil }
        }
        return line + (parts.isEmpty ? "" : "  " + parts.joined(separator: ", "))
    }
}

extension SilentService {
    /// What a person reads when a service does not answer.
    var sentence: String {
        let time = TextFormat.span(seconds: Int64(seconds)), name = service.displayName
        let fact =
            isConnected
            ? "\(name) (\(endpoint)) has taken no push for \(time)"
            : "there has been no connection to \(name) (\(endpoint)) for \(time)"
        let wait = TextFormat.plural(waiting, one: "waits", many: "wait")
        return TextFormat.capitalized(
            "\(fact); \(service.recipients(waiting)) \(wait). Volley keeps trying; `volley doctor` shows what is wrong with the connection."
        )
    }
}

extension ProgressWait {
    /// The wait in a few words, for the progress line.
    /// - Parameters:
    ///   - pace: the campaign's pace; nil if it sets none.
    ///   - service: the name of the service that receives the pushes.
    ///   - isOneOfSeveral: whether others receive pushes at the same time.
    ///   - zone: the zone of times of day; nil for UTC, which is then named.
    func words(
        pace: Pace?, service: String = PushServices.standard.displayName, isOneOfSeveral: Bool = false,
        zone: @autoclosure () -> ZoneRules? = try? ZoneDatabase.system.machineZone
    ) -> String {
        switch self {
        case .runFile: "waiting for the disk, or a lock on the run file"
        case .delivery(.store): "waiting: the database that this run is shared through does not answer"
        case .delivery(.connection): "waiting for a connection to \(service)"
        case .delivery(.outage(let seconds)):
            "\(service) has taken no push for \(TextFormat.span(seconds: Int64(seconds))); trying again"
        case .delivery(.credential(let seconds, let trouble)):
            "waiting for a new token for \(service)"
                + (seconds < 10 ? "" : ", for \(TextFormat.span(seconds: Int64(seconds))) now")
                + (trouble.isEmpty ? "" : " (\(trouble))")
        case .delivery(.quota(let until)):
            "\(service) continues at \(zone().map { $0.localTime(at: until).timeOfDay } ?? "\(ZoneRules.utc.localTime(at: until).timeOfDay) UTC")"
        case .delivery(.canary(let answers)): "first pushes sent: waiting for \(Self.answers(answers))"
        case .delivery(.last(let answers, 0)): "waiting for the last \(Self.answers(answers))"
        case .delivery(.last(0, let again)):
            "\(service) refused the last \(TextFormat.count(again)) for now; trying again"
        case .delivery(.last(let answers, let again)):
            "waiting for the last \(Self.answers(answers)); \(TextFormat.count(again)) are tried again"
        case .delivery(.throttle(let rate)):
            "slower, as \(service) takes no more than \(TextFormat.count(max(1, Int(rate.rounded()))))/s now"
        case .delivery(.server): isOneOfSeveral ? "as fast as the services answer" : "as fast as \(service) answers"
        case .delivery(.pace):
            "at the pace" + (pace.map { " of \($0)\(isOneOfSeveral ? " for \(service)" : "")" } ?? "")
        }
    }

    private static func answers(_ count: Int) -> String { TextFormat.counted(count, one: "answer") }
}

/// Decides when to print a progress line where lines cannot be overwritten (a log, a pipe): once a
/// minute, later every ten minutes, and when sending is stuck or works again. A value; the caller
/// passes the time.
struct SparseProgress {
    /// How long trouble must last to be reported.
    private static let timeoutSeconds = 10.0
    private static let minute = 60.0, often = 600.0

    private var lastAt = 0.0
    private var troubleSince: Double?
    private var isTroubleTold = false

    /// Whether a line is due.
    /// - Parameter seconds: the time since the run began or continued.
    mutating func isDue(_ wait: ProgressWait?, at seconds: Double) -> Bool {
        let isTrouble = wait?.isTrouble ?? false
        troubleSince = isTrouble ? troubleSince ?? seconds : nil
        // News is the beginning of trouble, once it has lasted, and its end.
        let isNews = isTroubleTold ? !isTrouble : troubleSince.map { seconds - $0 >= Self.timeoutSeconds } ?? false
        guard isNews || seconds - lastAt >= (seconds <= Self.often ? Self.minute : Self.often) else { return false }
        isTroubleTold =
            isTrouble && (isNews || isTroubleTold || seconds - (troubleSince ?? seconds) >= Self.timeoutSeconds)
        lastAt = seconds
        return true
    }
}
