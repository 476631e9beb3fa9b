import Base

/// The rules of JPush's Push API v3 behind the simulators' wire: pushes, their validation, cids,
/// and batches of personal pushes.
///
/// The order of the checks: path and method, credentials, the calls of a minute (whatever they are:
/// fetching cids counts, which JPush does not document), content type, JSON, the content
/// (`JPushChecker`), the cid (`CidPool`), what it replaces, what the app may send to (tags, and
/// everyone a limited number of times a day), the targets (`JPushTargets`).
final class JPushRules: ServiceRules {
    /// More than a thousand ids and aliases, and the largest content with every character as an
    /// escape.
    let keptBodyBytes = 1 << 20
    private let details: RefusalDetails
    private let plan: JPushPlan
    private let secrets: [String: String]
    private let callsPerMinute: Int, broadcastsPerDay: Int
    @exclusivity(unchecked) private var targets: JPushTargets
    private var budgets: [String: CallBudget] = [:]
    /// Pushes to everyone.
    private var broadcasts: [String: CallBudget] = [:]
    private var cids = CidPool()
    private var messages = 0
    private var usedApps: Set<String> = []
    /// What `take` notes about the call that was accepted last.
    private var acceptedCids: [(cid: String, messageID: String)] = []
    /// See `acceptedCids`: by their numbers.
    private var acceptedPushes: [String: SentPush] = [:]
    /// See `acceptedCids`: the app, if the push went to everyone, and when.
    private var acceptedBroadcast: (app: String, at: Timestamp)?
    /// The pushes that were taken, by their numbers.
    private var sent: [String: SentPush] = [:]

    private struct SentPush {
        let app: String, at: Timestamp, devices: Int
    }

    init(_ configuration: SimulatorConfiguration) {
        details = configuration.issuer.errorDetails
        plan = JPushPlan(isVIP: configuration.isPaid, takesTags: configuration.takesTags || configuration.isPaid)
        secrets = Dictionary(configuration.secrets.map { ($0.app, $0.secret) }) { $1 }
        let limit = configuration.issuer.messagesPerMinute
        callsPerMinute = limit > 0 ? limit : CallBudget.usualLimit
        broadcastsPerDay = configuration.broadcastsPerDay ?? CallBudget.usualBroadcasts
        targets = JPushTargets(configuration.faults.answers)
    }

    var acceptedCredentials: Int { usedApps.count }

    func makeMemory(certificate: CertificateState) -> ConnectionMemory { ConnectionMemory() }

    func isPush(_ request: PushRequest) -> Bool {
        switch JPushCall(path: text(request[.path])) {
        case .push, .batch: true
        case .validation, .cids, .report, nil: false
        }
    }

    // MARK: Decisions

    func decide(_ request: PushRequest, hasBody: Bool, memory: ConnectionMemory, now: Timestamp) {
        request.kind = .other
        (acceptedCids, acceptedPushes, acceptedBroadcast) = ([], [:], nil)
        switch admit(request, now: now) {
        case .refused(let error): refuse(request, with: error)
        case .done(let (call, app)):
            if let error = carryOut(call, request, of: app, hasBody: hasBody, now: now) { refuse(request, with: error) }
        }
    }

    /// Something, or the refusal in its place.
    private enum Finding<Value> {
        case done(Value), refused(JPushError)
    }

    /// Answers a call, or returns its refusal.
    private func carryOut(_ call: JPushCall, _ request: PushRequest, of app: String, hasBody: Bool, now: Timestamp)
        -> JPushError?
    {
        switch call {
        case .cids(let count):
            guard let count, (1...plan.mostCids).contains(count) else {
                return JPushError(1003, "count is from 1 to \(plan.mostCids)")
            }
            let given = cids.give(count, to: app, now: now)
            answer(request, .object(pairs: [("cidlist", .array(given.map { .string($0) }))]))
            return nil
        case .report(let numbers):
            guard let numbers else { return JPushError(1003, "msg_ids has 1 to 100 numbers") }
            answer(request, .array(numbers.compactMap { report(of: String($0)) }))
            return nil
        case .push, .validation, .batch:
            switch body(of: request, hasBody: hasBody, call) {
            case .refused(let error): return error
            case .done(let body):
                if case .batch(let kind) = call { return decideBatch(request, body, of: app, kind: kind, now: now) }
                return decidePush(request, body, of: app, isValidation: call == .validation, now: now)
            }
        }
    }

