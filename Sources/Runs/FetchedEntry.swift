package import Base

/// What a member of a shared run has recorded in the store, as the run file takes it.
package enum FetchedEntry: Hashable, Sendable {
    /// A life of the run began: what was answered before is judged apart.
    case life
    /// The run paused or waits for its next wave.
    case rest
    /// Recipients were claimed; who of them gets nothing, ascending.
    case claim(Range<Int>, unsent: [Settlement], at: Timestamp)
    /// Outcomes.
    case outcomes([Settlement])
    /// Outcomes that were taken back, ascending.
    case reopened([Int], resendsUnknown: Bool, at: Timestamp)
    /// Recipients that wait for another time, or for whom it is too late.
    case deferred(Range<Int>, OwnReason, isTooLate: Bool, at: Timestamp)
    /// Requests that were named before they left, with numbers of the store.
    case calls([NamedCall])
    /// Numbers of calls that say nothing more.
    case forgotten([Int])
    /// Receipts of a service's answers.
    case receipts([String], service: Int)
}

/// How far a run file has taken over what a member recorded in the store.
package struct FetchMark: Hashable, Sendable {
    /// The member's number in the store, and which of its sequences of numbers this is about.
    package var sender: Int, lane: Int
    /// The number of its last entry that was taken over.
    package var number: Int

    package init(sender: Int, lane: Int, number: Int) { (self.sender, self.lane, self.number) = (sender, lane, number) }
}
