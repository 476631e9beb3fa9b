import Base
import PushServices
import Testing

@testable import Delivery

@Suite("when names of calls are fetched, and who gets them")
struct CallScheduleTests {
    private static let lifetime = 86_400.0
    private let fetched: RepeatProtection = .fetched(
        FetchedNames(mostAtATime: 10, lifetimeSeconds: lifetime, path: { "/names?count=\($0)" }, read: { _ in nil }))
    private let start = Moment(nanoseconds: 1_000_000_000, wall: Timestamp(epochSeconds: 1_800_000_000))

    private func question(_ request: Int, client: Int = 0, generation: Int = 0) -> NameRequest {
        NameRequest(
            client: client, request: request, number: request + 100, recipients: [request, request + 1],
            generation: generation)
    }

    private func names(_ range: Range<Int>) -> [String] { range.map { "n\($0)" } }

    private func committed(_ step: CallSchedule.Step) -> [NameReply] {
        if case .commit(let answers) = step { answers } else { [] }
    }

    @Test("names are fetched when one is needed, and everything that waits is committed together")
    func together() {
        var schedule = CallSchedule(fetched)
        #expect(schedule.next(at: start) == .wait(until: nil))
        for request in 0..<3 { schedule.ask(question(request, client: request % 2)) }
        #expect(schedule.next(at: start) == .fetch(count: 10))
        schedule.given(names(0..<10), askedAt: start.wall)
        let answers = committed(schedule.next(at: start))
        #expect(answers.map(\.call?.name) == ["n0", "n1", "n2"])
        #expect(answers.map(\.call?.recipients) == [[0, 1], [1, 2], [2, 3]])
        #expect(answers.map { $0.name?.text } == ["n0", "n1", "n2"])
        #expect(schedule.next(at: start) == .wait(until: nil), "seven are left")
    }

    @Test("no name is given out twice, and more are fetched before the last is used")
    func pool() {
        var schedule = CallSchedule(fetched)
        schedule.given(names(0..<10), askedAt: start.wall)
        for request in 0..<7 { schedule.ask(question(request)) }
        let first = committed(schedule.next(at: start))
        #expect(schedule.next(at: start) == .fetch(count: 10))
        schedule.given(names(10..<20), askedAt: start.wall)
        for request in 7..<20 { schedule.ask(question(request)) }
        let second = committed(schedule.next(at: start))
        #expect(Set((first + second).map(\.call?.name)).count == 20)
    }

    @Test("with more questions than names, those that came first are named, and more are fetched")
    func tooFew() {
        var schedule = CallSchedule(fetched)
        schedule.given(names(0..<2), askedAt: start.wall)
        for request in 0..<5 { schedule.ask(question(request)) }
        #expect(committed(schedule.next(at: start)).map(\.request) == [0, 1])
        #expect(schedule.next(at: start) == .fetch(count: 10))
    }

    @Test("a name ends before the service forgets it, counted from the question, and so does what is on record of it")
    func lifetime() throws {
        var schedule = CallSchedule(fetched)
        let asked = start.wall.adding(seconds: -600)
        schedule.given(names(0..<2), askedAt: asked)
        schedule.ask(question(0))
        let answer = try #require(committed(schedule.next(at: start)).first)
        #expect(answer.name?.usableUntil == asked.adding(seconds: Self.lifetime * 23 / 24))
        #expect(answer.call?.namedAt == asked)
        schedule.ask(question(1))
        let late = Moment(nanoseconds: start.nanoseconds, wall: asked.adding(seconds: Self.lifetime * 23 / 24))
        #expect(schedule.next(at: late) == .fetch(count: 10))
    }

    @Test(
        "failures are tried again after 1, 2, 4 … 60 s, or when the service says, up to a day, and then everything goes on"
    )
    func failures() {
        var schedule = CallSchedule(fetched)
        schedule.ask(question(0))
        var now = start
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            #expect(schedule.next(at: now) == .fetch(count: 10))
            schedule.failed(NameFailure(text: "busy"), at: now)
            #expect(schedule.trouble?.text == "busy")
            #expect(schedule.next(at: now) == .wait(until: now.nanoseconds + Int64(seconds) * 1_000_000_000))
            now = now.adding(nanoseconds: Int64(seconds) * 1_000_000_000)
        }
        schedule.failed(NameFailure(text: "quota", retryAfterSeconds: 1e9), at: now)
        #expect(schedule.next(at: now) == .wait(until: now.nanoseconds + 26 * 3600 * 1_000_000_000))
        schedule.given(names(0..<1), askedAt: now.wall)
        #expect(schedule.trouble == nil)
        #expect(committed(schedule.next(at: now)).count == 1)
    }

    @Test("a refusal of the sender is final")
    func finalRefusal() {
        var schedule = CallSchedule(fetched)
        schedule.ask(question(0))
        schedule.failed(NameFailure(text: "wrong secret", status: 401, isFinal: true), at: start)
        #expect(schedule.next(at: start.adding(nanoseconds: 3_600_000_000_000)) == .wait(until: nil))
        #expect(schedule.trouble?.isFinal == true)
    }

    @Test("what a loop asked for that has ended is forgotten")
    func forgotten() {
        var schedule = CallSchedule(fetched)
        schedule.given(names(0..<10), askedAt: start.wall)
        schedule.ask(question(0, client: 0))
        schedule.ask(question(1, client: 1))
        schedule.forget(client: 0)
        #expect(committed(schedule.next(at: start)).map(\.request) == [1])
    }

    @Test("generations are recorded as they are, and nothing is fetched")
    func generations() {
        var schedule = CallSchedule(.derived(windowSeconds: 60))
        schedule.ask(question(0, generation: 2))
        let answers = committed(schedule.next(at: start))
        #expect(answers.map(\.call) == [NamedCall(name: "2", namedAt: start.wall, recipients: [0, 1])])
        #expect(answers.allSatisfy { $0.name == nil })
        #expect(schedule.next(at: start) == .wait(until: nil))
    }
}
