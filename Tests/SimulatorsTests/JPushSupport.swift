import Base

@testable import Simulators

/// The rules of JPush with one app, used repeatedly, without sockets.
final class JPushFixture {
    static let app = "0a1b2c3d4e5f60718293a4b5", secret = "5e987ac6d2e04d95a9d8f0d1"
    static let authorization = basic(app, secret)

    let rules: JPushRules
    private let memory = ConnectionMemory()

    init(_ change: (inout SimulatorConfiguration) -> Void = { _ in }) {
        var configuration = SimulatorConfiguration()
        configuration.secrets = [
            TrustedSecret(app: Self.app, secret: Self.secret), TrustedSecret(app: "other", secret: "another"),
        ]
        change(&configuration)
        rules = JPushRules(configuration)
    }

    /// Decides a request, and takes it if it is accepted.
    func decide(_ request: PushRequest, hasBody: Bool = true, at now: Timestamp = noon) -> JPushAnswer {
        rules.decide(request, hasBody: hasBody, memory: memory, now: now)
        if request.kind == .push, request.answer.isAccepted { rules.take(request) }
        return JPushAnswer(request)
    }

    /// Sends a body.
    func send(
        _ body: String, path: String = "/v3/push", authorization: String? = JPushFixture.authorization,
        type: String? = "application/json",
        at now: Timestamp = noon
    ) -> JPushAnswer {
        decide(Self.request(path: path, type: type, authorization: authorization, body: body), at: now)
    }

    /// Fetches cids.
    func cids(
        _ query: String = "count=10&type=push", authorization: String = JPushFixture.authorization,
        at now: Timestamp = noon
    )
        -> JPushAnswer
    {
        decide(
            Self.request(
                path: "/v3/push/cid?\(query)", method: "GET", type: nil, authorization: authorization, body: ""),
            at: now)
    }

    static func request(path: String, method: String = "POST", type: String?, authorization: String?, body: String)
        -> PushRequest
    {
        let request = PushRequest(keptPayloadBytes: 1 << 20)
        request.begin(streamID: 1)
        let headers: [(HeaderName, String?)] = [
            (.method, method), (.path, path), (.contentType, type), (.authorization, authorization),
        ]
        for (name, value) in headers { if let value { withBytes(of: value) { request.add(name, $0) } } }
        withBytes(of: body) { request.addPayload($0) }
        return request
    }

    /// A Basic credential.
    static func basic(_ app: String, _ secret: String) -> String {
        var text = base64URL(Array("\(app):\(secret)".utf8)).replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        return "Basic \(text)"
    }
}

/// What JPush answered.
struct JPushAnswer {
    let request: PushRequest
    let status: Int
    let body: JSONValue?
    let fields: [String: String]

    init(_ request: PushRequest) {
        self.request = request
        status = request.answer.status
        body = try? JSONValue(parsing: request.answerText)
        fields = Dictionary(request.answerFields.map { ("\($0.name)", $0.value) }) { $1 }
    }

    /// The code of a refusal; nil of other answers.
    var code: Int64? { body?["error"]?["code"]?.integerValue }
    var messageID: String? { body?["msg_id"]?.stringValue }
    var cids: [String] {
        if case .array(let values)? = body?["cidlist"] { values.compactMap(\.stringValue) } else { [] }
    }
}

/// A registration id.
func jpushID(_ number: Int) -> String {
    "1a0018970a8d\(String(repeating: "0", count: 7 - "\(number)".utf8.count))\(number)"
}

/// A push that is right until a test changes a part of it.
struct JPushBody {
    var platform: String? = #""all""#
    var audience: String? = #"{"registration_id":["\#(jpushID(1))","\#(jpushID(2))"]}"#
    var notification: String? =
        #"{"android":{"alert":"Hello","title":"Shop"},"ios":{"alert":{"title":"Shop","body":"Hello"}}}"#
    var message: String?
    var options: String? = #"{"apns_production":true}"#
    var more = ""

    var text: String {
        let members = [
            ("platform", platform), ("audience", audience), ("notification", notification), ("message", message),
            ("options", options),
        ]
        return "{" + members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",")
            + more + "}"
    }

    static func to(_ ids: [String]) -> String {
        var body = JPushBody()
        body.audience = #"{"registration_id":[\#(ids.map { "\"\($0)\"" }.joined(separator: ","))]}"#
        return body.text
    }

    static func with(_ change: (inout JPushBody) -> Void) -> String {
        var body = JPushBody()
        change(&body)
        return body.text
    }
}
