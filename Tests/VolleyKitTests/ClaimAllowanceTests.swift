import Base
import Delivery
import Testing

@testable import VolleyKit

@Suite("claiming ahead")
struct ClaimAllowanceTests {
    @Test("nobody is claimed while too many answers are not recorded")
    func waitsForTheRecorder() {
        let recorded = Counter()
        // A control that never settled anything: fewer recorded than settled is more recorded below zero.
        recorded.value = -21
        let allowance = ClaimAllowance(control: SendControl(), recorded: { recorded.value }, pace: Pace(pushes: 100, intervalSeconds: 1))
        var asked = 0
        let allowed = allowance.wait(forAtMost: 5) {
            asked += 1
            if asked == 3 { recorded.value = -20 }
            return false
        }
        #expect(asked == 3 && allowed == 5)
    }

    private final class Counter { var value = 0 }
}