    /// Finds out what a request is, and which app sent it.
    private func admit(_ request: PushRequest, now: Timestamp) -> Finding<(JPushCall, app: String)> {
        guard let call = JPushCall(path: text(request[.path])) else {
            return .refused(JPushError(1020, "There is no such path"))
        }
        if case .push = call { request.kind = .push }
        if case .batch = call { request.kind = .push }
        if case .validation = call { request.kind = .dryRun }
        // The body is read first, so that the ledger names the targets of whatever is refused.
        if request.kind == .push, let body = try? JSONValue(parsing: Array(request.payload)) {
            request.addressees = addressees(of: body, call)
        }
        guard text(request[.method]) == call.method, !request.hasDuplicateHeader else {
            return .refused(JPushError(1001, "Only \(call.method) is supported"))
        }
        let app: String
        switch Self.app(showing: request[.authorization], secrets) {
        case .refused(let error): return .refused(error)
        case .done(let name): app = name
        }
        usedApps.insert(app)
        // Reports have a budget of their own, which is larger.
        if case .report = call { return .done((call, app)) }
        let isInTime = budgets[app, default: CallBudget(limit: callsPerMinute)].take(at: now)
        request.answerFields = budgets[app]?.fields(at: now) ?? []
        return isInTime ? .done((call, app)) : .refused(.fault(status: 429))
    }

    private func addressees(of body: JSONValue, _ call: JPushCall) -> [PushRequest.Addressee] {
        guard case .batch(let kind) = call else { return JPushChecker(body: body, plan: plan).addressees }
        guard case .object(let pushes)? = body["pushlist"] else { return [] }
        return pushes.map { push in
            PushRequest.Addressee(
                kind: kind == "alias" ? kind : "registration_id", target: push.value["target"]?.stringValue ?? "",
                name: push.name)
        }
    }

