import Base
import Foundation
import TestCommands
import Testing

/// Campaigns to an app with two services, against the strict simulators of both, with the real
/// binary.
@Suite("a campaign over APNs and FCM")
struct SeveralServicesCampaignTests {
    /// A simulator of each service, and a folder with an app that goes to both.
    private final class Bench {
        let fcm: FCMCampaignTests.Bench
        let folder: ProjectFolder
        private let server: ProjectFolder
        private let simulator: RunningVolley
        private let fcmURL: String, apnsURL: String

        /// - Parameters:
        ///   - devices: how many of each service, in turns.
        ///   - faults: of both simulators.
        init(devices: Int, firstDigits: [Int: String] = [:], apnsTokens: [Int: String] = [:], faults: [String] = [])
            throws
        {
            fcm = try FCMCampaignTests.Bench(devices: 1, faults: faults)
            fcmURL = try fcm.url()
            folder = fcm.folder
            server = try ProjectFolder()
            try FileManager.default.removeItem(at: server.url.appendingPathComponent("volley.yaml"))
            simulator = try VolleyBinary.start(
                [
                    "simulate", "--port", "0", "--for", VolleyBinary.simulatorSeconds, "--ledger", "ledger.jsonl",
                    "--json",
                ] + faults,
                in: server.url)
            let limit = Date().addingTimeInterval(30)
            while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n"), Date() < limit { usleep(20_000) }
            apnsURL = try #require(try JSONValue(parsing: simulator.outputSoFar)["url"]?.stringValue)
            for (name, copy) in [
                ("simulator-ca.pem", "apns-ca.pem"), ("AuthKey_SIMULATOR1.p8", "AuthKey_SIMULATOR1.p8"),
            ] {
                try folder.write(copy, try Data(contentsOf: server.url.appendingPathComponent(name)))
            }
            let rows = (0..<devices).flatMap { number in
                [
                    "\(apnsTokens[number] ?? ProjectFolder.token(number)),iOS",
                    "\(FCMCampaignTests.Bench.token(number, after: firstDigits[number] ?? "")),android",
                ]
            }
            try folder.write("devices.csv", "token,platform\n" + rows.joined(separator: "\n") + "\n")
            try writeProject()
        }

        deinit { stop() }

        func writeProject(account: String = "account.json") throws {
            try folder.write(
                "volley.yaml",
                """
                runs: runs
                apps:
                  shop:
                    topic: com.example.shop
                    environment: {url: "\(apnsURL)", ca: apns-ca.pem}
                    key: {file: AuthKey_SIMULATOR1.p8, id: SIMULATOR1, team: VOLLEYTEAM}
                    services:
                      fcm:
                        project: volley-simulator
                        environment: {url: "\(fcmURL)", ca: ca.pem}
                        service_account: {file: \(account)}
                        pace: 900/s
                    columns: {service: {column: platform, map: {ios: apns, android: fcm}}}
                """)
        }

        private func stop() {
            kill(simulator.processID, SIGTERM)
            _ = simulator.finish(timeout: 10)
        }

        /// The devices that each service accepted, with how often, once the simulators have ended.
        func accepted() throws -> (apns: [String: Int], fcm: [String: Int]) {
            stop()
            let text = try String(contentsOf: server.url.appendingPathComponent("ledger.jsonl"), encoding: .utf8)
            let apns: [String: Int] = try text.split(separator: "\n").reduce(into: [:]) { accepted, line in
                let entry = try JSONValue(parsing: String(line))
                if entry.int("status") == 200 { accepted[entry["token"]?.stringValue ?? "", default: 0] += 1 }
            }
            return (apns, try fcm.answers().mapValues { $0.count { $0 == 200 } }.filter { $0.value > 0 })
        }
    }

    /// The outcomes of a service in a report.
    private func outcomes(_ report: JSONValue, _ service: String) -> JSONValue? {
        guard case .array(let services)? = report["services"] else { return nil }
        return services.first { $0["service"]?.stringValue == service }?["outcomes"]
    }

