import PushServices
import Base
import Reports
import Testing

@testable import Delivery

@Suite("delivery machine")
struct DeliveryMachineTests {
    @Test("one push per connection until the first is accepted, then up to the limit")
    func warmUp() {
        var bench = Bench(pushes: 100) { $0.streamsPerConnection = 30 }
        #expect(submitted(bench.advance()) == [0])
        #expect(submitted(bench.advance(seconds: 1)).isEmpty)
        bench.answer(0, 410, "Unregistered")
        #expect(submitted(bench.advance()) == [1], "a refusal does not open the gate")
        bench.answer(1, 200)
        #expect(submitted(bench.advance()).count == 30)
    }

    @Test("the peer's latest limit counts")
    func peerLimit() {
        var bench = Bench(pushes: 100)
        bench.warmUp()
        bench.machine.limitChanged(0, to: 5)
        #expect(submitted(bench.advance()).count == 5)
        bench.machine.limitChanged(0, to: 2)
        for push in 1...3 { bench.answer(push, 200) }
        #expect(submitted(bench.advance()).isEmpty)
        bench.answer(4, 200)
        #expect(submitted(bench.advance()).count == 1)
    }

    /// Answers everything in flight `rounds` times, 0.1 s apart; returns the connections that were
    /// opened in the meantime.
    private func openedWhileBusy(_ bench: inout Bench, rounds: Int, answersARound: Int? = nil) -> Int {
        var opened = 0
        for _ in 0..<rounds {
            let inFlight = bench.machine.pushes.indices.filter { bench.machine.pushes[$0].state == .inFlight }
            for push in inFlight.prefix(answersARound ?? .max) { bench.answer(push, 200) }
            opened += bench.advance(seconds: 0.1).count { if case .open = $0 { true } else { false } }
        }
        return opened
    }

    @Test("further connections open one at a time, while streams are the limit and each makes the run faster")
    func growth() {
        var bench = Bench(pushes: 20_000) {
            $0.connections = 4
            $0.streamsPerConnection = 10
        }
        bench.warmUp()
        #expect(openedWhileBusy(&bench, rounds: 2) == 0, "not before streams were the limit for a while")
        #expect(openedWhileBusy(&bench, rounds: 3) == 1)
        #expect(openedWhileBusy(&bench, rounds: 40) == 2, "and never more than allowed")
    }

    @Test("a connection that made nothing faster is given up, and another tried only after a rest")
    func growthWithoutGain() {
        var bench = Bench(pushes: 20_000) {
            $0.connections = 8
            $0.streamsPerConnection = 10
        }
        bench.warmUp()
        #expect(openedWhileBusy(&bench, rounds: 80, answersARound: 10) == 1)
        #expect(bench.machine.connections.filter { $0.state != .closed }.count == 1)
        #expect(openedWhileBusy(&bench, rounds: 60, answersARound: 10) == 1, "tried again after a rest")
    }

    @Test("no connection is added for a pace that one can keep")
    func growthWithPace() {
        var bench = Bench(pushes: 2_000) {
            $0.connections = 8
            $0.streamsPerConnection = 10
            $0.pace = Pace(pushes: 50, intervalSeconds: 1)
        }
        bench.warmUp()
        #expect(openedWhileBusy(&bench, rounds: 100) == 0)
    }

    @Test("a silent connection is asked for a sign of life, and given up without one")
    func pings() {
        var bench = Bench(pushes: 1) { $0.resendsUnknown = false }
        bench.answersPings = false
        bench.advance()
        #expect(pings(&bench, seconds: 4.5) == 0)
        #expect(pings(&bench, seconds: 6) == 1, "asked once")
        bench.machine.connectionAlive(0, at: bench.now)
        #expect(pings(&bench, seconds: 6) == 1, "and again after further silence")
        #expect(bench.machine.settlements.isEmpty)
        #expect(pings(&bench, seconds: 10) == 0)
        #expect(bench.machine.settlements.map(\.outcome) == [.unknown])
    }

    /// PINGs requested while time passes in steps too short to count as stalls.
    private func pings(_ bench: inout Bench, seconds: Double) -> Int {
        var count = 0
        for _ in 0..<Int(seconds * 2) {
            count += bench.advance(seconds: 0.5).count { if case .ping = $0 { true } else { false } }
        }
        return count
    }

