import Base
import Campaigns
import Delivery
import Scheduling
import Testing

@testable import VolleyKit

@Suite("settings that a plan freezes")
struct RunSettingsTests {
    private func settings(_ change: (inout RunSettings) -> Void = { _ in }) throws -> RunSettings {
        let json = JSONValue.object(pairs: [
            ("environment", .string("sandbox")), ("topic", .string("com.example.shop")), ("push_type", .string("alert")),
            ("priority", .integer(10)),
            ("unknown", .string("resend")),
        ])
        var settings = try RunSettings(json: json, runFile: "x.sqlite")
        change(&settings)
        return settings
    }

    @Test("come back from the run file as they went in")
    func roundTrip() throws {
        let full = try settings {
            $0.environment = .server(host: "::1", port: 2197, certificateAuthority: "/etc/ca.pem")
            $0.key = FrozenKey(file: "/keys/a.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
            $0.certificate = FrozenCertificate(file: "/keys/a.p12", passphraseVariable: "SECRET")
            $0.expiry = .after(seconds: 14400)
            $0.collapseID = "sale"
            $0.pace = Pace(pushes: 300_000, intervalSeconds: 60)
            $0.appPace = Pace(pushes: 9_000, intervalSeconds: 1)
            $0.unknownPolicy = .skip
            $0.stopLimits = StopLimits()
            $0.stopLimits?.shares = [.rejected: StopShare(millionths: 5_000), .invalidToken: StopShare(millionths: 200_000)]
            $0.stopLimits?.after = 500
            $0.schedule = FrozenSchedule(
                Schedule(at: LocalTime("2026-12-01 09:00"), zone: .named(.utc), quietHours: try? QuietHours("21:00-08:00")), nil)
            $0.schedule?.late = .skip(afterSeconds: 3600)
            $0.schedule?.planning = Timestamp(epochSeconds: 100)..<Timestamp(epochSeconds: 112)
            $0.frequencyCaps = [FrequencyCap(pushes: 2, seconds: 604_800), FrequencyCap(pushes: 1, seconds: 3600)]
            $0.needsApproval = true
        }
        for original in [
            full, try settings(), try settings { $0.expiry = .immediately }, try settings { $0.expiry = .at(Timestamp(epochSeconds: 5)) },
        ] {
            let copy = try RunSettings(json: original.json, runFile: "x.sqlite")
            #expect(copy == original)
        }
    }

    @Test(
        "Apple's servers have one list of suppressed devices each, however they are named; what an authority of one's own vouches for is another server"
    )
    func lists() {
        func list(_ host: String, _ authority: String? = nil) -> String {
            FrozenEnvironment.server(host: host, port: 443, certificateAuthority: authority).listName
        }
        #expect(list("api.push.apple.com") == "production" && list("api.sandbox.push.apple.com") == "sandbox")
        #expect(list("api.development.push.apple.com") == "sandbox")
        for host in ["api.push.apple.com", "api.sandbox.push.apple.com"] { #expect(list(host, "ca.pem").hasPrefix(host)) }
    }

    @Test("that cannot be read name the run file")
    func damaged() throws {
        #expect(throws: Diagnostic.self) { try RunSettings(json: .object([]), runFile: "x.sqlite") }
    }

    @Test("an expiry counts from the start of sending, and becomes the deadline")
    func expiry() throws {
        let start = Timestamp(epochSeconds: 1_800_000_000)
        let after = try settings { $0.expiry = .after(seconds: 60) }
        #expect(after.expiration(startingAt: start) == 1_800_000_060)
        #expect(after.deadline(startingAt: start) == Timestamp(epochSeconds: 1_800_000_060))
        let now = try settings { $0.expiry = .immediately }
        #expect(now.expiration(startingAt: start) == 0)
        #expect(now.deadline(startingAt: start) == nil)
        #expect(try settings().expiration(startingAt: start) == nil)
    }
}
