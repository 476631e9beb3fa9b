import Base
import Cryptography

@testable import Simulators

/// The rules of Getui with two trusted apps, used repeatedly, without sockets.
final class GetuiFixture {
    static let app = TrustedSecret(
        app: "Jz1kA9xW2pQ7vB4nL5sT8y", names: ["app_key": "K8sdW0qPz16JbcXy2"], secret: "mU3rT5oE7wQ9aS1d")
    static let other = TrustedSecret(
        app: "Ab2cD4eF6gH8iJ0kL1mN3o", names: ["app_key": "Q1w2E3r4T5y6"], secret: "zX9cV8bN7mL6kJ5h")

    let rules: GetuiRules
    private let memory = ConnectionMemory()

    init(_ change: (inout SimulatorConfiguration) -> Void = { _ in }) {
        var configuration = SimulatorConfiguration()
        configuration.secrets = [Self.app, Self.other]
        change(&configuration)
        rules = GetuiRules(configuration)
    }

    /// Decides a request, which meets no fault.
    @discardableResult
    func decide(_ request: PushRequest, hasBody: Bool = true, at now: Timestamp = noon) -> GetuiAnswer {
        rules.decide(request, hasBody: hasBody, memory: memory, now: now)
        if request.kind == .push, request.answer.isAccepted { rules.take(request) }
        return GetuiAnswer(request)
    }

    /// A token for a proof; nil if that was refused.
    func token(_ proof: GetuiProof = GetuiProof(), at now: Timestamp = noon) -> String? {
        decide(getuiRequest(to: "auth", of: proof.app.app, body: proof.body), at: now).body?["data"]?["token"]?
            .stringValue
    }

    /// Sends a body with a good token, or another header.
    func send(_ body: String, to call: String = getuiBatch, token: String? = nil, at now: Timestamp = noon)
        -> GetuiAnswer
    {
        var proof = GetuiProof()
        proof.milliseconds = String(now.epochMilliseconds)
        return decide(getuiRequest(to: call, token: token ?? self.token(proof, at: now), body: body), at: now)
    }
}

/// What the rules made of a request.
struct GetuiAnswer {
    let request: PushRequest
    let status: Int
    let body: JSONValue?

    init(_ request: PushRequest) {
        (self.request, status) = (request, request.answer.status)
        body = try? JSONValue(parsing: request.answerText)
    }

    var code: Int? { body?["code"]?.integerValue.map(Int.init) }
    var message: String { body?["msg"]?.stringValue ?? "" }

    /// The statuses of targets, in the order of the answer.
    var statuses: [String: String] {
        guard case .object(let tasks)? = body?["data"] else { return [:] }
        var statuses: [String: String] = [:]
        for task in tasks {
            guard case .object(let targets) = task.value else { continue }
            for target in targets { statuses[target.name] = target.value.stringValue }
        }
        return statuses
    }

    /// The targets that the ledger has.
    var recorded: [String] { request.kind == .push ? request.addressees.map(\.target) : [] }
}

let getuiSingle = "push/single/cid", getuiBatch = "push/single/batch/cid", getuiList = "push/list/cid"
let getuiListMessage = "push/list/message"

/// A target that begins with some digits.
func cid(_ number: Int, after digits: String = "") -> String {
    let end = String(number, radix: 16)
    return digits + String(repeating: "c", count: 24 - digits.count) + String(repeating: "0", count: 8 - end.count)
        + end
}

/// A `request_id` for a number.
func requestID(_ number: Int) -> String { "request-\(1_000_000 + number)" }

let getuiNotification = #""push_message":{"notification":{"title":"Sale","body":"Today","click_type":"startapp"}}"#

/// A message to one target.
func getuiMessage(
    _ number: Int = 1, cid target: String? = nil, content: String = getuiNotification, members: String = ""
) -> String {
    #"{"request_id":"\#(requestID(number))","audience":{"cid":["\#(target ?? cid(number))"]},\#(content)\#(members)}"#
}

/// A batch of messages.
func getuiBatchBody(_ messages: [String]) -> String {
    #"{"is_async":false,"msg_list":[\#(messages.joined(separator: ","))]}"#
}

func getuiRequest(
    to call: String, of app: String = GetuiFixture.app.app, method: String = "POST", token: String? = nil,
    type: String? = "application/json;charset=utf-8", body: String
) -> PushRequest {
    let request = PushRequest(keptPayloadBytes: 4 << 20, ownHeaders: [GetuiTokens.header])
    request.begin(streamID: 1)
    let headers: [(HeaderName, String?)] = [
        (.method, method), (.path, "/v2/\(app)/\(call)"), (.contentType, type),
    ]
    for (name, value) in headers { if let value { withBytes(of: value) { request.add(name, $0) } } }
    if let token { withBytes(of: "token") { name in withBytes(of: token) { request.add(named: name, $0) } } }
    withBytes(of: body) { request.addPayload($0) }
    return request
}

/// A proof as a sender would make it, right until a test changes it.
struct GetuiProof {
    var app = GetuiFixture.app
    var milliseconds = String(noon.epochMilliseconds)
    var secret: String?
    var appKey: String?
    var sign: String?

    var body: String {
        let key = appKey ?? app.names["app_key"] ?? ""
        var digest = SHA256()
        for part in [key, milliseconds, secret ?? app.secret] { digest.update(part) }
        return #"{"sign":"\#(sign ?? digest.finalizeHex())","timestamp":"\#(milliseconds)","appkey":"\#(key)"}"#
    }
}