    @Test("each device gets it once through its own service; the report, its parts and both ledgers agree")
    func all() throws {
        let bench = try Bench(
            devices: 200, firstDigits: [3: "00000404", 9: "00000400"],
            apnsTokens: [5: "00000410" + String(repeating: "ab", count: 28)],
            faults: ["--go-away-every", "70"])
        let preview = try bench.folder.volley("preview", "campaign.yaml", "--json")
        guard case .array(let planned)? = try preview.json()["services"] else {
            Issue.record("\(preview)")
            return
        }
        #expect(planned.map { $0.int("audience") } == [200, 200] && planned[1]["pace"]?.stringValue == "900/s")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0, "\(sent)")
        let report = try sent.json()
        #expect(report["outcomes"]?.int("accepted") == 397 && report["outcomes"]?.int("invalid_token") == 3, "\(sent)")
        #expect(
            outcomes(report, "apns")?.int("accepted") == 199 && outcomes(report, "fcm")?.int("accepted") == 198,
            "\(sent)")
        let (apns, fcm) = try bench.accepted()
        #expect(
            apns.count == 199 && fcm.count == 198 && (Array(apns.values) + Array(fcm.values)).allSatisfy { $0 == 1 })
        let csv = try bench.folder.volley("report", "last", "--format", "csv").output.split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        #expect(csv[0].last == "service" && csv.dropFirst().count == 400)
        for line in csv.dropFirst() { #expect((line.last == "apns") == (line[0].count == 64)) }
        let text = try bench.folder.volley("report", "last").output
        #expect(text.contains("APNs and FCM accepted 397 of 400 pushes") && text.contains("Services"), "\(text)")
        // Devices that are gone are on the list of their own service.
        for (service, count) in [("apns", 1), ("fcm", 2)] {
            let list = try bench.folder.volley("suppression", "list", "--service", service, "--json")
            #expect(try list.json().int("devices") == count, "\(list)")
        }
        let again = try bench.folder.volley("preview", "campaign.yaml", "--json")
        #expect(try again.json()["skipped"]?.int("suppressed") == 3, "\(again)")
    }

    @Test(
        "with a wrong account of one service the other goes on, the exit code is 1, and a resumption sends what is left, once"
    )
    func wrongAccount() throws {
        let bench = try Bench(devices: 60)
        let text = try String(contentsOf: bench.folder.url.appendingPathComponent("account.json"), encoding: .utf8)
        // Another account of the project: the server has no account with that name.
        try bench.folder.write("other.json", text.replacing("volley@", with: "nobody@"))
        try bench.writeProject(account: "other.json")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 1, "\(sent)")
        #expect(
            sent.errors.contains("Nothing more was sent through FCM")
                && sent.errors.contains("All pushes through APNs were sent"))
        let report = try sent.json()
        #expect(report["state"]?.stringValue == "stopped" && outcomes(report, "apns")?.int("accepted") == 60, "\(sent)")
        #expect(outcomes(report, "fcm")?.int("unsent") == 60, "\(sent)")
        try bench.folder.write("other.json", text)
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect(resumed.status == 0, "\(resumed)")
        #expect(try resumed.json()["outcomes"]?.int("accepted") == 120, "\(resumed)")
        let (apns, fcm) = try bench.accepted()
        #expect(apns.count == 60 && fcm.count == 60 && (Array(apns.values) + Array(fcm.values)).allSatisfy { $0 == 1 })
    }

    @Test("a run that is cut off in the middle of both services goes on with both, and nobody gets it twice")
    func killed() throws {
        let bench = try Bench(devices: 3000, faults: ["--latency", "20"])
        let text = try String(contentsOf: bench.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        try bench.folder.write("volley.yaml", text.replacing("    columns:", with: "    pace: 900/s\n    columns:"))
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--quiet"], in: bench.folder.url)
        try bench.folder.kill(sending, seconds: 0.4)
        let resumed = try bench.folder.volley("resume", "last", "--json")
        let report = try resumed.json()
        let unknown = report["outcomes"]?.int("unknown") ?? 0
        #expect(report["state"]?.stringValue == "finished" && resumed.status == (unknown == 0 ? 0 : 1), "\(resumed)")
        #expect(outcomes(report, "apns")?.int("accepted") == 3000, "unknown pushes of APNs are sent again")
        let (apns, fcm) = try bench.accepted()
        #expect(apns.count == 3000)
        // FCM recognises no repeats, so a push without an answer is not sent again.
        let accepted = outcomes(report, "fcm")?.int("accepted") ?? 0
        #expect(
            accepted + unknown == 3000 && (accepted...3000).contains(fcm.count) && fcm.values.allSatisfy { $0 == 1 })
    }

    @Test("a test goes to the test devices of both services")
    func testDevices() throws {
        let bench = try Bench(devices: 2)
        let text = try String(contentsOf: bench.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        let devices = "[\(ProjectFolder.token(900)), {name: Pixel, token: \"\(FCMCampaignTests.Bench.token(901))\"}]"
        try bench.folder.write("volley.yaml", text + "\n    test_devices: \(devices)\n")
        let sent = try bench.folder.volley("send", "campaign.yaml", "--test", "--yes", "--json")
        #expect(sent.status == 0, "\(sent)")
        let (apns, fcm) = try bench.accepted()
        #expect(apns == [ProjectFolder.token(900): 1] && fcm == [FCMCampaignTests.Bench.token(901): 1])
        let doctor = try bench.folder.volley("doctor", "--json")
        #expect(doctor.output.contains("\"fcm\"") && doctor.output.contains("\"apns\""))
    }
}
