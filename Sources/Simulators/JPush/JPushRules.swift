import Base

/// The rules of JPush's Push API v3 behind the simulators' wire: pushes, their validation, cids, and batches of personal pushes.
///
/// The order of the checks: path and method, credentials, the calls of a minute (whatever they are: fetching cids counts, which JPush does
/// not document), content type, JSON, the content (`JPushChecker`), the cid (`CidPool`), the targets (`JPushTargets`).
final class JPushRules: ServiceRules {
    /// More than a thousand ids and aliases, and the largest content with every character as an escape.
    let keptBodyBytes = 1 << 20
    private let details: RefusalDetails
    private let plan: JPushPlan
    private let secrets: [String: String]
    private let callsPerMinute: Int
    @exclusivity(unchecked) private var targets: JPushTargets
    private var budgets: [String: CallBudget] = [:]
    private var cids = CidPool()
    private var messages = 0
    private var usedApps: Set<String> = []
    /// What `take` notes about the call that was accepted last.
    private var acceptedCids: [(cid: String, messageID: String)] = []

    init(_ configuration: SimulatorConfiguration) {
        details = configuration.issuer.errorDetails
        plan = JPushPlan(isVIP: configuration.isPaid)
        secrets = Dictionary(configuration.secrets.map { ($0.app, $0.secret) }) { $1 }
        let limit = configuration.issuer.messagesPerMinute
        callsPerMinute = limit > 0 ? limit : CallBudget.usualLimit
        targets = JPushTargets(configuration.faults.answers)
    }

    var acceptedCredentials: Int { usedApps.count }

    func makeMemory(certificate: CertificateState) -> ConnectionMemory { ConnectionMemory() }

    func isPush(_ request: PushRequest) -> Bool {
        switch JPushCall(path: text(request[.path])) {
        case .push, .batch: true
        case .validation, .cids, nil: false
        }
    }

    // MARK: Decisions

