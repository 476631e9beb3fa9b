import Base
import Cryptography
import Foundation
import TestCommands
import TestServers
import Testing

/// A service whose stand-in is written in Python from what its vendor documents, with an account
/// that the stand-in accepts.
enum JudgedService: String, CaseIterable, CustomTestStringConvertible {
    case jpush, getui, rongcloud

    fileprivate var secret: String { "f1e2d3c4b5a69788c9d0e1f2" }
    var testDescription: String { rawValue }

    /// What identifies the account, as arguments of the stand-in.
    fileprivate var arguments: [String] {
        switch self {
        case .jpush: ["--app-key=0a1b2c3d4e5f60718293a4b5", "--secret=\(secret)"]
        case .getui: ["--app=Jz1kA9xW2pQ7vB4nL5sT8y", "--app-key=K8sdW0qPz16JbcXy2mV5t4", "--secret=\(secret)"]
        case .rongcloud: ["--app-key=e0x9wycfx7flq", "--secret=\(secret)"]
        }
    }

    /// The same as lines of volley.yaml, without indentation; the secret is in a file.
    fileprivate var account: [String] {
        switch self {
        case .jpush: ["app_key: 0a1b2c3d4e5f60718293a4b5", "master_secret: {file: secret.txt}"]
        case .getui:
            ["app_id: Jz1kA9xW2pQ7vB4nL5sT8y", "app_key: K8sdW0qPz16JbcXy2mV5t4", "master_secret: {file: secret.txt}"]
        case .rongcloud: ["app_key: e0x9wycfx7flq", "app_secret: {file: secret.txt}"]
        }
    }

    /// A target, with a beginning that tells the stand-in what to do with it.
    func target(_ number: Int, after start: String = "") -> String {
        let end = String(number, radix: 16)
        let length =
            switch self {
            case .jpush: 19
            case .getui, .rongcloud: 32
            }
        return start + "1" + String(repeating: "0", count: length - start.count - end.count - 1) + end
    }

    /// Whether a call that may have been carried out can be repeated without harm.
    fileprivate var recognizesRepeats: Bool { self != .rongcloud }

    /// What a campaign to it says in addition to title and body.
    /// - Parameter options: more of its own keys, each with a comma after it.
    fileprivate func content(_ options: String) -> String {
        switch self {
        case .jpush, .getui: "sound: spring.caf\nlink: shop://sale\nthread: sale\ndata: {kind: sale}\n\(own(options))"
        case .rongcloud: "link: shop://sale\nthread: sale\ndata: {kind: sale}\n\(own(options))"
        }
    }

    /// What makers of phones and HarmonyOS get, and the service's own options.
    private func own(_ options: String) -> String {
        "services: {\(rawValue): {\(options)makers: {huawei: {category: MARKETING, importance: low}, honor: {importance: low}, xiaomi: {channel: c1}, "
            + "oppo: {category: MARKETING}, vivo: {category: MARKETING, classification: operational}}, harmony: {category: MARKETING}}}"
    }

    fileprivate var delivery: String? { self == .rongcloud ? nil : "expires: 1h\ncollapse: sale" }
}

/// Campaigns through JPush, Getui and RongCloud to stand-ins that share no code with Volley's
/// simulators. `make test-servers` gets what they need.
@Suite("JPush, Getui and RongCloud, judged by others", .serialized)
struct ForeignServicesTests {
    /// Text that the names to play contain; a missing program is then a failure. Nil to play only
    /// what is installed.
    private static let wanted = ProcessInfo.processInfo.environment["VOLLEY_FOREIGN_SERVERS"]

    /// The services whose names contain the text.
    private static let chosen = JudgedService.allCases.filter { service in
        wanted.map { $0.isEmpty || service.rawValue.contains($0) } ?? true
    }

    static func plays(_ service: JudgedService) -> Bool { chosen.contains(service) }

    /// Whether tests of minutes are played, too: `make test` plays the quick ones.
    static let isWhole = wanted != nil

