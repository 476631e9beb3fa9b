package import Base
import Postgres
import Runs
import Synchronization

/// A run whose store has forgotten something, or may have: it goes on from its file alone.
extension SharedLedger {
    /// Why nobody may go on with the run through the store; nil while members may.
    package func forgetting() throws -> LedgerStop? { try ask { try row($0).forgetting } }

    /// Takes the run out of the store's hands: waits for members that are still there, takes over into its file all that the store has, and notes on both
    /// sides that from now on the file alone counts. Whoever the file or the journal show as claimed is claimed.
    /// - Parameter waiting: called with the machines that are waited for, at each look.
    /// - Throws: `Diagnostic`; `CancellationError`. Some of it may have been taken over then, and the next call goes on.
    package func takeHome(at now: Timestamp, waiting: ([String]) -> Void = { _ in }) throws {
        try requireAbsence(for: "resumed", leavingSeconds: Self.leavingSeconds, silent: waiting)
        try ask { connection in
            try connection.run(
                "UPDATE volley_run SET taken_home = $2 WHERE number = $1 AND taken_home = ''", [.int(run), .text(MachineName.process)],
                within: asking.answerSeconds)
        }
        try refresh()
        try replica.goOnWithoutStore(at: now)
    }

    /// Counts as claimed, in the run's file, what this process has claimed itself and the store has forgotten.
    func keepOwnClaims() throws {
        let own = ownClaims.withLock { $0 }
        guard isAtHome, !own.isEmpty, try ask({ try hasForgotten($0) }) else { return }
        try replica.takeAsClaimed(own.ranges, at: .now())
    }
}

extension CommitMemory {
    /// Of a member that has a run's file.
    init(_ marks: [FetchMark]) {
        var known: [String: Row] = [:]
        for mark in marks {
            if mark.lane == 0 {
                known["\(mark.sender)", default: Row()].claims = Int64(mark.number)
            } else {
                known["\(mark.sender)", default: Row()].outcomes = Int64(mark.number)
            }
        }
        self.init(known: known)
    }
}
