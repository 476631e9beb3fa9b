import Base
import Foundation
import TestCommands
import Testing

/// One campaign to devices of APNs and of FCM, against both simulators, with the real binary: the
/// report agrees with each service's ledger.
@Suite("a campaign over several services")
struct SeveralServicesReportTests {
    /// Both simulators, and a project that goes to them.
    private final class Bench {
        private let apns: LedgeredServer
        private let fcm: FCMCampaignTests.Bench
        let folder: ProjectFolder

        /// - Parameters:
        ///   - apnsDigits: the first digits of the tokens of devices of APNs, by their number; they
        ///     decide the simulator's answers.
        ///   - fcmDigits: the same of FCM.
        init(apns apnsDigits: [Int: String] = [:], fcm fcmDigits: [Int: String] = [:], fcmFaults: [String] = []) throws
        {
            apns = try LedgeredServer(devices: 1)
            fcm = try FCMCampaignTests.Bench(devices: 1, faults: fcmFaults)
            var export = "device_token,platform\n"
            for device in 0..<40 {
                let digits = apnsDigits[device] ?? ""
                export += digits + ProjectFolder.token(device).dropFirst(digits.count) + ",ios\n"
                export += FCMCampaignTests.Bench.token(device, after: fcmDigits[device] ?? "") + ",android\n"
            }
            folder = try ProjectFolder(export: export)
            let project = try String(contentsOf: apns.folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
            let url = try #require(project.firstMatch(of: /https:\/\/localhost:[0-9]+/)?.output)
            let key = try #require(project.firstMatch(of: /key: \{file: ([^,]+),/)?.output.1)
            let place = apns.folder.url.path
            try folder.write(
                "volley.yaml",
                """
                runs: runs
                apps:
                  shop:
                    topic: com.example.shop
                    environment: {url: "\(url)", ca: \(place)/simulator-ca.pem}
                    key: {file: \(key.hasPrefix("/") ? "" : place + "/")\(key), id: SIMULATOR1, team: VOLLEYTEAM}
                    services:
                      fcm:
                        project: volley-simulator
                        environment: {url: "\(fcm.url())", ca: \(fcm.folder.url.path)/ca.pem}
                        service_account: {file: \(fcm.folder.url.path)/account.json}
                    columns:
                      token: device_token
                      service: {column: platform, map: {ios: apns, android: fcm}}
                """)
            try folder.writeCampaign()
        }

        /// The report of the last run, with the elements of its services by name.
        func report() throws -> (whole: JSONValue, services: [String: JSONValue]) {
            let whole = try folder.volley("report", "last", "--format", "json").json()
            guard case .array(let services)? = whole["services"] else { return (whole, [:]) }
            return (whole, Dictionary(uniqueKeysWithValues: services.map { ($0["service"]?.stringValue ?? "", $0) }))
        }

        /// How many targets each service accepted, and whether any was accepted twice, once both
        /// simulators have ended.
        func accepted() throws -> (apns: Int, fcm: Int, isAnyTwice: Bool) {
            let ofAPNs = try apns.accepted().mapValues(\.count)
            let ofFCM = try fcm.answers().mapValues { $0.count { $0 == 200 } }.filter { $0.value > 0 }
            return (ofAPNs.count, ofFCM.count, (Array(ofAPNs.values) + Array(ofFCM.values)).contains { $0 > 1 })
        }
    }

    @Test("the report tells of each service what its ledger tells, and the CSV names the service of every device")
    func both() throws {
        let bench = try Bench(apns: [3: "00000410", 5: "00000503"], fcm: [7: "00000404", 8: "00000404"])
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes")
        #expect(sent.status == 0, "\(sent)")
        let (whole, services) = try bench.report()
        #expect(whole["outcomes"]?.int("accepted") == 77 && whole["outcomes"]?.int("invalid_token") == 3, "\(whole)")
        #expect(
            services["apns"]?["outcomes"]?.int("accepted") == 39 && services["fcm"]?["outcomes"]?.int("accepted") == 38)
        #expect(
            services["apns"]?["reasons"]?.text == #"{"Unregistered":1}"#
                && services["fcm"]?["reasons"]?.text == #"{"UNREGISTERED":2}"#)
        let lines = try bench.folder.volley("report", "last", "--format", "csv").output.split(separator: "\n")
        #expect(
            lines[0].hasSuffix(",service") && lines.count { $0.hasSuffix(",apns") } == 40
                && lines.count { $0.hasSuffix(",fcm") } == 40)
        let ledgers = try bench.accepted()
        #expect(ledgers.apns == 39 && ledgers.fcm == 38 && !ledgers.isAnyTwice, "\(ledgers)")
    }

    @Test(
        "a service that refuses everything stops alone: the exit code is 1, the report says why, and resuming sends to its devices alone"
    )
    func oneStops() throws {
        // Without details, FCM says of an unknown device what it says of a wrong project.
        let bench = try Bench(fcm: [0: "00000404"], fcmFaults: ["--error-details", "none"])
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes")
        #expect(sent.status == 1 && sent.errors.contains("Nothing more was sent through FCM: "), "\(sent)")
        let (whole, services) = try bench.report()
        #expect(whole["state"] == .string("stopped"))
        #expect(
            services["apns"]?["outcomes"]?.int("accepted") == 40 && services["apns"]?["stopped_because"] == nil,
            "\(whole)")
        #expect(services["fcm"]?["stopped_because"]?.stringValue?.hasPrefix("FCM ") ?? false, "\(whole)")
        let unsent = services["fcm"]?["outcomes"]?.int("unsent") ?? 0
        #expect(unsent > 0, "\(whole)")
        let text = try bench.folder.volley("report", "last").output
        #expect(text.contains("this sends what is left through FCM:") && text.contains("volley resume"), "\(text)")
        let resumed = try bench.folder.volley("resume", "last")
        #expect([0, 1].contains(resumed.status), "\(resumed)")
        let after = try bench.report()
        #expect(after.whole["state"] == .string("finished") && after.whole["outcomes"]?.int("unsent") == 0, "\(after)")
        #expect(after.services["apns"]?.text == services["apns"]?.text)
        // Sending again to refused devices concerns only that service, and stops completely.
        let rejected = try #require(after.services["fcm"]?["outcomes"]?.int("rejected"))
        let retried = try bench.folder.volley("retry", "last", "--outcome", "rejected", "--yes")
        #expect(retried.status == 3, "\(retried)")
        let retry = try bench.report()
        #expect(
            retry.services.keys.sorted() == ["fcm"] && retry.whole.int("audience") == rejected && rejected > 0,
            "\(retry)")
        let ledgers = try bench.accepted()
        #expect(
            ledgers.apns == 40 && ledgers.fcm == after.services["fcm"]?["outcomes"]?.int("accepted")
                && !ledgers.isAnyTwice, "\(ledgers)")
    }
}
