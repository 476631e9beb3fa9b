import Base
import Testing

@testable import Sending

@Suite("what is recorded of those who are sent to again")
struct SendStateTests {
    private func settled(_ recipient: Int, _ outcome: Outcome, reason: String = "") -> Settlement {
        Settlement(recipient: recipient, outcome: outcome, reason: reason, attempts: 1, settledAt: .now())
    }

    @Test(
        "who may have got it before is unknown when it is not sent, or refused, this time; what is accepted or gone stays so"
    )
    func inDoubt() throws {
        let state = try SendState(total: 10, settled: [:])
        state.noteInDoubt([0, 1, 2, 3, 4, 5])
        let outcomes: [Outcome] = [.unsent, .failed, .accepted, .invalidToken, .rejected, .unknown, .unsent, .failed]
        let completed = state.completed(outcomes.enumerated().map { settled($0, $1, reason: "Reason") })
        #expect(
            completed.map(\.outcome) == [
                .unknown, .unknown, .accepted, .invalidToken, .unknown, .unknown, .unsent, .failed,
            ])
        let same = [String](repeating: "Reason", count: 3)
        #expect(completed.map(\.reason) == ["NoAnswer"] + same + ["RefusedAgain"] + same)
    }

    @Test("attempts of all times are added up, once")
    func attempts() throws {
        let state = try SendState(total: 10, settled: [:])
        #expect(state.completed([settled(0, .unsent)]).map(\.attempts) == [1])
        state.noteAttempts([0: 2, 1: 5])
        #expect(state.completed([settled(0, .unsent), settled(2, .accepted)]).map(\.attempts) == [3, 1])
        #expect(state.completed([settled(0, .accepted), settled(1, .accepted)]).map(\.attempts) == [1, 6])
    }
}
