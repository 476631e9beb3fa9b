import Base
import Cryptography

/// The rules of FCM HTTP v1 behind the simulators' wire:
/// `POST /v1/projects/{project}/messages:send`, and in one house with it `POST /token`, which is
/// oauth2.googleapis.com, and `GET /v1beta1/projects/{project}/androidApps/{app}/deliveryData`,
/// which is fcmdata.googleapis.com.
///
/// The order of the checks: path and method, access token, project, quota, content type, JSON, the
/// message (`MessageChecker`), its target (`DeviceRules`). What is neither path is answered in
/// HTML, as Google's front end does.
final class FCMRules: ServiceRules {
    /// More than the largest message with every character as an escape.
    let keptBodyBytes = 64 << 10
    private let details: RefusalDetails
    private let projects: [String]
    private let pathsOfProjects: [[UInt8]]
    @exclusivity(unchecked) private var tokens: AccessTokens
    @exclusivity(unchecked) private var devices: DeviceRules
    private var quotas: [MinuteQuota]
    private var messages: UInt64 = 0
    @exclusivity(unchecked) private var deliveries = DeliveryData()
    /// What the message that was accepted last counts as, once it is taken.
    private var accepted: DeliveryData.Entry?

    private static let tokenPath: StaticString = "/token", post: StaticString = "POST"
    private static let pathStart: StaticString = "/v1/projects/", pathEnd: StaticString = "/messages:send"

    /// - Parameter port: where the server listens. It is a part of the address of the token
    ///   endpoint.
    init(_ configuration: SimulatorConfiguration, port: Int) {
        details = configuration.issuer.errorDetails
        projects = configuration.issuer.accounts.map(\.project)
        pathsOfProjects = projects.map { Array("\(Self.pathStart)\($0)\(Self.pathEnd)".utf8) }
        let hosts = ["localhost", "127.0.0.1", "[::1]"] + [configuration.certificate?.hostName].compactMap(\.self)
        let own = hosts.map { "https://\($0):\(port)\(Self.tokenPath)" }
        tokens = AccessTokens(configuration.issuer, audiences: AccessTokens.audiencesOfGoogle.union(own))
        devices = DeviceRules(configuration.faults.answers)
        quotas = projects.map { _ in MinuteQuota(limit: configuration.issuer.messagesPerMinute) }
    }

    var acceptedCredentials: Int { tokens.usedTokens }

    func makeMemory(certificate: CertificateState) -> ConnectionMemory { ConnectionMemory() }

    func isPush(_ request: PushRequest) -> Bool {
        guard let path = request[.path], !areEqual(path, Self.tokenPath.bytes) else { return false }
        return !path.starts(with: "/v1beta1/".utf8)
    }

    // MARK: Decisions

    func decide(_ request: PushRequest, hasBody: Bool, memory: ConnectionMemory, now: Timestamp) {
        accepted = nil
        guard let path = request[.path], let method = request[.method], !request.hasDuplicateHeader else {
            request.kind = .other
            return answer(request, Self.notFound)
        }
        guard areEqual(method, Self.post.bytes) else {
            request.kind = .other
            return answer(
                request,
                deliveryData(
                    request, path: String(decoding: path, as: UTF8.self), isGet: method.elementsEqual("GET".utf8),
                    now: now))
        }
        if areEqual(path, Self.tokenPath.bytes) {
            request.kind = .other
            answer(request, exchange(request, now: now))
        } else if Self.isMessagePath(path) {
            decideMessage(request, path: path, hasBody: hasBody, now: now)
        } else {
            request.kind = .other
            answer(request, Self.notFound)
        }
    }

    /// What was delivered of the project's labels: all messages count as delivered to the Android
    /// app that the path names.
    private func deliveryData(_ request: PushRequest, path: String, isGet: Bool, now: Timestamp) -> FCMReply {
        guard isGet,
            let match = path.wholeMatch(
                of:
                    /\/v1beta1\/projects\/([^\/]+)\/androidApps\/([0-9]+:[0-9]+:android:[0-9a-f]+)\/deliveryData(?:\?.*)?/
            )
        else { return Self.notFound }
        switch tokens.bearer(request[.authorization], needsCloud: true, now: now) {
        case .refused(let refusal): return refusal.reply(details)
        case .account(let account):
            guard projects[account] == match.output.1 else { return FCMError.permissionDenied.reply(details) }
            return FCMReply(
                status: 200, reason: "",
                text: Array(deliveries.answer(project: projects[account], app: String(match.output.2)).text.utf8))
        }
    }

