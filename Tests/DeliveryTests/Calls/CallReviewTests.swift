import Base
import PushServices
import Testing

@testable import Delivery

/// Recipients 0 to 9 were claimed by a process that was killed, and have no outcome.
@Suite("what a killed process left at a service that recognizes repeats")
struct CallReviewTests {
    private let now = Timestamp(epochSeconds: 1_800_000_000)
    private let names = FetchedNames(mostAtATime: 10, lifetimeSeconds: 86_400, path: { "\($0)" }, read: { _ in nil })

    private func call(_ number: Int, _ name: String, _ recipients: [Int], age seconds: Double = 60) -> NamedCall {
        NamedCall(number: number, name: name, namedAt: now.adding(seconds: -seconds), recipients: recipients)
    }

    private func review(_ calls: [NamedCall], lost: [Range<Int>] = [0..<10], _ outcomes: [Int: Outcome] = [:])
        -> CallReview
    {
        CallReview(calls, lost: lost, names: names, at: now) { ids in outcomes.filter { ids.contains($0.key) } }
    }

    @Test("who is in no call was not sent to")
    func unsent() {
        let review = review([])
        #expect(review.unsent == Array(0..<10) && review.unknown.isEmpty && review.repeats.isEmpty)
    }

    @Test("a call is sent again as it was, and the others are unsent")
    func repeated() {
        let call = call(1, "a", [4, 2, 6])
        let review = review([call])
        #expect(review.repeats == [call])
        #expect(review.unsent == [0, 1, 3, 5, 7, 8, 9] && review.unknown.isEmpty)
        #expect(review.over.isEmpty)
    }

    @Test("a call whose name the service may have forgotten leaves its recipients unknown")
    func old() {
        let review = review([
            call(1, "a", [1, 2], age: 86_400 * 23 / 24 + 1), call(2, "b", [3], age: 86_400 * 23 / 24 - 1),
        ])
        #expect(review.unknown == [1, 2])
        #expect(review.repeats.map(\.name) == ["b"])
        #expect(review.over == [1])
    }

    @Test("calls whose recipients are all settled are over")
    func settled() {
        let review = review([call(1, "a", [10, 11])])
        #expect(review.over == [1] && review.repeats.isEmpty && review.unsent.count == 10)
    }

    @Test("a call of which some are settled is not repeated, as its answer came: the others are unknown")
    func halfRecorded() {
        let review = review([call(1, "a", [8, 9, 10])])
        #expect(review.repeats.isEmpty)
        #expect(review.unknown == [8, 9] && review.unsent.count == 8)
    }

    @Test(
        "a call of which only targets that are none are settled was refused because of them: nothing was sent to the others"
    )
    func refusedInPart() {
        let refused = call(1, "a", [8, 9, 10, 11]), accepted = call(2, "b", [6, 7, 12, 13])
        let review = review(
            [refused, accepted], [10: .invalidToken, 11: .invalidToken, 12: .invalidToken, 13: .accepted])
        #expect(review.repeats.isEmpty && review.over == [1, 2])
        #expect(review.unknown == [6, 7] && review.unsent == [0, 1, 2, 3, 4, 5, 8, 9])
    }

    @Test(
        "of a call that was refused and divided only the later calls count, and who is in none of them was not sent to")
    func divided() {
        let later = call(2, "b", [0, 1])
        let review = review([call(1, "a", [0, 1, 2, 3]), later])
        #expect(review.repeats == [later])
        #expect(review.unsent == Array(2..<10) && review.unknown.isEmpty)
        #expect(review.over == [1])
    }

    @Test(
        "who may have a push under an earlier name stays unknown without a call of their own, and is repeated with one")
    func doubted() {
        let doubt = call(1, "", [0, 1]), again = call(2, "b", [1])
        let review = review([doubt, again])
        #expect(review.unknown == [0])
        #expect(review.repeats == [again])
        #expect(review.unsent == Array(2..<10))
        #expect(review.over.isEmpty, "the doubt about recipient 1 is not over")
    }

    @Test("pushes with derived names go again, unless the service may have forgotten them")
    func derived() {
        let calls = [call(1, "1", [0, 1], age: 100), call(2, "2", [1], age: 10), call(3, "1", [20], age: 1000)]
        func review(claimed seconds: Double) -> CallReview {
            CallReview(
                calls, lost: [0..<3], windowSeconds: 60, claimedAt: { _ in now.adding(seconds: -seconds) }, at: now)
        }
        #expect(review(claimed: 200).unknown == [0, 2], "1 was given its last name ten seconds ago")
        #expect(review(claimed: 30).unknown == [0], "0 was given its last name before the window")
        #expect(review(claimed: 30).unsent.isEmpty && review(claimed: 30).repeats.isEmpty)
        #expect(CallReview.generations(of: calls) == [0: 1, 1: 2, 20: 1])
    }

    @Test(
        "who left last in a request that named a text is unknown, however new it is; a later generation is recognized")
    func texts() {
        let calls = [
            call(1, CallReview.textName, [0, 1, 2], age: 10), call(2, "2", [1], age: 5), call(3, "1", [3], age: 9),
            call(4, CallReview.textName, [3], age: 4),
        ]
        let review = CallReview(
            calls, lost: [0..<5], windowSeconds: 60, claimedAt: { _ in now.adding(seconds: -20) }, at: now)
        #expect(review.unknown == [0, 2, 3])
        #expect(CallReview.generations(of: calls) == [1: 2, 3: 1])
    }
}