    @Test("an idle connection is kept open by a PING an hour")
    func idlePing() {
        var bench = Bench(pushes: 1)
        bench.advance()
        bench.answer(0, 503, "ServiceUnavailable", retryAfter: 890)
        let idleSince = bench.now.nanoseconds
        #expect(pings(&bench, seconds: 800) == 0)
        #expect(bench.machine.healthCheck(of: bench.machine.connections[0]) == idleSince + 3_600_000_000_000)
    }

    @Test("a connection that proved useful is replaced without a trial")
    func growthAfterLoss() {
        var bench = Bench(pushes: 20_000) {
            $0.connections = 4
            $0.streamsPerConnection = 10
        }
        bench.warmUp()
        #expect(openedWhileBusy(&bench, rounds: 40) == 3)
        bench.machine.connectionLost(2, cause: "reset by peer", at: bench.now)
        bench.machine.connectionLost(3, cause: "reset by peer", at: bench.now)
        #expect(openedWhileBusy(&bench, rounds: 6) == 2)
    }

    /// Refuses everything in flight, step by step; returns how often a push was submitted.
    private func submissionsWhileRefused(_ bench: inout Bench, seconds: Int, _ refuse: (inout Bench, Int) -> Void)
        -> Int
    {
        var count = 0
        for _ in 0..<seconds * 10 where bench.machine.end == nil {
            for push in bench.machine.pushes.indices where bench.machine.pushes[push].state == .inFlight {
                refuse(&bench, push)
            }
            count += submitted(bench.advance(seconds: 0.1)).count
        }
        return count
    }

    @Test("a server that refuses every stream is asked less and less often, and at last the run stops")
    func refusalsOfStreams() {
        var bench = Bench(pushes: 5_000) { $0.retry.maximumTotalSeconds = 100 }
        bench.warmUp()
        bench.advance()
        let early = submissionsWhileRefused(&bench, seconds: 2) { $0.machine.streamRefused($1, at: $0.now) }
        #expect(early < 4_000)
        let later = submissionsWhileRefused(&bench, seconds: 60) { $0.machine.streamRefused($1, at: $0.now) }
        #expect(later < 60 * 10 * ServiceHealth.pushesTriedInTrouble / 2)
        #expect(bench.machine.settlements.count == 1, "no attempt counts, so nothing is given up")
        _ = submissionsWhileRefused(&bench, seconds: 60) { $0.machine.streamRefused($1, at: $0.now) }
        guard case .stopped(let cause) = bench.machine.end else {
            Issue.record("it goes on for ever")
            return
        }
        let reason = cause.sentence
        #expect(reason.contains("REFUSED_STREAM"))
        #expect(bench.machine.settlements.dropFirst().allSatisfy { $0.outcome == .unsent && $0.attempts == 0 })
    }

    @Test("streams refused because the limit sank are no trouble of the service")
    func refusalsBeyondTheLimit() {
        var bench = Bench(pushes: 5_000)
        bench.warmUp()
        bench.advance()
        bench.machine.limitChanged(0, to: 1)
        for push in 1...500 { bench.machine.streamRefused(push, at: bench.now) }
        #expect(bench.machine.serviceHealth.troubleSince == nil)
    }

    @Test("a push whose stream was reset waits before it is tried again, and most of the audience waits with it")
    func resets() {
        var bench = Bench(pushes: 50_000)
        bench.warmUp()
        bench.advance()
        let count = submissionsWhileRefused(&bench, seconds: 10) { $0.machine.streamReset($1, at: $0.now) }
        #expect(count < 5_000)
        #expect(bench.machine.settlements.count { $0.outcome == .unknown } < 2_000)
    }

    @Test("mostly pushes refused for good stop the run, whatever the reason")
    func rejections() {
        var bench = Bench(pushes: 5_000)
        bench.warmUp()
        bench.advance()
        for push in 1...200 where bench.machine.ending == nil { bench.answer(push, 413, "PayloadTooLarge") }
        guard case .stopped(let cause) = bench.machine.ending?.end else {
            Issue.record("it goes on")
            return
        }
        let reason = cause.sentence
        #expect(reason.contains("PayloadTooLarge"))
    }