    /// The app key of a Basic credential.
    private static func app(showing header: UnsafeBufferPointer<UInt8>?, _ secrets: [String: String]) -> Finding<String>
    {
        let words = header.map { String(decoding: $0, as: UTF8.self).split(separator: " ") } ?? []
        let characters = words.last?.utf8.prefix { $0 != UInt8(ascii: "=") }.map { byte in
            byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
        }
        guard words.count == 2, words[0] == "Basic", words[1].utf8.count % 4 == 0,
            let bytes = characters.flatMap({ decodeBase64URL($0[...]) }),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return .refused(JPushError(1004, "basic authentication failed")) }
        let app = String(decoding: bytes[..<colon], as: UTF8.self)
        guard let secret = secrets[app] else { return .refused(JPushError(1008, "The app_key is invalid")) }
        let isRight = bytes[(colon + 1)...].elementsEqual(secret.utf8)
        return isRight ? .done(app) : .refused(JPushError(1004, "basic authentication failed"))
    }

    /// The body of a call.
    private func body(of request: PushRequest, hasBody: Bool, _ call: JPushCall) -> Finding<JSONValue> {
        if case .batch = call, !plan.isVIP {
            return .refused(JPushError(2006, "The app has no right to use this call"))
        }
        // What was not read is not accepted: a front end that answers early is busy.
        guard hasBody else { return .refused(.fault(status: 503)) }
        guard request.isBody(of: "application/json") else {
            return .refused(JPushError(1009, "The content type is not application/json"))
        }
        guard request.payloadBytes <= keptBodyBytes else { return .refused(JPushError(1005, "The body is too large")) }
        let body = try? JSONValue(parsing: Array(request.payload))
        return body.map { .done($0) } ?? .refused(JPushError(1009, "The body is not JSON"))
    }

    private func decidePush(
        _ request: PushRequest, _ body: JSONValue, of app: String, isValidation: Bool, now: Timestamp
    ) -> JPushError? {
        let checker = JPushChecker(body: body, plan: plan)
        if let flaw = checker.flaw { return .malformed(flaw) }
        let cid = body["cid"]?.stringValue
        switch cid.map({ cids.finding($0, of: app, now: now) }) ?? .fresh {
        case .unknown: return JPushError(1003, "The cid is invalid")
        case .taken(let messageID):
            if !isValidation { request.kind = .dryRun }
            answer(request, Self.success(of: body, messageID: messageID))
            return nil
        case .fresh: break
        }
        if let refusal = refusal(of: checker, app, now: now) { return refusal }
        if let refusal = targets.refusal(of: checker.registrationIDs) ?? targets.refusal(ofNames: checker.names) {
            return refusal
        }
        let messageID = nextMessageID()
        if !isValidation, let cid { acceptedCids = [(cid, messageID)] }
        if !isValidation {
            acceptedPushes = [messageID: SentPush(app: app, at: now, devices: request.addressees.count)]
        }
        if !isValidation, checker.isForEveryone { acceptedBroadcast = (app, now) }
        for index in request.addressees.indices { request.addressees[index].id = messageID }
        answer(request, Self.success(of: body, messageID: messageID))
        return nil
    }

    /// The refusal of an audience that the app may not send to; nil if it may.
    private func refusal(of checker: JPushChecker, _ app: String, now: Timestamp) -> JPushError? {
        if let refusal = replacementRefusal(of: checker.body, app, now: now) { return refusal }
        if checker.hasTags, !plan.takesTags { return JPushError(2006, "Tags are for VIP apps only") }
        let budget = broadcasts[app] ?? CallBudget(limit: broadcastsPerDay)
        return checker.isForEveryone && !budget.hasRoom(at: now)
            ? JPushError(2008, "Broadcasts exceed the limit of a day") : nil
    }

    /// The refusal of a push that is to replace one that the app has not pushed within a day; nil
    /// for all others.
    private func replacementRefusal(of body: JSONValue, _ app: String, now: Timestamp) -> JPushError? {
        guard let number = body["options"]?["override_msg_id"]?.integerValue else { return nil }
        let replaced =
            sent[String(number)].map { $0.app == app && now < $0.at.adding(seconds: CallBudget.secondsOfDay) } ?? false
        return replaced ? nil : JPushError(1003, "The override_msg_id is invalid")
    }

    private static func success(of body: JSONValue, messageID: String) -> JSONValue {
        let number = body["options"]?["sendno"]?.integerValue ?? 0
        return .object(pairs: [("sendno", .string(String(number))), ("msg_id", .string(messageID))])
    }

    // MARK: Batches

    private func decideBatch(_ request: PushRequest, _ body: JSONValue, of app: String, kind: String, now: Timestamp)
        -> JPushError?
    {
        if let flaw = JPushShape.object(["pushlist": .anyObject]).flaw(in: body) { return .malformed(flaw) }
        guard case .object(let pushes)? = body["pushlist"], (1...1000).contains(pushes.count) else {
            return JPushError(1003, "pushlist has 1 to 1000 pushes")
        }
        var results: [(String, JSONValue)] = []
        for (index, push) in pushes.enumerated() {
            switch single(push, of: app, kind: kind, now: now) {
            case .done(let messageID):
                request.addressees[index].id = messageID
                results.append((push.name, .object(pairs: [("msg_id", .string(messageID))])))
            case .refused(let error):
                request.addressees[index].answer = error.answer
                // An error may come with a number all the same.
                let number = details == .both ? [("msg_id", JSONValue.string(nextMessageID()))] : []
                results.append((push.name, .object(pairs: number + [("error", error.object(namesIDs: false))])))
            }
        }
        answer(request, .object(pairs: results))
        return nil
    }

    private func single(_ push: JSONMember, of app: String, kind: String, now: Timestamp) -> Finding<String> {
        switch cids.finding(push.name, of: app, now: now) {
        case .unknown: return .refused(JPushError(1003, "The cid is invalid"))
        case .taken(let messageID): return .done(messageID)
        case .fresh: break
        }
        if let flaw = JPushChecker(body: push.value, plan: plan).flaw(ofSingle: kind) {
            return .refused(.malformed(flaw))
        }
        if let refusal = replacementRefusal(of: push.value, app, now: now) { return .refused(refusal) }
        let ids = kind == "regid" ? [push.value["target"]?.stringValue ?? ""] : []
        if let refusal = targets.refusal(of: ids) { return .refused(refusal) }
        let messageID = nextMessageID()
        acceptedCids.append((push.name, messageID))
        acceptedPushes[messageID] = SentPush(app: app, at: now, devices: 1)
        return .done(messageID)
    }

    // MARK: Answers

    /// The result of a push, as if each of its devices were an Android phone that is online; nil if
    /// no push has this number.
    private func report(of number: String) -> JSONValue? {
        sent[number].map {
            .object(pairs: [
                ("msg_id", .string(number)), ("jpush_received", .integer(Int64($0.devices))),
                ("android_pns_sent", .null),
                ("ios_apns_sent", .null),
                ("ios_apns_received", .null), ("ios_msg_received", .null),
            ])
        }
    }

    private func nextMessageID() -> String {
        messages += 1
        return String(1_828_256_757 + messages)
    }

    func take(_ request: PushRequest) {
        for (cid, messageID) in acceptedCids { cids.take(cid, messageID: messageID) }
        sent.merge(acceptedPushes) { $1 }
        if let (app, now) = acceptedBroadcast {
            _ = broadcasts[app, default: CallBudget(limit: broadcastsPerDay, seconds: CallBudget.secondsOfDay)].take(
                at: now)
        }
    }

    func refuse(_ request: PushRequest, as fault: Answer) { refuse(request, with: .fault(status: fault.status)) }

    private func refuse(_ request: PushRequest, with error: JPushError) {
        for index in request.addressees.indices {
            (request.addressees[index].id, request.addressees[index].answer) = ("", nil)
        }
        request.answer = error.answer
        request.answerText = []
        error.body(details).append(to: &request.answerText)
    }

    private func answer(_ request: PushRequest, _ body: JSONValue) {
        request.answer = .accepted
        request.answerText = []
        body.append(to: &request.answerText)
    }

    private func text(_ value: UnsafeBufferPointer<UInt8>?) -> String {
        value.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    func header(of request: PushRequest) -> (name: StaticString, value: UnsafeBufferPointer<UInt8>) {
        let type: StaticString = "application/json"
        return ("content-type", type.bytes)
    }

    // MARK: The ledger

    /// Adds `target_kind`, `target` (whole: this file is a test's ground truth), `status`, `code`,
    /// `msg_id`, `cid` and `payload_bytes`.
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
