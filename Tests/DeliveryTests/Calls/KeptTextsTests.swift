import Base
import PushServices
import Testing

@testable import Delivery

/// A service that keeps texts: requests for more than four targets name one, smaller ones hold the
/// texts of their targets.
@Suite("requests that name a text")
struct KeptTextsTests {
    /// A machine with questions that are answered when a test wants it.
    private struct Loop: KeepsMachine {
        let keeper: MachineKeeper
        var now = Moment(nanoseconds: 1_000_000_000, wall: Timestamp(epochSeconds: 1_800_000_000))
        var store = PushStore()
        var texts: TextIndex
        var questions: [(request: Int, number: Int)] = []
        var forgotten: [String] = []
        /// The name that answers questions; nil for a text that the service does not take, blank
        /// for no answer.
        var name: String? = "text"
        var lifetimeSeconds = 100.0

        init(_ change: (inout MachineSettings) -> Void = { _ in }) {
            var service = BatchService(10, paceUnit: .targets, largestWithOwnTexts: 4)
            service.repeatProtection = .derived(windowSeconds: 3600)
            var settings = MachineSettings(endpoint: "example.com:443", usesProviderToken: true)
            settings.service = service
            settings.connections = 1
            settings.canaryPushes = 0
            settings.resendsUnknown = false
            change(&settings)
            keeper = MachineKeeper(settings)
            texts = TextIndex(service.batching)
            add([1000: "warm"])
            for request in advance() { answer(request, 200) }
            machine.settlements = []
        }

        /// Adds pushes with these texts, in the order of their recipients.
        mutating func add(_ texts: [Int: String], after past: PushHistory = PushHistory()) {
            var batch = PushBatch()
            let recipients = texts.keys.sorted()
            for recipient in recipients {
                batch.append(
                    recipient: recipient, token: "t\(recipient)", payload: Array((texts[recipient] ?? "").utf8))
            }
            let stored = store.insert(batch)
            for (index, recipient) in recipients.enumerated() {
                self.texts.add(recipient, in: (stored, index), after: past, &store, to: &keeper.machine, at: now)
            }
        }

        mutating func add(_ recipients: Range<Int>, _ text: String, after past: PushHistory = PushHistory()) {
            add(Dictionary(uniqueKeysWithValues: recipients.map { ($0, text) }), after: past)
        }

        /// Lets time pass; returns the requests that leave.
        mutating func advance(seconds: Double = 0) -> [Int] {
            now = now.adding(nanoseconds: Int64(seconds * 1e9))
            var sent: [Int] = []
            var isIdle = false
            while !isIdle {
                machine.advance(to: now)
                let actions = machine.actions
                machine.actions = []
                isIdle = actions.isEmpty
                for action in actions {
                    switch action {
                    case .open(let connection): machine.connectionOpened(connection, at: now)
                    case .ping(let connection): machine.connectionAlive(connection, at: now)
                    case .submit(let request, _): sent.append(request)
                    case .name(let request, let question): questions.append((request, question))
                    case .forgetText(let name): forgotten.append(name)
                    default: break
                    }
                }
                if name != "" { answerQuestions() }
            }
            return sent
        }

        private mutating func answerQuestions() {
            // Each goes before all others, as in `SenderLoop`.
            for question in questions.reversed() {
                if machine.namesText(question.request), name == nil {
                    machine.textRefused(of: question.request, question: question.number, at: now)
                } else {
                    let end = now.wall.adding(seconds: lifetimeSeconds)
                    let text =
                        machine.namesText(question.request) ? name.map { RequestName(text: $0, usableUntil: end) } : nil
                    machine.named(question.request, question: question.number, text, at: now)
                }
            }
            questions = []
        }

        mutating func answer(_ request: Int, _ status: Int, _ reason: String = "") {
            machine.answered(request, .init(status: status, reason: reason, id: .own), at: now)
        }

        mutating func lose(_ request: Int) { machine.streamReset(request, at: now) }

        func recipients(_ request: Int) -> [Int] { machine.pushes(of: request).map { machine.pushes[$0].recipient } }
        func name(_ request: Int) -> String? { machine.name(of: request)?.text }
        func generation(_ request: Int) -> Int { Int(machine.pushes[request].generation) }

        func outcomes() -> [Int: Outcome] {
            Dictionary(machine.settlements.map { ($0.recipient, $0.outcome) }) { _, _ in
                preconditionFailure("settled twice")
            }
        }
    }

    @Test("a text of many devices is named, and others share requests that hold their texts")
    func kinds() {
        var loop = Loop()
        loop.add(0..<14, "a")
        loop.add([20: "b", 21: "c", 22: "b", 23: "d", 24: "e", 25: "f"])
        let sent = loop.advance()
        #expect(sent.map(loop.recipients) == [[10, 11, 12, 13], [20, 22, 21, 23], [24, 25], Array(0..<10)])
        #expect(sent.map(loop.name) == [nil, nil, nil, "text"], "others need not wait for a name")
    }

