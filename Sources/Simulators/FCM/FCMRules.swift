import Base
import Cryptography

/// The rules of FCM HTTP v1 behind the simulators' wire: `POST /v1/projects/{project}/messages:send`, and `POST /token`, which is
/// oauth2.googleapis.com in one house with it.
///
/// The order of the checks: path and method, access token, project, quota, content type, JSON, the message (`MessageChecker`), its target
/// (`DeviceRules`). What is neither path is answered in HTML, as Google's front end does.
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

    private static let tokenPath: StaticString = "/token", post: StaticString = "POST"
    private static let pathStart: StaticString = "/v1/projects/", pathEnd: StaticString = "/messages:send"

    /// - Parameter port: where the server listens. It is a part of the address of the token endpoint.
    init(_ configuration: SimulatorConfiguration, port: Int) {
        details = configuration.issuer.errorDetails
        projects = configuration.issuer.accounts.map(\.project)
        pathsOfProjects = projects.map { Array("\(Self.pathStart)\($0)\(Self.pathEnd)".utf8) }
        let hosts = ["localhost", "127.0.0.1", "[::1]"] + [configuration.certificate?.hostName].compactMap(\.self)
        tokens = AccessTokens(configuration.issuer, audiences: Set(hosts.map { "https://\($0):\(port)\(Self.tokenPath)" }))
        devices = DeviceRules(configuration.faults.answers)
        quotas = projects.map { _ in MinuteQuota(limit: configuration.issuer.messagesPerMinute) }
    }

    var acceptedCredentials: Int { tokens.usedTokens }

    func makeMemory(certificate: CertificateState) -> ConnectionMemory { ConnectionMemory() }

    func isPush(_ request: PushRequest) -> Bool {
        guard let path = request[.path], !areEqual(path, Self.tokenPath.bytes) else { return false }
        return true
    }

    // MARK: Decisions

    func decide(_ request: PushRequest, hasBody: Bool, memory: ConnectionMemory, now: Timestamp) {
        guard let path = request[.path], let method = request[.method], areEqual(method, Self.post.bytes), !request.hasDuplicateHeader
        else {
            request.kind = .other
            return answer(request, Self.notFound)
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

    private func exchange(_ request: PushRequest, now: Timestamp) -> FCMReply {
        guard Self.isContentType(request[.contentType], "application/x-www-form-urlencoded"), request.payloadBytes <= keptBodyBytes else {
            return AccessTokens.refusal("invalid_request", "The body must be a form.")
        }
        return tokens.exchange(Array(request.payload), now: now)
    }

    private func decideMessage(_ request: PushRequest, path: UnsafeBufferPointer<UInt8>, hasBody: Bool, now: Timestamp) {
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
    }

    private func projectRefusal(path: UnsafeBufferPointer<UInt8>, account: Int) -> FCMError? {
        if areEqual(path, right: pathsOfProjects[account]) { return nil }
        return pathsOfProjects.contains { areEqual(path, right: $0) } ? .permissionDenied : .unknownProject
    }

    private func contentRefusal(of request: PushRequest, _ checker: MessageChecker?) -> FCMError? {
        guard Self.isContentType(request[.contentType], "application/json") else {
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
        text: Array("<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title><p>The URL was not found.</html>\n".utf8))

    func header(of request: PushRequest) -> (name: StaticString, value: UnsafeBufferPointer<UInt8>) {
        let isPage = request.answerText.first == UInt8(ascii: "<")
        let type: StaticString = isPage ? "text/html; charset=UTF-8" : "application/json; charset=UTF-8"
        return ("content-type", type.bytes)
    }

    func body(of request: PushRequest) -> [UInt8] { request.answerText }

    func showsClock(in answer: Answer) -> Bool { !answer.isAccepted }

    // MARK: The ledger

    func marks(of push: Int, in request: PushRequest) -> LedgerMarks? {
        guard request.addressees.indices.contains(push) else { return nil }
        let addressee = request.addressees[push]
        return LedgerMarks(target: TokenHash(text: addressee.target), id: TokenHash(text: addressee.id))
    }

    /// Adds `target_kind`, `target` (whole: this file is a test's ground truth), `status`, `error_code`, `name` and `payload_bytes`.
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
        guard path.count > start.count + end.count, path.starts(with: start), path.suffix(end.count).elementsEqual(end) else {
            return false
        }
        return path[start.count..<path.count - end.count].allSatisfy { $0 != UInt8(ascii: "/") }
    }

    /// Whether a content type is meant, with no parameter but the one that says UTF-8.
    private static func isContentType(_ value: UnsafeBufferPointer<UInt8>?, _ meant: String) -> Bool {
        guard let value else { return false }
        let parts = String(decoding: value, as: UTF8.self).lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\"" } }
        return parts.first == meant && parts.dropFirst().allSatisfy { $0 == "charset=utf-8" }
    }
}
