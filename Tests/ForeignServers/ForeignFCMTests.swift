import Base
import Cryptography
import Foundation
import Simulators
import TestCommands
import TestServers
import Testing

/// Campaigns to a stand-in for FCM that shares no code with Volley's simulator. `make test-servers`
/// gets what it needs.
@Suite("FCM and software of others", .serialized)
struct ForeignFCMTests {
    /// A stand-in with its account, and a project that sends to it.
    private final class Stand {
        let folder: ProjectFolder
        private let server: ServerProcess

        /// - Parameters:
        ///   - starts: the beginnings of the devices' tokens, by their number; they decide the
        ///     stand-in's answers.
        ///   - options: of its program.
        init(devices: Int, starts: [Int: String] = [:], options: [String] = []) throws {
            let port = try Sockets.freePort()
            folder = try ProjectFolder(
                export: "device_token\n" + (0..<devices).map { Self.token($0, after: starts[$0] ?? "") + "\n" }.joined()
            )
            let authority = CertificateAuthority(commonName: "Volley test")
            try folder.write("ca.pem", authority.certificatePEM)
            try folder.write(
                "server.pem", authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"]).pem)
            let account = SimulatedServiceAccount.generate(project: "shop-1a2b")
            try folder.write("account.json", account.json(tokenURI: "https://localhost:\(port)/token"))
            let path = folder.url.path
            chmod("\(path)/account.json", 0o600)
            server = try ForeignPrograms.start(
                ForeignPrograms.hypercornPython,
                [
                    "\(ForeignPrograms.standIns)/fcm.py", "--port=\(port)", "--certificate=\(path)/server.pem",
                    "--ledger=\(path)/ledger",
                    "--account=\(path)/account.json",
                ] + options, port: port, log: "\(path)/fcm.log")
            try folder.write(
                "volley.yaml",
                """
                runs: runs
                apps:
                  shop:
                    service: fcm
                    project: shop-1a2b
                    environment: {url: "https://localhost:\(port)", ca: ca.pem}
                    service_account: {file: account.json}
                    columns: {token: device_token}
                """)
            try folder.writeCampaign(
                content:
                    "title: Hi {{ device_token }}\nbody: Sale\nsound: spring.caf\nbadge: 1\nlink: shop://sale\ndata: {kind: sale}",
                delivery: "expires: 1h\ncollapse: sale\npriority: high")
        }

        static func token(_ number: Int, after start: String) -> String {
            let end = String(number)
            return start + String(repeating: "c", count: 22 - start.count) + ":APA91b"
                + String(repeating: "0", count: 134 - end.count)
                + end
        }

        func send() throws -> VolleyBinary.Result {
            let direct = ["https_proxy": "", "HTTPS_PROXY": "", "all_proxy": "", "ALL_PROXY": ""]
            return try folder.volley("send", "campaign.yaml", "--yes", "--json", environment: direct)
        }

        /// How often the stand-in noted each token.
        func ledger(_ what: String) throws -> [String: Int] {
            try String(contentsOfFile: folder.url.path + "/ledger", encoding: .utf8).split(separator: "\n").reduce(
                into: [:]) {
                    let words = $1.split(separator: " ")
                    if words[0] == what { $0[String(words[1]), default: 0] += 1 }
                }
        }

        /// The tokens of an outcome, by the report.
        func reported(_ outcome: String) throws -> Set<String> {
            let table = try folder.volley("report", "last", "--format", "csv").output
            return Set(
                table.split(separator: "\n").dropFirst().compactMap { line in
                    let cells = line.split(separator: ",", omittingEmptySubsequences: false)
                    return cells[5] == outcome ? String(cells[0]) : nil
                })
        }
    }

    @Test("a stand-in on hypercorn accepts every message, knows each dead device, and agrees with the report")
    func judge() throws {
        try ForeignPrograms.requireModule("hypercorn")
        try ForeignPrograms.requireModule("cryptography")
        let stand = try Stand(devices: 600, starts: [7: "gone", 90: "other", 400: "broken", 401: "gone"])
        let sent = try stand.send()
        #expect(sent.status == 0, "\(sent)")
        let accepted = try stand.ledger("accepted")
        #expect(accepted.count == 596 && accepted.values.allSatisfy { $0 == 1 })
        #expect(try stand.reported("accepted") == Set(accepted.keys))
        #expect(try stand.reported("invalid_token").count == 4)
        #expect(try stand.ledger("refused-400").count == 1, "one token is broken, and nothing else is a bad request")
    }