    private static func require() throws {
        guard !ForeignPrograms.has(ForeignPrograms.hypercornPython) else { return }
        let reason = "hypercorn is missing; `make test-servers` gets it"
        if wanted == nil { try Test.cancel("\(reason)") }
        throw CommandFailure(what: reason)
    }

    /// A stand-in, and a project that sends to it.
    final class Stand {
        let service: JudgedService
        let folder: ProjectFolder
        /// Of the service in volley.yaml, without indentation.
        private let settings: [String]
        private let server: ServerProcess

        /// - Parameters:
        ///   - starts: the beginnings of targets, by their number.
        ///   - own: more of the service's own keys below `content`, each with a comma after it.
        ///   - title: of the campaign; the export has names in `first_name`.
        ///   - options: of the stand-in.
        ///   - app: further lines of the app.
        init(
            _ service: JudgedService, devices: Int, starts: [Int: String] = [:], title: String = "Hi",
            delivery: String = "",
            own: String = "", options: [String] = [], app: [String] = []
        ) throws {
            try ForeignServicesTests.require()
            self.service = service
            let (port, spare) = (try Sockets.freePort(), try Sockets.freePort())
            folder = try ProjectFolder(
                export: "target,first_name\n"
                    + (0..<devices).map { "\(service.target($0, after: starts[$0] ?? "")),Ada\($0)\n" }.joined())
            let authority = CertificateAuthority(commonName: "Volley test")
            try folder.write("ca.pem", authority.certificatePEM)
            try folder.write(
                "server.pem", authority.issueServerCertificate(names: ["localhost"], addresses: ["127.0.0.1"]).pem)
            let path = folder.url.path
            let spareOption = service == .jpush ? [] : ["--spare-port=\(spare)"]
            server = try ForeignPrograms.start(
                ForeignPrograms.hypercornPython,
                [
                    "\(ForeignPrograms.standIns)/\(service.rawValue).py", "--port=\(port)",
                    "--certificate=\(path)/server.pem",
                    "--ledger=\(path)/ledger",
                ] + service.arguments + spareOption + options, port: port, log: "\(path)/\(service.rawValue).log")
            settings = ["environment: {url: \"https://localhost:\(port)\", ca: ca.pem}"] + service.account + app
            try writeSecret(service.secret)
            let lines = ["service: \(service.rawValue)"] + settings + ["columns: {token: target}"]
            try folder.write("volley.yaml", "runs: runs\napps:\n  shop:\n" + lines.map { "    \($0)\n" }.joined())
            let delivery = [service.delivery ?? "", delivery].filter { !$0.isEmpty }.joined(separator: "\n")
            try folder.writeCampaign(
                content: "title: \(title)\nbody: Sale\n\(service.content(own))",
                delivery: delivery.isEmpty ? nil : delivery)
        }

        func writeSecret(_ text: String) throws {
            try folder.write("secret.txt", text + "\n")
            chmod(folder.url.appendingPathComponent("secret.txt").path, 0o600)
        }

        /// An entry of `services` in volley.yaml, wherever that is.
        var entry: String {
            let path = folder.url.path
            let settings = settings.map {
                $0.replacing("secret.txt", with: "\(path)/secret.txt").replacing("ca.pem", with: "\(path)/ca.pem")
            }
            return "\(service.rawValue): {\(settings.joined(separator: ", "))}"
        }

        static let direct = ["https_proxy": "", "HTTPS_PROXY": "", "all_proxy": "", "ALL_PROXY": ""]

        func send() throws -> VolleyBinary.Result {
            try folder.volley("send", "campaign.yaml", "--yes", "--json", environment: Self.direct, timeout: 240)
        }

        func resume() throws -> VolleyBinary.Result {
            try folder.volley("resume", "last", "--json", environment: Self.direct, timeout: 240)
        }