    func decide(_ request: PushRequest, hasBody: Bool, memory: ConnectionMemory, now: Timestamp) {
        request.kind = .other
        acceptedCids = []
        do {
            let (call, app) = try admit(request, now: now)
            switch call {
            case .cids(let count):
                guard let count, (1...plan.mostCids).contains(count) else { throw JPushError(1003, "count is from 1 to \(plan.mostCids)") }
                let given = cids.give(count, to: app, now: now)
                answer(request, .object(pairs: [("cidlist", .array(given.map { .string($0) }))]))
            case .push, .validation: try decidePush(request, of: app, isValidation: call == .validation, hasBody: hasBody, now: now)
            case .batch(let kind): try decideBatch(request, of: app, kind: kind, hasBody: hasBody, now: now)
            }
        } catch let error as JPushError {
            refuse(request, with: error)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Finds out what a request is, and whose.
    private func admit(_ request: PushRequest, now: Timestamp) throws -> (JPushCall, app: String) {
        guard let call = JPushCall(path: text(request[.path])) else { throw JPushError(1020, "There is no such path") }
        if case .push = call { request.kind = .push }
        if case .batch = call { request.kind = .push }
        if case .validation = call { request.kind = .dryRun }
        // The body is read first, so that the ledger names the targets of whatever is refused.
        if request.kind == .push, let body = try? JSONValue(parsing: Array(request.payload)) {
            request.addressees = addressees(of: body, call)
        }
        guard text(request[.method]) == call.method, !request.hasDuplicateHeader else {
            throw JPushError(1001, "Only \(call.method) is supported")
        }
        let app = try Self.app(showing: request[.authorization], secrets)
        usedApps.insert(app)
        let isInTime = budgets[app, default: CallBudget(limit: callsPerMinute)].take(at: now)
        request.answerFields = budgets[app]?.fields(at: now) ?? []
        guard isInTime else { throw JPushError.fault(status: 429) }
        return (call, app)
    }

    private func addressees(of body: JSONValue, _ call: JPushCall) -> [PushRequest.Addressee] {
        guard case .batch(let kind) = call else { return JPushChecker(body: body, plan: plan).addressees }
        guard case .object(let pushes)? = body["pushlist"] else { return [] }
        return pushes.map { push in
            PushRequest.Addressee(
                kind: kind == "alias" ? kind : "registration_id", target: push.value["target"]?.stringValue ?? "", name: push.name)
        }
    }

    /// The app key of a Basic credential.
    private static func app(showing header: UnsafeBufferPointer<UInt8>?, _ secrets: [String: String]) throws -> String {
        let words = header.map { String(decoding: $0, as: UTF8.self).split(separator: " ") } ?? []
        let characters = words.last?.utf8.prefix { $0 != UInt8(ascii: "=") }.map { byte in
            byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
        }
        guard words.count == 2, words[0] == "Basic", words[1].utf8.count % 4 == 0,
            let bytes = characters.flatMap({ decodeBase64URL($0[...]) }), let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { throw JPushError(1004, "basic authentication failed") }
        let app = String(decoding: bytes[..<colon], as: UTF8.self)
        guard let secret = secrets[app] else { throw JPushError(1008, "The app_key is invalid") }
        guard bytes[(colon + 1)...].elementsEqual(secret.utf8) else { throw JPushError(1004, "basic authentication failed") }
        return app
    }

    /// The body of a call.
    private func body(of request: PushRequest, hasBody: Bool) throws -> JSONValue {
        // What was not read is not accepted: a front end that answers early is busy.
        guard hasBody else { throw JPushError.fault(status: 503) }
        let type = text(request[.contentType]).lowercased().split(separator: ";").map { $0.filter { $0 != " " } }
        guard type.first == "application/json", type.dropFirst().allSatisfy({ $0 == "charset=utf-8" }) else {
            throw JPushError(1009, "The content type is not application/json")
        }
        guard request.payloadBytes <= keptBodyBytes else { throw JPushError(1005, "The body is too large") }
        guard let body = try? JSONValue(parsing: Array(request.payload)) else { throw JPushError(1009, "The body is not JSON") }
        return body
    }

    private func decidePush(_ request: PushRequest, of app: String, isValidation: Bool, hasBody: Bool, now: Timestamp) throws {
        let body = try body(of: request, hasBody: hasBody)
        let checker = JPushChecker(body: body, plan: plan)
        if let flaw = checker.flaw { throw JPushError.malformed(flaw) }
        let cid = body["cid"]?.stringValue
        switch cid.map({ cids.finding($0, of: app, now: now) }) ?? .fresh {
        case .unknown: throw JPushError(1003, "The cid is invalid")
        case .taken(let messageID):
            if !isValidation { request.kind = .dryRun }
            return answer(request, Self.success(of: body, messageID: messageID))
        case .fresh: break
        }
        if let refusal = targets.refusal(of: checker.registrationIDs) { throw refusal }
        let messageID = nextMessageID()
        if !isValidation, let cid { acceptedCids = [(cid, messageID)] }
        for index in request.addressees.indices { request.addressees[index].id = messageID }
        answer(request, Self.success(of: body, messageID: messageID))
    }

    private static func success(of body: JSONValue, messageID: String) -> JSONValue {
        let number = body["options"]?["sendno"]?.integerValue ?? 0
        return .object(pairs: [("sendno", .string(String(number))), ("msg_id", .string(messageID))])
    }

    // MARK: Batches

    private func decideBatch(_ request: PushRequest, of app: String, kind: String, hasBody: Bool, now: Timestamp) throws {
        guard plan.isVIP else { throw JPushError(2006, "The app has no right to use this call") }
        let body = try body(of: request, hasBody: hasBody)
        if let flaw = JPushShape.object(["pushlist": .anyObject]).flaw(in: body) { throw JPushError.malformed(flaw) }
        guard case .object(let pushes)? = body["pushlist"], (1...1000).contains(pushes.count) else {
            throw JPushError(1003, "pushlist has 1 to 1000 pushes")
        }
        var results: [(String, JSONValue)] = []
        for (index, push) in pushes.enumerated() {
            switch single(push, of: app, kind: kind, now: now) {
            case .success(let messageID):
                request.addressees[index].id = messageID
                results.append((push.name, .object(pairs: [("msg_id", .string(messageID))])))
            case .failure(let error):
                request.addressees[index].answer = error.answer
                // An error may come with a number all the same.
                let number = details == .both ? [("msg_id", JSONValue.string(nextMessageID()))] : []
                results.append((push.name, .object(pairs: number + [("error", error.object(namesIDs: false))])))
            }
        }
        answer(request, .object(pairs: results))
    }

    private func single(_ push: JSONMember, of app: String, kind: String, now: Timestamp) -> Result<String, JPushError> {
        switch cids.finding(push.name, of: app, now: now) {
        case .unknown: return .failure(JPushError(1003, "The cid is invalid"))
        case .taken(let messageID): return .success(messageID)
        case .fresh: break
        }
        if let flaw = JPushChecker(body: push.value, plan: plan).flaw(ofSingle: kind) { return .failure(.malformed(flaw)) }
        let ids = kind == "regid" ? [push.value["target"]?.stringValue ?? ""] : []
        if let refusal = targets.refusal(of: ids) { return .failure(refusal) }
        let messageID = nextMessageID()
        acceptedCids.append((push.name, messageID))
        return .success(messageID)
    }

    // MARK: Answers

    private func nextMessageID() -> String {
        messages += 1
        return String(1_828_256_757 + messages)
    }

    func take(_ request: PushRequest) {
        for (cid, messageID) in acceptedCids { cids.take(cid, messageID: messageID) }
    }

    func refuse(_ request: PushRequest, as fault: Answer) { refuse(request, with: .fault(status: fault.status)) }

    private func refuse(_ request: PushRequest, with error: JPushError) {
        for index in request.addressees.indices { (request.addressees[index].id, request.addressees[index].answer) = ("", nil) }
        request.answer = error.answer
        request.answerText = []
        error.body(details).append(to: &request.answerText)
    }

    private func answer(_ request: PushRequest, _ body: JSONValue) {
        request.answer = .accepted
        request.answerText = []
        body.append(to: &request.answerText)
    }

    private func text(_ value: UnsafeBufferPointer<UInt8>?) -> String { value.map { String(decoding: $0, as: UTF8.self) } ?? "" }

    func header(of request: PushRequest) -> (name: StaticString, value: UnsafeBufferPointer<UInt8>) {
        let type: StaticString = "application/json"
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

    /// Adds `target_kind`, `target` (whole: this file is a test's ground truth), `status`, `code`, `msg_id`, `cid` and `payload_bytes`.
    func describe(_ push: Int, of request: PushRequest, in file: LedgerFile) {
        let addressee = request.addressees.isEmpty ? nil : request.addressees[push], answer = request.answer(to: push)
        file.add(",\"target_kind\":", text: addressee?.kind)
        file.add(",\"target\":", text: addressee?.target)
        file.add(",\"status\":")
        file.add(number: answer.status)
        file.add(",\"code\":", text: answer.isAccepted ? nil : answer.reason)
        file.add(",\"msg_id\":", text: answer.isAccepted ? addressee?.id : nil)
        file.add(",\"cid\":", text: addressee?.name)
        file.add(",\"payload_bytes\":")
        file.add(number: request.payloadBytes)
    }
}
