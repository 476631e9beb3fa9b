import Base
import Foundation
import TestCommands
import Testing

/// This machine's clock differs from a service's, which judges signatures and timestamps by its
/// own. Only the simulator's clock is set, so that nothing else on the machine goes wrong.
@Suite("a clock that a service does not agree with")
struct ServiceClockTests {
    private static let devices = 20

    private static func bench(_ service: String, ahead seconds: Int) throws -> ServicesBench {
        let services = ServicesBench.services(service, service == "jpush" ? "fcm" : "jpush")
        let targets = (0..<devices).map { (service: services[$0 % 2].name, target: services[$0 % 2].device($0)) }
        return try ServicesBench(services, targets: targets) {
            $0.name == service ? ["--clock-ahead", String(seconds)] : []
        }
    }

    @Test(
        "stops that service, and the report says how far the clocks are apart; the others go on",
        arguments: ["getui", "fcm", "rongcloud", "apns"], [7230, -7230])
    func stops(service: String, seconds: Int) throws {
        let bench = try Self.bench(service, ahead: seconds)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 1, "\(sent)")
        let report = try bench.report(), member = ServicesBench.member(service, of: report)
        let why = member?["stopped_because"]?.stringValue ?? ""
        #expect(
            why.contains("This machine's clock is 2 h 0 min \(seconds > 0 ? "behind" : "ahead of") the server's"),
            "\(why)")
        #expect(member?["outcomes"]?.int("accepted") == 0)
        #expect(
            ServicesBench.member("jpush", of: report)?["outcomes"]?.int("accepted") == Self.devices / 2, "\(report)")
        try bench.expectAgreement(devices: Self.devices)
    }

    @Test("a few minutes do no harm", arguments: ["getui", "fcm", "rongcloud"], [240, -240])
    func harmless(service: String, seconds: Int) throws {
        let bench = try Self.bench(service, ahead: seconds)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == Self.devices, "\(sent)")
    }

    @Test("doctor says it, too, and Getui alone is not sent to", arguments: [7230, -7230])
    func getui(seconds: Int) throws {
        let bench = try GetuiCampaignTests.Bench(devices: 3, faults: ["--clock-ahead", String(seconds)])
        let words = "clock is 2 h 0 min \(seconds > 0 ? "behind" : "ahead of") the server's"
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes")
        #expect(
            sent.status == 2 && sent.errors.contains(words) && sent.errors.contains("Set this machine's clock"),
            "\(sent)")
        let doctor = try bench.folder.volley("doctor")
        #expect(doctor.status != 0 && (doctor.output + doctor.errors).contains(words), "\(doctor)")
        #expect(try bench.answers().values.allSatisfy { !$0.contains("sent") })
    }
}