    func take(_ request: PushRequest) { if let accepted { deliveries.add(accepted) } }

    private func exchange(_ request: PushRequest, now: Timestamp) -> FCMReply {
        guard request.isBody(of: "application/x-www-form-urlencoded"), request.payloadBytes <= keptBodyBytes else {
            return AccessTokens.refusal("invalid_request", "The body must be a form.")
        }
        return tokens.exchange(Array(request.payload), now: now)
    }

    private func decideMessage(_ request: PushRequest, path: UnsafeBufferPointer<UInt8>, hasBody: Bool, now: Timestamp)
    {
        // The body is read first, so that the ledger names the target of whatever is refused.
        let checker = hasBody ? Self.checker(of: request) : nil
        request.addressee = checker?.addressee
        if checker?.isDryRun == true { request.kind = .dryRun }
        let account: Int
        switch tokens.bearer(request[.authorization], now: now) {
        case .refused(let refusal): return answer(request, refusal.reply(details))
        case .account(let found): account = found
        }
        if let refusal = projectRefusal(path: path, account: account) { return answer(request, refusal.reply(details)) }
        guard quotas[account].take(at: now) else { return answer(request, FCMError.fault(status: 429).reply(details)) }
        // What was not read is not accepted: a front end that answers early is busy.
        guard hasBody else { return answer(request, FCMError.fault(status: 503).reply(details)) }
        if let refusal = contentRefusal(of: request, checker) { return answer(request, refusal.reply(details)) }
        guard let addressee = request.addressee else { fatalError("a message without a target passed its checks") }
        if let refusal = devices.refusal(of: addressee) { return answer(request, refusal.reply(details)) }
        accept(request, project: projects[account], now: now)
        guard request.kind != .dryRun else { return }
        accepted = DeliveryData.Entry(
            project: projects[account], label: checker?.label ?? "", day: DeliveryData.day(of: now))
    }

    private func projectRefusal(path: UnsafeBufferPointer<UInt8>, account: Int) -> FCMError? {
        if areEqual(path, right: pathsOfProjects[account]) { return nil }
        return pathsOfProjects.contains { areEqual(path, right: $0) } ? .permissionDenied : .unknownProject
    }

    private func contentRefusal(of request: PushRequest, _ checker: MessageChecker?) -> FCMError? {
        guard request.isBody(of: "application/json") else {
            return .malformed(JSONFlaw("The content type must be application/json."))
        }
        guard request.payloadBytes <= keptBodyBytes else { return .malformed(JSONFlaw("The request is too large.")) }
        guard let checker else { return .malformed(JSONFlaw("The body is not JSON.")) }
        return checker.refusal(bytes: request.payloadBytes)
    }

    private static func checker(of request: PushRequest) -> MessageChecker? {
        (try? JSONValue(parsing: Array(request.payload))).map { MessageChecker($0) }
    }

    private func accept(_ request: PushRequest, project: String, now: Timestamp) {
        messages += 1
        let number = String(messages, radix: 16)
        let id = "0:\(now.epochMilliseconds)000%\(String(repeating: "0", count: max(0, 16 - number.count)))\(number)"
        let name = "projects/\(project)/messages/\(request.kind == .dryRun ? "fake_message_id" : id)"
        request.addressee?.id = name
        answer(request, FCMReply(status: 200, reason: "", text: Array("{\"name\":\"\(name)\"}".utf8)))
    }

    func refuse(_ request: PushRequest, as fault: Answer) {
        request.addressee?.id = ""
        answer(request, FCMError.fault(status: fault.status).reply(details))
    }

    // MARK: Answers

    private func answer(_ request: PushRequest, _ reply: FCMReply) {
        request.answer = Answer(status: reply.status, reason: reply.reason)
        request.answerText = reply.text
    }

    private static let notFound = FCMReply(
        status: 404, reason: "NotFound",
        text: Array(
            "<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title><p>The URL was not found.</html>\n"
                .utf8))

