import Base
import Testing

@testable import Accounts

extension Session {
    /// Notes a use, and returns the session afterwards: only if it must be written.
    fileprivate func used(at now: Timestamp) -> Session? {
        var session = self
        return session.use(at: now) ? session : nil
    }
}

@Suite("Sessions, by their rules")
struct SessionTests {
    private func session(_ stage: Session.Stage = .signedIn) -> Session {
        Session(
            id: SessionID(1), account: AccountID(1), stage: stage, startedAt: noon, usedAt: noon, provedAt: noon,
            address: nil, agent: "")
    }

    @Test("a session ends thirty minutes after its last use")
    func idle() throws {
        #expect(session().isAlive(at: after(30 * 60 - 1)) && !session().isAlive(at: after(30 * 60)))
        let used = try #require(session().used(at: after(29 * 60)))
        #expect(used.isAlive(at: after(58 * 60)) && !used.isAlive(at: after(59 * 60)))
    }

    @Test("one that waits for a code lives five minutes, whether or not it is used")
    func awaiting() {
        var waiting = session(.awaitingCode)
        #expect(waiting.isAlive(at: after(299)) && !waiting.isAlive(at: after(300)))
        _ = waiting.use(at: after(200))
        #expect(!waiting.isAlive(at: after(300)) && !waiting.isFresh(at: noon))
    }

    @Test("a sign-in is fresh for five minutes, however much the session is used")
    func fresh() {
        var used = session()
        #expect(used.isFresh(at: after(299)) && !used.isFresh(at: after(300)))
        _ = used.use(at: after(299))
        #expect(!used.isFresh(at: after(300)))
    }

    @Test("its use is written once a minute")
    func writing() {
        #expect(session().used(at: after(59)) == nil)
        #expect(session().used(at: after(60))?.usedAt == after(60))
    }

    @Test(
        "whatever the uses and whatever the clock does, no session is alive twelve hours after it began",
        arguments: 0..<200)
    func longest(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var used = session()
        var now: Int64 = 0
        // The elapsed time, unaffected by changes of the clock.
        var passed: Int64 = 0, wasAlive = 0, isDead = false
        for _ in 0..<2_000 {
            let step = Int64.random(in: 0...1_000, using: &random)
            passed += step
            now += step
            // Set back by more than the tolerance and the minute to which uses are known, now and
            // then.
            if seed % 2 == 1, wasAlive > 0, Int.random(in: 0..<200, using: &random) == 0 {
                now -= Int64.random(in: 121...20_000, using: &random) + step
            }
            guard !isDead, used.isAlive(at: after(now)) else {
                // A session that was found to have ended is removed.
                isDead = true
                continue
            }
            wasAlive += 1
            #expect(passed < 12 * 3600)
            _ = used.use(at: after(now))
        }
        #expect(wasAlive > 0)
        #expect(isDead)
    }

    @Test("a clock that was set back by a second ends nothing, by more than a minute all")
    func setBack() {
        var used = session()
        #expect(used.isAlive(at: after(-60)) && !used.isAlive(at: after(-61)))
        _ = used.use(at: after(600))
        #expect(used.isAlive(at: after(540)) && !used.isAlive(at: after(539)))
        #expect(used.isFresh(at: after(-60)) == false)
    }

    @Test("any number in the file is a time")
    func extremes() {
        for milliseconds in [Int64.min, -1, 0, .max] {
            var odd = session()
            odd.usedAt = Timestamp(epochMilliseconds: milliseconds)
            #expect(!odd.isAlive(at: noon))
            #expect(!session().isAlive(at: Timestamp(epochMilliseconds: milliseconds)))
        }
    }

    @Test("an invitation works until it lapses, and not before it was made")
    func invitation() {
        let link = Invitation(id: 1, purpose: .newPassword(AccountID(1)), madeAt: noon, lapsesAt: after(3600))
        #expect(link.isOpen(at: noon) && link.isOpen(at: after(3599)) && !link.isOpen(at: after(3600)))
        #expect(link.isOpen(at: after(-60)) && !link.isOpen(at: after(-61)))
    }
}
