import Base
import PushServices
import Testing

@testable import Delivery

/// Requests to services that recognize what they get a second time.
@Suite("requests with names")
struct NamedRequestsTests {
    private static let names = FetchedNames(
        mostAtATime: 10, lifetimeSeconds: 86_400, path: { "/names?count=\($0)" }, read: { _ in nil })

    /// A machine with a namer that answers at once, unless it is closed, and the requests that
    /// left.
    private struct Loop: KeepsMachine {
        /// A request as it left.
        struct Sent: Equatable {
            var request: Int
            var name: String
            var generation: Int
            var recipients: [Int]
        }

        let keeper: MachineKeeper
        var now = Moment(nanoseconds: 1_000_000_000, wall: Timestamp(epochSeconds: 1_800_000_000))
        var isNamerClosed = false
        var lifetimeSeconds = 86_400.0
        /// The recipients of each question, in the order in which they were asked.
        var questions: [(request: Int, number: Int, recipients: [Int])] = []
        /// The recipients of the request that each name was given to.
        var recorded: [String: [Int]] = [:]

        init(_ protection: RepeatProtection, largest: Int = 1, _ change: (inout MachineSettings) -> Void = { _ in }) {
            var service = BatchService(largest)
            service.repeatProtection = protection
            var settings = MachineSettings(endpoint: "example.com:443", usesProviderToken: true)
            settings.service = service
            settings.connections = 1
            settings.canaryPushes = 0
            settings.resendsUnknown = false
            change(&settings)
            keeper = MachineKeeper(settings)
            warmUp()
        }

        /// Gets a first push accepted, as the connection carries only one until then.
        private mutating func warmUp() {
            add(1000..<1001)
            for sent in advance() { answer(sent.request, 200) }
            _ = advance()
            machine.settlements = []
            (questions, recorded) = ([], [:])
        }

        /// Adds requests of this many pushes each.
        mutating func add(_ recipients: Range<Int>, together: Int = 1) {
            for start in stride(from: recipients.lowerBound, to: recipients.upperBound, by: together) {
                let request = machine.add(recipient: start, at: now)
                for recipient in start + 1..<min(start + together, recipients.upperBound) {
                    _ = machine.add(recipient: recipient, to: request, at: now)
                }
            }
        }

        /// Lets time pass; returns the requests that leave.
        mutating func advance(seconds: Double = 0) -> [Sent] {
            now = now.adding(nanoseconds: Int64(seconds * 1e9))
            var sent: [Sent] = []
            var actions: [DeliveryMachine.Action] = []
            repeat {
                machine.advance(to: now)
                (actions, machine.actions) = (machine.actions, [])
                for action in actions {
                    switch action {
                    case .open(let connection): machine.connectionOpened(connection, at: now)
                    case .ping(let connection): machine.connectionAlive(connection, at: now)
                    case .submit(let request, _):
                        sent.append(
                            Sent(
                                request: request, name: machine.names[request]?.text ?? "",
                                generation: Int(machine.pushes[request].generation), recipients: recipients(of: request)
                            ))
                    case .name(let request, let question):
                        questions.append((request, question, recipients(of: request)))
                    default: break
                    }
                }
                if !isNamerClosed { answerQuestions() }
            } while !actions.isEmpty
            return sent
        }

        private mutating func answerQuestions() {
            for question in questions where machine.unnamed[question.request] == question.number {
                let name = "n\(question.number)"
                recorded[name] = question.recipients
                let isCall = machine.nameRule == .calls
                machine.named(
                    question.request, question: question.number,
                    isCall ? RequestName(text: name, usableUntil: now.wall.adding(seconds: lifetimeSeconds)) : nil,
                    at: now)
            }
        }

        func recipients(of request: Int) -> [Int] { machine.pushes(of: request).map { machine.pushes[$0].recipient } }

        mutating func answer(_ request: Int, _ status: Int, _ reason: String = "", targets: [String] = []) {
            machine.answered(request, .init(status: status, reason: reason, id: .own), targets: targets, at: now)
        }

        func outcomes() -> [Int: Outcome] {
            Dictionary(machine.settlements.map { ($0.recipient, $0.outcome) }) { _, _ in
                preconditionFailure("settled twice")
            }
        }
    }

    // MARK: Names that the service gives out