    func header(of request: PushRequest) -> (name: StaticString, value: UnsafeBufferPointer<UInt8>) {
        let isPage = request.answerText.first == UInt8(ascii: "<")
        let type: StaticString = isPage ? "text/html; charset=UTF-8" : "application/json; charset=UTF-8"
        return ("content-type", type.bytes)
    }

    // MARK: The ledger

    /// Adds `target_kind`, `target` (whole: this file is a test's ground truth), `status`,
    /// `error_code`, `name` and `payload_bytes`.
    func describe(_ push: Int, of request: PushRequest, in file: LedgerFile) {
        let addressee = request.addressees.isEmpty ? nil : request.addressees[push], answer = request.answer(to: push)
        file.add(",\"target_kind\":", text: addressee?.kind)
        file.add(",\"target\":", text: addressee?.target)
        file.add(",\"status\":")
        file.add(number: answer.status)
        file.add(",\"error_code\":", text: answer.isAccepted ? nil : answer.reason)
        file.add(",\"name\":", text: answer.isAccepted ? addressee?.id : nil)
        file.add(",\"payload_bytes\":")
        file.add(number: request.payloadBytes)
    }

    // MARK: Headers

    /// Whether a path leads to the messages of some project.
    private static func isMessagePath(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        let (start, end) = (pathStart.bytes, pathEnd.bytes)
        guard path.count > start.count + end.count, path.starts(with: start), path.suffix(end.count).elementsEqual(end)
        else {
            return false
        }
        return path[start.count..<path.count - end.count].allSatisfy { $0 != UInt8(ascii: "/") }
    }
}

/// What the Data API says: accepted messages by project, label and day. Source: Google, "Firebase
/// Cloud Messaging Data API", `projects.androidApps.deliveryData`. Unlike Google's, it is exact,
/// and knows a message at once.
struct DeliveryData {
    struct Entry: Hashable {
        let project: String
        let label: String
        /// Since 1970.
        let day: Int
    }

    private var counts: [Entry: Int] = [:]

    /// The day in Los Angeles, in winter.
    static func day(of now: Timestamp) -> Int { Int((now.epochSeconds - 8 * 3600) / 86_400) }

    mutating func add(_ entry: Entry) { counts[entry, default: 0] += 1 }

    func answer(project: String, app: String) -> JSONValue {
        let days = counts.filter { $0.key.project == project }.sorted {
            ($0.key.day, $0.key.label) < ($1.key.day, $1.key.label)
        }
        return .object(
            pairs: days.isEmpty ? [] : [("androidDeliveryData", .array(days.map { Self.json($0.key, $0.value, app) }))])
    }

    private static func json(_ entry: Entry, _ count: Int, _ app: String) -> JSONValue {
        let date = civilDate(fromDays: entry.day)
        return .object(
            pairs: [
                ("appId", .string(app)),
                (
                    "date",
                    .object(pairs: [
                        ("year", .integer(Int64(date.year))), ("month", .integer(Int64(date.month))),
                        ("day", .integer(Int64(date.day))),
                    ])
                ),
            ] + (entry.label.isEmpty ? [] : [("analyticsLabel", .string(entry.label))]) + [
                (
                    "data",
                    .object(pairs: [
                        ("countMessagesAccepted", .string(String(count))),
                        ("messageOutcomePercents", .object(pairs: [("delivered", .integer(100))])),
                        ("deliveryPerformancePercents", .object(pairs: [("deliveredNoDelay", .integer(100))])),
                    ])
                )
            ])
    }
}

extension StandIn {
    /// A strict stand-in for FCM HTTP v1 and for the server that gives out its access tokens, on a
    /// loopback port, with its own thread.
    ///
    /// `MessageChecker` documents what it demands of messages, `AccessTokens` of assertions,
    /// `DeviceRules` the devices with fixed answers, and `SimulatorFaults` the faults that you can
    /// configure.
    public static let fcm = StandIn(
        service: "fcm", displayName: "FCM",
        rules: """
            Gives out access tokens at /token for assertions of the service accounts that it trusts: the one of --key, or a new one for the \
            project volley-simulator, whose file is written there. Tokens and installation ids that begin with 00000404 get the answer 404 \
            UNREGISTERED, 00000400 gets 400 INVALID_ARGUMENT, 00000403 gets 403 SENDER_ID_MISMATCH, 00000401 gets 401 \
            THIRD_PARTY_AUTH_ERROR; 00000429, 00000500 and 00000503 are refused once and then accepted. A token has 100 characters or more, an \
            installation id 22.
            """, credential: .serviceAccount(project: "volley-simulator"), keyFile: "service-account.json",
        ignoresCase: false,
        gone: SimulatedAnswer(status: 404, reason: "UNREGISTERED"),
        unknown: SimulatedAnswer(status: 400, reason: "INVALID_ARGUMENT"),
        isLimited: true, mayLackDetails: true, givesOutTokens: true, makeRules: { FCMRules($0, port: $1) })
}