        func begin() throws -> RunningVolley {
            try VolleyBinary.start(
                ["send", "campaign.yaml", "--yes", "--json"], in: folder.url, environment: Self.direct)
        }

        /// How often the stand-in noted each target.
        func ledger(_ what: String) -> [String: Int] {
            lines.reduce(into: [:]) { if $1.what == what { $0[$1.target, default: 0] += 1 } }
        }

        /// All its notes, with the number of targets.
        var words: [String: Int] { lines.reduce(into: [:]) { $0[$1.what, default: 0] += 1 } }

        /// How many calls have a note.
        func calls(_ what: String) -> Int { Set(lines.filter { $0.what == what }.map(\.call)).count }

        /// The ids of the calls that were accepted.
        var acceptedCalls: Set<String> { Set(lines.filter { $0.what == "accepted" }.map(\.call)) }

        private var lines: [(what: String, target: String, call: String)] {
            let text = (try? String(contentsOfFile: folder.url.path + "/ledger", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ").map(String.init)
                return words.count == 4 ? (words[0], words[1], words[3]) : nil
            }
        }

        /// The targets of an outcome, by the report.
        func reported(_ outcome: String) throws -> Set<String> {
            let table = try folder.volley("report", "last", "--format", "csv").output
            return Set(
                table.split(separator: "\n").dropFirst().compactMap { line in
                    let cells = line.split(separator: ",", omittingEmptySubsequences: false)
                    return cells[5] == outcome ? String(cells[0]) : nil
                })
        }

        /// Conditions that must always hold: no device got it twice, the report claims nothing that
        /// was not accepted and denies nothing that was, no call was repeated with other contents,
        /// and no message was lost because its id had been used.
        func expectAgreement(_ comment: Comment? = nil) throws {
            let accepted = ledger("accepted")
            #expect(accepted.values.allSatisfy { $0 == 1 }, comment)
            let (claimed, unknown) = (try reported("accepted"), try reported("unknown"))
            // JPush answers for a call: it does not say which of its targets it does not know.
            let lost = service == .jpush ? Set(ledger("lost").keys) : []
            #expect(claimed.subtracting(accepted.keys).subtracting(lost).isEmpty, comment)
            #expect(Set(accepted.keys).subtracting(claimed).subtracting(unknown).isEmpty, comment)
            #expect(ledger("mixed").isEmpty, comment)
            if service == .getui { #expect(Set(ledger("lost").keys).isSubset(of: accepted.keys), comment) }
            // Answers that only a client with a bug gets.
            let bugs: [String] =
                switch service {
                case .jpush: ["1001", "1002", "1004", "1005", "1008", "1009", "1020", "2006", "2007", "2008"]
                case .getui: ["1", "404", "405"]
                case .rongcloud: ["1002", "1003", "1004", "1005", "404"]
                }
            #expect(words.keys.filter { bugs.contains(String($0.dropFirst("refused-".count))) }.isEmpty, comment)
        }
    }

    @Test(
        "the stand-ins themselves judge as the vendors document, by a client of Python's own library",
        .enabled(if: isWhole))
    func standIns() throws {
        try Self.require()
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: ForeignPrograms.hypercornPython)
        process.arguments = ["-B", ForeignPrograms.standIns + "/judge_test.py"]
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(said)")
    }