    @Test("nothing leaves before it has a name, and each request has its own")
    func named() {
        var loop = Loop(.fetched(Self.names), largest: 10)
        loop.isNamerClosed = true
        loop.add(0..<30, together: 10)
        #expect(loop.advance(seconds: 1).isEmpty)
        #expect(loop.questions.map(\.recipients.count) == [10, 10, 10])
        loop.isNamerClosed = false
        let sent = loop.advance() + loop.advance()
        #expect(Set(sent.map(\.name)).count == 3)
        #expect(sent.allSatisfy { loop.recorded[$0.name] == $0.recipients })
    }

    @Test("no more names are asked for than requests could leave")
    func atATime() {
        var loop = Loop(.fetched(Self.names)) { $0.streamsPerConnection = 4 }
        loop.isNamerClosed = true
        loop.add(0..<100)
        _ = loop.advance()
        #expect((1...4).contains(loop.questions.count))
        #expect(loop.machine.nextWake(after: loop.now).map { $0 > loop.now.nanoseconds } ?? true, "the loop would spin")
    }

    @Test(
        "beside a pace a request that is not full is named shortly before it may leave, and until then others may join it"
    )
    func joined() {
        var loop = Loop(.fetched(Self.names), largest: 10) { $0.pace = Pace(pushes: 2, intervalSeconds: 1) }
        loop.add(0..<14, together: 10)
        _ = loop.advance()
        #expect(loop.questions.map(\.recipients.count) == [10])
        #expect(loop.advance(seconds: 0.51).map(\.recipients.count) == [10])
        _ = loop.advance(seconds: 0.3)
        #expect(loop.questions.count == 1)
        let request = loop.machine.fresh.first ?? -1
        let mayJoin = loop.machine.mayJoin(request)
        #expect(mayJoin)
        for recipient in 14..<17 { _ = loop.machine.add(recipient: recipient, to: request, at: loop.now) }
        // The loop sleeps until it is named, and then until it leaves.
        let named = loop.machine.nextWake(after: loop.now) ?? 0
        #expect(named > loop.now.nanoseconds)
        #expect(loop.advance(seconds: Double(named - loop.now.nanoseconds) / 1e9).isEmpty)
        #expect(loop.questions.map(\.recipients.count) == [10, 7])
        let leaves = loop.machine.nextWake(after: loop.now) ?? 0
        #expect(leaves > named && leaves - named <= 30_000_000)
        #expect(loop.advance(seconds: Double(leaves - named) / 1e9).map(\.recipients) == [Array(10..<17)])
    }