    @Test("a helping loop takes pushes only once it is connected, and leaves when it never is")
    func helper() {
        var bench = Bench(pushes: 0) { $0.connectsFirst = true }
        bench.machine.isSourceEnded = false
        bench.machine.advance(to: bench.now)
        #expect(bench.machine.actions == [.open(connection: 0)])
        #expect(bench.machine.wantsPushes == false)
        for _ in 0..<5 {
            bench.machine.actions.removeAll()
            bench.machine.connectionFailed(0, .unreachable("refused"), at: bench.now)
            bench.now = bench.now.adding(nanoseconds: 60_000_000_000)
            bench.machine.advance(to: bench.now)
        }
        #expect(bench.machine.end == .finished)
        var other = Bench(pushes: 0) { $0.connectsFirst = true }
        other.machine.isSourceEnded = false
        other.machine.advance(to: other.now)
        other.machine.connectionOpened(0, at: other.now)
        #expect(other.machine.wantsPushes == true)
    }

    @Test("past the deadline pushes are taken as fast as they come, to be written off")
    func expiredRest() {
        var bench = Bench(pushes: 3_000) {
            $0.pace = Pace(pushes: 20, intervalSeconds: 1)
            $0.deadline = Timestamp(epochSeconds: 1_800_000_001)
        }
        bench.machine.isSourceEnded = false
        bench.advance(seconds: 2)
        #expect(bench.machine.isExpired && bench.machine.wantsPushes)
    }

    @Test("retry-after is never undercut")
    func retryAfter() {
        var bench = Bench(pushes: 1)
        bench.advance()
        bench.answer(0, 429, "TooManyRequests", retryAfter: 7)
        #expect(submitted(bench.advance(seconds: 6.9)).isEmpty)
        #expect(bench.machine.nextWake(after: bench.now) == 8_000_000_000)
        #expect(submitted(bench.advance(seconds: 0.2)) == [0])
    }

    @Test("the back-off doubles with full jitter, up to the longest")
    func backOff() {
        let policy = RetryPolicy()
        var random = SplitMix(seed: 9)
        for (attempts, ceiling) in [(1, 0.5), (2, 1.0), (5, 8.0), (9, 60.0), (70, 60.0)] {
            let delays = (0..<500).map { _ in
                Double(policy.delayNanoseconds(afterAttempts: attempts, retryAfterSeconds: nil, random: &random)) / 1e9
            }
            #expect(delays.allSatisfy { $0 <= ceiling })
            #expect((delays.max() ?? 0) > 0.95 * ceiling)
            #expect((delays.min() ?? 1) < 0.05 * ceiling)
        }
    }

    @Test("no wait is shorter than the service's shortest, and none longer than its longest")
    func shortestDelay() {
        var policy = RetryPolicy()
        (policy.shortestDelaySeconds, policy.firstDelaySeconds, policy.longestDelaySeconds) = (10, 20, 300)
        var random = SplitMix(seed: 9)
        for (attempts, ceiling) in [(1, 20.0), (2, 40.0), (9, 300.0)] {
            let delays = (0..<500).map { _ in
                Double(policy.delayNanoseconds(afterAttempts: attempts, retryAfterSeconds: nil, random: &random)) / 1e9
            }
            #expect(delays.allSatisfy { (10...ceiling).contains($0) })
            #expect((delays.min() ?? 20) < 12 && (delays.max() ?? 0) > 0.95 * ceiling)
        }
        #expect(policy.delayNanoseconds(afterAttempts: 1, retryAfterSeconds: 90, random: &random) == 90_000_000_000)
    }

    @Test("a push is given up as failed after its attempts, with the last reason")
    func attempts() {
        var bench = Bench(pushes: 2) { $0.retry.maximumAttempts = 2 }
        bench.advance()
        bench.answer(0, 200)
        bench.advance()
        bench.answer(1, 500, "InternalServerError")
        bench.advance(seconds: 1)
        bench.answer(1, 503, "ServiceUnavailable")
        bench.advance()
        let settlement = bench.machine.settlements.last
        #expect(settlement?.outcome == .failed)
        #expect(settlement?.reason == "ServiceUnavailable")
        #expect(settlement?.attempts == 2)
        #expect(bench.machine.end == .finished)
    }