    @Test("one text for all: everyone gets it once, and the report agrees with the stand-in", arguments: chosen)
    func oneText(service: JudgedService) throws {
        let stand = try Stand(service, devices: 450)
        let sent = try stand.send()
        #expect(sent.status == 0, "\(sent)")
        #expect(stand.ledger("accepted").count == 450)
        try stand.expectAgreement("\(sent)")
        #expect(!stand.words.keys.contains { $0.hasPrefix("refused") }, "\(stand.words)")
        if service.recognizesRepeats { #expect(!stand.acceptedCalls.contains("-"), "every call has an id") }
    }

    @Test("a text for each person: everyone gets it once", arguments: chosen)
    func personalTexts(service: JudgedService) throws {
        let stand = try Stand(service, devices: 60, title: "Hi {{ first_name }}")
        let sent = try stand.send()
        #expect(sent.status == 0, "\(sent)")
        #expect(stand.ledger("accepted").count == 60)
        try stand.expectAgreement("\(sent)")
        #expect(!stand.words.keys.contains { $0.hasPrefix("refused") }, "\(stand.words)")
    }

    @Test(
        "one campaign through all of them: each reaches its own",
        .enabled(if: chosen.count == JudgedService.allCases.count))
    func together() throws {
        let stands = try JudgedService.allCases.map { try Stand($0, devices: 0) }
        let rows = (0..<210).map { number in
            let service = JudgedService.allCases[number % 3]
            return (service, target: service.target(number))
        }
        let folder = try ProjectFolder(
            export: "token,platform,first_name\n" + rows.map { "\($0.target),\($0.0.rawValue),Ada\n" }.joined())
        try folder.write(
            "volley.yaml",
            "runs: runs\napps:\n  shop:\n    columns: {service: {column: platform}}\n    services:\n"
                + stands.map { "      \($0.entry)\n" }.joined())
        try folder.writeCampaign(content: "title: Hi {{ first_name }}\nbody: Sale\nlink: shop://sale")
        let sent = try folder.volley(
            "send", "campaign.yaml", "--yes", "--json", environment: Stand.direct, timeout: 240)
        #expect(sent.status == 0, "\(sent)")
        for stand in stands {
            let own = rows.filter { $0.0 == stand.service }.map(\.target)
            #expect(
                stand.ledger("accepted") == Dictionary(uniqueKeysWithValues: own.map { ($0, 1) }),
                "\(stand.service): \(sent)")
            #expect(!stand.words.keys.contains { $0.hasPrefix("refused") }, "\(stand.words)")
        }
    }

    @Test("calls over HTTP/1.1 are judged in the same way", arguments: chosen)
    func oldHTTP(service: JudgedService) throws {
        let stand = try Stand(service, devices: 120, options: ["--protocol=http/1.1"])
        let sent = try stand.send()
        #expect(sent.status == 0 && stand.ledger("accepted").count == 120, "\(sent)")
        try stand.expectAgreement("\(sent)")
    }

    @Test(
        "JPush: malformed ids are found, suppressed only if they are named, and everyone else gets it",
        .enabled(if: plays(.jpush)),
        arguments: [["--illegal=1"], ["--illegal=2"], ["--illegal=0"]])
    func malformed(options: [String]) throws {
        let stand = try Stand(.jpush, devices: 300, starts: [7: "bad0", 170: "bad0", 299: "bad0"], options: options)
        let sent = try stand.send()
        let isNamed = options != ["--illegal=0"]
        #expect(sent.status == (isNamed ? 0 : 1), "\(sent)")
        #expect(stand.ledger("accepted").count == 297)
        let malformed = Set([7, 170, 299].map { JudgedService.jpush.target($0, after: "bad0") })
        #expect(try stand.reported(isNamed ? "invalid_token" : "rejected") == malformed)
        try stand.expectAgreement("\(sent)")
    }

    @Test(
        "JPush: a value that it does not take stops the text in its words after a few calls, and suppresses no device",
        .enabled(if: plays(.jpush)))
    func badValue() throws {
        let stand = try Stand(
            .jpush, devices: 1000, own: "options: {override_msg_id: 123}, ", options: ["--illegal=0"])
        let sent = try stand.send()
        #expect(sent.status == 3 && sent.errors.contains("1003"), "\(sent)")
        #expect(sent.errors.contains("whichever device gets it"), "\(sent)")
        #expect(try stand.reported("invalid_token").isEmpty && stand.reported("rejected").count == 3)
        #expect(try stand.reported("unsent").count == 997 && stand.ledger("accepted").isEmpty)
        let calls = stand.calls("refused-1003")
        #expect(calls <= 8, "\(calls) calls")
        let again = try stand.folder.volley("plan", "campaign.yaml", "--json").json()
        #expect(again["skipped"]?.int("suppressed") ?? 0 == 0 && again.int("audience") == 1000, "\(again)")
    }

