import Base
import Delivery
import Runs
import Testing

@testable import Sending

@Suite("what earlier waves of a run mean for the next")
struct EarlierSendingsTests {
    private func figures(_ outcomes: [Outcome: Int], bad: Int = 0) -> RunFigures {
        var figures = RunFigures()
        figures.outcomes = outcomes
        figures.reasons = ["BadDeviceToken": bad]
        return figures
    }

    private func limits(after: Int) -> StopLimits {
        var limits = StopLimits()
        limits.shares[.invalidToken] = StopShare(millionths: 100_000)
        limits.after = after
        return limits
    }

    @Test("a canary goes on from wave to wave until it has enough answers; then the next begins one of its own")
    func canary() {
        var sendings = EarlierSendings(nil, nil)
        #expect(sendings.answers(nil) == EarlierAnswers())
        let first = figures([.invalidToken: 45, .unsent: 300], bad: 40)
        sendings.noteEnd(first)
        #expect(sendings.answers(first).canary == 45 && sendings.answers(first).ambiguous == 40)
        let second = figures([.accepted: 90, .rejected: 3, .invalidToken: 45], bad: 40)
        sendings.noteEnd(second)
        #expect(sendings.answers(second).canary == 0 && sendings.answers(second).ambiguous == 0)
        let third = figures([.accepted: 100, .rejected: 5, .invalidToken: 45], bad: 40)
        #expect(sendings.answers(third).canary == 12 && sendings.answers(third).rejected == 2)
    }

    @Test("the campaign's limits hold for the whole run; who goes on with one that had passed them has decided so")
    func epochs() {
        let before = figures([.accepted: 70, .invalidToken: 30])
        #expect(EarlierSendings(limits(after: 200), before).answers(before).judged[.invalidToken] == 30)
        let now = figures([.accepted: 75, .invalidToken: 32])
        #expect(EarlierSendings(limits(after: 100), before).answers(now).judged == [.accepted: 5, .invalidToken: 2])
        // An epoch judges only its own canary.
        #expect(EarlierSendings(limits(after: 200), before).answers(now).canary == 7)
    }
}
