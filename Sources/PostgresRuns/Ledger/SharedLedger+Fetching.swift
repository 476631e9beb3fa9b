import Base
import Runs
import Synchronization

extension SharedLedger {
    /// Takes over into the run's own file what members have recorded.
    package func fetch() throws {
        let hasEnded = try ask { try row($0) }.state.hasEnded
        try checkMembersOfJournal()
        try refresh()
        try keepOwnClaims()
        // Nothing is claimed after the end.
        if hasEnded, isAtHome { try replica.noteFetched() }
    }

    /// Cancels the run for all, if it goes on, and fetches: for a process that takes no part in it. Nothing is claimed after this.
    package func cancelAndFetch() throws {
        if [.running, .paused].contains(try ask({ try row($0) }).state) {
            try change(to: .cancelled, cause: .cancelled, at: .now(), from: [.running, .paused])
        }
        try awaitLastAnswers()
        // Nobody may be left but the file who knows what the store has forgotten.
        try ask { try compareFile($0) }
        try fetch()
    }

    // MARK: - Others that leave

    /// How long members that beat are given to record the last answers once a run was stopped or cancelled, which is longer than any answer takes; and how long
    /// beats may stand still, of which one may fail, before nobody is expected to record anything. Seconds.
    static let leavingSeconds = 60.0
    private static let stillSeconds = 8.0
    private static let lookMilliseconds = 100
    /// The same where a person asks for the end while the store refuses something: the others may be unable to record anything there although they beat.
    private static let leavingInTroubleSeconds = 3.0
    /// A look that takes longer says that the database was away, for members as well; seconds.
    private static let longestLookSeconds = 1.0

    /// Waits until others have recorded the last answers of a run that was stopped or cancelled. Of one that has finished all are there.
    /// - Parameter waiting: called at each look after the first second, with the machines that are waited for.
    package func awaitLastAnswers(waiting: ([String]) -> Void = { _ in }) throws {
        guard [.stopped, .cancelled].contains(try ask({ try row($0) }).state) else { return }
        let me = state.withLock { $0.sender }, start = Self.seconds()
        var beats: [Int: Int64] = [:], beatenAt = start, lookedAt = start
        while true {
            let others = try members().filter { $0.key != me }, now = Self.seconds()
            let next = others.mapValues(\.beat)
            if next != beats || now > lookedAt + Self.longestLookSeconds { (beats, beatenAt) = (next, now) }
            lookedAt = now
            let isHurried = store.patience.isAsked && store.patience.isTroubled
            let seconds = isHurried ? Self.leavingInTroubleSeconds : Self.leavingSeconds
            if others.isEmpty || now > beatenAt + Self.stillSeconds || now > start + seconds { return }
            if now > start + 1 { waiting(others.values.map(\.machine).sorted()) }
            store.patience.pause(milliseconds: Self.lookMilliseconds)
        }
    }
}
