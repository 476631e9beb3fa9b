import Base

@testable import Delivery

/// A driver with a virtual clock: carries out the machine's actions on a model of APNs that misbehaves at random, and checks after every step
/// what must hold in any case. A broken rule is noted with the campaign's seed.
struct SimulatedAPNs {
    /// What a campaign is like; all drawn from the seed.
    private struct Nature {
        var pushes: Int
        var acceptance: Double
        var temporary: Double
        var silence: Double
        var death: Double
        var refusedConnections: Double
        var latency: Int64
        var interruptsAt: Int64?
        var limit: Int
    }

    private struct Peer {
        var isOpen = false
        var limit = 1
        var inFlight: Set<Int> = []
        var hasAccepted = false
    }

    private enum Event {
        case open(Int)
        case fail(Int)
        case answer(push: Int, connection: Int, generation: Int)
        case die(Int, generation: Int)
        case limit(Int, to: Int, generation: Int)
        case pong(Int, generation: Int)
        case interrupt
    }

    let seed: UInt64
    private(set) var violations: [String] = []
    private(set) var settlements: [Settlement] = []
    private(set) var end: SendEnd?

    private var random: SplitMix
    private var machine: DeliveryMachine
    private let nature: Nature
    private var now = Moment(nanoseconds: 1_000_000_000, wall: Timestamp(epochSeconds: 1_800_000_000))
    private var events: [(time: Int64, event: Event)] = []
    private var peers: [Peer] = []
    private var generations: [Int] = []
    private var submissions: [Int64] = []
    private var tokensRefused = 0

    // By recipient: what the model knows, against which settlements are judged.
    private var accepted: [Int]
    private var mayRepeat: [Bool]
    private var handedOver: [Int]
    private var doubtful: [Bool]
    /// Whether the server, or the lack of an answer, said something about it.
    private var heard: [Bool]
    /// In the order in which they went out for the first time.
    private var firsts: [Int] = []

    init(seed: UInt64) {
        self.seed = seed
        random = SplitMix(seed: seed)
        let isCalm = Bool.random(using: &random)
        nature = Nature(
            pushes: Int.random(in: 1...(Int.random(in: 0..<6, using: &random) == 0 ? 200 : 40), using: &random),
            acceptance: Double.random(in: 0.3...1, using: &random),
            temporary: isCalm ? 0 : Double.random(in: 0...0.6, using: &random),
            silence: isCalm ? 0 : Double.random(in: 0...0.1, using: &random),
            death: isCalm ? 0 : Double.random(in: 0...0.05, using: &random),
            refusedConnections: isCalm ? 0 : Double.random(in: 0...0.7, using: &random),
            latency: Int64.random(in: 1_000_000...300_000_000, using: &random),
            interruptsAt: Int.random(in: 0..<8, using: &random) == 0
                ? Int64.random(in: 1_000_000_000...4_000_000_000, using: &random) : nil,
            limit: Int.random(in: 1...60, using: &random))
        var settings = MachineSettings(endpoint: "example.com:443", usesProviderToken: Bool.random(using: &random))
        settings.pace =
            [nil, Pace(pushes: 50, intervalSeconds: 1), Pace(pushes: 700, intervalSeconds: 60)].randomElement(using: &random) ?? nil
        settings.deadline =
            Int.random(in: 0..<6, using: &random) == 0 ? now.wall.adding(seconds: Double.random(in: 0...5, using: &random)) : nil
        settings.resendsUnknown = Bool.random(using: &random)
        settings.connections = Int.random(in: 1...3, using: &random)
        settings.streamsPerConnection = Int.random(in: 1...50, using: &random)
        settings.retry.maximumAttempts = Int.random(in: 1...6, using: &random)
        settings.canPing = Bool.random(using: &random)
        settings.canaryPushes = [0, 3, 20, 100].randomElement(using: &random) ?? 0
        if Int.random(in: 0..<4, using: &random) == 0 {
            settings.stopLimits = StopLimits()
            settings.stopLimits?.after = Int.random(in: 1...50, using: &random)
            for outcome in StopLimits.outcomes where Bool.random(using: &random) {
                settings.stopLimits?.shares[outcome] = StopShare(millionths: Int.random(in: 1...1_000_000, using: &random))
            }
        }
        settings.jitterSeed = random.next()
        machine = DeliveryMachine(settings)
        accepted = Array(repeating: 0, count: nature.pushes)
        mayRepeat = Array(repeating: true, count: nature.pushes)
        handedOver = Array(repeating: 0, count: nature.pushes)
        doubtful = Array(repeating: false, count: nature.pushes)
        heard = Array(repeating: false, count: nature.pushes)
    }