    @Test("a proxy that answers in the service's place settles no device", arguments: chosen, [302, 407])
    func portal(service: JudgedService, status: Int) throws {
        let stand = try Stand(service, devices: 600, options: ["--portal=\(status)", "--portal-after=1"])
        let sent = try stand.send()
        #expect(sent.status == 3 && sent.errors.contains(String(status)), "\(sent)")
        let accepted = stand.ledger("accepted").count
        #expect(accepted > 0 && stand.words["trouble-portal"] ?? 0 > 0, "\(stand.words)")
        #expect(
            try stand.reported("accepted").count == accepted && stand.reported("unsent").count == 600 - accepted,
            "\(sent)")
    }

    @Test("JPush: ids that nobody knows are invalid where the call has no other", .enabled(if: plays(.jpush)))
    func nobody() throws {
        let stand = try Stand(.jpush, devices: 3, starts: [1: "dead"], title: "Hi {{ first_name }}")
        let sent = try stand.send()
        #expect(try stand.reported("invalid_token") == [JudgedService.jpush.target(1, after: "dead")], "\(sent)")
        #expect(stand.ledger("accepted").count == 2)
        try stand.expectAgreement("\(sent)")
    }

    @Test(
        "JPush: a quota of the minute holds the run, with either name of its header, and counts the calls for ids",
        .enabled(if: isWhole && plays(.jpush)), arguments: ["", "--old-header"])
    func quota(header: String) throws {
        let stand = try Stand(
            .jpush, devices: 12, title: "Hi {{ first_name }}",
            options: ["--quota=8", "--window=15"] + (header.isEmpty ? [] : [header]))
        let sent = try stand.send()
        #expect(sent.status == 0 && stand.ledger("accepted").count == 12, "\(sent)")
        try stand.expectAgreement("\(sent)")
    }

