import Delivery
import Testing

@testable import VolleyKit

@Suite("claiming ahead")
struct ClaimAllowanceTests {
    @Test("nobody is claimed while answers have been waiting for a tenth of a second to be recorded")
    func waitsForTheRecorder() {
        let lag = RecordingLag()
        let allowance = ClaimAllowance(control: SendControl(), recordingLag: lag, least: 100)
        #expect(lag.seconds == 0)
        #expect(
            allowance.wait(forAtMost: 50) {
                Issue.record("waited for nothing"); return true
            } == 50)
        lag.set(waitingSince: lag.now - 200_000_000)
        #expect(lag.seconds >= 0.2)
        var asked = 0
        let allowed = allowance.wait(forAtMost: 50) {
            asked += 1
            // All is recorded.
            if asked == 3 { lag.set(waitingSince: nil) }
            return false
        }
        #expect(asked == 3 && allowed == 50)
    }
}
