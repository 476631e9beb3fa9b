import Base
import Foundation
import TestCommands
import Testing

/// A campaign over three services, one of which has credentials that are wrong or cannot be read:
/// the others continue, and a resumption sends the rest once the credentials are right.
@Suite("wrong credentials of one of three services")
struct OneOfThreeServicesTests {
    private static let devices = 30

    /// The report of a run in which one service got nothing, and the others everything.
    private func expectOthersSent(_ bench: ServicesBench, without service: String, saying words: String) throws {
        let report = try bench.report()
        #expect(report["state"]?.stringValue == "stopped", "\(report)")
        for other in bench.services where other.name != service {
            let member = ServicesBench.member(other.name, of: report)
            #expect(
                member?["state"]?.stringValue == "finished" && member?["stopped_because"] == nil,
                "\(other.name): \(report)")
            #expect(member?["outcomes"]?.int("accepted") == Self.devices / 3, "\(other.name): \(report)")
        }
        let member = ServicesBench.member(service, of: report)
        #expect(
            member?["state"]?.stringValue == "stopped" && member?["outcomes"]?.int("unsent") == Self.devices / 3,
            "\(report)")
        #expect(member?["stopped_because"]?.stringValue?.contains(words) == true, "\(report)")
        let text = try bench.folder.volley("report", "last").output
        #expect(text.contains("Next: fix the cause, then this sends what is left through"), "\(text)")
    }

    /// Resumes the run after the credentials were repaired, and checks everything that was sent.
    private func expectRest(_ bench: ServicesBench, environment: [String: String] = [:]) throws {
        let resumed = try bench.folder.volley("resume", "last", "--json", environment: environment)
        #expect(resumed.status == 0, "\(resumed)")
        let report = try bench.report()
        #expect(
            report["state"]?.stringValue == "finished" && report["outcomes"]?.int("accepted") == Self.devices,
            "\(report)")
        let accepted = try bench.expectAgreement(devices: Self.devices)
        #expect(
            accepted.count == Self.devices && accepted.values.allSatisfy { $0.count == 1 }, "nobody was asked twice")
    }

    @Test(
        "a secret that the service refuses stops its part alone; exit code 1, and the report says so",
        arguments: [("jpush", "1004"), ("getui", "Check"), ("rongcloud", "Check app_key, app_secret")])
    func refused(service: String, words: String) throws {
        let bench = try ServicesBench(ServicesBench.services("jpush", "getui", "rongcloud"), devices: Self.devices)
        let right = try bench.key(of: service)
        try bench.writeKey(of: service, String(right.reversed()) + "x")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 1 && sent.errors.contains("Nothing more was sent through "), "\(sent)")
        try expectOthersSent(bench, without: service, saying: words)
        #expect(try bench.folder.volley("resume", "last", "--json").status == 1, "it is still wrong")
        try bench.restoreKey(of: service)
        try expectRest(bench)
    }

    /// How credentials cannot be read.
    enum Flaw: String, CaseIterable, Sendable {
        case missingFile, unsetVariable, emptyFile, truncatedAccount, otherProject

        var service: String {
            switch self {
            case .missingFile, .emptyFile: "jpush"
            case .unsetVariable: "getui"
            case .truncatedAccount, .otherProject: "fcm"
            }
        }

        /// What is said of it.
        var words: String {
            switch self {
            case .missingFile: "jpush-key"
            case .emptyFile: "jpush-key"
            case .unsetVariable: "NO_SUCH_VARIABLE"
            case .truncatedAccount, .otherProject: "fcm-key"
            }
        }

        func apply(to bench: ServicesBench) throws {
            let text = try bench.key(of: service)
            switch self {
            case .missingFile:
                try FileManager.default.removeItem(
                    at: bench.folder.url.appendingPathComponent(ServicesBench.key(of: service)))
            case .emptyFile: try bench.writeKey(of: service, "")
            case .unsetVariable:
                let file = bench.folder.url.appendingPathComponent("volley.yaml")
                let project = try String(contentsOf: file, encoding: .utf8)
                try bench.folder.write(
                    "volley.yaml", project.replacing("{file: getui-key}", with: "{env: NO_SUCH_VARIABLE}"))
            case .truncatedAccount: try bench.writeKey(of: service, String(text.prefix(text.count / 2)))
            case .otherProject:
                try bench.writeKey(of: service, text.replacing("volley-simulator", with: "another-project"))
            }
        }
    }

    @Test(
        "credentials that cannot be read stop their service alone, with a warning before anything is sent",
        arguments: Flaw.allCases)
    func unreadable(flaw: Flaw) throws {
        let bench = try ServicesBench(ServicesBench.services("fcm", "getui", "jpush"), devices: Self.devices)
        let secret = try bench.key(of: flaw.service).trimmingCharacters(in: .whitespacesAndNewlines)
        try flaw.apply(to: bench)
        let checked = try bench.folder.volley("check", "campaign.yaml")
        #expect(checked.status == 2 && checked.errors.contains(flaw.words), "check calls it a mistake: \(checked)")
        let terminal = try VolleyAtTerminal(["send", "campaign.yaml"], in: bench.folder.url, columns: 1000)
        #expect(
            terminal.waits(for: "[y/N]") && terminal.shown.contains("[credentials-unusable]"),
            "before the question: \(terminal.shown)")
        terminal.type("\n")
        #expect(terminal.finish() == 2 && bench.answersSoFar() == 0)

        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(
            sent.status == 1 && sent.errors.contains("[credentials-unusable]") && sent.errors.contains(flaw.words),
            "\(sent)")
        try expectOthersSent(bench, without: flaw.service, saying: flaw.words)
        let again = try bench.folder.volley("resume", "last", "--json")
        #expect(again.status == 1 && again.errors.contains("[credentials-unusable]"), "\(again)")
        try expectOthersSent(bench, without: flaw.service, saying: flaw.words)

        let repaired = flaw == .unsetVariable ? ["NO_SUCH_VARIABLE": secret] : [:]
        if flaw != .unsetVariable { try bench.restoreKey(of: flaw.service) }
        try expectRest(bench, environment: repaired)
    }

    @Test("the only service of an app is not left out: nothing is sent, and no plan stays")
    func only() throws {
        let bench = try JPushCampaignTests.Bench(devices: 3)
        try FileManager.default.removeItem(at: bench.folder.url.appendingPathComponent("secret.txt"))
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(
            sent.status == 2 && sent.errors.contains("secret.txt") && !sent.errors.contains("credentials-unusable"),
            "\(sent)")
        #expect(!bench.folder.files(in: "runs").contains { $0.hasSuffix(".sqlite") })
    }

    @Test("where no service has credentials that can be read, nothing is sent, and no plan stays")
    func none() throws {
        let chosen = ServicesBench.services("jpush", "getui", "fcm")
        let bench = try ServicesBench(chosen, devices: Self.devices)
        for service in chosen {
            try FileManager.default.removeItem(
                at: bench.folder.url.appendingPathComponent(ServicesBench.key(of: service.name)))
        }
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 2 && sent.errors.contains("jpush-key"), "\(sent)")
        #expect(bench.answersSoFar() == 0 && !bench.folder.files(in: "runs").contains { $0.hasSuffix(".sqlite") })
    }

    @Test("a plan that was made while all was right is sent through the others, and doctor says what is wrong")
    func plan() throws {
        let bench = try ServicesBench(ServicesBench.services("apns", "jpush", "getui"), devices: Self.devices)
        #expect(try bench.folder.volley("plan", "campaign.yaml", "--quiet").status == 0)
        try FileManager.default.removeItem(at: bench.folder.url.appendingPathComponent(ServicesBench.key(of: "apns")))
        let doctor = try bench.folder.volley("doctor")
        #expect(doctor.status != 0 && (doctor.output + doctor.errors).contains("apns-key"), "\(doctor)")
        let sent = try bench.folder.volley("send", "--plan", "last", "--yes", "--json")
        #expect(sent.status == 1 && sent.errors.contains("[credentials-unusable]"), "\(sent)")
        try expectOthersSent(bench, without: "apns", saying: "apns-key")
        try bench.restoreKey(of: "apns")
        try expectRest(bench)
    }

    @Test("a service without a device that is left to send to stops nothing, whatever its credentials")
    func nothingLeft() throws {
        let services = ServicesBench.services("fcm", "getui", "jpush")
        let targets = (0..<Self.devices).map { number in
            let service = services[number % 2]
            return (service: service.name, target: service.device(number))
        }
        let bench = try ServicesBench(services, targets: targets)
        try FileManager.default.removeItem(at: bench.folder.url.appendingPathComponent(ServicesBench.key(of: "jpush")))
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0 && sent.errors.contains("[credentials-unusable]"), "\(sent)")
        #expect(try bench.report()["outcomes"]?.int("accepted") == Self.devices)
        try bench.expectAgreement(devices: Self.devices)
    }
}
