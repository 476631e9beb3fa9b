import Base
import Delivery

/// What all runs of one process share: the pace of their apps, and the tokens that were signed with their keys. Make one per process.
public struct SendingContext: Sendable {
    let paces = PaceRegistry()
    let signedTokens = SignedTokenHistory()
    /// Threads that deliver a run at most; nil for as many as there are cores.
    let threads: Int?

    /// Of a process that has sent nothing yet.
    public init(threads: Int? = nil) { self.threads = threads }
}
