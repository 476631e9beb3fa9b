import Base
import Cryptography

/// The rules of RongCloud's server API behind the simulators' wire, as far as it sends pushes.
///
/// The order of the checks: path and method, signature (`RequestSignatures`), content type, JSON,
/// the form of the body (`RongCloudCall`), how often and to how many (`RongCloudQuotas`), and at
/// last users with fixed answers (`UserRules`). RongCloud does not say whether a user exists, so
/// none is unknown here. What it does not answer in JSON is a page, as a front end's.
final class RongCloudRules: ServiceRules {
    /// More than a thousand users with the largest notification.
    let keptBodyBytes = 256 << 10
    let ownHeaders = RequestSignatures.headers
    private let recipientsPerSecond: Int
    @exclusivity(unchecked) private var signatures: RequestSignatures
    @exclusivity(unchecked) private var users: UserRules
    private var recipients: [String: RecipientQuota] = [:]
    private var broadcasts: [String: CallQuota] = [:], customs: [String: CallQuota] = [:]
    private var calls: UInt64 = 0
    /// Of the request that was decided last.
    private var decided: (app: String, call: RongCloudCall, now: Timestamp)?

    private static let post: StaticString = "POST"
    /// Pages of documentation differ in what the id looks like.
    private static let idLength = 16

    init(_ configuration: SimulatorConfiguration) {
        signatures = RequestSignatures(configuration.secrets)
        users = UserRules(configuration.faults.answers)
        let perMinute = configuration.issuer.messagesPerMinute
        recipientsPerSecond = perMinute > 0 ? max(1, perMinute / 60) : RecipientQuota.usual
    }

    var acceptedCredentials: Int { signatures.usedSecrets }

    func makeMemory(certificate: CertificateState) -> ConnectionMemory { ConnectionMemory() }

    func isPush(_ request: PushRequest) -> Bool { request[.path].flatMap { RongCloudCall(path: $0) } != nil }

    // MARK: Decisions

    func decide(_ request: PushRequest, hasBody: Bool, memory: ConnectionMemory, now: Timestamp) {
        decided = nil
        guard let call = request[.path].flatMap({ RongCloudCall(path: $0) }), !request.hasDuplicateHeader else {
            request.kind = .other
            return answer(request, .refusal(404))
        }
        guard let method = request[.method], areEqual(method, Self.post.bytes) else {
            request.kind = .other
            return answer(request, .refusal(405))
        }
        // The body is read first, so that the ledger names the targets of whatever is refused.
        let body =
            hasBody && request.payloadBytes <= keptBodyBytes ? try? JSONValue(parsing: Array(request.payload)) : nil
        request.addressees = body.map { call.entries(of: $0) } ?? []
        switch signatures.verdict(of: request, now: now) {
        case .refused(let reply): answer(request, reply)
        case .app(let app):
            // What was not read is not accepted.
            if let reply = hasBody ? refusal(of: request, call, body, app: app, now: now) : .refusal(1000) {
                signatures.note(request, now: now)
                return answer(request, reply)
            }
            decided = (app, call, now)
            calls += 1
            let id = String(calls, radix: 16)
            let name = String(repeating: "0", count: Self.idLength - id.utf8.count) + id
            for index in request.addressees.indices { request.addressees[index].id = name }
            answer(request, .success(id: name))
        }
    }

    private func refusal(
        of request: PushRequest, _ call: RongCloudCall, _ body: JSONValue?, app: String, now: Timestamp
    ) -> RongCloudReply? {
        guard request.payloadBytes > 0 else { return .refusal(1003) }
        guard request.isBody(of: "application/json") else {
            return .refusal(1002, "The content type must be application/json.")
        }
        guard request.payloadBytes <= keptBodyBytes else { return .refusal(1005) }
        guard let body else { return .refusal(1002, "The body is not JSON.") }
        if let flaw = call.flaw(in: body) { return .refusal(flaw) }
        guard Set(request.addressees.map(\.target)).count == request.addressees.count else {
            return .refusal(1002, "A user comes twice.")
        }
        guard isInQuota(call, request.addressees.count, app: app, now: now) else { return .refusal(1008) }
        return users.refusal(of: request.addressees.filter { $0.kind == "user" })
    }

