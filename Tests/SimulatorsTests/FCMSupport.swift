import Base
import Cryptography

@testable import Simulators

/// The rules of FCM with one trusted account, used repeatedly, without sockets.
final class FCMFixture {
    /// One account for all tests: a new key takes a tenth of a second.
    static let account = SimulatedServiceAccount.generate(project: "shop-1a2b")
    static let other = SimulatedServiceAccount.generate(project: "news-3c4d")
    static let port = 2197
    static let address = "https://localhost:\(port)/token"

    let rules: FCMRules
    private let memory = ConnectionMemory()

    init(_ change: (inout SimulatorConfiguration) -> Void = { _ in }) {
        var configuration = SimulatorConfiguration()
        configuration.issuer.accounts = [Self.account.trusted, Self.other.trusted]
        change(&configuration)
        rules = FCMRules(configuration, port: Self.port)
    }

    /// Decides a request.
    func decide(_ request: PushRequest, hasBody: Bool = true, at now: Timestamp = noon) -> FCMReply {
        rules.decide(request, hasBody: hasBody, memory: memory, now: now)
        return FCMReply(status: request.answer.status, reason: request.answer.reason, text: request.answerText)
    }

    /// Exchanges an assertion, and returns the access token; nil if it was refused.
    func accessToken(_ assertion: FCMAssertion = FCMAssertion(), at now: Timestamp = noon) -> String? {
        json(decide(fcmRequest(path: "/token", type: fcmFormType, body: assertion.form), at: now))?["access_token"]?
            .stringValue
    }

    /// Sends a body with a good access token, or another header.
    func send(
        _ body: String, path: String = fcmPath, authorization: String? = nil, type: String? = "application/json",
        at now: Timestamp = noon
    ) -> (answer: FCMReply, request: PushRequest) {
        let authorization = authorization ?? "Bearer \(accessToken(at: now) ?? "")"
        let request = fcmRequest(path: path, type: type, authorization: authorization, body: body)
        return (decide(request, at: now), request)
    }
}

let fcmPath = "/v1/projects/shop-1a2b/messages:send", fcmFormType = "application/x-www-form-urlencoded"
let fcmToken = fcmDevice("cXk3fLq0Qm2:APA91bExample-Token_0123456789")

/// A registration token that begins with a text.
func fcmDevice(_ start: String) -> String { start + String(repeating: "x", count: max(0, 142 - start.utf8.count)) }

/// A message to `fcmToken` with further members.
func fcmMessage(_ members: String = "", target: String = #""token":"\#(fcmToken)""#) -> String {
    #"{"message":{\#(target)\#(members.isEmpty ? "" : ",")\#(members)}}"#
}

func fcmRequest(path: String, method: String = "POST", type: String?, authorization: String? = nil, body: String)
    -> PushRequest
{
    let request = PushRequest(keptPayloadBytes: 64 << 10)
    request.begin(streamID: 1)
    let headers: [(HeaderName, String?)] = [
        (.method, method), (.path, path), (.contentType, type), (.authorization, authorization),
    ]
    for (name, value) in headers { if let value { withBytes(of: value) { request.add(name, $0) } } }
    withBytes(of: body) { request.addPayload($0) }
    return request
}

func json(_ answer: FCMReply) -> JSONValue? { try? JSONValue(parsing: answer.text) }

/// An assertion as a sender would sign it, right until a test changes it.
struct FCMAssertion {
    var account = FCMFixture.account
    var algorithm = "RS256"
    var keyID: String? = FCMFixture.account.keyID
    var issuer: String? = FCMFixture.account.clientEmail
    var audience: String? = FCMFixture.address
    var scope: String? = "https://www.googleapis.com/auth/firebase.messaging"
    var issuedAt: Int64? = noon.epochSeconds
    var end: Int64? = noon.epochSeconds + 3600
    var grantType: String? = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// A part of a second that both times have, too.
    var fraction = 0.0
    /// Signs with another key than the account's.
    var signer: RSASigningKey?

    var jwt: String {
        func moment(_ seconds: Int64) -> JSONValue {
            fraction == 0 ? .integer(seconds) : .double(Double(seconds) + fraction)
        }
        func text(_ pairs: [(String, JSONValue?)]) -> String {
            var bytes: [UInt8] = []
            JSONValue.object(pairs: pairs.compactMap { pair in pair.1.map { (pair.0, $0) } }).append(to: &bytes)
            return base64URL(bytes)
        }
        let header = text([("alg", .string(algorithm)), ("typ", .string("JWT")), ("kid", keyID.map { .string($0) })])
        let claims = text([
            ("iss", issuer.map { .string($0) }), ("scope", scope.map { .string($0) }),
            ("aud", audience.map { .string($0) }),
            ("iat", issuedAt.map(moment)), ("exp", end.map(moment)),
        ])
        let signed = "\(header).\(claims)"
        return signed + "." + base64URL((signer ?? account.key).sign(Array(signed.utf8)))
    }

    var form: String {
        let grant = grantType.map { "grant_type=\($0.split(separator: ":").joined(separator: "%3A"))&" } ?? ""
        return "\(grant)assertion=\(jwt)"
    }
}