    mutating func run() {
        if let time = nature.interruptsAt { events.append((time, .interrupt)) }
        for recipient in 0..<nature.pushes { _ = machine.add(recipient: recipient, at: now) }
        machine.sourceEnded()
        var steps = 0
        while machine.end == nil, violations.isEmpty {
            machine.advance(to: now)
            carryOut()
            checkCounts()
            steps += 1
            if steps % 32 == 0 { checkSlots() }
            if steps > 30_000 { return violate("it never ends") }
            guard machine.end == nil else { break }
            if machine.ending != nil { machine.sourceEnded() }
            step()
        }
        end = machine.end
        settlements += machine.settlements
        checkEnd()
    }

    // MARK: Time

    private mutating func step() {
        let wake = machine.nextWake(after: now) ?? .max
        let earliest = events.indices.min { events[$0].time < events[$1].time }
        guard let earliest, events[earliest].time <= wake else {
            if wake == .max { return violate("it waits for nothing") }
            return move(to: max(wake, now.nanoseconds + 1))
        }
        let (time, event) = events.remove(at: earliest)
        move(to: max(time, now.nanoseconds))
        happen(event)
    }

    private mutating func move(to nanoseconds: Int64) { now = now.adding(nanoseconds: nanoseconds - now.nanoseconds) }

    private mutating func schedule(_ event: Event, within nanoseconds: Int64) {
        events.append((now.nanoseconds + Int64.random(in: 0...max(1, nanoseconds), using: &random), event))
    }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    private mutating func happen(_ event: Event) {
        switch event {
        case .interrupt: machine.interrupt(at: now)
        case .open(let connection):
            guard machine.connections[connection].state == .opening else { return }
            peers[connection] = Peer(isOpen: true)
            machine.connectionOpened(connection, at: now)
            if chance(nature.death) { schedule(.die(connection, generation: generations[connection]), within: 500_000_000) }
        case .fail(let connection):
            guard machine.connections[connection].state == .opening else { return }
            machine.connectionFailed(connection, .unreachable("connection refused"), at: now)
        case .limit(let connection, let limit, let generation):
            guard generations[connection] == generation else { return }
            peers[connection].limit = limit
            machine.limitChanged(connection, to: limit)
        case .pong(let connection, let generation):
            if generations[connection] == generation { machine.connectionAlive(connection, at: now) }
        case .die(let connection, let generation): die(connection, generation)
        case .answer(let push, let connection, let generation):
            guard generations[connection] == generation, peers[connection].inFlight.contains(push) else { return }
            answer(push, connection)
        }
    }

    // MARK: The model of APNs

    private mutating func carryOut() {
        for action in machine.actions {
            switch action {
            case .open(let connection):
                while peers.count <= connection {
                    peers.append(Peer())
                    generations.append(0)
                }
                generations[connection] += 1
                schedule(chance(nature.refusedConnections) ? .fail(connection) : .open(connection), within: 50_000_000)
            case .close(let connection):
                for push in peers[connection].inFlight { beInDoubt(push) }
                peers[connection] = Peer()
                generations[connection] += 1
            case .abandon(let push, let connection):
                peers[connection].inFlight.remove(push)
                heard[machine.pushes[push].recipient] = true
            case .submit(let push, let connection): receive(push, connection)
            case .hold: break
            case .ping(let connection):
                // A connection that swallows pushes may be deaf altogether.
                if !chance(nature.silence) { schedule(.pong(connection, generation: generations[connection]), within: nature.latency) }
            case .renewToken:
                tokensRefused += 1
                if tokensRefused > 3 { machine.tokenRefused(at: now) }
            }
        }
        machine.actions.removeAll()
        machine.released.removeAll()
    }

