public import Base
import Delivery

/// What all runs of one process share: the paces of their apps, and the tokens that were signed
/// with their keys. Make one per process.
///
/// ```swift
/// let context = SendingContext(threads: 2)
/// ```
public struct SendingContext: Sendable {
    let paces = PaceRegistry()
    let signedTokens = SignedTokenHistory()
    /// This machine's clock, or the store's once one was asked: machines that send a run together
    /// go by the same, however their own are set.
    let clock = CommonClock()
    /// The most threads that deliver a run; nil for one per core.
    let threads: Int?
    /// Ends what happens before a run begins, such as the fetch of a token.
    let cancellation: Cancellation?

    /// Creates the context of a process that has sent nothing yet.
    public init(threads: Int? = nil, cancellation: Cancellation? = nil) {
        (self.threads, self.cancellation) = (threads, cancellation)
    }
}