    @Test("refused streams use up no attempt: a push fails only after as many answers as it has attempts")
    func refusedStreamsBeforeAttempts() throws {
        var bench = Bench(pushes: 2) { $0.retry.maximumAttempts = 2 }
        bench.warmUp()
        #expect(submitted(bench.advance()) == [1])
        for _ in 0..<3 {
            bench.machine.streamRefused(1, at: bench.now)
            try #require(submitted(bench.advance()) == [1])
        }
        bench.answer(1, 503, "ServiceUnavailable")
        try #require(bench.machine.settlements.count == 1, "it is left one more attempt")
        // Refusals lengthen the wait, to 4 s at most.
        try #require(submitted(bench.advance(seconds: 5)) == [1])
        bench.machine.streamRefused(1, at: bench.now)
        try #require(submitted(bench.advance()) == [1])
        bench.answer(1, 503, "ServiceUnavailable")
        #expect(bench.machine.settlements.last?.outcome == .failed)
        #expect(bench.machine.settlements.last?.attempts == 2)
    }

    @Test("a retry that would come too late is not waited for")
    func totalTime() {
        var bench = Bench(pushes: 2) { $0.retry.maximumTotalSeconds = 20 }
        bench.advance()
        bench.answer(0, 200)
        bench.advance()
        bench.answer(1, 503, "ServiceUnavailable", retryAfter: 21)
        bench.advance()
        #expect(bench.machine.settlements.last?.outcome == .failed)
    }

    @Test("what provably was not processed is sent again, and does not count as an attempt")
    func notProcessed() {
        var bench = Bench(pushes: 1)
        bench.advance()
        bench.machine.notProcessed(0, at: bench.now)
        bench.machine.connectionLost(0, cause: "reset", at: bench.now)
        #expect(submitted(bench.advance(seconds: 2)) == [0])
        bench.answer(0, 200)
        #expect(bench.machine.settlements.first?.attempts == 1)
    }

    @Test("a lost answer is sent again, or unknown at once when the campaign says so", arguments: [true, false])
    func lostAnswer(resends: Bool) {
        var bench = Bench(pushes: 1) { $0.resendsUnknown = resends }
        bench.advance()
        bench.machine.connectionLost(0, cause: "reset", at: bench.now)
        #expect(submitted(bench.advance(seconds: 2)).count == (resends ? 1 : 0))
        #expect(bench.machine.settlements.first?.outcome == (resends ? nil : .unknown))
    }

    @Test("a push that was lost once is unknown, not failed, when its attempts run out")
    func lostThenRefused() {
        var bench = Bench(pushes: 1) { $0.retry.maximumAttempts = 2 }
        bench.advance()
        bench.machine.connectionLost(0, cause: "reset", at: bench.now)
        bench.advance(seconds: 2)
        bench.answer(0, 503, "ServiceUnavailable")
        #expect(bench.machine.settlements.first?.outcome == .unknown)
    }

    @Test("a slot is used again only once the bytes of the push that was settled in it are freed")
    func slots() {
        var bench = Bench(pushes: 2)
        bench.warmUp()
        #expect(bench.machine.released == [0])
        #expect(bench.machine.add(recipient: 2, at: bench.now) == 2)
        bench.machine.released.removeAll()
        #expect(bench.machine.add(recipient: 3, at: bench.now) == 0)
    }

