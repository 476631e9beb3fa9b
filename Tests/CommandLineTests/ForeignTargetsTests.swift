import Base
import Foundation
import TestCommands
import Testing

/// An export with ids of another app among those of the own one: what services say about them, and
/// what happens to the others.
@Suite("ids of two apps in one export")
struct ForeignTargetsTests {
    /// Three services that answer for single devices, or not at all.
    private static let services = ServicesBench.services("fcm", "getui", "jpush")
    private static let devices = 60

    /// A target of another app, as it is registered in the service's simulator.
    private static func foreign(_ service: String, _ number: Int) -> String {
        switch service {
        case "fcm": FCMCampaignTests.Bench.token(number, after: "00000403")
        case "getui": GetuiCampaignTests.Bench.cid(number, after: "00020001")
        default: JPushCampaignTests.Bench.id(number, after: "00001011")
        }
    }

    /// - Parameter foreign: how many of the first devices of a service belong to another app.
    private static func bench(_ foreign: [String: Int]) throws -> ServicesBench {
        let targets = services.flatMap { service in
            (0..<devices).map { number in
                let isForeign = number < foreign[service.name] ?? 0
                return (
                    service: service.name,
                    target: isForeign ? Self.foreign(service.name, number) : service.device(number)
                )
            }
        }
        return try ServicesBench(services, targets: targets)
    }

    @Test("a few are invalid, each with its service's reason, and left out from then on; the others get the push")
    func few() throws {
        let bench = try Self.bench(["fcm": 6, "getui": 6, "jpush": 6])
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(
            sent.status == 0 && !sent.errors.contains("foreign-targets"), "nothing about their form is odd: \(sent)")
        let report = try bench.report()
        #expect(report["state"]?.stringValue == "finished", "\(report)")
        let reasons = ["fcm": "SENDER_ID_MISMATCH", "getui": "20001 (target user is invalid)"]
        let lines = try bench.lines()
        for (service, reason) in reasons {
            for number in 0..<6 {
                let line = lines["\(service) \(Self.foreign(service, number))"]
                #expect(
                    line?.outcome == "invalid_token" && line?.reason == reason,
                    "\(service) \(number): \(String(describing: line))")
            }
        }
        // JPush accepts a call with only some known devices, and never says which ones are unknown.
        #expect((0..<6).allSatisfy { lines["jpush \(Self.foreign("jpush", $0))"]?.outcome == "accepted" })
        for (service, accepted) in ["fcm": 54, "getui": 54, "jpush": 60] {
            #expect(
                ServicesBench.member(service, of: report)?["outcomes"]?.int("accepted") == accepted,
                "\(service): \(report)")
        }
        let text = try bench.folder.volley("report", "last").output
        for reason in reasons.values { #expect(text.contains(reason), "\(text)") }
        let next = try bench.folder.volley("preview", "campaign.yaml", "--json").json()
        #expect(next["skipped"]?.int("suppressed") == 12 && next.int("audience") == 168, "\(next)")
        try bench.expectAgreement(devices: 180)
    }

    @Test(
        "where most are foreign, that service stops and blames no device; the others go on, and the report says what to check",
        arguments: [
            ("fcm", 40, "SENDER_ID_MISMATCH"), ("getui", 60, "20001 (target user is invalid)"), ("jpush", 60, "1011"),
        ])
    func most(service: String, foreign: Int, reason: String) throws {
        let bench = try Self.bench([service: foreign])
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 1, "\(sent)")
        let report = try bench.report()
        #expect(report["state"]?.stringValue == "stopped")
        for other in Self.services where other.name != service {
            let member = ServicesBench.member(other.name, of: report)
            #expect(member?["state"]?.stringValue == "finished", "\(other.name): \(report)")
            #expect(member?["outcomes"]?.int("accepted") == Self.devices, "\(other.name): \(report)")
        }
        let why = ServicesBench.member(service, of: report)?["stopped_because"]?.stringValue ?? ""
        #expect(why.contains(reason) && why.contains("that the export belongs to this app"), "\(why)")
        // Nothing shows that these are the devices' fault.
        let next = try bench.folder.volley("preview", "campaign.yaml", "--json").json()
        #expect(next["skipped"]?.int("suppressed") ?? 0 == 0 && next.int("audience") == 180, "\(next)")
        let invalid = try bench.lines().filter {
            $0.key.hasPrefix("\(service) ") && $0.value.outcome == "invalid_token"
        }
        #expect(!invalid.isEmpty && invalid.values.allSatisfy { $0.reason == reason }, "\(invalid)")
        try bench.expectAgreement(devices: 180)
    }
}
