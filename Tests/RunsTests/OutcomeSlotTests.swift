import Base
@testable import Runs
import Testing

@Suite struct OutcomeSlotTests {
    @Test("what goes in comes out, at both ends of each part's range")
    func roundTrip() {
        for outcome in Outcome.allCases {
            for (status, attempts, latency, moment, reason) in [
                (0, 0, 0, Int64(0), 0), (200, 1, 30, 1_796_126_400_123, 1),
                (0xFFF, 0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF, 0xFFFF),
            ] {
                let settled = Settlement(
                    recipient: 7, outcome: outcome, status: status, attempts: attempts, latencyMilliseconds: latency,
                    settledAt: Timestamp(epochMilliseconds: moment))
                let slot = OutcomeSlot(settled, reason: reason)
                #expect(
                    slot.outcome == outcome && slot.status == status && slot.attempts == attempts
                        && slot.reason == reason)
                #expect(slot.latencyMilliseconds == latency && slot.settledAt.epochMilliseconds == moment)
                #expect(!slot.isEmpty && slot.isUnsent == (outcome == .unsent))
            }
        }
    }

    @Test("what does not fit becomes the nearest that does, and touches nothing else")
    func clamped() {
        let settled = Settlement(
            recipient: 7, outcome: .rejected, status: -1, attempts: 70_000, latencyMilliseconds: 1 << 40,
            settledAt: Timestamp(epochMilliseconds: -5))
        let slot = OutcomeSlot(settled, reason: 1 << 20)
        #expect(slot.outcome == .rejected && slot.status == 0 && slot.attempts == 65_535 && slot.reason == 65_535)
        #expect(slot.latencyMilliseconds == 0xFFFF_FFFF && slot.settledAt.epochMilliseconds == 0)
    }
}