    private mutating func receive(_ push: Int, _ connection: Int) {
        let recipient = machine.pushes[push].recipient
        if !mayRepeat[recipient] { violate("recipient \(recipient) is sent again though nothing allows it") }
        mayRepeat[recipient] = false
        handedOver[recipient] += 1
        if handedOver[recipient] == 1 { checkCanary(recipient) }
        submissions.append(now.nanoseconds)
        peers[connection].inFlight.insert(push)
        if !peers[connection].isOpen { violate("submitted to a connection that is not open") }
        let limit = peers[connection].hasAccepted ? peers[connection].limit : 1
        // A limit that sank lately may find more in flight; none may be added to them, which `limit` is checked for at submission.
        if peers[connection].inFlight.count > limit { violate("\(peers[connection].inFlight.count) streams where \(limit) are allowed") }
        guard !chance(nature.silence) else {
            // Perhaps it arrived, perhaps not.
            if chance(0.5) { accepted[recipient] += 1 }
            doubtful[recipient] = true
            if machine.settings.resendsUnknown { mayRepeat[recipient] = true }
            return
        }
        schedule(.answer(push: push, connection: connection, generation: generations[connection]), within: nature.latency)
    }

    private mutating func beInDoubt(_ push: Int) {
        let recipient = machine.pushes[push].recipient
        doubtful[recipient] = true
        if machine.settings.resendsUnknown { mayRepeat[recipient] = true }
    }

    private mutating func answer(_ push: Int, _ connection: Int) {
        let recipient = machine.pushes[push].recipient
        peers[connection].inFlight.remove(push)
        if chance(nature.temporary) {
            mayRepeat[recipient] = true
            return refuseForNow(push, connection)
        }
        heard[recipient] = true
        if chance(nature.acceptance) {
            accepted[recipient] += 1
            if !peers[connection].hasAccepted {
                peers[connection].hasAccepted = true
                peers[connection].limit = nature.limit
                machine.limitChanged(connection, to: nature.limit)
            }
            if chance(0.02) {
                schedule(
                    .limit(connection, to: Int.random(in: 1...100, using: &random), generation: generations[connection]),
                    within: nature.latency)
            }
            return machine.answered(push, .init(status: 200), at: now)
        }
        let final: [(Int, String)] = [
            (410, "Unregistered"), (400, "BadDeviceToken"), (413, "PayloadTooLarge"), (418, "Teapot"), (302, ""), (400, "SomethingNew"),
        ]
        let (status, reason) = final.randomElement(using: &random) ?? (410, "Unregistered")
        machine.answered(push, .init(status: status, reason: reason), at: now)
        if chance(0.005) { machine.stop("the test says so", at: now) }
    }

    private mutating func refuseForNow(_ push: Int, _ connection: Int) {
        let kind = Int.random(in: 0..<8, using: &random)
        if kind > 0 { heard[machine.pushes[push].recipient] = true }
        switch kind {
        case 0: machine.notProcessed(push, at: now)
        case 1: machine.answered(push, .init(status: 429, reason: "TooManyRequests", retryAfterSeconds: 2), at: now)
        case 2: machine.answered(push, .init(status: 503, reason: "Shutdown"), at: now)
        case 3: machine.answered(push, .init(status: 400, reason: "IdleTimeout"), at: now)
        case 4 where machine.settings.usesProviderToken:
            machine.answered(push, .init(status: 403, reason: "ExpiredProviderToken"), at: now)
        case 5: machine.answered(push, .init(status: 500, reason: "InternalServerError"), at: now)
        case 6: machine.answered(push, .init(status: 599, reason: "New"), at: now)
        default: machine.answered(push, .init(status: 503, reason: "ServiceUnavailable"), at: now)
        }
    }