    @Test(
        "quotas, trouble, revoked tokens and short ones: everyone gets it once",
        arguments: [
            ["--token-seconds=2", "--latency=100", "--streams=10"], ["--revoke-each=120"], ["--unavailable-every=50"],
        ])
    func trouble(options: [String]) throws {
        try ForeignPrograms.requireModule("hypercorn")
        let stand = try Stand(devices: 300, options: options)
        let sent = try stand.send()
        #expect(sent.status == 0, "\(options): \(sent)")
        let accepted = try stand.ledger("accepted")
        #expect(accepted.count == 300 && accepted.values.allSatisfy { $0 == 1 }, "\(options)")
        #expect(try stand.reported("accepted") == Set(accepted.keys))
    }

    @Test("a quota of the minute holds the run until there is room again, without a single attempt more")
    func quota() throws {
        try ForeignPrograms.requireModule("hypercorn")
        let stand = try Stand(devices: 110, options: ["--quota=100", "--retry-after=20"])
        let start = Date()
        let sent = try stand.send()
        #expect(sent.status == 0 && Date().timeIntervalSince(start) > 40, "\(sent)")
        #expect(try stand.ledger("accepted").count == 110)
        #expect(try stand.folder.volley("report", "last", "--format", "json").json().int("attempts") == 110)
    }

    @Test(
        "an answer about one device's settings rejects that device and no other, and suppresses none",
        arguments: ["iphone", "denied", "absent"])
    func single(start: String) throws {
        try ForeignPrograms.requireModule("hypercorn")
        let devices = Array(stride(from: 7, to: 200, by: 10))
        let stand = try Stand(devices: 200, starts: Dictionary(uniqueKeysWithValues: devices.map { ($0, start) }))
        let sent = try stand.send()
        #expect(sent.status == 1, "\(sent)")
        #expect(try stand.ledger("accepted").count == 180)
        #expect(try stand.reported("rejected") == Set(devices.map { Stand.token($0, after: start) }))
        let again = try stand.folder.volley("plan", "campaign.yaml", "--json").json()
        #expect(again["skipped"]?.int("suppressed") ?? 0 == 0 && again.int("audience") == 200, "\(again)")
    }

    @Test("an expired key for iPhones stops a run of iPhones, rejects one of them, and a resumption reaches the others")
    func iPhones() throws {
        try ForeignPrograms.requireModule("hypercorn")
        let stand = try Stand(devices: 300, starts: Dictionary(uniqueKeysWithValues: (0..<300).map { ($0, "iphone") }))
        let sent = try stand.send()
        #expect(sent.status == 3 && sent.errors.contains("THIRD_PARTY_AUTH_ERROR"), "\(sent)")
        #expect(try stand.reported("rejected").count == 1 && stand.reported("unsent").count == 299)
    }

    @Test(
        "a proxy that answers in FCM's place settles no device, from the first message or later",
        arguments: [302, 407], [0, 150])
    func portal(status: Int, after: Int) throws {
        try ForeignPrograms.requireModule("hypercorn")
        let stand = try Stand(devices: 600, options: ["--portal=\(status)", "--portal-after=\(after)"])
        let sent = try stand.send()
        #expect(sent.status == 3 && sent.errors.contains(String(status)), "\(sent)")
        let accepted = try stand.ledger("accepted").count
        #expect(accepted == after)
        #expect(
            try stand.reported("accepted").count == accepted && stand.reported("unsent").count == 600 - accepted,
            "\(sent)")
    }

    @Test("a retry-after that is a date is obeyed")
    func retryDate() throws {
        try ForeignPrograms.requireModule("hypercorn")
        let stand = try Stand(devices: 30, options: ["--unavailable-every=20", "--retry-after=25", "--retry-date"])
        let start = Date()
        let sent = try stand.send()
        #expect(sent.status == 0 && Date().timeIntervalSince(start) >= 25, "\(sent)")
        #expect(try stand.ledger("accepted").count == 30)
    }

    @Test(
        "answers that are compressed although nobody asks for it are read, and so are tokens without a lifetime, or with one in quotes",
        arguments: [["--gzip"], ["--lifetime=none"], ["--lifetime=quoted"]])
    func unusual(options: [String]) throws {
        try ForeignPrograms.requireModule("hypercorn")
        let stand = try Stand(devices: 60, starts: [7: "gone", 40: "broken"], options: options)
        let sent = try stand.send()
        #expect(sent.status == 0, "\(sent)")
        #expect(try stand.ledger("accepted").count == 58 && stand.reported("accepted").count == 58)
        #expect(try stand.reported("invalid_token").count == 2, "\(options)")
    }
}