    @Test(
        "Getui: each device has its own answer, and a wrong one does not lose the others their message",
        .enabled(if: plays(.getui)))
    func statuses() throws {
        let starts = [3: "dead", 40: "1d1e", 41: "0ff", 42: "0dd", 43: "a55", 250: "dead"]
        let stand = try Stand(.getui, devices: 300, starts: starts)
        let sent = try stand.send()
        #expect(sent.status == 1, "some were rejected: \(sent)")
        #expect(
            try stand.reported("invalid_token") == Set([3, 250].map { JudgedService.getui.target($0, after: "dead") }))
        #expect(
            try stand.reported("rejected")
                == Set([(40, "1d1e"), (42, "0dd")].map { JudgedService.getui.target($0, after: $1) }))
        // Getui says nothing of it, so it may have it.
        #expect(try stand.reported("unknown") == [JudgedService.getui.target(43, after: "a55")])
        #expect(stand.ledger("accepted").count == 295)
        try stand.expectAgreement("\(sent)")
    }

    @Test(
        "Getui: tokens that end, are revoked, or are the only one, are renewed", .enabled(if: isWhole && plays(.getui)),
        arguments: [["--token-seconds=2", "--latency=300"], ["--revoke-each=5"], ["--one-token"]])
    func tokens(options: [String]) throws {
        let stand = try Stand(
            .getui, devices: 60, title: "Hi {{ first_name }}", delivery: "pace: 20/s", options: options)
        let sent = try stand.send()
        #expect(sent.status == 0 && stand.ledger("accepted").count == 60, "\(sent)")
        try stand.expectAgreement("\(sent)")
    }

    @Test(
        "Getui: lists have one text, wrong devices are found in them, and a text that is over is handed over again",
        .enabled(if: plays(.getui)), arguments: [[], ["--lists-per-task=1"]])
    func lists(options: [String]) throws {
        let starts = [30: "dead", 740: "1d1e", 741: "0ff", 1250: "dead"]
        let stand = try Stand(
            .getui, devices: 2500, starts: starts, options: options + ["--latency=50"], app: ["lists: true"])
        let sent = try stand.send()
        #expect(sent.status == 1, "one was rejected: \(sent)")
        #expect(
            try stand.reported("invalid_token")
                == Set([30, 1250].map { JudgedService.getui.target($0, after: "dead") }))
        #expect(stand.ledger("accepted").count == 2497 && stand.ledger("lost").isEmpty, "\(stand.words)")
        #expect(stand.acceptedCalls.contains { $0.hasPrefix("RASL_") })
        try stand.expectAgreement("\(sent)")
    }

    @Test(
        "Getui: lists whose answers are lost leave their devices unknown, and nobody gets it twice",
        .enabled(if: isWhole && plays(.getui)),
        arguments: ["gateway", "cut-before", "cut-after"])
    func lostLists(kind: String) throws {
        let stand = try Stand(
            .getui, devices: 6000, options: ["--\(kind)-every=3", "--latency=50"], app: ["lists: true"])
        let sent = try stand.send()
        #expect(stand.words.keys.contains { $0.hasPrefix("trouble-") }, "\(stand.words)")
        try stand.expectAgreement("\(kind)")
        #expect(try stand.reported("accepted").count + stand.reported("unknown").count == 6000, "\(sent)")
    }

    @Test("RongCloud: recipients of a second are counted, and the run keeps below", .enabled(if: plays(.rongcloud)))
    func recipients() throws {
        let stand = try Stand(.rongcloud, devices: 250)
        let start = Date()
        let sent = try stand.send()
        #expect(
            sent.status == 0 && stand.ledger("accepted").count == 250 && Date().timeIntervalSince(start) > 1.4,
            "\(sent)")
        #expect(stand.words["refused-1008"] == nil, "\(stand.words)")
        try stand.expectAgreement("\(sent)")
    }

    /// What happens to calls, with whether it leaves no doubt about them.
    private static let troubles: [(service: JudgedService, options: [String], isCertain: Bool)] =
        chosen.flatMap { service -> [(JudgedService, [String], Bool)] in
            let common: [(JudgedService, [String], Bool)] = ["gateway", "cut-before", "cut-after"].map { kind in
                (service, ["--\(kind)-every=3"], false)
            }
            let waits: [Int] =
                switch service {
                case .jpush: [1000, 1030]
                case .getui: [2, 10003, 10005, 30012, 30019]
                case .rongcloud: [1000, 1008]
                }
            // Once: some of them require a minute's wait.
            let passing = waits.map { (service, ["--error=\($0)", "--error-every=2", "--error-times=1"], true) }
            return common + passing
                + (service == .rongcloud ? [(service, ["--error=1050", "--error-every=3"], false)] : [])
        }

    @Test(
        "trouble on the way and at the service: nobody gets it twice, and the report knows what is not known",
        .enabled(if: isWhole),
        arguments: troubles.indices)
    func trouble(number: Int) throws {
        let (service, options, isCertain) = Self.troubles[number]
        let comment: Comment = "\(service) \(options)"
        // A call of Getui has up to 200 texts.
        let devices = service == .getui ? 900 : 24
        let stand = try Stand(service, devices: devices, title: "Hi {{ first_name }}", options: options)
        let sent = try stand.send()
        #expect(stand.words.keys.contains { $0.hasPrefix("trouble-") }, "\(service) \(options): \(stand.words)")
        try stand.expectAgreement(comment)
        let unknown = try stand.reported("unknown").count
        #expect(try stand.reported("accepted").count + unknown == devices, "\(service) \(options): \(sent)")
        if isCertain || service.recognizesRepeats {
            #expect(unknown == 0 && sent.status == 0, "\(service) \(options): \(sent)")
        }
    }

    /// Rows of the tables that stop a run.
    private static let stops: [(service: JudgedService, code: Int)] =
        [1001, 1002, 1004, 1008, 1009, 1020, 2003, 2004, 2005, 2006, 2007, 2008].map { (.jpush, $0) }
        + [1, 404, 405, 10002, 10004, 30000, 30003, 30004, 30005, 30008, 30016].map { (.getui, $0) }
        + [1001, 1003, 1004, 1006, 1007, 1009, 2007, 404].map { (.rongcloud, $0) }

    @Test(
        "what no further push can mend stops the run, and says the code", .enabled(if: isWhole),
        arguments: stops.indices.filter { plays(stops[$0].service) })
    func stop(number: Int) throws {
        let (service, code) = Self.stops[number]
        let stand = try Stand(
            service, devices: 30, title: "Hi {{ first_name }}", delivery: "pace: 10/s",
            options: ["--error=\(code)", "--error-every=1"])
        let sent = try stand.send()
        #expect(sent.status != 0 && stand.ledger("accepted").isEmpty, "\(service) \(code): \(sent)")
        #expect(sent.errors.contains(String(code)), "\(service) \(code): \(sent)")
        #expect(try stand.reported("unsent").count >= 20, "\(service) \(code): \(sent)")
    }

    @Test(
        "RongCloud: a value that it does not accept is explained in the same words behind a good status",
        .enabled(if: plays(.rongcloud)), arguments: [[], ["--good-status"]])
    func goodStatus(options: [String]) throws {
        let stand = try Stand(.rongcloud, devices: 30, options: ["--error=1002", "--error-every=1"] + options)
        let sent = try stand.send()
        #expect(sent.status == 3 && sent.errors.contains("RongCloud does not accept a value of the message"), "\(sent)")
        #expect(try stand.reported("unsent").count == 30)
    }

    @Test(
        "with a wrong secret nobody gets it; a resumption and a retry with the right one reach everyone",
        arguments: chosen)
    func wrongSecret(service: JudgedService) throws {
        let stand = try Stand(service, devices: 40)
        try stand.writeSecret("0000000000000000aaaaaaaa")
        let sent = try stand.send()
        #expect(sent.status != 0 && stand.ledger("accepted").isEmpty, "\(sent)")
        try stand.writeSecret(service.secret)
        let runs = try stand.folder.volley("runs", "--json").output
        let again = runs.contains("stopped") ? try stand.resume() : try stand.send()
        // A call of one device that was refused settled it.
        let refused = try stand.reported("rejected").count
        #expect(stand.ledger("accepted").count + refused == 40 && refused <= 1, "\(again)")
        if refused > 0 {
            let retried = try stand.folder.volley(
                "retry", "last", "--outcome", "rejected", "--yes", "--json", environment: Stand.direct, timeout: 240)
            #expect(retried.status == 0, "\(retried)")
        }
        #expect(
            stand.ledger("accepted").count == 40 && stand.ledger("accepted").values.allSatisfy { $0 == 1 }, "\(again)")
    }

    @Test("a run that is killed goes on, and nobody gets it twice", arguments: chosen)
    func killed(service: JudgedService) throws {
        let stand = try Stand(
            service, devices: 40, title: "Hi {{ first_name }}", delivery: "pace: 10/s", options: ["--latency=200"])
        let running = try stand.begin()
        let limit = Date().addingTimeInterval(60)
        while running.isRunning, stand.ledger("accepted").count < 12, Date() < limit { usleep(20_000) }
        kill(running.processID, SIGKILL)
        _ = running.finish(timeout: 10)
        let resumed = try stand.resume()
        try stand.expectAgreement("\(resumed)")
        let unknown = try stand.reported("unknown").count
        #expect(try stand.reported("accepted").count + unknown == 40, "\(resumed)")
        if service.recognizesRepeats { #expect(unknown == 0, "\(resumed)") }
    }
}
