import Base
import PushServices
import Testing

@testable import Delivery

/// Requests that carry several pushes.
@Suite("requests of several pushes")
struct RequestsTests {
    /// A machine with the bytes of its pushes, as in a loop; targets are the recipients' numbers.
    private struct Loop: KeepsMachine {
        let keeper: MachineKeeper
        var store = PushStore()
        var texts: TextIndex
        var now = Moment(nanoseconds: 1_000_000_000, wall: Timestamp(epochSeconds: 1_800_000_000))

        init(_ service: BatchService, _ change: (inout MachineSettings) -> Void = { _ in }) {
            var settings = MachineSettings(endpoint: "example.com:443", usesProviderToken: true)
            settings.service = service
            settings.connections = 1
            change(&settings)
            keeper = MachineKeeper(settings)
            texts = TextIndex(service.batching)
        }

        mutating func add(_ recipients: Range<Int>, text: (Int) -> String = { _ in "Hi" }) {
            var batch = PushBatch()
            for recipient in recipients {
                batch.append(recipient: recipient, token: "\(recipient)", payload: Array(text(recipient).utf8))
            }
            let stored = store.insert(batch)
            for (index, push) in batch.pushes.enumerated() {
                texts.add(push.recipient, in: (stored, index), &store, to: &keeper.machine, at: now)
            }
        }

        /// Lets time pass; returns the requests that are sent, each with its recipients.
        mutating func advance(seconds: Double = 0) -> [(request: Int, recipients: [Int])] {
            now = now.adding(nanoseconds: Int64(seconds * 1e9))
            var requests: [(request: Int, recipients: [Int])] = []
            var actions: [DeliveryMachine.Action] = []
            repeat {
                machine.advance(to: now)
                (actions, machine.actions) = (machine.actions, [])
                for action in actions {
                    switch action {
                    case .open(let connection): machine.connectionOpened(connection, at: now)
                    case .submit(let request, _): requests.append((request, recipients(of: request)))
                    case .hold(let push): store.hold(push)
                    case .ping(let connection): machine.connectionAlive(connection, at: now)
                    default: break
                    }
                }
                for push in machine.released { store.free(Int(push)) }
                machine.released.removeAll()
            } while !actions.isEmpty
            return requests
        }

        func recipients(of request: Int) -> [Int] { machine.pushes(of: request).map { machine.pushes[$0].recipient } }

        mutating func answer(_ request: Int, _ status: Int, _ reason: String = "", targets: [String] = []) {
            machine.answered(request, .init(status: status, reason: reason, id: .own), targets: targets, at: now)
        }

        /// Continues until nothing more is sent; each request gets the service's answer about its
        /// recipients.
        mutating func run(_ answer: ([Int]) -> (status: Int, reason: String, targets: [String])) -> [[Int]] {
            var all: [[Int]] = []
            var requests = advance()
            while !requests.isEmpty {
                for request in requests {
                    all.append(request.recipients)
                    let said = answer(request.recipients)
                    self.answer(request.request, said.status, said.reason, targets: said.targets)
                }
                requests = advance(seconds: 100)
            }
            return all
        }

        func outcomes() -> [Int: Outcome] {
            Dictionary(machine.settlements.map { ($0.recipient, $0.outcome) }) { _, _ in
                preconditionFailure("settled twice")
            }
        }
    }

    // MARK: Which pushes go together

