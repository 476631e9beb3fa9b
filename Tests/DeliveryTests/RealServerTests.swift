import Base
import Delivery
import PushServices
import TestServers
import Testing

/// Whole runs against other projects' servers. Our own strict simulator cannot show that others
/// understand us.
@Suite("delivery to servers of others")
struct RealServerTests {
    /// Every push is accepted at its first attempt, and the server's own log has every device
    /// exactly once.
    private func expectAllAccepted(
        _ server: RealServer, pushes: Int, late: (pushes: Int, afterSeconds: Double)? = nil,
        _ configure: (inout SenderSettings) -> Void = { _ in }
    ) throws {
        var settings = server.settings()
        configure(&settings)
        let (end, settlements) = try send(settings, pushes: pushes, late: late)
        let total = pushes + (late?.pushes ?? 0)
        #expect(end == .finished)
        #expect(settlements.count { $0.outcome == .accepted } == total, "\(outcomes(settlements))")
        let tokens = try server.acceptedTokens(atLeast: total)
        #expect(Set(tokens) == Set((0..<total).map(SimulatorRun.token)))
        let again = settlements.reduce(0) { $0 + $1.attempts - 1 }
        #expect(
            again == 0 && tokens.count == total,
            "\(again) were sent again, and the server accepted \(tokens.count) requests")
    }

    private func outcomes(_ settlements: [Settlement]) -> [String: Int] {
        settlements.reduce(into: [:]) { $0["\($1.outcome.name) \($1.status) \($1.reason)", default: 0] += 1 }
    }

    private static let needsNginx: ConditionTrait = .enabled(
        if: RealServer.nginx != nil, "nginx is not installed; `make test` unpacks it")
    private static let needsNghttpd: ConditionTrait = .enabled(
        if: RealServer.nghttpd != nil, "nghttpd is not installed; `make test` installs it")

    @Test("nginx answers before it read the body, and every push is accepted", needsNginx)
    func nginx() throws {
        try expectAllAccepted(.nginx("keepalive_requests 10000; location / { return 200; }"), pushes: 3000)
    }

    @Test("nginx allows few streams, and never sees more", needsNginx)
    func fewStreams() throws {
        try expectAllAccepted(
            .nginx("http2_max_concurrent_streams 4; keepalive_requests 10000; location / { return 200; }"), pushes: 2000
        )
    }

    @Test("nginx says GOAWAY after every 100 requests, and no push is lost or repeated", needsNginx)
    func goAway() throws {
        try expectAllAccepted(.nginx("keepalive_requests 100; location / { return 200; }"), pushes: 3000)
    }

    @Test("nginx closes a connection that stands idle, and the next pushes take another", needsNginx)
    func idle() throws {
        try expectAllAccepted(
            .nginx("keepalive_timeout 1s; http2_recv_timeout 1s; location / { return 200; }"), pushes: 500,
            late: (500, 2.5))
    }

    @Test("an answer with a body is read and does not disturb the others", needsNginx)
    func answerWithBody() throws {
        try expectAllAccepted(.nginx("location / { return 200 'thank you'; }"), pushes: 1000)
    }

    @Test("an error page in HTML is no reason, and the status decides", needsNginx)
    func errorPage() throws {
        let server = try RealServer.nginx("location / { return 413; }")
        let (end, settlements) = try send(server.settings(), pushes: 5)
        #expect(end == .finished)
        #expect(
            settlements.allSatisfy { $0.outcome == .rejected && $0.status == 413 && $0.reason == "HTTP413" },
            "\(settlements)")
    }

    @Test(
        "nghttpd echoes every payload, whatever its limits", needsNghttpd,
        arguments: [
            [], ["-m", "4"], ["-m", "1"], ["-w", "10", "-W", "16"], ["-c", "0"], ["--early-response"],
            ["--no-content-length"],
            ["-b", "200"],
        ])
    func nghttpd(options: [String]) throws {
        try expectAllAccepted(.nghttpd(options), pushes: 1000)
    }

    @Test("over libcurl nginx gets every push once, with HTTP/2 and without", needsNginx, arguments: [false, true])
    func calls(speaksHTTP1: Bool) throws {
        try expectAllAccepted(.nginx("location / { return 200 'thank you'; }", speaksHTTP1: speaksHTTP1), pushes: 800) {
            $0.wire = .calls(inFlight: 6)
        }
    }

    @Test(
        "over libcurl connections of HTTP/1.1 that nginx closes while they are idle, or used up, are replaced",
        needsNginx)
    func idleCalls() throws {
        let server = try RealServer.nginx(
            "keepalive_timeout 1s; keepalive_requests 20; location / { return 200 'thank you'; }", speaksHTTP1: true)
        try expectAllAccepted(server, pushes: 200, late: (200, 2.5)) { $0.wire = .calls(inFlight: 6) }
    }

    @Test(
        "over libcurl nghttpd echoes every payload", needsNghttpd,
        arguments: [[], ["-m", "4"], ["--no-content-length"]])
    func echoedCalls(options: [String]) throws {
        try expectAllAccepted(.nghttpd(options), pushes: 800) { $0.wire = .calls(inFlight: 6) }
    }

    @Test("several connections share the work, and no push takes two of them", needsNghttpd)
    func severalConnections() throws {
        try expectAllAccepted(.nghttpd(["-m", "20"]), pushes: 3000) { $0.connections = 4 }
    }
}
