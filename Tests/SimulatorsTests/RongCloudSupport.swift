import Base
import Cryptography

@testable import Simulators

/// The rules of RongCloud with two apps, used repeatedly, without sockets.
final class RongCloudFixture {
    static let app = TrustedSecret(app: "e0x9wycfx7flq", secret: "6gs1PwtMDVkU8v")
    static let other = TrustedSecret(app: "n19jmcy59f1q9", secret: "CZz3VvzTpJnWzR")

    let rules: RongCloudRules
    private let memory = ConnectionMemory()

    init(_ change: (inout SimulatorConfiguration) -> Void = { _ in }) {
        var configuration = SimulatorConfiguration()
        configuration.secrets = [Self.app, Self.other]
        change(&configuration)
        rules = RongCloudRules(configuration)
    }

    /// Decides a request as the server does.
    @discardableResult
    func decide(_ request: PushRequest, hasBody: Bool = true, at now: Timestamp = noon) -> RongCloudAnswer {
        rules.decide(request, hasBody: hasBody, memory: memory, now: now)
        if request.kind == .push, request.answer.isAccepted { rules.take(request) }
        return RongCloudAnswer(request)
    }

    /// Sends a body with right headers.
    @discardableResult
    func send(
        _ body: String, path: String = rongCloudPath, type: String? = "application/json", of app: TrustedSecret = app,
        at now: Timestamp = noon
    ) -> RongCloudAnswer {
        var headers = RongCloudHeaders(now, of: app)
        headers.type = type
        return decide(headers.request(path: path, body: body), at: now)
    }
}

/// An answer of RongCloud, with what it says.
struct RongCloudAnswer {
    let status: Int
    /// nil for an answer that is not RongCloud's.
    let code: Int64?
    let text: String
    let id: String?

    init(_ request: PushRequest) {
        status = request.answer.status
        let json = try? JSONValue(parsing: request.answerText)
        (code, id) = (json?["code"]?.integerValue, json?["id"]?.stringValue)
        text = json?["errorMessage"]?.stringValue ?? ""
    }
}

let rongCloudPath = "/push/user.json"

/// The headers of a request, right until a test changes them.
struct RongCloudHeaders {
    var account: String?
    var nonce: String?
    var time: String?
    var signature: String?
    var type: String? = "application/json"

    init(_ now: Timestamp = noon, of app: TrustedSecret = RongCloudFixture.app) {
        account = app.app
        nonce = String(Int.random(in: 100_000...999_999_999))
        time = String(now.epochSeconds)
        sign(with: app.secret)
    }

    /// Signs what the other headers say.
    mutating func sign(with secret: String = RongCloudFixture.app.secret) {
        signature = SHA1.hex(of: secret + (nonce ?? "") + (time ?? ""))
    }

    func request(path: String = rongCloudPath, method: String = "POST", body: String) -> PushRequest {
        let request = PushRequest(keptPayloadBytes: 256 << 10, ownHeaders: RequestSignatures.headers)
        request.begin(streamID: 1)
        let known: [(HeaderName, String?)] = [(.method, method), (.path, path), (.contentType, type)]
        for (name, value) in known { if let value { withBytes(of: value) { request.add(name, $0) } } }
        for (name, value) in [("app-key", account), ("nonce", nonce), ("timestamp", time), ("signature", signature)] {
            if let value { withBytes(of: name) { name in withBytes(of: value) { request.add(named: name, $0) } } }
        }
        withBytes(of: body) { request.addPayload($0) }
        return request
    }
}

/// A push to users, with further members of its notification.
func rongCloudPush(
    _ users: [String] = ["anna", "Bert_2"], _ members: String = "", text: String = #""pushContent":"Hello""#
) -> String {
    let ids = users.map { "\"\($0)\"" }.joined(separator: ",")
    return #"{"userIds":[\#(ids)],"notification":{\#([text, members].filter { !$0.isEmpty }.joined(separator: ","))}}"#
}