    @Test(
        "a push whose answer was lost is unknown when it is refused for good the next time, whatever the refusal is about",
        arguments: [(413, "PayloadTooLarge"), (400, "SomethingNew"), (403, "InvalidProviderToken")])
    func lostThenRefusedForGood(status: Int, reason: String) {
        var bench = Bench(pushes: 1)
        bench.advance()
        bench.machine.connectionLost(0, cause: "reset", at: bench.now)
        bench.advance(seconds: 2)
        bench.answer(0, status, reason)
        let settled = bench.machine.settlements.first
        #expect(
            settled?.outcome == .unknown && settled?.reason == "RefusedAgain" && settled?.status == status
                && settled?.attempts == 2)
    }

    @Test("a push whose answer was lost is gone when the service says so the next time: that is true of the device")
    func lostThenGone() {
        var bench = Bench(pushes: 1)
        bench.advance()
        bench.machine.connectionLost(0, cause: "reset", at: bench.now)
        bench.advance(seconds: 2)
        bench.answer(0, 410, "Unregistered")
        #expect(bench.machine.settlements.first?.outcome == .invalidToken)
    }

    @Test("an expired token means a new token and a new connection, and the push is sent again")
    func expiredToken() {
        var bench = Bench(pushes: 1)
        bench.advance()
        bench.answer(0, 403, "ExpiredProviderToken")
        let actions = bench.advance()
        #expect(
            actions == [
                .renewToken(connection: 0), .close(connection: 0), .open(connection: 0),
                .submit(request: 0, connection: 0),
            ])
    }

    @Test("Shutdown lets the connection finish what is in flight, and takes another for the rest")
    func shutdown() {
        var bench = Bench(pushes: 20) { $0.streamsPerConnection = 3 }
        bench.warmUp()
        bench.advance()
        bench.answer(1, 503, "Shutdown")
        let actions = bench.advance()
        #expect(actions.contains(.open(connection: 1)))
        #expect(!actions.contains(.close(connection: 0)))
        bench.answer(2, 200)
        bench.answer(3, 200)
        #expect(bench.advance().contains(.close(connection: 0)))
    }

    @Test("a connection that says nothing for long is lost; one that only forgot a push is kept")
    func silence() {
        var bench = Bench(pushes: 10) { $0.streamsPerConnection = 5 }
        bench.warmUp()
        bench.advance()
        for _ in 0..<20 { bench.advance(seconds: 0.9) }
        for push in 2...5 { bench.answer(push, 200) }
        var actions: [DeliveryMachine.Action] = []
        for _ in 0..<15 { actions += bench.advance(seconds: 0.9) }
        #expect(actions.contains(.abandon(request: 1, connection: 0)))
        #expect(!actions.contains(.close(connection: 0)))
        bench.answersPings = false
        for _ in 0..<30 { actions += bench.advance(seconds: 0.9) }
        #expect(actions.contains(.close(connection: 0)))
    }

    @Test("after a stall of the loop, answers that are waiting to be read are not called missing")
    func stall() {
        var bench = Bench(pushes: 1)
        bench.advance()
        #expect(bench.advance(seconds: 100).isEmpty)
        bench.answer(0, 200)
        #expect(bench.machine.settlements.first?.outcome == .accepted)
    }

    @Test("a run that never reaches the server stops, naming it, after five attempts within ten seconds")
    func unreachable() {
        var machine = DeliveryMachine(MachineSettings(endpoint: "example.com:443", usesProviderToken: true))
        var now = Moment(nanoseconds: 0, wall: Timestamp(epochSeconds: 0))
        _ = machine.add(recipient: 0, at: now)
        machine.sourceEnded()
        var attempts = 0
        while machine.end == nil, attempts < 100 {
            machine.advance(to: now)
            for case .open(let connection) in machine.actions {
                attempts += 1
                machine.connectionFailed(connection, .unreachable("Connection refused"), at: now)
            }
            machine.actions.removeAll()
            now = now.adding(nanoseconds: 10_000_000)
        }
        #expect(attempts == 5)
        #expect(now.nanoseconds < 10_000_000_000)
        guard case .stopped(let cause) = machine.end else {
            Issue.record("it did not stop")
            return
        }
        let reason = cause.sentence
        #expect(reason.contains("example.com:443") && reason.contains("Connection refused"))
    }

    @Test(
        "a refused client certificate and a foreign server stop the run at once",
        arguments: [
            ConnectionFailure.certificateRefused("alert bad certificate"), .untrusted("self-signed"), .notHTTP2,
            .misconfigured("no such file"),
        ])
    func hopeless(failure: ConnectionFailure) {
        var bench = Bench(pushes: 3)
        bench.advance()
        bench.machine.connectionFailed(0, failure, at: bench.now)
        bench.advance()
        #expect(bench.machine.settlements.map(\.outcome) == [.unsent, .unsent, .unsent])
        #expect(bench.machine.settlements.map(\.attempts) == [0, 0, 0])
        guard case .stopped = bench.machine.end else {
            Issue.record("it did not stop")
            return
        }
    }

    @Test("when the run stops, what is in flight is still awaited, for a bounded time")
    func draining() {
        var bench = Bench(pushes: 10) { $0.streamsPerConnection = 4 }
        bench.warmUp()
        bench.advance()
        bench.machine.stop(
            .service("apns", .refused(reason: "InvalidProviderToken", status: 403, clockLagSeconds: nil)), at: bench.now
        )
        bench.advance()
        #expect(bench.machine.end == nil)
        #expect(bench.machine.settlements.count { $0.outcome == .unsent } == 5)
        bench.answer(1, 403, "InvalidProviderToken")
        #expect(
            bench.machine.settlements.count { $0.outcome == .unsent } == 6, "its refusal says nothing about the device")
        bench.answer(2, 200)
        bench.advance(seconds: 11)
        #expect(bench.machine.end != nil)
        #expect(bench.machine.settlements.count { $0.outcome == .accepted } == 2)
        #expect(bench.machine.settlements.count { $0.outcome == .unknown } == 2)
    }

    @Test("while the service refuses everything, only some pushes burn their attempts")
    func trouble() {
        var bench = Bench(pushes: 5000)
        bench.warmUp()
        var tried: Set<Int> = []
        for _ in 0..<200 {
            let pushes = submitted(bench.advance(seconds: 0.05))
            for push in pushes { tried.insert(bench.machine.pushes[push].recipient) }
            for push in pushes { bench.answer(push, 503, "ServiceUnavailable") }
        }
        #expect(tried.count < 1400)
        #expect(bench.machine.end == nil)
    }

    @Test(
        "it names the moment to wake when a slow pace opens its connection late, and when a helper tries to connect again"
    )
    func wakesToConnect() {
        var slow = Bench(pushes: 3) { $0.pace = Pace(pushes: 1, intervalSeconds: 60) }
        slow.warmUp()
        slow.advance()
        slow.machine.connectionLost(0, cause: "reset", at: slow.now)
        slow.advance(seconds: 5)
        let wake = slow.machine.nextWake(after: slow.now) ?? 0
        #expect(wake > slow.now.nanoseconds)
        let opened = slow.advance(seconds: Double(wake - slow.now.nanoseconds) / 1e9)
        #expect(opened.contains(.open(connection: 0)))

        var helper = Bench(pushes: 0) { $0.connectsFirst = true }
        helper.machine.isSourceEnded = false
        helper.machine.advance(to: helper.now)
        helper.machine.actions.removeAll()
        helper.machine.connectionFailed(0, .unreachable("refused"), at: helper.now)
        #expect(helper.machine.nextWake(after: helper.now) == helper.machine.reconnectAt)
    }

    @Test("bad tokens are alarming from 100 answers on when they are the majority, also later")
    func tokenHealth() {
        func alarms(_ health: inout ShareAlarm, answers: Int, isBad: (Int) -> Bool) -> Int? {
            (0..<answers).first { health.isAlarming(afterBad: isBad($0)) }
        }
        var early = ShareAlarm()
        #expect(alarms(&early, answers: 1000) { _ in true } == 99)
        var late = ShareAlarm()
        #expect(alarms(&late, answers: 100_000) { _ in false } == nil)
        #expect(alarms(&late, answers: 2000) { _ in true } != nil)
        var normal = ShareAlarm()
        #expect(alarms(&normal, answers: 10_000) { $0 % 5 < 2 } == nil)
    }

    @Test("a million pushes hold no more memory than the limit, and none is welcome beyond it")
    func bounded() {
        var settings = MachineSettings(endpoint: "example.com:443", usesProviderToken: true)
        settings.openPushLimit = 500
        var machine = DeliveryMachine(settings)
        let now = Moment(nanoseconds: 0, wall: Timestamp(epochSeconds: 0))
        var count = 0
        while machine.wantsPushes {
            _ = machine.add(recipient: count, at: now)
            count += 1
        }
        #expect(count == 500)
    }
}
