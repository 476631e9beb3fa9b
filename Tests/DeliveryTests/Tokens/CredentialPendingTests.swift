import PushServices
import Base
import Testing

@testable import Delivery

/// What the machine does while a token is being fetched.
@Suite("waiting for a token")
struct CredentialPendingTests {
    private func bench(_ change: (inout MachineSettings) -> Void = { _ in }) -> Bench {
        var bench = Bench(pushes: 50) {
            $0.streamsPerConnection = 10
            change(&$0)
        }
        bench.warmUp()
        bench.advance()
        return bench
    }

    @Test("nothing leaves and nothing fails, what is in flight is awaited, and a new token opens new connections")
    func holds() {
        var bench = bench()
        bench.machine.credentialPending(at: bench.now)
        for push in 1...10 { bench.answer(push, 200) }
        var actions = bench.advance()
        for _ in 0..<600 { actions += bench.advance(seconds: 1) }
        #expect(submitted(actions).isEmpty)
        #expect(actions.contains(.close(connection: 0)))
        #expect(!actions.contains { if case .open = $0 { true } else { false } })
        #expect(
            bench.machine.settlements.count == 11 && bench.machine.settlements.allSatisfy { $0.outcome == .accepted })
        #expect(bench.machine.wait(at: bench.now) == .credential(seconds: 600))
        bench.machine.tokenChanged()
        #expect(submitted(bench.advance()) == [11], "one push on a connection that is new")
        #expect(bench.machine.ending == nil)
    }

    @Test("a push that was refused for its token is kept")
    func keeps() {
        // Each has a single attempt.
        var bench = bench { $0.retry.maximumAttempts = 1 }
        bench.answer(1, 403, "ExpiredProviderToken")
        bench.machine.credentialPending(at: bench.now)
        for push in 2...10 { bench.answer(push, 403, "ExpiredProviderToken") }
        let renewals = bench.advance().count { if case .renewToken = $0 { true } else { false } }
        #expect(renewals == 1, "asked for once")
        bench.advance(seconds: 60)
        #expect(bench.machine.settlements.count == 1)
        bench.machine.tokenChanged()
        var rounds = 0
        while bench.machine.end == nil, rounds < 100 {
            rounds += 1
            for push in submitted(bench.advance()) { bench.answer(push, 200) }
        }
        #expect(bench.machine.end == .finished)
        #expect(bench.machine.settlements.count { $0.outcome == .accepted } == 50)
    }

    @Test("a token that is refused on a connection that the server leaves is renewed all the same")
    func refusedOnLeaving() {
        var bench = bench()
        bench.machine.connectionLeaves(0, cause: "GOAWAY", at: bench.now)
        bench.answer(1, 403, "ExpiredProviderToken")
        bench.answer(2, 403, "ExpiredProviderToken")
        #expect(bench.advance().count { $0 == .renewToken(connection: 0) } == 1)
    }

    @Test("it waits as long as any outage may last, and says why there is no token")
    func gaveUp() throws {
        var bench = bench()
        for push in 1...10 { bench.answer(push, 200) }
        bench.machine.credentialPending(because: "there is no connection: timed out", at: bench.now)
        let next = bench.machine.nextWake(after: bench.now)
        let wake = try #require(next)
        #expect(wake <= bench.now.nanoseconds + 900_000_000_001)
        bench.advance(seconds: 900)
        #expect(bench.machine.ending == nil)
        bench.advance(seconds: 1)
        guard case .stopped(.service(_, .tokenMissing(let reason, _))) = bench.machine.end else {
            Issue.record("it did not stop: \(String(describing: bench.machine.end))")
            return
        }
        #expect(reason == "there is no connection: timed out")
        #expect(bench.machine.settlements.count { $0.outcome == .unsent } == 39)
    }

    @Test("a refusal for good stops the run with the server's words")
    func refused() {
        var bench = bench()
        let refusal = TokenRefusal(
            status: 400, error: "invalid_grant", details: "Account not found.", clockLagSeconds: 400)
        bench.machine.follow(.ended(refusal), at: bench.now)
        for push in 1...10 { bench.answer(push, 200) }
        bench.advance()
        #expect(
            bench.machine.end
                == .stopped(
                    .service(
                        "apns",
                        .tokenRefused(reason: "invalid_grant: Account not found.", status: 400, clockLagSeconds: 400))))
    }

    @Test("the deadline and an interruption end the wait")
    func ends() {
        var late = bench { $0.deadline = Timestamp(epochSeconds: 1_800_000_060) }
        for push in 1...10 { late.answer(push, 200) }
        late.machine.credentialPending(at: late.now)
        late.advance(seconds: 61)
        #expect(late.machine.end == .finished)
        #expect(late.machine.settlements.count { $0.outcome == .unsent } == 39)
        var stopped = bench()
        for push in 1...10 { stopped.answer(push, 200) }
        stopped.machine.credentialPending(at: stopped.now)
        stopped.machine.interrupt(at: stopped.now)
        stopped.advance()
        #expect(stopped.machine.end == .interrupted)
    }

    @Test("of all that loops wait for, the token comes first")
    func together() {
        #expect(SendWait.together([.credential(seconds: 3), .outage(seconds: 9), nil]) == .credential(seconds: 3))
        #expect(SendWait.together([.credential(seconds: 3), .credential(seconds: 5)]) == .credential(seconds: 5))
    }
}
