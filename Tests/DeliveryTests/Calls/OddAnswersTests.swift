import Base
import PushServices
import Testing
import TransportConformance

@testable import Delivery

/// Runs to a server that answers pushes with 200, as the service would not: nothing says that it
/// took them. JPush, which recognizes repeats, has a suite of its own.
@Suite("answers of 200 that a service would not give")
struct OddAnswersTests {
    /// A service, how it is spoken to, and answers of 200.
    struct Odd: Sendable, CustomTestStringConvertible {
        var service: any PushService
        var language: Peer.Language
        var wire: Wire
        var targets: [String]
        /// What it answers when it takes a push.
        var good: String

        var testDescription: String { "\(service.name) over \(language.rawValue)" }

        var run: AnsweredRun { AnsweredRun(service, language, wire, targets: targets) }
    }

    private static let fcm = "{\n  \"name\": \"projects/shop-1a2b/messages/0:1500415314455276%31bd1c9631bd1c96\"\n}\n"
    private static let token = "c3V0-aXRlbS4:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx" + String(repeating: "0", count: 90)

    private static let services = [
        Odd(service: FCM(), language: .http2, wire: .http2, targets: [token + "a"], good: fcm),
        Odd(service: FCM(), language: .http1, wire: .calls(inFlight: 1), targets: [token + "a"], good: fcm),
        Odd(
            service: RongCloud(), language: .http1, wire: .calls(inFlight: 1), targets: ["user-1", "user-2"],
            good: #"{"code":200,"id":"abc"}"#),
        Odd(
            service: Getui(), language: .http1, wire: .calls(inFlight: 1), targets: [String(repeating: "a", count: 32)],
            good: #"{"code":0,"msg":"","data":{"T":{"\#(String(repeating: "a", count: 32))":"successed_online"}}}"#),
    ]

    /// Bodies that are no answer of any service: nothing, a page, something cut off, far too much,
    /// nonsense.
    private static let bodies = [
        "", "<html><body>Welcome to the proxy</body></html>", #"{"name": "projects/shop/mess"#, #"{"code":20"#,
        "{\"name\": \"" + String(repeating: "x", count: 2_000_000) + "\"}", String(repeating: "[", count: 100_000),
        "OK",
    ]

    @Test("leave the push unknown", arguments: services, bodies.indices)
    func unknown(odd: Odd, number: Int) throws {
        let sent = try odd.run.send { _, _ in PeerAnswer(body: Self.bodies[number]) }
        #expect(sent.settlements.count == odd.targets.count)
        #expect(
            sent.settlements.allSatisfy { $0.outcome == .unknown && $0.status == 200 && $0.reason == "HTTP200" },
            "\(sent)")
    }

    @Test(
        "leave the push unknown when they are called JSON or HTML", arguments: services,
        ["application/json", "text/html"])
    func types(odd: Odd, type: String) throws {
        let sent = try odd.run.send { _, _ in PeerAnswer(body: "<html>OK</html>", headers: [("content-type", type)]) }
        #expect(sent.settlements.allSatisfy { $0.outcome == .unknown }, "\(sent)")
    }

    @Test(
        "are no acceptance: a push that may be sent again is, and what the service says then counts",
        arguments: services)
    func again(odd: Odd) throws {
        var run = odd.run
        run.resendsUnknown = true
        let sent = try run.send { number, _ in PeerAnswer(body: number < 3 ? Self.bodies[number] : odd.good) }
        #expect(sent.settlements.map(\.outcome) == odd.targets.map { _ in .accepted }, "\(sent)")
        // Two requests fail. Of two devices in the first, only one may be in the second.
        #expect(sent.settlements.allSatisfy { (2...3).contains($0.attempts) }, "\(sent)")
        #expect(sent.settlements.contains { $0.attempts == 3 }, "\(sent)")
    }

    @Test("the answer by which a service takes a push is one, in pieces or not", arguments: services)
    func good(odd: Odd) throws {
        let sent = try odd.run.send { _, _ in PeerAnswer(body: odd.good) }
        #expect(
            sent.settlements.map(\.outcome) == odd.targets.map { _ in .accepted } && sent.end == .finished, "\(sent)")
    }

    @Test(
        "200 with an error inside leaves a message of FCM unknown, with FCM's reason, and suppresses no device",
        arguments: [0, 1])
    func error(service: Int) throws {
        let odd = Self.services[service]
        let details = #"[{"@type":"x/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]"#
        let body = #"{"error":{"code":404,"message":"m","status":"NOT_FOUND","details":\#(details)}}"#
        let sent = try odd.run.send { _, _ in PeerAnswer(body: body) }
        #expect(
            sent.settlements.map(\.outcome) == [.unknown] && sent.settlements.first?.reason == "UNREGISTERED", "\(sent)"
        )
    }

    @Test("a proxy that answers 200 with its page stops a run of FCM after a few devices, not after all")
    func proxy() throws {
        var run = AnsweredRun(FCM(), .http2, .http2, targets: (0..<500).map { Self.token + String($0) })
        // A hundredth of FCM's own waits, and an outage of a second.
        (run.retry.shortestDelaySeconds, run.retry.firstDelaySeconds, run.retry.longestDelaySeconds) = (0.1, 0.2, 3)
        run.retry.maximumTotalSeconds = 1
        let sent = try run.send { _, _ in PeerAnswer(body: Self.bodies[1], headers: [("content-type", "text/html")]) }
        let unknown = sent.settlements.count { $0.outcome == .unknown }
        #expect(
            (1...20).contains(unknown) && sent.settlements.allSatisfy { $0.outcome != .accepted }, "\(unknown) unknown")
        guard case .stopped = sent.end else { return #expect(Bool(false), "it finished") }
    }
}