    @Test(
        "however long a name takes, requests that could grow leave at the pace",
        arguments: [(9, 0.01), (9, 0.4), (50, 0.01), (50, 0.2)])
    func named(pace: Int, namerSeconds: Double) {
        var loop = Loop(.fetched(Self.names), largest: 10) { $0.pace = Pace(pushes: pace, intervalSeconds: 1) }
        loop.isNamerClosed = true
        loop.add(0..<300)
        let start = loop.now.nanoseconds
        var last = start
        var due: [(at: Int64, request: Int, question: Int)] = [], asked = 0, sent = 0, rounds = 0
        while sent < 300, rounds < 10_000 {
            rounds += 1
            let left = loop.advance()
            sent += left.count
            for request in left { loop.answer(request.request, 200) }
            if !left.isEmpty { last = loop.now.nanoseconds }
            for question in loop.questions.dropFirst(asked) {
                due.append((loop.now.nanoseconds + Int64(namerSeconds * 1e9), question.request, question.number))
            }
            asked = loop.questions.count
            let wake = min(
                due.first?.at ?? .max, loop.machine.nextWake(after: loop.now) ?? .max,
                loop.now.nanoseconds + 500_000_000)
            loop.now = loop.now.adding(nanoseconds: max(0, wake - loop.now.nanoseconds))
            while let answer = due.first, answer.at <= loop.now.nanoseconds {
                due.removeFirst()
                loop.machine.named(
                    answer.request, question: answer.question,
                    RequestName(text: "n\(answer.question)", usableUntil: loop.now.wall.adding(seconds: 3600)),
                    at: loop.now)
            }
        }
        let seconds = Double(last - start) / 1e9
        #expect(
            sent == 300 && 300 / seconds > 0.95 * Double(pace) && rounds < 5000,
            "\(sent) in \(seconds) s, \(rounds) rounds")
    }

    @Test("while a name is on its way the loop sleeps, and what none can join any more is named at once")
    func joinedByNone() {
        var loop = Loop(.fetched(Self.names), largest: 10) { $0.pace = Pace(pushes: 2, intervalSeconds: 1) }
        loop.isNamerClosed = true
        loop.add(0..<14, together: 10)
        _ = loop.advance()
        #expect(loop.questions.map(\.recipients.count) == [10])
        _ = loop.advance(seconds: 2)
        #expect(loop.machine.nextWake(after: loop.now).map { $0 > loop.now.nanoseconds } ?? true, "the loop would spin")
        loop.machine.sourceEnded()
        _ = loop.advance()
        #expect(loop.questions.map(\.recipients.count) == [10, 4])
    }

    @Test("a service without protection is asked for no name")
    func unprotected() {
        var loop = Loop(.none)
        loop.add(0..<3)
        #expect(loop.advance().count == 3)
        #expect(loop.questions.isEmpty)
    }

    @Test(
        "a lost answer is asked for again under the same name, for the same devices, up to the usual attempts, and only then unknown"
    )
    func lost() {
        var loop = Loop(.fetched(Self.names), largest: 10) { $0.retry.maximumAttempts = 3 }
        loop.add(0..<10, together: 10)
        var all: [Loop.Sent] = []
        for _ in 0..<10 {
            let sent = loop.advance(seconds: 100)
            all += sent
            for request in sent { loop.machine.streamReset(request.request, at: loop.now) }
        }
        #expect(all.count == 3)
        #expect(Set(all.map(\.name)).count == 1 && all.allSatisfy { $0.recipients == Array(0..<10) })
        #expect(loop.outcomes().count == 10 && loop.outcomes().values.allSatisfy { $0 == .unknown })
    }

    @Test("without protection a lost answer is unknown at once")
    func lostUnprotected() {
        var loop = Loop(.none)
        loop.add(0..<1)
        let sent = loop.advance()
        loop.machine.streamReset(sent[0].request, at: loop.now)
        _ = loop.advance(seconds: 100)
        #expect(loop.outcomes() == [0: .unknown])
    }

    @Test("what the service says when asked again settles the devices for what they are")
    func recognized() {
        var loop = Loop(.fetched(Self.names), largest: 10)
        loop.add(0..<3, together: 3)
        let first = loop.advance()
        loop.machine.streamReset(first[0].request, at: loop.now)
        let second = loop.advance(seconds: 100)
        loop.answer(second[0].request, 207, targets: ["", "BadDeviceToken", ""])
        _ = loop.advance()
        #expect(loop.outcomes() == [0: .accepted, 1: .invalidToken, 2: .accepted])
        #expect(loop.machine.settlements.allSatisfy { $0.attempts == 2 })
    }

    @Test(
        "a call whose targets are refused under its name did nothing the first time either; another refusal says nothing of that"
    )
    func refusedAfterLoss() {
        for (status, reason, outcome) in [(400, "BadValue", Outcome.rejected), (400, "BadMessage", .unknown)] {
            var loop = Loop(.fetched(Self.names), largest: 10)
            loop.add(0..<1)
            let first = loop.advance()
            loop.machine.streamReset(first[0].request, at: loop.now)
            let second = loop.advance(seconds: 100)
            loop.answer(second[0].request, status, reason)
            _ = loop.advance()
            #expect(loop.outcomes() == [0: outcome], "\(reason)")
        }
    }

    @Test("a request that is divided, or loses devices, has lost its name and gets another one")
    func divided() {
        var loop = Loop(.fetched(Self.names), largest: 8)
        loop.add(0..<8, together: 8)
        let whole = loop.advance()
        loop.answer(whole[0].request, 400, "BadTarget", targets: ["", "", "BadDeviceToken", "", "", "", "", ""])
        let rest = loop.advance(seconds: 100)
        #expect(rest.map(\.recipients) == [[0, 1, 3, 4, 5, 6, 7]])
        #expect(rest[0].name != whole[0].name)
        loop.answer(rest[0].request, 400, "BadTarget", targets: Array(repeating: "", count: 7))
        let halves = loop.advance(seconds: 100)
        #expect(Set(halves.map(\.recipients)) == [[0, 1, 3, 4], [5, 6, 7]])
        #expect(Set((whole + rest + halves).map(\.name)).count == 4)
        #expect((whole + rest + halves).allSatisfy { loop.recorded[$0.name] == $0.recipients })
    }

    @Test("one that is refused for now keeps its name")
    func refusedForNow() {
        var loop = Loop(.fetched(Self.names))
        loop.add(0..<1)
        let first = loop.advance()
        loop.answer(first[0].request, 429, "TooManyRequests")
        let second = loop.advance(seconds: 100)
        #expect(second.map(\.name) == first.map(\.name))
    }

    @Test(
        "a name that the service may soon forget is not used: a request that cannot have arrived gets another, one in doubt is unknown"
    )
    func oldNames() {
        var loop = Loop(.fetched(Self.names)) {
            ($0.retry.maximumTotalSeconds, $0.retry.longestDelaySeconds) = (10_000, 2000)
            $0.retry.firstDelaySeconds = 2000
        }
        loop.lifetimeSeconds = 1000
        loop.add(0..<2)
        let first = loop.advance()
        loop.answer(first[0].request, 429, "TooManyRequests")
        loop.machine.streamReset(first[1].request, at: loop.now)
        let second = loop.advance(seconds: 3000)
        #expect(second.map(\.recipients) == [first[0].recipients])
        #expect(second.first.map { $0.name != first[0].name } ?? false)
        #expect(loop.outcomes() == [first[1].recipients[0]: .unknown])
    }

    @Test(
        "an answer that comes too late names nothing, and names that were asked for in an ending run are not waited for"
    )
    func ending() {
        var loop = Loop(.fetched(Self.names))
        loop.isNamerClosed = true
        loop.add(0..<2)
        _ = loop.advance()
        let questions = loop.questions
        loop.machine.sourceEnded()
        loop.machine.interrupt(at: loop.now)
        for question in questions {
            loop.machine.named(
                question.request, question: question.number, RequestName(text: "late", usableUntil: loop.now.wall),
                at: loop.now)
        }
        _ = loop.advance()
        #expect(loop.machine.end == .interrupted)
        #expect(loop.outcomes() == [0: .unsent, 1: .unsent])
    }

    @Test("names that stay away for as long as any outage may last stop the run, and nothing has left")
    func noNames() {
        var loop = Loop(.fetched(Self.names))
        loop.isNamerClosed = true
        loop.add(0..<2)
        loop.machine.sourceEnded()
        _ = loop.advance()
        loop.machine.namesPending(because: "no names for calls: it answered 503 busy", at: loop.now)
        #expect(loop.machine.wait(at: loop.now) == .outage(seconds: 0))
        _ = loop.advance(seconds: loop.machine.settings.retry.maximumTotalSeconds - 1)
        #expect(loop.machine.ending == nil)
        #expect(loop.advance(seconds: 2).isEmpty)
        guard case .stopped(.service(_, .namesMissing(let reason, _))) = loop.machine.end else {
            Issue.record("\(String(describing: loop.machine.end))")
            return
        }
        #expect(reason == "no names for calls: it answered 503 busy")
        #expect(loop.outcomes() == [0: .unsent, 1: .unsent])
    }

    @Test("while no names come, requests that have one go on")
    func othersGoOn() {
        var loop = Loop(.fetched(Self.names)) { $0.streamsPerConnection = 4 }
        loop.add(0..<1)
        let first = loop.advance()
        loop.machine.streamReset(first[0].request, at: loop.now)
        loop.isNamerClosed = true
        loop.add(1..<2)
        let again = loop.advance(seconds: 100)
        #expect(again.map(\.recipients) == [[0]])
    }

    // MARK: What an earlier process left

    @Test("a call of an earlier process goes as it was, closed to others, and its doubt is over with the answer")
    func earlierCall() {
        var loop = Loop(.fetched(Self.names), largest: 10)
        _ = loop.machine.add(
            call: [7, 3, 5], name: RequestName(text: "old", usableUntil: loop.now.wall.adding(seconds: 60)),
            at: loop.now)
        loop.add(10..<12, together: 2)
        let sent = loop.advance() + loop.advance()
        #expect(sent.map(\.recipients).contains([7, 3, 5]))
        #expect(sent.first { $0.recipients == [7, 3, 5] }?.name == "old")
        for request in sent { loop.answer(request.request, 200) }
        _ = loop.advance()
        #expect(loop.outcomes().count == 5 && loop.outcomes().values.allSatisfy { $0 == .accepted })
    }

    @Test("a call of an earlier process that does not get away is unknown, not unsent")
    func earlierCallUnsent() {
        var loop = Loop(.fetched(Self.names), largest: 10)
        _ = loop.machine.add(
            call: [1, 2], name: RequestName(text: "old", usableUntil: loop.now.wall.adding(seconds: 60)), at: loop.now)
        loop.machine.sourceEnded()
        loop.machine.interrupt(at: loop.now)
        _ = loop.advance()
        #expect(loop.outcomes() == [1: .unknown, 2: .unknown])
    }

    @Test("a call of an earlier process whose name is too old is unknown")
    func earlierCallTooOld() {
        var loop = Loop(.fetched(Self.names), largest: 10)
        _ = loop.machine.add(call: [1, 2], name: RequestName(text: "old", usableUntil: loop.now.wall), at: loop.now)
        #expect(loop.advance().isEmpty)
        #expect(loop.outcomes() == [1: .unknown, 2: .unknown])
    }

    // MARK: Generations

    private static let derived = RepeatProtection.derived(windowSeconds: 86_400)

    @Test("a refusal raises the generation, which is recorded before the push leaves again; the first needs no record")
    func generations() {
        var loop = Loop(Self.derived)
        loop.add(0..<1)
        var sent = loop.advance()
        #expect(loop.questions.isEmpty)
        for generation in 1...2 {
            loop.answer(sent[0].request, 429, "TooManyRequests")
            sent = loop.advance(seconds: 100)
            #expect(sent.map(\.generation) == [generation])
            #expect(loop.questions.count == generation)
        }
    }

    @Test(
        "a lost answer keeps the generation, also when a later attempt is refused, and is asked for again up to the usual attempts"
    )
    func lostGeneration() {
        var loop = Loop(Self.derived) { $0.retry.maximumAttempts = 3 }
        loop.add(0..<1)
        var sent = loop.advance()
        loop.machine.streamReset(sent[0].request, at: loop.now)
        sent = loop.advance(seconds: 100)
        #expect(sent.map(\.generation) == [0])
        loop.answer(sent[0].request, 429, "TooManyRequests")
        sent = loop.advance(seconds: 100)
        #expect(sent.map(\.generation) == [0])
        loop.machine.streamReset(sent[0].request, at: loop.now)
        _ = loop.advance(seconds: 100)
        #expect(loop.outcomes() == [0: .unknown])
    }

    @Test(
        "a request in doubt that is refused for one of its targets is unknown: its names may be used up, and new ones could show it twice"
    )
    func refusedInDoubt() {
        var loop = Loop(Self.derived, largest: 4)
        loop.add(0..<4, together: 4)
        var sent = loop.advance()
        loop.machine.streamReset(sent[0].request, at: loop.now)
        sent = loop.advance(seconds: 100)
        #expect(sent.map(\.recipients) == [[0, 1, 2, 3]] && sent.map(\.generation) == [0])
        loop.answer(sent[0].request, 400, "BadTarget")
        #expect(loop.advance(seconds: 100).isEmpty)
        #expect(loop.outcomes() == [0: .unknown, 1: .unknown, 2: .unknown, 3: .unknown])
    }

    @Test("of a request of several pushes only those that were refused get the next generation")
    func someRefused() {
        var loop = Loop(Self.derived, largest: 4)
        loop.add(0..<4, together: 4)
        let first = loop.advance()
        loop.answer(first[0].request, 207, targets: ["", "TooManyRequests", "", "TooManyRequests"])
        let second = loop.advance(seconds: 100)
        #expect(second.map(\.recipients) == [[1, 3]] && second.map(\.generation) == [1])
        #expect(loop.questions.map(\.recipients) == [[1, 3]])
    }

    @Test("pushes continue with the generation that an earlier process recorded, and only with their like in a request")
    func earlierGeneration() {
        var loop = Loop(Self.derived, largest: 4)
        let request = loop.machine.add(recipient: 0, after: PushHistory(generation: 3, isInDoubt: true), at: loop.now)
        let pasts = [PushHistory(generation: 3, isInDoubt: true), PushHistory(generation: 3), PushHistory()]
        #expect(pasts.filter { loop.machine.mayJoin(request, after: $0) } == pasts.dropLast(2))
        let sent = loop.advance()
        #expect(sent.map(\.generation) == [3])
        #expect(loop.questions.isEmpty, "it is on record")
        loop.answer(sent[0].request, 200)
        _ = loop.advance()
        #expect(loop.outcomes() == [0: .accepted])
    }
}