    private func isInQuota(_ call: RongCloudCall, _ count: Int, app: String, now: Timestamp) -> Bool {
        switch call {
        case .user: recipients[app, default: RecipientQuota(limit: recipientsPerSecond)].allows(count, at: now)
        case .push: broadcasts[app, default: Self.broadcastQuota].allows(at: now)
        case .custom: customs[app, default: Self.customQuota].allows(at: now)
        }
    }

    private static let broadcastQuota = CallQuota(perHour: 2, perDay: 3),
        customQuota = CallQuota(perHour: 20, perDay: 100)

    /// What is accepted counts: a request that a fault keeps from the service does not.
    func take(_ request: PushRequest) {
        guard let (app, call, now) = decided else { return }
        signatures.note(request, now: now)
        switch call {
        case .user:
            recipients[app, default: RecipientQuota(limit: recipientsPerSecond)].take(request.addressees.count, at: now)
        case .push: broadcasts[app, default: Self.broadcastQuota].take(at: now)
        case .custom: customs[app, default: Self.customQuota].take(at: now)
        }
    }

    func refuse(_ request: PushRequest, as fault: Answer) {
        for index in request.addressees.indices { request.addressees[index].id = "" }
        switch fault.status {
        case 429: answer(request, .refusal(1008))
        case 500: answer(request, .refusal(1000))
        default:
            // RongCloud has no code for it: its front end answers.
            request.answer = Answer(status: fault.status, reason: fault.reason)
            request.answerText = Array("<html><body><h1>\(fault.status)</h1></body></html>\n".utf8)
        }
    }

    // MARK: Answers

    private func answer(_ request: PushRequest, _ reply: RongCloudReply) {
        request.answer = Answer(status: reply.status, reason: reply.reason)
        request.answerText = reply.text
    }

    func header(of request: PushRequest) -> (name: StaticString, value: UnsafeBufferPointer<UInt8>) {
        let isPage = request.answerText.first == UInt8(ascii: "<")
        let type: StaticString = isPage ? "text/html" : "application/json; charset=utf-8"
        return ("content-type", type.bytes)
    }

    func showsClock(in answer: Answer) -> Bool { true }

    // MARK: The ledger

    /// Adds `target_kind`, `target` (whole: this file is a test's ground truth), `status`, `code`,
    /// `id` of the call, and `payload_bytes`.
    func describe(_ push: Int, of request: PushRequest, in file: LedgerFile) {
        let addressee = request.addressees.indices.contains(push) ? request.addressees[push] : nil
        file.add(",\"target_kind\":", text: addressee?.kind)
        file.add(",\"target\":", text: addressee?.target)
        file.add(",\"status\":")
        file.add(number: request.answer.status)
        file.add(",\"code\":")
        file.add(number: request.answer.isAccepted ? 200 : Int(request.answer.reason) ?? request.answer.status)
        file.add(",\"id\":", text: request.answer.isAccepted ? addressee?.id : nil)
        file.add(",\"payload_bytes\":")
        file.add(number: request.payloadBytes)
    }
}

/// Users with fixed answers: those of `SimulatorFaults.answers`, and always those with ids that
/// begin with `0000` and a code of RongCloud with four digits. Their whole request gets that code,
/// since an answer says nothing about single users; with 1000 and 1008, which pass, only the first
/// time.
struct UserRules {
    private static let passing: Set<Int> = [1000, 1008]

    private var fixed: [String: SimulatedAnswer]
    private var seen: Set<String> = []

    init(_ answers: [String: SimulatedAnswer]) { fixed = answers }

    /// The refusal of a correct request to these users; nil if it is accepted.
    mutating func refusal(of users: [PushRequest.Addressee]) -> RongCloudReply? {
        for user in users { if let code = code(of: user.target) { return .refusal(code) } }
        return nil
    }

    private mutating func code(of user: String) -> Int? {
        if let answer = fixed[user], answer.times != 0 {
            if let times = answer.times { fixed[user]?.times = times - 1 }
            return answer.status == 200 ? nil : Int(answer.reason) ?? 1002
        }
        guard user.utf8.starts(with: "0000".utf8), let code = Int(user.prefix(8)), RongCloudReply.known[code] != nil,
            code >= 1000
        else {
            return nil
        }
        return Self.passing.contains(code) && !seen.insert(user).inserted ? nil : code
    }
}

/// An answer of RongCloud: `{"code":200,"id":"…"}`, or a code with its text. A code always comes
/// with the same HTTP status.
struct RongCloudReply: Equatable {
    var status: Int
    /// 200 for success.
    var code: Int
    var text: [UInt8]

