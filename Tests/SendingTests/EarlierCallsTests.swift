import Audience
import Base
import Content
import Delivery
import PushServices
import Runs
import TestSupport
import Testing

@testable import Sending

/// Ten devices of a run whose process was killed, at a service that recognizes repeats.
@Suite("what a killed process left with names")
struct EarlierCallsTests {
    private let folder: PlannedFolder
    private let run: RunFile
    private let messages: MessageCatalog

    init() throws {
        folder = try PlannedFolder()
        run = try folder.plan("a")
        let place = SourcePosition(file: "c.yaml", line: 1, column: 1)
        var content = MessageContent(position: place)
        content.body = SourceText("Hi", at: place)
        messages = try MessageCatalog(content)
        try folder.begin(run)
    }

    private static let names = FetchedNames(
        mostAtATime: 10, lifetimeSeconds: 86_400, path: { "/names?count=\($0)" }, read: { _ in nil })

    private func review(_ protection: RepeatProtection, at now: Timestamp = .now()) throws -> EarlierCalls {
        try EarlierCalls(of: run, [(0, OtherService { $0.repeatProtection = protection })], at: now)
    }

    private func call(_ name: String, _ recipients: [Int]) -> NamedCall {
        NamedCall(name: name, namedAt: .now(), recipients: recipients)
    }

    private func settled(_ id: Int, _ outcome: Outcome) -> Settlement {
        Settlement(recipient: id, outcome: outcome, status: 200, attempts: 1, settledAt: .now())
    }

    private func outcomes() throws -> [Outcome: Int] { try run.figures().outcomes.filter { $0.value > 0 } }

    /// Reads what is sent again; returns the batches.
    private func read(_ calls: EarlierCalls, inDoubt: @escaping @Sendable ([Int]) -> Void = { _ in }) throws
        -> [PushBatch]
    {
        let batches = BoundedQueue<PushBatch>(capacity: 20)
        var reader = PushReader(
            run: run, messages: messages, paces: RequestPaces(.single), resendsUnknown: false, onInDoubt: inDoubt)
        reader.repeats = calls.repeats(in: RunSegment(ids: 0..<10, service: 0))
        reader.generations = calls.generations(atService: 0)
        #expect(try reader.read(into: batches).isEmpty)
        var all: [PushBatch] = []
        while let batch = batches.takeIfReady() { all.append(batch) }
        return all
    }

    @Test(
        "a call goes again as it was, alone and first; who was in none is sent to as if for the first time, and nobody is lost"
    )
    func repeated() throws {
        try run.append(.claimed(0..<8, at: .now()))
        try run.append(.settled([[settled(0, .accepted)]]))
        try run.append(.callsNamed([call("x", [0, 1]), call("y", [6, 2, 4])]))
        // The answer of the first came, and was recorded for one of two.
        let calls = try review(.fetched(Self.names))
        #expect(calls.inDoubt(atService: 0) == 3)
        #expect(try outcomes() == [.accepted: 1, .unknown: 4, .unsent: 5])
        let batches = try read(calls)
        #expect(batches.map { $0.pushes.map(\.recipient) } == [[2, 4, 6], [3, 5, 7], [8, 9]])
        #expect(batches.map { $0.call?.name } == ["y", nil, nil])
        #expect(try run.claims().claimed.contains(all: 0..<10))
    }

    @Test(
        "of a call that was refused because of ids that are none, the others are sent to as if for the first time; unknown is told why"
    )
    func refusedInPart() throws {
        try run.append(.claimed(0..<10, at: .now()))
        try run.append(.callsNamed([call("x", [0, 1, 2]), call("y", [3, 4, 5])]))
        try run.append(.settled([[settled(1, .invalidToken), settled(3, .accepted)]]))
        let calls = try review(.fetched(Self.names))
        #expect(calls.inDoubt(atService: 0) == 0)
        #expect(try outcomes() == [.accepted: 1, .invalidToken: 1, .unknown: 2, .unsent: 6])
        #expect(try run.figures().reasons == ["ProcessEnded": 2, "Interrupted": 6])
    }

    @Test("another kill while a call goes again leaves it for the next process")
    func killedAgain() throws {
        try run.append(.claimed(0..<10, at: .now()))
        try run.append(.callsNamed([call("x", [1, 2])]))
        _ = try read(try review(.fetched(Self.names)))
        let again = try review(.fetched(Self.names))
        #expect(again.repeats(in: RunSegment(ids: 0..<10, service: 0)).map(\.name) == ["x"])
        #expect(again.inDoubt(atService: 0) == 2)
    }

    @Test("a call whose name is too old leaves its devices unknown")
    func old() throws {
        try run.append(.claimed(0..<10, at: .now()))
        try run.append(.callsNamed([call("x", [1, 2])]))
        let calls = try review(.fetched(Self.names), at: .now().adding(seconds: 86_400))
        #expect(calls.repeats(in: RunSegment(ids: 0..<10, service: 0)).isEmpty)
        #expect(try outcomes() == [.unknown: 2, .unsent: 8])
        #expect(try run.calls(ofService: 0).isEmpty)
    }

    @Test(
        "with derived names what is in doubt goes again under its generation, and what was refused under the next one, on record before"
    )
    func derived() throws {
        try run.append(.claimed(0..<4, at: .now()))
        try run.append(.callsNamed([call("2", [1]), call("1", [2])]))
        try run.append(
            .settled([
                [
                    settled(0, .accepted),
                    Settlement(recipient: 2, outcome: .unsent, own: .interrupted, settledAt: .now()),
                ]
            ]))
        let calls = try review(.derived(windowSeconds: 3600))
        #expect(calls.inDoubt(atService: 0) == 2)
        let batches = try read(calls)
        let pasts = batches.reduce(into: [Int: PushHistory]()) { $0.merge($1.pasts) { $1 } }
        #expect(
            pasts == [
                1: PushHistory(generation: 2, isInDoubt: true), 2: PushHistory(generation: 2),
                3: PushHistory(isInDoubt: true),
            ])
        #expect(try CallReview.generations(of: run.calls(ofService: 0)) == [1: 2, 2: 2])
        #expect(batches.flatMap { $0.pushes.map(\.recipient) } == Array(1..<10))
    }

    @Test("with derived names what was claimed before the service's window is unknown")
    func derivedOld() throws {
        try run.append(.claimed(0..<4, at: .now().adding(seconds: -7200)))
        try run.append(.claimed(4..<6, at: .now()))
        let calls = try review(.derived(windowSeconds: 3600))
        #expect(calls.inDoubt(atService: 0) == 2)
        #expect(try read(calls).flatMap { $0.pushes.map(\.recipient) } == Array(4..<10))
    }
}