    @Test("pushes of one text share a request, up to what the service takes, whatever lies between them")
    func oneText() {
        var loop = Loop(BatchService(10)) { $0.canaryPushes = 0 }
        loop.add(0..<24) { $0 % 2 == 0 ? "Hi" : "Bye" }
        let requests = loop.run { _ in (200, "", []) }
        #expect(
            requests == [
                Array(stride(from: 0, to: 20, by: 2)), Array(stride(from: 1, to: 20, by: 2)), [20, 22], [21, 23],
            ])
        #expect(loop.outcomes().values.allSatisfy { $0 == .accepted } && loop.outcomes().count == 24)
    }

    @Test("where each push may have its own text all share requests")
    func ownTexts() {
        var loop = Loop(BatchService(10, hasOwnTexts: true)) { $0.canaryPushes = 0 }
        loop.add(0..<24) { "Hi \($0)" }
        #expect(loop.run { _ in (200, "", []) }.map(\.count) == [10, 10, 4])
    }

    @Test("where a request has one text and each push its own, each goes alone")
    func personalTexts() {
        var loop = Loop(BatchService(10)) { $0.canaryPushes = 0 }
        loop.add(0..<3) { "Hi \($0)" }
        #expect(loop.run { _ in (200, "", []) } == [[0], [1], [2]])
    }

    @Test("a request that waits for its turn is filled up by later batches, one that was submitted is not")
    func laterBatches() {
        var loop = Loop(BatchService(10)) { ($0.canaryPushes, $0.streamsPerConnection) = (0, 1) }
        loop.add(0..<3)
        let first = loop.advance()
        loop.add(3..<5)
        loop.add(5..<8)
        loop.answer(first[0].request, 200)
        #expect(first.map(\.recipients) == [[0, 1, 2]])
        #expect(loop.advance().map(\.recipients) == [[3, 4, 5, 6, 7]])
    }

    @Test("the canary is as large as it should be, however many pushes a request could carry")
    func canary() {
        var loop = Loop(BatchService(1000)) { $0.canaryPushes = 100 }
        loop.add(0..<1000)
        let first = loop.advance()
        #expect(first.map(\.recipients.count) == [100])
        loop.answer(first[0].request, 200)
        #expect(loop.advance().map(\.recipients.count) == [900])
    }

    // MARK: Answers

    @Test(
        "a request that is refused for one bad target is halved until the target stands alone, and that is no attempt")
    func halved() {
        var loop = Loop(BatchService(1000)) { ($0.canaryPushes, $0.retry.maximumAttempts) = (0, 1) }
        loop.add(0..<1000)
        let requests = loop.run { $0.contains(700) ? (400, "BadTarget", []) : (200, "", []) }
        #expect(requests.count == 23, "the whole, one device and the rest, and two halves ten times")
        #expect(loop.outcomes().count == 1000)
        #expect(loop.outcomes()[700] == .invalidToken && loop.outcomes().values.count { $0 == .accepted } == 999)
        #expect(loop.machine.settlements.allSatisfy { $0.attempts == 1 })
    }

    @Test("targets that an answer names are settled, and the others go again together, once")
    func named() {
        var loop = Loop(BatchService(8)) { ($0.canaryPushes, $0.retry.maximumAttempts) = (0, 1) }
        loop.add(0..<8)
        let requests = loop.run { recipients in
            guard recipients.contains(2) else { return (200, "", []) }
            return (400, "BadTarget", recipients.map { [2, 5].contains($0) ? "BadDeviceToken" : "" })
        }
        #expect(requests == [Array(0..<8), [0, 1, 3, 4, 6, 7]])
        #expect(loop.outcomes().filter { $0.value == .invalidToken }.keys.sorted() == [2, 5])
        #expect(loop.outcomes().values.count { $0 == .accepted } == 6)
        #expect(loop.machine.settlements.allSatisfy { $0.attempts == 1 })
    }

    @Test("one that is left alone by those that were named is sent again, not refused")
    func leftAlone() {
        var loop = Loop(BatchService(2)) { $0.canaryPushes = 0 }
        loop.add(0..<2)
        let requests = loop.run { $0.count == 2 ? (400, "BadTarget", ["BadDeviceToken", ""]) : (200, "", []) }
        #expect(requests == [[0, 1], [1]])
        #expect(loop.outcomes() == [0: .invalidToken, 1: .accepted])
    }

    @Test("a request of one target that is refused for its target is refused for good")
    func singleSplit() {
        var loop = Loop(BatchService(1)) { $0.canaryPushes = 0 }
        loop.add(0..<1)
        let requests = loop.run { _ in (400, "BadTarget", []) }
        #expect(requests.count == 1)
        #expect(loop.outcomes() == [0: .rejected])
    }

    @Test(
        "a text that no device gets is refused for all after a few devices alone, also for those that come later, and blames no device"
    )
    func badText() {
        var loop = Loop(BatchService(100)) { $0.canaryPushes = 0 }
        loop.add(0..<400) { $0 % 4 == 0 ? "bad" : "good" }
        var requests = loop.run { $0[0] % 4 == 0 ? (400, "BadValue", []) : (200, "", []) }
        loop.add(400..<800) { $0 % 4 == 0 ? "bad" : "good" }
        requests += loop.run { $0[0] % 4 == 0 ? (400, "BadValue", []) : (200, "", []) }
        let tries = requests.filter { $0[0] % 4 == 0 }
        #expect(tries.count <= 7 && tries.filter { $0.count == 1 }.count == 3, "\(tries.map(\.count))")
        let outcomes = loop.outcomes()
        #expect(outcomes.count == 800 && outcomes.allSatisfy { $0.value == ($0.key % 4 == 0 ? .rejected : .accepted) })
        #expect(
            loop.machine.settlements.filter { $0.outcome == .rejected }.allSatisfy {
                $0.reason == "BadValue" && $0.status == 400
            })
        #expect(loop.machine.ending == nil)
    }

    @Test("a run whose only text no device gets stops with the service's words, and a resumption reaches the others")
    func onlyBadText() {
        var loop = Loop(BatchService(1000)) { $0.canaryPushes = 100 }
        loop.add(0..<1000)
        let requests = loop.run { _ in (400, "BadValue", []) }
        #expect(requests.count <= 7, "\(requests.map(\.count))")
        guard case .stopped(.service(_, .refused("BadValue", 400, _)))? = loop.machine.ending?.end else {
            return #expect(Bool(false), "\(String(describing: loop.machine.ending))")
        }
        #expect(
            loop.outcomes().values.count { $0 == .rejected } == 3
                && loop.outcomes().values.count { $0 == .unsent } == 997)
    }

    @Test(
        "devices that are not named are found by halves once another got the text, and are rejected",
        arguments: [0, 700, 999])
    func unnamed(device: Int) {
        var loop = Loop(BatchService(1000)) { $0.canaryPushes = 0 }
        loop.add(0..<1000)
        let requests = loop.run { $0.contains(device) ? (400, "BadValue", []) : (200, "", []) }
        #expect(requests.count <= 23)
        #expect(loop.outcomes()[device] == .rejected && loop.outcomes().values.count { $0 == .accepted } == 999)
    }

    @Test("a text that devices got before any refusal is not at fault: three devices are rejected alone")
    func takenBefore() {
        var loop = Loop(BatchService(1000)) { $0.canaryPushes = 0 }
        loop.add(0..<1000)
        _ = loop.run { _ in (200, "", []) }
        loop.add(1000..<2000)
        _ = loop.run { $0.contains { (1000...1002).contains($0) } ? (400, "BadValue", []) : (200, "", []) }
        let outcomes = loop.outcomes()
        #expect(
            outcomes.count == 2000
                && outcomes.allSatisfy { $0.value == ((1000...1002).contains($0.key) ? .rejected : .accepted) })
    }

    @Test("a push that another server refused goes again under a new name, as one that the service refused")
    func strangerRaisesGeneration() throws {
        var service = BatchService(1)
        service.repeatProtection = .derived(windowSeconds: 3600)
        var loop = Loop(service) { $0.canaryPushes = 0 }
        loop.add(0..<1)
        _ = loop.run { _ in (200, "", []) }
        loop.add(1..<2)
        let request = try #require(loop.advance().first).request
        loop.answer(request, 302)
        #expect(loop.machine.ending == nil && loop.machine.pushes[request].generation == 1)
    }

    @Test("personal texts that are refused reject their devices alone")
    func personalBadTexts() {
        var loop = Loop(BatchService(1000)) { $0.canaryPushes = 0 }
        loop.add(0..<200) { "Hi \($0)" }
        let requests = loop.run { $0[0] % 20 == 7 ? (400, "BadValue", []) : (200, "", []) }
        #expect(requests.count == 200 && loop.machine.ending == nil)
        #expect(loop.outcomes().allSatisfy { $0.value == ($0.key % 20 == 7 ? .rejected : .accepted) })
    }

    @Test(
        "what an answer says of each target settles each on its own; those refused for now are tried again together, and no other"
    )
    func each() throws {
        var loop = Loop(BatchService(6)) { $0.canaryPushes = 0 }
        loop.add(0..<6)
        var isFirst = true
        let requests = loop.run { recipients in
            defer { isFirst = false }
            guard isFirst else { return (207, "", recipients.map { _ in "" }) }
            return (207, "", ["", "TooManyRequests", "BadDeviceToken", "", "TooManyRequests", "Odd"])
        }
        #expect(requests == [Array(0..<6), [1, 4]])
        #expect(
            loop.outcomes() == [0: .accepted, 1: .accepted, 2: .invalidToken, 3: .accepted, 4: .accepted, 5: .rejected])
        let settlements = loop.machine.settlements
        #expect(try #require(settlements.first { $0.recipient == 5 }).reason == "Odd")
        #expect(settlements.filter { [1, 4].contains($0.recipient) }.allSatisfy { $0.attempts == 2 })
    }

    @Test("shares of bad answers are judged push by push: a request with more good than bad targets stops nothing")
    func shares() {
        var loop = Loop(BatchService(1000)) { $0.canaryPushes = 0 }
        loop.add(0..<1000)
        let few = loop.advance()
        loop.answer(few[0].request, 207, targets: (0..<1000).map { $0 < 400 ? "BadDeviceToken" : "" })
        #expect(loop.machine.ending == nil)
        #expect(loop.machine.tally.invalidToken == 400 && loop.machine.tally.accepted == 600)
        loop.add(1000..<2000)
        let most = loop.advance()
        loop.answer(most[0].request, 207, targets: (0..<1000).map { $0 < 900 ? "BadDeviceToken" : "" })
        #expect(loop.machine.ending != nil, "most targets are refused as in another environment")
    }

    @Test(
        "an answer that ends the run leaves all who share its request unsent, so that a resumption reaches them",
        arguments: ["BadTopic", "BadMessage"])
    func stop(reason: String) {
        var loop = Loop(BatchService(10)) { $0.canaryPushes = 20 }
        loop.add(0..<30)
        let requests = loop.advance()
        loop.answer(requests[0].request, 400, reason)
        for request in requests.dropFirst() { loop.answer(request.request, 400, reason) }
        _ = loop.advance()
        guard case .stopped(let cause) = loop.machine.ending?.end, case .service(_, .refused(reason, 400, _)) = cause
        else {
            Issue.record("\(String(describing: loop.machine.ending))")
            return
        }
        let settled = loop.machine.settlements
        #expect(settled.map(\.recipient).sorted() == Array(0..<30))
        #expect(settled.allSatisfy { $0.outcome == .unsent && $0.reason == OwnReason.stopped.rawValue })
    }

    @Test("an answer that is lost leaves every push of its request unknown", arguments: [true, false])
    func lost(resendsUnknown: Bool) {
        var loop = Loop(BatchService(5)) { ($0.canaryPushes, $0.resendsUnknown) = (0, resendsUnknown) }
        loop.add(0..<5)
        let first = loop.advance()
        loop.machine.connectionLost(0, cause: "reset by peer", at: loop.now)
        #expect(loop.outcomes().values.count { $0 == .unknown } == (resendsUnknown ? 0 : 5))
        #expect(loop.advance(seconds: 2).map(\.recipients) == (resendsUnknown ? first.map(\.recipients) : []))
    }

    @Test("a request that was not processed goes again whole, with as many attempts as before")
    func notProcessed() {
        var loop = Loop(BatchService(5)) { $0.canaryPushes = 0 }
        loop.add(0..<5)
        let first = loop.advance()
        loop.machine.notProcessed(first[0].request, at: loop.now)
        #expect(loop.run { _ in (200, "", []) } == [Array(0..<5)])
        #expect(loop.machine.settlements.allSatisfy { $0.attempts == 1 })
    }

    // MARK: Pace

    @Test(
        "a pace that counts targets is kept by requests of several, in any sliding second",
        arguments: [7, 60, 100, 1000])
    func paceOfTargets(pushes: Int) {
        var loop = Loop(BatchService(100, paceUnit: .targets)) {
            $0.canaryPushes = 0
            $0.pace = Pace(pushes: pushes, intervalSeconds: 1)
        }
        var times: [Double] = []
        var added = 0
        for step in 0..<3000 {
            while loop.machine.wantsPushes {
                loop.add(added..<added + 10)
                added += 10
            }
            for request in loop.advance(seconds: 0.001) {
                times += request.recipients.map { _ in Double(step) / 1000 }
                loop.answer(request.request, 200)
            }
        }
        #expect(times.indices.dropFirst(pushes).allSatisfy { times[$0] - times[$0 - pushes] > 1 })
        #expect(Double(times.count) >= 0.9 * 3 * Double(pushes), "\(times.count) in three seconds")
    }

    @Test("a pace that counts requests leaves them as full as they can be")
    func paceOfRequests() {
        var loop = Loop(BatchService(1000)) {
            $0.canaryPushes = 0
            $0.pace = Pace(pushes: 600, intervalSeconds: 60)
        }
        #expect(loop.machine.mostAhead == 1000 && loop.machine.largestRequest == 1000)
        loop.add(0..<5000)
        var requests = 0
        for _ in 0..<1000 {
            for request in loop.advance(seconds: 0.001) {
                requests += 1
                #expect(request.recipients.count == 1000)
                loop.answer(request.request, 200)
            }
        }
        #expect((9...10).contains(requests) || requests == 5)
    }

    /// Plays a run with calls that keep a pace of calls and one of devices, and says when which
    /// devices left.
    private func play(_ pushes: Int, devices: Pace, texts: Int) -> (
        times: [(seconds: Double, devices: Int)], paces: RequestPaces
    ) {
        let shared = [SharedPace(Pace(pushes: 540, intervalSeconds: 60)), SharedPace(devices, counting: .targets)]
        var loop = Loop(BatchService(1000)) {
            $0.canaryPushes = 0
            $0.sharedPaces = shared
        }
        loop.machine.paceArbiter = shared.map { $0.join() }
        var times: [(seconds: Double, devices: Int)] = [], added = 0, left = pushes
        let start = loop.now.nanoseconds
        while left > 0 {
            while added < pushes, loop.machine.wantsPushes {
                let next = min(pushes, added + 10)
                loop.add(added..<next) { "text \($0 % texts)" }
                added = next
            }
            for request in loop.advance() {
                times.append((Double(loop.now.nanoseconds - start) / 1e9, request.recipients.count))
                left -= request.recipients.count
                loop.answer(request.request, 200)
            }
            // As the loop does before it adds others, which get the same slots.
            for push in loop.machine.released { loop.store.free(Int(push)) }
            loop.machine.released.removeAll()
            let wake = loop.machine.nextWake(after: loop.now) ?? 0
            loop.now = loop.now.adding(nanoseconds: max(100_000, min(wake - loop.now.nanoseconds, 20_000_000)))
        }
        return (times, loop.machine.settings.paces)
    }

    @Test(
        "a pace of devices is kept beside one of calls, both in any second, and the time is the one that a preview tells",
        arguments: [
            Pace(pushes: 5, intervalSeconds: 1), Pace(pushes: 17, intervalSeconds: 1),
            Pace(pushes: 50, intervalSeconds: 1),
            Pace(pushes: 1000, intervalSeconds: 1), Pace(pushes: 6000, intervalSeconds: 60),
            Pace(pushes: 50_000, intervalSeconds: 1),
        ], [1, 3, 1_000_000])
    func pacesOfDevicesAndCalls(devices: Pace, texts: Int) throws {
        let pushes = texts > 3 ? 90 : min(36_000, Int(devices.perSecond * 12))
        let (times, paces) = play(pushes, devices: devices, texts: texts)
        for (place, time) in times.enumerated() {
            let second = times[...place].suffix(2000).drop { time.seconds - $0.seconds > 1 }
            #expect(second.count <= 9 && second.reduce(0) { $0 + $1.devices } <= Int(devices.perSecond))
        }
        let size = paces.largestRequest
        let calls = texts > 3 ? pushes : (0..<texts).reduce(0) { sum, _ in sum + (pushes / texts + size - 1) / size }
        let told = try #require(paces.seconds(pushes: pushes, requests: calls)), last = try #require(times.last)
        // The last call is not followed by its spaces.
        #expect(
            abs(last.seconds - told) <= 0.04 * told + max(0.25, Double(size) / devices.perSecond),
            "\(last.seconds) s, told \(told) s")
    }
}
