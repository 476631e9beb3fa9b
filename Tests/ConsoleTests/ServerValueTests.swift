import Base
import Campaigns
import Foundation
import Glibc
import HTTPTypes
import NIOCore
import Synchronization
import TestCommands
import Testing

@testable import volley_console

@Suite("What the server decides, without a socket")
struct ServerValueTests {
    // MARK: - Connections

    @Test("while there is room, no connection is closed")
    func room() {
        var roster = ConnectionRegistry(.init(all: 3, ofAddress: 3))
        for id in 1...3 { #expect(roster.open(id, from: nil, at: 0) == nil) }
        #expect(roster.count == 3)
    }

    @Test("the one that is idle longest gives way; those for which the console works stay")
    func givingWay() {
        var roster = ConnectionRegistry(.init(all: 3, ofAddress: 3))
        for id in 1...3 { _ = roster.open(id, from: nil, at: Double(id)) }
        _ = roster.begin(1, of: nil, at: 4)
        roster.wait(1, for: nil, at: 4)
        #expect(roster.open(4, from: nil, at: 5) == 2)
        roster.close(2)
        #expect(roster.count == 3)
        roster.wait(1, for: .head, at: 6)
        _ = roster.begin(3, of: nil, at: 7)
        roster.wait(3, for: nil, at: 7)
        #expect(roster.open(5, from: nil, at: 8) == 4)
        roster.close(4)
        #expect(roster.open(6, from: nil, at: 9) == 1)
    }

    @Test("if the console works for all, the new one goes")
    func allAtWork() {
        var roster = ConnectionRegistry(.init(all: 2, ofAddress: 2))
        for id in 1...2 {
            _ = roster.open(id, from: nil, at: 0)
            _ = roster.begin(id, of: nil, at: 0)
            roster.wait(id, for: nil, at: 0)
        }
        #expect(roster.open(3, from: nil, at: 1) == 3)
        #expect(roster.open(4, from: nil, at: 2) == 4)
        #expect(roster.count == 2)
    }

    @Test("an address with too many loses its own, not those of others")
    func addresses() throws {
        var roster = ConnectionRegistry(.init(all: 100, ofAddress: 2))
        let (one, other) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("192.0.2.2")))
        _ = roster.open(1, from: other, at: 1)
        _ = roster.open(2, from: one, at: 2)
        _ = roster.open(3, from: one, at: 3)
        #expect(roster.open(4, from: one, at: 4) == 2)
        roster.close(2)
        #expect(roster.open(5, from: other, at: 5) == nil)
        for id in [3, 4] { roster.close(id) }
        #expect(roster.open(6, from: one, at: 6) == nil)
    }

    @Test(
        "of the address with the most connections the slowest body goes first, then what is not read, then what is idle, then what comes fast"
    )
    func slowestBody() throws {
        var roster = ConnectionRegistry(.init(all: 6, ofAddress: 6))
        let (many, few) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("192.0.2.2")))
        _ = roster.open(1, from: few, at: 0)
        _ = roster.begin(1, of: few, at: 0)
        for id in 2...6 { _ = roster.open(id, from: many, at: 0) }
        for id in 2...4 { _ = roster.begin(id, of: many, at: 1) }
        roster.received(2, bytes: 100_000)
        roster.received(3, bytes: 20)
        roster.received(4, bytes: 10)
        roster.wait(5, for: .reader, at: 1)
        // Another address's body is slower, and is left alone.
        #expect((7...11).map { roster.open($0, from: $0 == 10 ? few : many, at: 10) } == [4, 3, 5, 6, 7])
        #expect(roster.open(12, from: many, at: 10) == 8)
        #expect(roster.open(13, from: few, at: 10) == 9)
    }

    @Test("a body that has just begun is not taken for a slow one")
    func youngBody() throws {
        var roster = ConnectionRegistry(.init(all: 2, ofAddress: 2))
        for id in 1...2 { _ = roster.open(id, from: nil, at: 0) }
        _ = roster.begin(2, of: nil, at: 9.5)
        #expect(roster.open(3, from: nil, at: 10) == 1)
        #expect(roster.open(4, from: nil, at: 11) == 2)
    }

    @Test("a client that has just connected outlives those that have just withheld a body")
    func newestClient() {
        var roster = ConnectionRegistry(.init(all: 3, ofAddress: 3))
        for id in 1...2 {
            _ = roster.open(id, from: nil, at: 0)
            _ = roster.begin(id, of: nil, at: 0.1)
        }
        _ = roster.open(3, from: nil, at: 0.2)
        #expect([4, 5].map { roster.open($0, from: nil, at: 0.3) } == [1, 2])
    }

    @Test("through a proxy a request counts for its own address, and the connection is the proxy's again afterwards")
    func proxied() throws {
        var roster = ConnectionRegistry(.init(all: 100, ofAddress: 2))
        let (one, other) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("192.0.2.2")))
        for id in 1...5 { #expect(roster.open(id, from: nil, at: 0) == nil) }
        #expect([1, 2].map { roster.begin($0, of: one, at: Double($0)) } == [nil, nil])
        #expect(roster.begin(3, of: other, at: 3) == nil)
        roster.received(1, bytes: 50)
        #expect(roster.begin(4, of: one, at: 10) == 2)
        // The first is answered, and carries a request of the other one next.
        roster.wait(1, for: nil, at: 11)
        roster.wait(1, for: .head, at: 12)
        #expect(roster.begin(5, of: one, at: 13) == nil)
        #expect(roster.begin(1, of: other, at: 14) == nil)
        #expect(roster.begin(6, of: one, at: 14) == nil, "one that was closed before is left alone")
    }

    @Test("a client counts by its network, a proxy and this machine itself not at all")
    func networks() throws {
        let rules = try Self.rules(Self.public)
        func network(_ text: String) -> String? { rules.network(of: IPAddress(text))?.description }
        #expect(network("192.0.2.7") == "192.0.2.7" && network("::ffff:192.0.2.7") == "192.0.2.7")
        #expect(network("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::")
        #expect(network("127.0.0.1") == nil && network("10.1.2.3") == nil && network("::1") == nil)
    }

    // MARK: - Hosts

    private static func rules(_ console: String = "") throws -> HostRules {
        let folder = try TestFolder(project: console + TestFolder.project)
        return HostRules(try Project.read(file: "\(folder.path)/volley.yaml").0.console)
    }

    private static let `public` = "console: {public_url: \"https://Push.example.com\", proxies: [10.0.0.0/8]}\n"

    @Test(
        "without public_url, only names of this machine are answered",
        arguments: [
            ("127.0.0.1:8181", true), ("localhost", true), ("LOCALHOST:80", true), ("[::1]:8181", true),
            ("127.0.0.1.evil.example", false),
            ("evil.example", false), ("", false), ("localhost:99999", false), ("localhost.", false),
            ("2130706433", false),
        ])
    func loopback(authority: String, isAnswered: Bool) throws {
        let requestOrigin = try Self.rules().requestOrigin(of: [:], authority: authority, peer: IPAddress("127.0.0.1"))
        #expect((requestOrigin != nil) == isAnswered)
        #expect(requestOrigin?.isSecure != true)
    }

    @Test("with public_url its host is answered, and known to be https")
    func publicHost() throws {
        let rules = try Self.rules(Self.public)
        let requestOrigin = try #require(
            rules.requestOrigin(of: [:], authority: "push.example.com:443", peer: IPAddress("192.0.2.1")))
        #expect(
            requestOrigin == .init(client: IPAddress("192.0.2.1"), isSecure: true, origin: "https://push.example.com"))
        #expect(rules.requestOrigin(of: [:], authority: "push.example.com:8443", peer: nil) == nil)
    }

    @Test("who is believed about the client: a proxy of ours, and no one before it")
    func forwarded() throws {
        let rules = try Self.rules(Self.public)
        var headers = HTTPFields()
        headers[try #require(HTTPField.Name("X-Forwarded-For"))] = "198.51.100.1, 203.0.113.7, 10.1.1.1"
        func client(_ peer: String?) -> IPAddress? {
            rules.requestOrigin(of: headers, authority: "push.example.com", peer: peer.flatMap { IPAddress($0) })?
                .client
        }
        #expect(client("10.0.0.5") == IPAddress("203.0.113.7"))
        #expect(client("192.0.2.1") == IPAddress("192.0.2.1"))
        #expect(client(nil) == IPAddress("203.0.113.7"))
    }

    // MARK: - Addresses to listen on

    @Test("without public_url, only addresses of this machine are listened on")
    func listening() throws {
        #expect(try ListenAddress(listen: nil, socket: nil, console: nil) == .port(host: "127.0.0.1", 8181))
        #expect(try ListenAddress(listen: "[::1]:0", socket: nil, console: nil) == .port(host: "::1", 0))
        #expect(
            try ListenAddress(listen: nil, socket: "/run/volley.sock", console: nil)
                == .socket(path: "/run/volley.sock"))
        for wrong in [
            "0.0.0.0:8181", "[::]:8181", "192.0.2.1:8181", "localhost:8181", "8181", "127.0.0.1", "127.0.0.1:99999", "",
        ] {
            #expect(throws: Diagnostic.self, "\(wrong)") { try ListenAddress(listen: wrong, socket: nil, console: nil) }
        }
        #expect(throws: Diagnostic.self) { try ListenAddress(listen: "127.0.0.1:1", socket: "/a", console: nil) }
        #expect(throws: Diagnostic.self) {
            try ListenAddress(listen: nil, socket: String(repeating: "a", count: 108), console: nil)
        }
        let folder = try TestFolder(project: Self.public + TestFolder.project)
        let console = try Project.read(file: "\(folder.path)/volley.yaml").0.console
        #expect(
            try ListenAddress(listen: "0.0.0.0:8181", socket: nil, console: console) == .port(host: "0.0.0.0", 8181))
    }

    @Test("a socket is made where nothing is, or where no program answers any more, and replaces nothing else")
    func socketPaths() throws {
        let folder = try TestFolder()
        func mistake(_ name: String) -> Diagnostic? {
            do throws(Diagnostic) {
                try ListenAddress(listen: nil, socket: "\(folder.path)/\(name)", console: nil).checkPath()
                return nil
            } catch { return error }
        }
        #expect(mistake("new") == nil)
        #expect(mistake("none/new")?.message.contains("there is no folder \(folder.path)/none") == true)
        #expect(mistake("volley.yaml/new")?.message.contains("there is no folder") == true)
        #expect(mistake("volley.yaml")?.message.contains("there is a file where") == true)
        #expect(mistake("volley.yaml")?.file == "\(folder.path)/volley.yaml")
        #expect(mistake("")?.message.contains("there is a folder where") == true)
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/link", withDestinationPath: "/nowhere")
        #expect(mistake("link")?.message.contains("a symbolic link") == true)
        let socket = try NotifySocket(folder.path + "/datagrams")
        #expect(mistake("datagrams")?.message.contains("another program") == true)
        withExtendedLifetime(socket) {}
        let long = #expect(throws: Diagnostic.self) {
            try ListenAddress(listen: nil, socket: "/tmp/" + String(repeating: "a", count: 103), console: nil)
        }
        #expect(long?.message.contains("108 bytes") == true)
    }

    @Test(
        "what keeps it from listening is said with its address and a remedy",
        arguments: [
            (EADDRINUSE, "already in use"), (EACCES, "may not use the port"),
            (EADDRNOTAVAIL, "does not have the address"),
        ])
    func listeningTrouble(code: Int32, words: String) throws {
        let address = try ListenAddress(listen: "[::1]:80", socket: nil, console: nil)
        let problem = try #require(address.problem(IOError(errnoCode: code, reason: "bind")) as? Diagnostic)
        #expect(problem.message.hasPrefix("Volley cannot listen at [::1]:80: ") && problem.message.contains(words))
        #expect(problem.remedy?.contains("--listen") == true)
    }

    // MARK: - Forms

    @Test("a token belongs to one cookie, and shows nothing of it")
    func tokens() {
        let (one, other) = (Secrets.make(), Secrets.make())
        #expect(one != other)
        #expect(one.count == 64)
        #expect(CSRFProtection.accepts(CSRFProtection.token(of: one), of: one))
        #expect(!CSRFProtection.accepts(CSRFProtection.token(of: one), of: other))
        #expect(!CSRFProtection.accepts("", of: one))
        #expect(!CSRFProtection.token(of: one).contains(one))
    }

    @Test(
        "fields are read as a browser writes them",
        arguments: [
            ("a=1&b=2", ["a": "1", "b": "2"]), ("a=1+2%2B", ["a": "1 2+"]), ("a", ["a": ""]), ("", [:]),
            ("a=1&a=2", ["a": "1"]),
            ("%61=%C3%A9", ["a": "é"]), ("a=%", ["a": "%"]), ("a=%4", ["a": "%4"]), ("a=%zz", ["a": "%zz"]),
            ("a=b=c", ["a": "b=c"]),
            ("&&a=1&", ["a": "1"]),
        ])
    func fields(text: String, fields: [String: String]) { #expect(FormFields.parse(text) == fields) }

    @Test("too many fields are not read")
    func manyFields() {
        #expect(FormFields.parse(String(repeating: "a=1&", count: 1_000)) != nil)
        #expect(FormFields.parse(String(repeating: "a=1&", count: 1_100)) == nil)
        let many = String(repeating: "a=1&", count: FormFields.mostOfCampaign)
        #expect(FormFields.parse(many, most: FormFields.mostOfCampaign) != nil)
        #expect(FormFields.parse(many + "a=1", most: FormFields.mostOfCampaign) == nil)
    }

    @Test(
        "whatever text is in an address comes back",
        arguments: ["a b&c=d%", "é/?#", "<script>", "\u{202E}\u{0}\n", "🦆"])
    func encoding(text: String) {
        let encoded = FormFields.encode(text)
        #expect(encoded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Array("<>\"'&?#/".utf8).contains($0) })
        #expect(FormFields.parse("a=\(encoded)") == ["a": text])
    }

    // MARK: - Work

    @Test("work beyond the bound is refused at once, and taken again once there is room")
    func bound() async throws {
        let pool = WorkPool(threads: 1, waiting: 1)
        let gate = Mutex(false)
        let wakeup = try Wakeup()
        async let first: Void = pool.run {
            gate.withLock { $0 = true }
            wakeup.wait()
        }
        while !gate.withLock({ $0 }) { await Task.yield() }
        let second = Task { try await pool.run { 2 } }
        while !pool.isFull { await Task.yield() }
        await #expect(throws: Refusal.self) { try await pool.run { 3 } }
        wakeup.wake()
        try await first
        #expect(try await second.value == 2)
        #expect(try await pool.run { 4 } == 4)
    }
}