    private mutating func die(_ connection: Int, _ generation: Int) {
        guard generations[connection] == generation, peers[connection].isOpen else { return }
        for push in peers[connection].inFlight.sorted() where machine.connections[connection].state != .closed {
            // One that was swallowed may have been accepted: that cannot be called unprocessed.
            if chance(0.3), !doubtful[machine.pushes[push].recipient] {
                mayRepeat[machine.pushes[push].recipient] = true
                machine.notProcessed(push, at: now)
            } else {
                if chance(0.5), !doubtful[machine.pushes[push].recipient] { accepted[machine.pushes[push].recipient] += 1 }
                beInDoubt(push)
            }
        }
        peers[connection] = Peer()
        generations[connection] += 1
        if chance(0.2) { machine.connectionLeaves(connection, cause: "GOAWAY", at: now) }
        machine.connectionLost(connection, cause: "reset by peer", at: now)
    }

    // MARK: What must hold

    private mutating func violate(_ text: String) { violations.append("seed \(seed): \(text)") }

    private mutating func checkCounts() {
        var inFlight = 0
        for (index, connection) in machine.connections.enumerated() {
            inFlight += connection.inFlight
            if index < peers.count, peers[index].isOpen, peers[index].inFlight.count != connection.inFlight {
                violate("connection \(index) has \(peers[index].inFlight.count) in flight, the machine says \(connection.inFlight)")
            }
        }
        if inFlight != machine.inFlightCount { violate("pushes in flight are miscounted") }
        if machine.heldCount + settlements.count + machine.settlements.count != nature.pushes { violate("a push is gone or came twice") }
        let wanted = machine.connections.count { $0.state == .open || $0.state == .opening }
        if wanted > machine.settings.connections { violate("\(wanted) connections, more than allowed") }
    }

    private mutating func checkCanary(_ recipient: Int) {
        let canary = firsts.prefix(machine.settings.canaryPushes)
        firsts.append(recipient)
        guard firsts.count > machine.settings.canaryPushes else { return }
        let settled = Set(machine.settlements.map(\.recipient))
        if let waiting = canary.first(where: { !heard[$0] && !settled.contains($0) }) {
            violate("recipient \(recipient) goes out before anything is known of \(waiting) of the canary")
        }
    }

    private mutating func checkSlots() {
        let held = machine.pushes.count { $0.state != .free }
        if held != machine.heldCount { violate("held pushes are miscounted") }
    }

    private mutating func checkEnd() {
        checkSlots()
        guard violations.isEmpty else { return }
        if settlements.map(\.recipient).sorted() != Array(0..<nature.pushes) { violate("not every push settled exactly once") }
        for settlement in settlements { check(settlement) }
        if let pace = machine.settings.pace { checkPace(pace) }
    }

    private mutating func check(_ settlement: Settlement) {
        let recipient = settlement.recipient
        let times = accepted[recipient]
        switch settlement.outcome {
        case .accepted:
            if times == 0 { violate("recipient \(recipient) is called accepted, and was not") }
        case .unknown:
            if !doubtful[recipient] { violate("recipient \(recipient) is called unknown without any doubt") }
        case .unsent, .failed:
            if times > 0 { violate("recipient \(recipient) is called \(settlement.outcome), and was accepted") }
            if doubtful[recipient] { violate("recipient \(recipient) is called \(settlement.outcome), which nobody can know") }
        case .invalidToken, .rejected: break
        }
        if times > 1, !machine.settings.resendsUnknown { violate("recipient \(recipient) was accepted \(times) times") }
        if settlement.attempts > machine.settings.retry.maximumAttempts {
            violate("recipient \(recipient) had \(settlement.attempts) attempts")
        }
        if settlement.attempts > handedOver[recipient] { violate("recipient \(recipient) has more attempts than submissions") }
    }

    private mutating func checkPace(_ pace: Pace) {
        let perSecond = (pace.pushes + pace.intervalSeconds - 1) / pace.intervalSeconds
        for (span, limit) in [(1, perSecond), (pace.intervalSeconds, pace.pushes)] where submissions.count > limit {
            for index in limit..<submissions.count where submissions[index] - submissions[index - limit] <= Int64(span) * 1_000_000_000 {
                return violate("more than \(limit) pushes within \(span) s")
            }
        }
    }
}
