import Base
import Testing

@testable import Simulators

/// Channels and broadcasts of the simulator of APNs.
@Suite("Broadcast channels")
struct ChannelTests {
    private static let provider = Provider()
    private static let id = "dHN0LXNyY2gtY2hubA=="
    private static let update = #"{"aps":{"timestamp":1,"event":"update","content-state":{"goals":1}}}"#

    /// A simulator's judgement, without its wire.
    private final class Judge {
        var checker: RequestChecker
        private var trust = ConnectionTrust()

        init(_ change: (inout SimulatorConfiguration) -> Void = { _ in }) {
            var configuration = SimulatorConfiguration()
            configuration.keys = [provider.trusted]
            configuration.topics = ["com.example.shop"]
            change(&configuration)
            checker = RequestChecker(configuration)
        }

        func ask(
            _ method: String, _ path: String, channel: String? = nil, body: String = "", _ more: [(String, String)] = []
        ) -> (
            answer: Answer, request: PushRequest
        ) {
            let request = PushRequest(ownHeaders: [ChannelRules.channelHeader, ChannelRules.requestIDHeader])
            request.begin(streamID: 1)
            let headers =
                [(":method", method), (":path", path), ("authorization", "bearer \(provider.token())")]
                + (channel.map { [("apns-channel-id", $0)] } ?? []) + more
            for (name, value) in headers {
                withBytes(of: name) { name in withBytes(of: value) { request.add(named: name, $0) } }
            }
            if !body.isEmpty { withBytes(of: body) { request.addPayload($0) } }
            return (checker.check(request, trust: &trust, now: noon), request)
        }

        func create(_ policy: Int) throws -> String {
            let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
            let (answer, request) = ask("POST", "/1/apps/com.example.shop/channels", body: body)
            #expect(answer == Answer(status: 201, reason: "") && request.kind == .other)
            return try #require(request.answerFields.first).value
        }

        func broadcast(
            _ channel: String?, expiration: String = "0", priority: String = "10", type: String? = "liveactivity",
            body: String = update
        ) -> Answer {
            ask(
                "POST", "/4/broadcasts/apps/com.example.shop", channel: channel, body: body,
                [("apns-priority", priority), ("apns-expiration", expiration)]
                    + (type.map { [("apns-push-type", $0)] } ?? [])
            ).answer
        }
    }

    @Test("are made, listed, read and deleted for good")
    func management() throws {
        let judge = Judge()
        func list() throws -> JSONValue {
            try JSONValue(parsing: judge.ask("GET", "/1/apps/com.example.shop/all-channels").request.answerText)
        }
        #expect(try list().text == #"{"channels":[]}"#)
        let (nothing, newest) = (try judge.create(0), try judge.create(1))
        #expect(try list()["channels"] == .array([nothing, newest].sorted().map { .string($0) }))
        let read = judge.ask("GET", "/1/apps/com.example.shop/channels", channel: newest)
        #expect(
            read.answer.status == 200
                && String(decoding: read.request.answerText, as: UTF8.self)
                    == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        )
        #expect(
            judge.ask("DELETE", "/1/apps/com.example.shop/channels", channel: newest).answer
                == Answer(status: 204, reason: ""))
        #expect(
            judge.ask("DELETE", "/1/apps/com.example.shop/channels", channel: newest).answer
                == .badRequest("ChannelNotRegistered"))
        #expect(try list()["channels"] == .array([.string(nothing)]))
    }

    @Test("are managed by known senders of known apps, with whole requests")
    func refusals() {
        let judge = Judge()
        let path = "/1/apps/com.example.shop/channels"
        #expect(judge.ask("POST", "/1/apps/com.other/channels").answer == .badRequest("TopicDisallowed"))
        #expect(judge.ask("PUT", path).answer == Answer(status: 405, reason: "MethodNotAllowed"))
        #expect(judge.ask("GET", path).answer == .badRequest("MissingChannelId"))
        #expect(judge.ask("GET", path, channel: "a b").answer == .badRequest("BadChannelId"))
        #expect(judge.ask("POST", path, body: "{}").answer == .badRequest("MissingPushType"))
        #expect(judge.ask("POST", path, body: #"{"push-type":"alert"}"#).answer == .badRequest("InvalidPushType"))
        #expect(
            judge.ask("POST", path, body: #"{"push-type":"LiveActivity","message-storage-policy":2}"#).answer
                == .badRequest("CannotCreateChannelConfig"))
        #expect(Judge { $0.keys = [] }.ask("GET", path, channel: Self.id).answer == .forbidden("InvalidProviderToken"))
    }

    @Test("take an update or an end with all that a broadcast needs")
    func broadcasts() throws {
        let judge = Judge()
        let channel = try judge.create(0)
        #expect(judge.broadcast(channel) == .accepted && judge.broadcast(channel, priority: "5") == .accepted)
        #expect(judge.broadcast(channel, body: #"{"aps":{"event":"end"}}"#) == .accepted)
        #expect(judge.broadcast(nil) == .badRequest("MissingChannelId"))
        #expect(judge.broadcast("a b") == .badRequest("BadChannelId"))
        #expect(judge.broadcast(Self.id) == .badRequest("ChannelNotRegistered"))
        #expect(judge.broadcast(channel, type: nil) == .badRequest("MissingPushType"))
        #expect(judge.broadcast(channel, type: "alert") == .badRequest("InvalidPushType"))
        #expect(judge.broadcast(channel, priority: "1") == .badRequest("BadPriority"))
        #expect(judge.broadcast(channel, body: #"{"aps":{"event":"start"}}"#) == .badRequest("InvalidPushType"))
        #expect(judge.broadcast(channel, body: "[]") == .badRequest("PayloadEmpty"))
        let padding = String(repeating: "x", count: 5120 - #"{"aps":{"event":"end","a":""}}"#.utf8.count)
        #expect(judge.broadcast(channel, body: #"{"aps":{"event":"end","a":"\#(padding)"}}"#) == .accepted)
        #expect(
            judge.broadcast(channel, body: #"{"aps":{"event":"end","a":"\#(padding)x"}}"#)
                == Answer(status: 413, reason: "PayloadTooLarge")
        )
    }

    @Test("keep a broadcast for eight hours at most, or not at all")
    func expirations() throws {
        let judge = Judge()
        let (nothing, newest) = (try judge.create(0), try judge.create(1)),
            hours = { (hours: Int64) in "\(noon.epochSeconds + hours * 3600)" }
        #expect(judge.broadcast(nothing, expiration: hours(1)) == .badRequest("BadExpirationDate"))
        #expect(judge.broadcast(newest, expiration: hours(8)) == .accepted && judge.broadcast(newest) == .accepted)
        #expect(judge.broadcast(newest, expiration: hours(9)) == .badRequest("BadExpirationDate"))
    }

    @Test("answer as a test says, so often as it says")
    func faults() {
        let judge = Judge {
            $0.knowsAllChannels = true
            $0.faults.answers = [Self.id: SimulatedAnswer(status: 429, reason: "TooManyRequests", times: 1)]
        }
        #expect(
            judge.broadcast(Self.id) == Answer(status: 429, reason: "TooManyRequests")
                && judge.broadcast(Self.id) == .accepted)
    }
}
