import Base
import Foundation
import TestCommands
import Testing

/// One campaign through APNs and FCM, against both strict simulators, with the real binary: the
/// terminal's output about services that stop, and the effect on resumes, retries and later
/// campaigns.
@Suite("services that stop, and what comes after a campaign over several of them")
struct SeveralServicesSendTests {
    @Test("they keep the campaign's pace together, and when one stops, the other gets all of it")
    func sharedPace() throws {
        let bench = try Bench(apns: 300, fcm: 300)
        try bench.spoilAccount()
        try bench.folder.writeCampaign(delivery: "pace: 100/s")
        let start = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 1 && Date().timeIntervalSince(start) >= 2, "\(sent)")
        let report = try sent.json()
        #expect(report["outcomes"]?.int("accepted") == 300 && report["outcomes"]?.int("unsent") == 300, "\(sent)")
        // APNs' own part is 50 a second.
        #expect(try #require(report["rate"]?.int("peak_per_second")) > 60, "\(sent)")
    }

    /// Both simulators, and a folder with an app that goes to them.
    final class Bench {
        let folder: ProjectFolder
        private let servers: [String: ProjectFolder]
        private var simulators: [String: RunningVolley] = [:]
        private var said: [String: JSONValue] = [:]

        /// - Parameters:
        ///   - digits: the first digits of a service's targets, by the numbers of devices; they
        ///     decide the simulators' answers.
        ///   - apns, fcm: how many devices go through each.
        init(apns: Int, fcm: Int, digits: [String: [Int: String]] = [:]) throws {
            servers = ["apns": try ProjectFolder(), "fcm": try ProjectFolder()]
            var lines = ["token,platform"]
            for device in 0..<max(apns, fcm) {
                if device < apns {
                    lines.append("\(Self.apnsToken(device, after: digits["apns"]?[device] ?? "aa")),ios")
                }
                if device < fcm {
                    lines.append("\(FCMCampaignTests.Bench.token(device, after: digits["fcm"]?[device] ?? "")),android")
                }
            }
            folder = try ProjectFolder(export: lines.joined(separator: "\n") + "\n")
            for (name, server) in servers {
                try FileManager.default.removeItem(at: server.url.appendingPathComponent("volley.yaml"))
                let simulator = try VolleyBinary.start(
                    [
                        "simulate", "--service", name, "--port", "0", "--for", VolleyBinary.simulatorSeconds,
                        "--ledger", "ledger.jsonl",
                        "--json",
                    ], in: server.url)
                let limit = Date().addingTimeInterval(30)
                while simulator.isRunning, !simulator.outputSoFar.hasSuffix("}\n"), Date() < limit { usleep(20_000) }
                let words = try JSONValue(parsing: simulator.outputSoFar)
                (simulators[name], said[name]) = (simulator, words)
                try copyKey(of: name)
                try folder.write(
                    "\(name).pem", try Data(contentsOf: server.url.appendingPathComponent("simulator-ca.pem")))
            }
            func environment(_ name: String) -> String {
                "{url: \"\(said[name]?["url"]?.stringValue ?? "")\", ca: \(name).pem}"
            }
            try folder.write(
                "volley.yaml",
                """
                runs: runs
                apps:
                  shop:
                    topic: com.example.shop
                    environment: \(environment("apns"))
                    key: {file: \(key(of: "apns")), id: SIMULATOR1, team: VOLLEYTEAM}
                    services:
                      fcm: {project: volley-simulator, environment: \(environment("fcm")), service_account: {file: \(key(of: "fcm"))}}
                    columns: {service: {column: platform, map: {ios: apns, android: fcm}}}
                """)
            try folder.writeCampaign()
        }

        deinit { for simulator in simulators.values { _ = simulator.finish(timeout: 0) } }

        private func key(of name: String) -> String {
            (said[name]?["key"]?.stringValue ?? "").split(separator: "/").last.map(String.init) ?? ""
        }

        /// Gives the folder the key that a simulator trusts.
        func copyKey(of name: String) throws {
            let file = key(of: name)
            try folder.write(file, try Data(contentsOf: try #require(servers[name]).url.appendingPathComponent(file)))
            chmod(folder.url.appendingPathComponent(file).path, 0o600)
        }

        /// A service account that FCM's simulator does not accept.
        func spoilAccount() throws {
            let other = try FCMCampaignTests.Bench(devices: 1)
            try folder.write(
                key(of: "fcm"), try Data(contentsOf: other.folder.url.appendingPathComponent("account.json")))
            chmod(folder.url.appendingPathComponent(key(of: "fcm")).path, 0o600)
        }

        /// Ends both simulators, which complete their ledgers.
        func stop() {
            for simulator in simulators.values {
                simulator.interrupt()
                #expect(simulator.finish().status == 0)
            }
            simulators = [:]
        }

        /// The answers of a service to each target, once the simulators have ended.
        func answers(of name: String) throws -> [String: [Int]] {
            stop()
            let ledger = try #require(servers[name]).url.appendingPathComponent("ledger.jsonl")
            // A simulator without requests has no ledger.
            let text = (try? String(contentsOf: ledger, encoding: .utf8)) ?? ""
            return try text.split(separator: "\n").reduce(into: [:]) { answers, line in
                let entry = try JSONValue(parsing: String(line))
                answers[(entry["target"] ?? entry["token"])?.stringValue ?? "", default: []].append(
                    entry.int("status") ?? 0)
            }
        }

        func report() throws -> JSONValue { try folder.volley("report", "last", "--format", "json").json() }

        static func apnsToken(_ number: Int, after digits: String) -> String {
            let end = String(number)
            return digits + String(repeating: "0", count: 64 - digits.count - end.count) + end
        }
    }

    /// A service's member of a report.
    private func member(_ name: String, of report: JSONValue) -> JSONValue? {
        guard case .array(let parts)? = report["services"] else { return nil }
        return parts.first { $0["service"]?.stringValue == name }
    }

    @Test("devices without the app are left out of later campaigns by the list of their service")
    func suppression() throws {
        let bench = try Bench(
            apns: 40, fcm: 30, digits: ["apns": [3: "00000410"], "fcm": [4: "00000404", 5: "00000404"]])
        #expect(try bench.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        for (service, devices) in [("apns", 1), ("fcm", 2)] {
            let list = try bench.folder.volley("suppression", "export", "--app", "shop", "--service", service)
            #expect(list.status == 0 && list.output.split(separator: "\n").count == devices + 1, "\(list)")
        }
        let next = try bench.folder.volley("preview", "campaign.yaml", "--json").json()
        #expect(next.int("audience") == 67 && next["skipped"]?.int("suppressed") == 3, "\(next)")
    }

    @Test(
        "with a wrong account of FCM, APNs gets all its pushes; exit code 1, and a resume after the correction sends through FCM alone"
    )
    func wrongAccount() throws {
        let bench = try Bench(apns: 60, fcm: 40)
        try bench.spoilAccount()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 1, "\(sent)")
        #expect(
            sent.errors.contains("Nothing more was sent through FCM: ")
                && sent.errors.contains("All pushes through APNs were sent"),
            "\(sent)")
        let report = try bench.report()
        let (apns, fcm) = (try #require(member("apns", of: report)), try #require(member("fcm", of: report)))
        #expect(
            report["state"]?.stringValue == "stopped" && apns["state"]?.stringValue == "finished"
                && fcm["state"]?.stringValue == "stopped")
        #expect(apns["outcomes"]?.int("accepted") == 60 && fcm["outcomes"]?.int("unsent") == 40, "\(report)")
        #expect(
            apns["stopped_because"] == nil && fcm["stopped_because"]?.stringValue?.contains("invalid_grant") == true,
            "\(fcm)")
        let text = try bench.folder.volley("report", "last").output
        #expect(text.contains("Next: fix the cause, then this sends what is left through FCM:"), "\(text)")
        #expect(try bench.folder.volley("runs").output.contains("stopped"))

        let again = try bench.folder.volley("resume", "last", "--json")
        #expect(again.status == 1, "it is still wrong: \(again)")
        try bench.copyKey(of: "fcm")
        let resumed = try bench.folder.volley("resume", "last", "--json")
        #expect(resumed.status == 0 && resumed.errors.contains("40 of 100 devices are unsent (FCM 40)"), "\(resumed)")
        let after = try resumed.json()
        #expect(after["state"]?.stringValue == "finished" && after["outcomes"]?.int("accepted") == 100, "\(after)")
        #expect(member("fcm", of: after)?["stopped_because"] == nil)
        #expect(try bench.answers(of: "apns").values.allSatisfy { $0 == [200] }, "APNs was not asked again")
        #expect(try bench.answers(of: "fcm").count == 40)
    }

    @Test("where every service stops, the exit code is 3")
    func allWrong() throws {
        let bench = try Bench(apns: 5, fcm: 5)
        try bench.spoilAccount()
        // A key that APNs' simulator does not accept.
        let other = try ProjectFolder()
        let stranger = try VolleyBinary.start(
            ["simulate", "--port", "0", "--for", "20", "--json", "--key", "AuthKey_SIMULATOR1.p8"], in: other.url)
        let limit = Date().addingTimeInterval(30)
        while stranger.isRunning, !stranger.outputSoFar.hasSuffix("}\n"), Date() < limit { usleep(20_000) }
        let key = try Data(contentsOf: other.url.appendingPathComponent("AuthKey_SIMULATOR1.p8"))
        stranger.interrupt()
        _ = stranger.finish()
        try bench.folder.write("AuthKey_SIMULATOR1.p8", key)
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 3, "\(sent)")
        let report = try bench.report()
        #expect(["apns", "fcm"].allSatisfy { member($0, of: report)?["state"]?.stringValue == "stopped" }, "\(report)")
        #expect(report["outcomes"]?.int("accepted") == 0)
    }

    @Test("a retry sends through the services of its devices, and the chain adds up for each")
    func retry() throws {
        let bench = try Bench(apns: 30, fcm: 20)
        try bench.spoilAccount()
        #expect(try bench.folder.volley("send", "campaign.yaml", "--yes").status == 1)
        let id = try #require(try bench.report()["run"]?.stringValue)
        #expect(try bench.folder.volley("cancel", id).status == 0, "a retry takes over what a run gave up")
        try bench.copyKey(of: "fcm")
        let retried = try bench.folder.volley("retry", id, "--outcome", "unsent", "--yes", "--json")
        #expect(retried.status == 0, "\(retried)")
        let report = try retried.json()
        #expect(
            member("fcm", of: report)?["outcomes"]?.int("accepted") == 20 && member("apns", of: report) == nil,
            "\(report)")
        let text = try bench.folder.volley("report", "last").output
        #expect(text.contains("50 accepted of 50 (APNs 30 of 30, FCM 20 of 20)"), "\(text)")
        #expect(text.hasPrefix("FCM accepted all 20 pushes."), "\(text)")
        #expect(try bench.answers(of: "apns").values.allSatisfy { $0 == [200] })
    }
}
