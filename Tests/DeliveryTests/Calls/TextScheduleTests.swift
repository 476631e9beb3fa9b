import Base
import PushServices
import Testing

@testable import Delivery

@Suite("when texts are handed to a service that keeps them")
struct TextScheduleTests {
    private let start = Moment(nanoseconds: 1_000_000_000, wall: Timestamp(epochSeconds: 1_800_000_000))

    private func question(_ request: Int, _ text: String?) -> NameRequest {
        NameRequest(
            client: 0, request: request, number: request, recipients: [request], generation: 3,
            text: text.map { Array($0.utf8) })
    }

    private func committed(_ step: CallSchedule.Step) -> [NameReply] {
        if case .commit(let answers) = step { answers } else { [] }
    }

    private func name(_ text: String, seconds: Double = 100) -> RequestName {
        RequestName(text: text, usableUntil: start.wall.adding(seconds: seconds))
    }

    private func after(_ seconds: Double) -> Moment { start.adding(nanoseconds: Int64(seconds * 1e9)) }

    @Test("a text is handed over once, and every request that names it is on record as one that is not recognized")
    func once() {
        var schedule = CallSchedule(.derived(windowSeconds: 60))
        schedule.ask(question(1, "a"))
        schedule.ask(question(2, nil))
        #expect(committed(schedule.next(at: start)).map(\.call?.name) == ["3"], "a generation does not wait for a text")
        #expect(schedule.next(at: start) == .keep(text: Array("a".utf8)))
        #expect(
            schedule.firstRecipient(of: Array("a".utf8)) == 1, "whose push gives its id to the text of a tracked run")
        schedule.kept(Array("a".utf8), name("T1"))
        schedule.ask(question(4, "a"))
        let answers = committed(schedule.next(at: start))
        #expect(answers.map(\.request) == [1, 4] && answers.map { $0.name?.text } == ["T1", "T1"])
        #expect(
            answers.map(\.call)
                == [1, 4].map { NamedCall(name: CallReview.textName, namedAt: start.wall, recipients: [$0]) })
        #expect(schedule.next(at: start) == .wait(until: nil))
    }

    @Test("a text is handed over again when its name is over, and when it may be forgotten; another text is not")
    func again() {
        var schedule = CallSchedule(.derived(windowSeconds: 60))
        schedule.kept(Array("a".utf8), name("T1"))
        schedule.kept(Array("b".utf8), name("T2", seconds: 1000))
        schedule.forgetText(name: "T3")
        schedule.ask(question(1, "a"))
        #expect(committed(schedule.next(at: start)).count == 1)
        schedule.ask(question(2, "a"))
        #expect(schedule.next(at: after(100)) == .keep(text: Array("a".utf8)))
        schedule.kept(Array("a".utf8), name("T4", seconds: 1000))
        schedule.forgetText(name: "T4")
        #expect(schedule.next(at: after(100)) == .keep(text: Array("a".utf8)))
        schedule.ask(question(3, "b"))
        #expect(committed(schedule.next(at: after(100))).map { $0.name?.text } == ["T2"])
    }

    @Test("a text that the service does not take is asked for once, and nothing is recorded")
    func refused() {
        var schedule = CallSchedule(.derived(windowSeconds: 60))
        schedule.kept(Array("a".utf8), nil)
        schedule.ask(question(1, "a"))
        let answers = committed(schedule.next(at: start))
        #expect(answers.map(\.request) == [1] && answers.allSatisfy { $0.call == nil && $0.name == nil })
    }

    @Test("after a failure a text waits, generations do not, and a final one ends the questions")
    func failures() {
        var schedule = CallSchedule(.derived(windowSeconds: 60))
        schedule.ask(question(1, "a"))
        schedule.failed(NameFailure(text: "busy", retryAfterSeconds: 60), at: start)
        #expect(schedule.next(at: start) == .wait(until: start.nanoseconds + 60_000_000_000))
        schedule.ask(question(2, nil))
        #expect(committed(schedule.next(at: start)).map(\.request) == [2])
        #expect(schedule.next(at: after(60)) == .keep(text: Array("a".utf8)))
        schedule.failed(NameFailure(text: "no right", isFinal: true), at: start)
        #expect(schedule.next(at: after(1000)) == .wait(until: nil) && schedule.trouble?.isFinal == true)
    }
}