/// Registration tokens and installation ids with fixed answers: those of `SimulatorFaults.answers`,
/// and always those that begin with one of these eight digits:
///
/// | first digits | answer |
/// |---|---|
/// | `00000404` | 404 UNREGISTERED |
/// | `00000400` | 400 INVALID_ARGUMENT for the token |
/// | `00000403` | 403 SENDER_ID_MISMATCH |
/// | `00000401` | 401 THIRD_PARTY_AUTH_ERROR |
/// | `00000429` | 429 QUOTA_EXCEEDED the first time, then accepted |
/// | `00000500` | 500 INTERNAL the first time, then accepted |
/// | `00000503` | 503 UNAVAILABLE the first time, then accepted |
///
/// A token of zeros only is INVALID_ARGUMENT. Topics and conditions have no fixed answers.
struct DeviceRules {
    private static let permanent = [
        "00000404": (404, "UNREGISTERED"), "00000400": (400, "INVALID_ARGUMENT"),
        "00000403": (403, "SENDER_ID_MISMATCH"),
        "00000401": (401, "THIRD_PARTY_AUTH_ERROR"),
    ]
    private static let temporary = [
        "00000429": (429, "QUOTA_EXCEEDED"), "00000500": (500, "INTERNAL"), "00000503": (503, "UNAVAILABLE"),
    ]

    private var fixed: [String: SimulatedAnswer]
    private var seenTemporary: Set<String> = []

    init(_ answers: [String: SimulatedAnswer]) { fixed = answers }

    /// The refusal of a message that is correct; nil if it is accepted.
    mutating func refusal(of addressee: PushRequest.Addressee) -> FCMError? {
        let (kind, target) = (addressee.kind, addressee.target)
        guard kind == "token" || kind == "fid" else { return nil }
        let field = "message.\(kind)"
        if let answer = fixedAnswer(target) { return .named(answer.reason, status: answer.status, field: field) }
        guard target.utf8.starts(with: "00000".utf8) else { return nil }
        if target.utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) {
            return .named("INVALID_ARGUMENT", status: 400, field: field)
        }
        let prefix = String(target.prefix(8))
        if let (status, reason) = Self.permanent[prefix] { return .named(reason, status: status, field: field) }
        guard let (status, reason) = Self.temporary[prefix], seenTemporary.insert(target).inserted else { return nil }
        return .named(reason, status: status, field: field)
    }

    private mutating func fixedAnswer(_ target: String) -> SimulatedAnswer? {
        guard !fixed.isEmpty, let answer = fixed[target], answer.times != 0 else { return nil }
        if let times = answer.times { fixed[target]?.times = times - 1 }
        return answer.status == 200 ? nil : answer
    }
}

/// How many messages a project may send in any minute, wherever it begins.
/// Source: firebase.google.com, "Throttling and quotas": answers of 4xx count, those of 429 do not.
struct MinuteQuota {
    private let limit: Int
    /// Messages by the second of the minute, and when that second was.
    private var counts = [Int](repeating: 0, count: 60)
    private var seconds = [Int64](repeating: .min, count: 60)

    /// - Parameter limit: 0 for none.
    init(limit: Int) { self.limit = limit }

    /// Counts a message; false if it is one too many.
    mutating func take(at now: Timestamp) -> Bool {
        guard limit > 0 else { return true }
        let second = now.epochSeconds
        let recent = zip(seconds, counts).reduce(0) { $1.0 > second - 60 ? $0 + $1.1 : $0 }
        guard recent < limit else { return false }
        let place = Int(((second % 60) + 60) % 60)
        if seconds[place] != second { (seconds[place], counts[place]) = (second, 0) }
        counts[place] += 1
        return true
    }
}