    /// What the ledger has as the reason; empty for success.
    var reason: String { code == 200 ? "" : String(code) }

    private init(status: Int, code: Int, _ members: [(String, JSONValue)]) {
        (self.status, self.code, text) = (status, code, [])
        JSONValue.object(pairs: [("code", .integer(Int64(code)))] + members).append(to: &text)
    }

    /// - Parameter id: what the call is called in statistics.
    static func success(id: String) -> RongCloudReply { RongCloudReply(status: 200, code: 200, [("id", .string(id))]) }

    /// A refusal.
    /// - Parameter text: what is wrong; nil for what the documentation says about the code.
    static func refusal(_ code: Int, _ text: String? = nil) -> RongCloudReply {
        let known = known[code]
        return RongCloudReply(
            status: known?.status ?? (code < 600 ? code : 400), code: code,
            [("errorMessage", .string(text ?? known?.text ?? "The request was refused."))])
    }

    /// A value in the body that RongCloud does not take.
    static func refusal(_ flaw: RongCloudFlaw) -> RongCloudReply {
        refusal(flaw.code, flaw.flaw.path.isEmpty ? flaw.flaw.text : "\(flaw.flaw.field): \(flaw.flaw.text)")
    }

    /// Source: RongCloud, status codes of the server API.
    static let known: [Int: (status: Int, text: String)] = [
        404: (404, "There is no such method."), 405: (405, "Only POST is allowed."),
        1000: (500, "Internal error."), 1001: (401, "The App Secret is wrong."), 1002: (400, "A parameter is wrong."),
        1003: (400, "There is no data."), 1004: (401, "The signature is wrong."),
        1005: (400, "A parameter is too long."),
        1006: (401, "The app is locked or deleted."), 1007: (401, "The method is restricted."),
        1008: (429, "The method is called too often."), 1009: (430, "The service is not enabled."),
        1050: (504, "An internal call timed out."), 2007: (403, "An app in development has at most 100 users."),
    ]
}

/// How many recipients an app may send to in each second of the clock.
/// Source: RongCloud, "send a push to users": 100 a second, where a call to 100 users counts
/// as 100. That seconds are counted from clock tick to clock tick is a guess.
struct RecipientQuota {
    static let usual = 100

    let limit: Int
    private var second = Int64.min
    private var count = 0

    init(limit: Int) { self.limit = limit }

    /// Whether this many more recipients may be sent to now.
    func allows(_ recipients: Int, at now: Timestamp) -> Bool {
        (second == now.epochSeconds ? count : 0) + recipients <= limit
    }

    mutating func take(_ recipients: Int, at now: Timestamp) {
        if second != now.epochSeconds { (second, count) = (now.epochSeconds, 0) }
        count += recipients
    }
}

/// How often an app may make a call, in any hour and on each day of the calendar in Beijing.
/// Source: RongCloud, "send a push to all users" and "Push Plus".
struct CallQuota {
    private static let offsetOfBeijing: Int64 = 8 * 3600, day: Int64 = 86400, hour: Int64 = 3600

    private let perHour: Int, perDay: Int
    private var seconds: [Int64] = []

    init(perHour: Int, perDay: Int) { (self.perHour, self.perDay) = (perHour, perDay) }

    /// Whether another call may be made now.
    func allows(at now: Timestamp) -> Bool {
        let today = Self.dayNumber(now.epochSeconds)
        return seconds.count(where: { $0 > now.epochSeconds - Self.hour }) < perHour
            && seconds.count(where: { Self.dayNumber($0) == today }) < perDay
    }

    mutating func take(at now: Timestamp) {
        seconds.removeAll { $0 <= now.epochSeconds - Self.day }
        seconds.append(now.epochSeconds)
    }

    private static func dayNumber(_ seconds: Int64) -> Int64 { (seconds + offsetOfBeijing) / day }
}