    @Test("small requests are found behind large ones, and those keep their order")
    func search() {
        var loop = Loop()
        loop.add([0: "x"])
        loop.add(10..<20, "a")
        loop.add([1: "y", 2: "z"])
        loop.add(20..<30, "b")
        let sent = loop.advance()
        #expect(sent.map(loop.recipients) == [[0, 1, 2], Array(10..<20), Array(20..<30)])
    }

    @Test("more pushes join a small request as long as the pace holds it back")
    func pace() {
        var loop = Loop { $0.pace = Pace(pushes: 200, intervalSeconds: 1) }
        _ = loop.advance(seconds: 1)
        loop.add([0: "a", 1: "b"])
        #expect(loop.advance().map(loop.recipients) == [[0, 1]])
        loop.add([2: "c"])
        #expect(loop.advance().isEmpty)
        loop.add([3: "d", 4: "c"])
        #expect(loop.advance(seconds: 1).map(loop.recipients) == [[2, 4, 3]])
    }

    @Test("a lost answer leaves the devices of a list unknown, and a smaller request goes again as it was")
    func lost() {
        var loop = Loop()
        loop.add(0..<10, "a")
        loop.add(10..<13, "b")
        let sent = loop.advance()
        for request in sent { loop.lose(request) }
        #expect(loop.outcomes() == Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, .unknown) }))
        let again = loop.advance(seconds: 60)
        #expect(again.map(loop.recipients) == [[10, 11, 12]] && again.map(loop.generation) == [0])
    }

    @Test("a list that may have arrived goes again where the campaign says so")
    func resent() {
        var loop = Loop { $0.resendsUnknown = true }
        loop.add(0..<10, "a")
        for request in loop.advance() { loop.lose(request) }
        let again = loop.advance(seconds: 60)
        #expect(again.map(loop.recipients) == [Array(0..<10)] && again.map(loop.name) == ["text"])
    }

    @Test("a list that is refused for a target is divided, and its parts hold the text with ids that were never used")
    func divided() {
        var loop = Loop()
        loop.add(0..<10, "a")
        for request in loop.advance() { loop.answer(request, 400, "BadTarget") }
        let halves = loop.advance()
        #expect(
            halves.map(loop.recipients) == [Array(0..<5), Array(5..<10)] && halves.map(loop.name) == ["text", "text"])
        #expect(loop.forgotten.isEmpty)
        loop.answer(halves[0], 400, "BadTarget")
        loop.answer(halves[1], 200)
        let quarters = loop.advance()
        #expect(quarters.map(loop.recipients) == [[0, 1, 2], [3, 4]] && quarters.allSatisfy { loop.name($0) == nil })
        #expect(quarters.map(loop.generation) == [2, 2])
    }

    @Test("a refusal that may mean that the text is forgotten has it handed over again")
    func forgotten() {
        var loop = Loop()
        loop.add(0..<10, "a")
        for request in loop.advance() { loop.answer(request, 409, "BadTarget") }
        loop.name = "another"
        #expect(loop.advance().map(loop.name) == ["another", "another"] && loop.forgotten == ["text"])
    }

    @Test("a text that the service does not take goes in requests that hold it")
    func refusedText() {
        var loop = Loop()
        loop.name = nil
        loop.add(0..<10, "a")
        let sent = loop.advance()
        #expect(
            sent.map(loop.recipients) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
                && sent.allSatisfy { loop.name($0) == nil })
    }

    @Test("a name that is over is asked for again before a list leaves under it")
    func lifetime() {
        var loop = Loop()
        loop.add(0..<10, "a")
        for request in loop.advance() { loop.answer(request, 503, "ServiceUnavailable") }
        (loop.lifetimeSeconds, loop.name) = (1000, "another")
        let sent = loop.advance(seconds: 200)
        #expect(sent.map(loop.recipients) == [Array(0..<10)] && sent.map(loop.name) == ["another"])
    }

    @Test("what may have arrived in an earlier process is in no list: there it would not be recognized")
    func earlierProcess() {
        var loop = Loop()
        loop.add(0..<10, "a", after: PushHistory(generation: 1, isInDoubt: true))
        loop.add(10..<20, "a", after: PushHistory(generation: 1))
        let sent = loop.advance()
        #expect(sent.map(loop.recipients) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], Array(10..<20)])
        #expect(sent.map(loop.name) == [nil, nil, nil, "text"])
    }

    @Test("lists that wait for a name are unsent when the run ends, and settle once")
    func ending() {
        var loop = Loop()
        loop.name = ""
        loop.add(0..<10, "a")
        loop.add(10..<12, "b")
        let sent = loop.advance()
        #expect(sent.map(loop.recipients) == [[10, 11]])
        loop.machine.interrupt(.interrupted, at: loop.now)
        loop.answer(sent[0], 200)
        _ = loop.advance()
        #expect(loop.outcomes().values.count { $0 == .unsent } == 10 && loop.outcomes().count == 12)
    }
}
