package import Base

/// What the store does not give, though it answers.
package enum StoreRefusal: ExplainedError, Hashable {
    /// Some of these recipients are claimed already: the database holds claims apart.
    case claimedAlready(Range<Int>)
    /// It has just come up, and may have forgotten which run has a time (`FiringBarrier`).
    case quiet

    package var diagnostics: [Diagnostic] {
        switch self {
        case .claimedAlready(let ids):
            return [
                Diagnostic(
                    "the account of this run does not add up: some of the recipients \(ids.lowerBound) to \(ids.upperBound - 1) are claimed already",
                    remedy: "Nothing more is sent. Please report this.")
            ]
        case .quiet:
            let seconds = Int(FiringBarrier.quietSeconds)
            return [
                Diagnostic(
                    "the store has just come up: in its first \(seconds) seconds machines write there again which times they have sent; "
                        + "nothing was sent", remedy: "Try again in \(seconds) seconds.")
            ]
        }
    }
}