extension StandIn {
    /// A strict stand-in for the part of RongCloud's server API that sends pushes, on a loopback
    /// port, with its own thread.
    ///
    /// `RongCloudCall` documents what it demands of bodies, `RequestSignatures` of callers,
    /// `UserRules` the users with fixed answers, and `SimulatorFaults` the faults that you can
    /// configure.
    public static let rongcloud = StandIn(
        service: "rongcloud", displayName: "RongCloud",
        rules: """
            Requests are signed with the app secret of volley.yaml, or with a new one for the app key volleysimulator, which is written to a \
            file. It takes 100 recipients a second, or as many as --limit-per-minute says. A request to a user whose ID begins with 0000 and a \
            code gets that code: 00001002 is 400, 00001005 400, 00001009 430, 00002007 403, 00001050 504; 00001000 (500) and 00001008 (429) are \
            refused once and then accepted. Whether a user exists is never said.
            """,
        credential: .secret(app: StandInName("app_key", "volleysimulator"), names: [], key: "app_secret"),
        keyFile: "app-secret.txt",
        ignoresCase: false, gone: nil, unknown: nil, isLimited: true,
        makeRules: { configuration, _ in RongCloudRules(configuration) })
}

/// The headers with which each request identifies its app: `App-Key`, a number that is used once,
/// the time, and the SHA-1 of secret, number and time, each as the request has it. Source:
/// RongCloud, "API signature"; its SDKs for the hex digits in lower case.
///
/// The page says that the time is in milliseconds, and the SDKs write seconds: both are accepted.
/// How far a clock may be off, and whether a number may be used again, is not documented: what is
/// stricter is meant.
struct RequestSignatures {
    static let headers: [StaticString] = [account, nonce, timestamp, signature]
    private static let account: StaticString = "app-key", nonce: StaticString = "nonce",
        timestamp: StaticString = "timestamp"
    private static let signature: StaticString = "signature"

    static let mostNonceCharacters = 18
    /// How far a sender's clock may be off.
    static let clockSkewSeconds: Int64 = 300
    /// From this number on, numbers that are too old to be used again are forgotten.
    private static let manyNonces = 4096

    /// What the headers say.
    enum Verdict {
        case app(String)
        case refused(RongCloudReply)
    }

    private let secrets: [TrustedSecret]
    private var nonces: [String: Timestamp] = [:]
    private var usedApps: Set<String> = []
    /// The number of apps with accepted signatures.
    var usedSecrets: Int { usedApps.count }

    init(_ secrets: [TrustedSecret]) { self.secrets = secrets }

    /// Checks the headers of a request.
    func verdict(of request: PushRequest, now: Timestamp) -> Verdict {
        func header(_ name: StaticString) -> String? {
            request.own(name).flatMap { String(validating: $0, as: UTF8.self) }
        }
        func refused(_ text: String) -> Verdict { .refused(.refusal(1004, text)) }
        guard let app = header(Self.account), let nonce = header(Self.nonce), let time = header(Self.timestamp),
            let signature = header(Self.signature)
        else { return refused("App-Key, Nonce, Timestamp and Signature are required.") }
        guard let trusted = secrets.first(where: { $0.app == app }) else {
            return .refused(.refusal(1001, "The App Key is unknown."))
        }
        guard (1...Self.mostNonceCharacters).contains(nonce.utf8.count) else {
            return refused("Nonce has at most 18 characters.")
        }
        guard let seconds = Self.seconds(time) else {
            return refused("Timestamp must be seconds or milliseconds since 1970.")
        }
        guard SHA1.hex(of: trusted.secret + nonce + time) == signature else {
            return refused("The signature is wrong.")
        }
        guard abs(seconds - now.epochSeconds) <= Self.clockSkewSeconds else {
            return refused("Timestamp is too far from now.")
        }
        guard nonces[Self.key(app, nonce)] == nil else { return refused("Nonce was used before.") }
        return .app(app)
    }

    /// Remembers that a request with a right signature was processed.
    mutating func note(_ request: PushRequest, now: Timestamp) {
        func header(_ name: StaticString) -> String {
            request.own(name).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        if nonces.count >= Self.manyNonces {
            let oldest = now.adding(seconds: -2 * Double(Self.clockSkewSeconds))
            nonces = nonces.filter { $0.value >= oldest }
        }
        usedApps.insert(header(Self.account))
        nonces[Self.key(header(Self.account), header(Self.nonce))] = now
    }

    private static func key(_ app: String, _ nonce: String) -> String { "\(app) \(nonce)" }

    /// The seconds since 1970 that ten digits of seconds, or thirteen of milliseconds, say.
    private static func seconds(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy(isDigit), let number = Int64(text) else { return nil }
        switch text.utf8.count {
        case 10: return number
        case 13: return number / 1000
        default: return nil
        }
    }
}
