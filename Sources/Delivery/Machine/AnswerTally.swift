import Base

/// The outcomes of pushes with a final answer from the service, counted for the campaign's own
/// limits (`delivery.stop_when`).
struct AnswerTally: Hashable, Sendable {
    var accepted = 0
    var invalidToken = 0
    var rejected = 0
    var failed = 0

    /// The number of all answers. A push that is unknown or unsent has none.
    var answers: Int { accepted + invalidToken + rejected + failed }

    mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .accepted: accepted += 1
        case .invalidToken: invalidToken += 1
        case .rejected: rejected += 1
        case .failed: failed += 1
        case .unknown, .unsent: break
        }
    }

    subscript(outcome: Outcome) -> Int {
        switch outcome {
        case .accepted: accepted
        case .invalidToken: invalidToken
        case .rejected: rejected
        case .failed: failed
        case .unknown, .unsent: 0
        }
    }

    static func + (left: AnswerTally, right: AnswerTally) -> AnswerTally {
        AnswerTally(
            accepted: left.accepted + right.accepted, invalidToken: left.invalidToken + right.invalidToken,
            rejected: left.rejected + right.rejected, failed: left.failed + right.failed)
    }
}

extension AnswerTally {
    /// Creates a tally from earlier counts.
    init(_ outcomes: [Outcome: Int]) {
        self.init(
            accepted: outcomes[.accepted, default: 0], invalidToken: outcomes[.invalidToken, default: 0],
            rejected: outcomes[.rejected, default: 0], failed: outcomes[.failed, default: 0])
    }
}
