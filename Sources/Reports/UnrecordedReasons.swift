import Base
import Runs

/// The reasons of recipients without a record: they follow from how far the run came. With them the
/// reasons of a report add up to the outcomes of all recipients that were not accepted.
struct UnrecordedReasons: Hashable, Sendable {
    /// For claimed recipients: their push may have been sent.
    let claimed: OwnReason
    /// Of those that were not.
    let unclaimed: OwnReason

    private init(claimed: OwnReason, unclaimed: OwnReason) { (self.claimed, self.unclaimed) = (claimed, unclaimed) }

    /// For a run that was put back from a backup before it had ended.
    static let sinceBackup = UnrecordedReasons(claimed: .processEnded, unclaimed: .notKnownSinceBackup)

    /// For a run that other machines send, or have sent, and that this file does not have
    /// completely.
    static let notFetched = UnrecordedReasons(claimed: .notKnownHere, unclaimed: .notKnownHere)

    /// - Parameters:
    ///   - state: of the run, or of its part that goes through a service.
    ///   - isInterrupted: whether Ctrl-C or SIGTERM ended it.
    /// - Returns: nil for a plan: its recipients have no outcomes yet.
    init?(_ state: RunState, isInterrupted: Bool) {
        switch state {
        case .planned: return nil
        case .running: (claimed, unclaimed) = (.awaitingAnswer, .notSentYet)
        case .paused: (claimed, unclaimed) = (.awaitingAnswer, .paused)
        case .cancelled: (claimed, unclaimed) = (.processEnded, .cancelled)
        case .stopped, .finished: (claimed, unclaimed) = (.processEnded, isInterrupted ? .interrupted : .stopped)
        }
    }

    /// The reasons for each of a run's services, by their numbers.
    /// - Parameter isHeld: whether it was put back from a backup before it had ended.
    static func ofServices(of run: RunFile, isHeld: Bool) throws -> [UnrecordedReasons?] {
        if isHeld { return Array(repeating: .sinceBackup, count: run.plan.serviceCount) }
        let status = try run.status()
        if try run.isNotFetched(status) { return Array(repeating: .notFetched, count: run.plan.serviceCount) }
        let stops = ServiceStops(status, try ServiceReport.stops(of: run, status))
        let services = try? run.plan.settings.get().services
        return (0..<run.plan.serviceCount).map { number in
            let state = services.map { stops.state(ofService: $0[number].serviceName) } ?? status.state
            return UnrecordedReasons(state, isInterrupted: status.cause == .interrupted)
        }
    }

    /// Recorded reasons in place of which the report gives that of unclaimed recipients. The reason
    /// why a recipient was unsent at a backup says nothing about the time since then. A recipient
    /// that was given back when the run was paused gets nothing because it was cancelled later.
    var replaced: Set<OwnReason> {
        switch unclaimed {
        case .notKnownSinceBackup: Set(OwnReason.allCases.filter { $0.outcome == .unsent })
        case .cancelled: OwnReason.givenBack
        default: []
        }
    }

    /// A recipient's reason.
    func reason(of result: StoredResult) -> String {
        let isReplaced =
            result.outcome == .unsent
            && OwnReason(rawValue: result.reason).map { replaced.contains($0) } ?? (self == .sinceBackup)
        guard !result.isRecorded || isReplaced else { return result.reason }
        return (result.outcome == .unknown ? claimed : unclaimed).rawValue
    }
}

extension RunFile {
    /// Whether other machines may have sent more than this file has. A run whose store has lost
    /// something is judged only by its file.
    func isNotFetched(_ status: RunStatus) throws -> Bool {
        guard status.state != .planned, try sharedSince() != nil else { return false }
        if case .ledger(let stop)? = status.cause, stop.isForgetting { return false }
        return true
    }
}

extension RunFigures {
    /// The same if other machines may have sent to recipients that are unsent here, but not
    /// permanently: they are unknown. Languages and variants are left out, as their division is
    /// also unknown.
    var asNotFetched: RunFigures {
        var figures = self
        var moved = figures.unrecorded.unclaimed
        figures.unrecorded.claimed += figures.unrecorded.unclaimed
        figures.unrecorded.unclaimed = 0
        for reason in OwnReason.givenBack {
            guard let count = figures.reasons.removeValue(forKey: reason.rawValue) else { continue }
            figures.reasons[OwnReason.notKnownHere.rawValue, default: 0] += count
            moved += count
        }
        figures.outcomes[.unsent, default: 0] -= moved
        figures.outcomes[.unknown, default: 0] += moved
        figures.groups = nil
        figures.services = services.map(\.asNotFetched)
        return figures
    }

    /// Recipients by reason, including those without a record.
    func reasons(_ unrecorded: UnrecordedReasons?) -> [String: Int] {
        guard let unrecorded else { return reasons }
        var all = reasons
        for reason in unrecorded.replaced {
            guard let count = all.removeValue(forKey: reason.rawValue) else { continue }
            all[unrecorded.unclaimed.rawValue, default: 0] += count
        }
        for (reason, count) in [
            (unrecorded.claimed, self.unrecorded.claimed), (unrecorded.unclaimed, self.unrecorded.unclaimed),
        ]
        where count > 0 { all[reason.rawValue, default: 0] += count }
        return all
    }
}

/// The services of a run that stopped, and the consequences for each service.
struct ServiceStops {
    private let status: RunStatus
    /// Why services stopped while others were still sent to, by their names.
    private let ofSegments: [String: StopCause]

    init(_ status: RunStatus, _ ofSegments: [String: StopCause]) {
        (self.status, self.ofSegments) = (status, ofSegments)
    }

    /// Why services stopped, by their names; nil when the run did not stop for that.
    var ofRun: [String: StopCause]? {
        guard case .services(let partial)? = status.cause else { return nil }
        return Dictionary(partial.stopped.map { ($0.service, $0.cause) }) { first, _ in first }
    }

    /// Why a service stopped by itself; nil when it did not.
    func cause(ofService name: String) -> StopCause? { (ofRun ?? ofSegments)[name] }

    /// The run's state, except that a service which stopped is `stopped`, and one that was sent to
    /// until its end is `finished` although others stopped.
    func state(ofService name: String) -> RunState {
        if cause(ofService: name) != nil { return .stopped }
        return ofRun == nil ? status.state : .finished
    }
}
