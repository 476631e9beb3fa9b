import Base
import Cryptography

/// The rules of Getui's RestAPI V2 behind the simulators' wire: tokens, single pushes, batches of
/// them, lists, and pushes to tags and to everyone.
///
/// The order of the checks: path and method, token, the calls of a minute, JSON, the form of the
/// body (`GetuiKeys`), its content, how often tags and everyone are sent to (`GetuiQuotas`), the
/// targets (`CidRules`). A `request_id` that was seen before, in a request that was accepted or was
/// refused for its content, loses its message: the answer is as for any other, and the ledger has
/// no line. How Getui treats the ids of refused requests is not documented; that it remembers them
/// is the stricter guess.
final class GetuiRules: ServiceRules {
    /// More than 200 messages with all that they may hold.
    let keptBodyBytes = 4 << 20
    let ownHeaders = [GetuiTokens.header]
    @exclusivity(unchecked) private var tokens: GetuiTokens
    @exclusivity(unchecked) private var targets: CidRules
    private let callsPerMinute: Int
    private var quotas: [String: MinuteQuota] = [:]
    @exclusivity(unchecked) private var tasks: GetuiTasks
    @exclusivity(unchecked) private var broadcasts: GetuiQuotas
    private var seenIDs: Set<TokenHash> = []
    /// The ids of the request that was accepted last, which count as seen once it is taken, and the
    /// groups and statuses of what it delivers.
    private var acceptedIDs: [TokenHash] = []
    private var accepted: [(group: String, status: String)] = []
    /// The app and the moment of the request that was accepted last, if it went to everyone or to
    /// tags.
    private var acceptedBroadcast: (app: String, at: Timestamp)?
    /// What reports say, by app and group.
    private var reports: [String: GroupReport] = [:]
    private var taskNumber: UInt64 = 0

    init(_ configuration: SimulatorConfiguration) {
        tokens = GetuiTokens(configuration)
        targets = CidRules(configuration.faults.answers)
        tasks = GetuiTasks(configuration.issuer)
        broadcasts = GetuiQuotas(configuration)
        callsPerMinute = configuration.issuer.messagesPerMinute
    }

    var acceptedCredentials: Int { tokens.usedTokens }

    func makeMemory(certificate: CertificateState) -> ConnectionMemory { ConnectionMemory() }

    func isPush(_ request: PushRequest) -> Bool { request[.path].flatMap { GetuiCall(path: $0) }?.kind.isPush ?? false }

    // MARK: Decisions

    func decide(_ request: PushRequest, hasBody: Bool, memory: ConnectionMemory, now: Timestamp) {
        request.kind = .other
        guard let path = request[.path], let method = request[.method], !request.hasDuplicateHeader,
            let call = GetuiCall(path: path)
        else {
            return answer(request, .refusal(404))
        }
        guard areEqual(method, call.kind.method.bytes) else { return answer(request, .refusal(405)) }
        switch call.kind {
        case .authentication: answer(request, authenticate(request, app: call.app, now: now))
        case .removal(let token):
            tokens.remove(token.utf8, app: call.app)
            answer(request, .success(nil))
        case .listMessage: answer(request, keep(request, app: call.app, now: now))
        case .taskRemoval(let task): answer(request, end(task, request, app: call.app, now: now))
        case .report(let group): answer(request, report(on: group, request, app: call.app, now: now))
        case .single, .batch, .list, .everyone, .tags:
            request.kind = .push
            decide(request, call, hasBody: hasBody, now: now)
        }
    }

    private func authenticate(_ request: PushRequest, app: String, now: Timestamp) -> GetuiReply {
        guard let body = Self.json(request) else { return .refusal(1) }
        return tokens.giveOut(to: app, for: body, now: now)
    }

    /// The refusal of a request that is no caller's, or one too many.
    private func refusal(of request: PushRequest, app: String, now: Timestamp) -> GetuiReply? {
        guard tokens.accepts(request.own(GetuiTokens.header), app: app, now: now) else { return .refusal(10001) }
        guard quotas[app, default: MinuteQuota(limit: callsPerMinute)].take(at: now) else { return .refusal(10005) }
        return nil
    }

    /// Keeps the content of a list.
    private func keep(_ request: PushRequest, app: String, now: Timestamp) -> GetuiReply {
        if let refusal = refusal(of: request, app: app, now: now) { return refusal }
        guard let body = Self.json(request) else { return .refusal(1) }
        if let flaw = GetuiKeys.listMessage.flaw(in: body) ?? GetuiContent.flaw(of: body) { return .badParameter(flaw) }
        let task = nextTask("RASL")
        tasks.keep(body, as: task, app: app, now: now)
        return .success(.object(pairs: [("taskid", .string(task))]))
    }

    /// Ends a task of its owner.
    private func end(_ task: String, _ request: PushRequest, app: String, now: Timestamp) -> GetuiReply {
        if let refusal = refusal(of: request, app: app, now: now) { return refusal }
        return tasks.remove(task, app: app) ? .success(nil) : .badParameter("taskid is invalid")
    }

    /// Answers for a group; nothing for one that has no push.
    private func report(on group: String, _ request: PushRequest, app: String, now: Timestamp) -> GetuiReply {
        if let refusal = refusal(of: request, app: app, now: now) { return refusal }
        guard let report = reports["\(app)/\(group)"] else { return .success(.object(pairs: [])) }
        return .success(.object(pairs: [(group, report.json)]))
    }

    private func decide(_ request: PushRequest, _ call: GetuiCall, hasBody: Bool, now: Timestamp) {
        // The body is read first, so that the ledger names the targets of whatever is refused.
        let body = hasBody ? Self.json(request) : nil
        let entries = body.map { call.kind.entries(of: $0) } ?? []
        request.addressees = entries.map(\.addressee)
        if let refusal = refusal(of: request, app: call.app, now: now) { return answer(request, refusal) }
        // What was not read is not accepted: a front end that answers early is busy.
        guard let body else { return answer(request, .refusal(hasBody ? 1 : 2)) }
        if let refusal = contentRefusal(of: body, call, entries, now: now) { return answer(request, refusal) }
        var statuses: [String] = []
        for entry in entries {
            let isTarget = entry.kind != .cid || CidRules.isTarget(entry.name)
            switch isTarget ? targets.effect(of: entry.name) : .refusal(.badParameter(GetuiReply.invalidTarget)) {
            case .status(let status): statuses.append(status)
            case .refusal(let reply):
                if !CidRules.early.contains(reply.code) { seenIDs.formUnion(entries.compactMap(\.idHash)) }
                return answer(request, reply)
            }
        }
        acceptedIDs = entries.compactMap(\.idHash)
        acceptedBroadcast = call.kind.isBroadcast ? (call.app, now) : nil
        accept(request, call, entries: entries, statuses: statuses, isSilent: body["is_async"] == .bool(true))
    }

    private func contentRefusal(of body: JSONValue, _ call: GetuiCall, _ entries: [GetuiEntry], now: Timestamp)
        -> GetuiReply?
    {
        if let flaw = call.kind.shape?.flaw(in: body)
            ?? call.kind.messages(in: body).lazy.compactMap(GetuiContent.flaw).first
        {
            return .badParameter(flaw)
        }
        if let first = entries.first, Set(entries.map(\.name)).count < entries.count {
            return .badParameter("\(first.kind.rawValue) is repeated")
        }
        let ids = call.kind.messages(in: body).compactMap { $0["request_id"]?.stringValue }
        guard Set(ids).count == ids.count else { return .badParameter("request_id is repeated") }
        if call.kind.isBroadcast { return broadcasts.refusal(of: entries, app: call.app, now: now) }
        guard case .list = call.kind else { return nil }
        return tasks.take(body["taskid"]?.stringValue ?? "", targets: entries.count, app: call.app, now: now)
    }

    private func accept(
        _ request: PushRequest, _ call: GetuiCall, entries: [GetuiEntry], statuses: [String], isSilent: Bool
    ) {
        let results = zip(entries, statuses).map { entry, status in
            (task: entry.task ?? nextTask("RASS"), entry: entry, status: status)
        }
        let delivered = results.filter { result in result.entry.idHash.map { !seenIDs.contains($0) } ?? true }
        request.addressees = delivered.map { result in
            var addressee = result.entry.addressee
            if result.status == CidRules.ignored { addressee.answer = Answer(status: 200, reason: result.status) }
            return addressee
        }
        accepted = delivered.compactMap { result in
            guard result.status != CidRules.ignored else { return nil }
            return (result.entry.group ?? tasks.group(of: result.entry.task)).map {
                ("\(call.app)/\($0)", result.status)
            }
        }
        // All of them were repeats: Getui says yes, and sends nothing.
        if delivered.isEmpty { request.kind = .dryRun }
        let data: [(String, JSONValue)] =
            if case .list = call.kind {
                [(results[0].task, .object(pairs: results.map { ($0.entry.cid, .string($0.status)) }))]
            } else if call.kind.isBroadcast {
                [("taskid", .string(nextTask("RASA")))]
            } else {
                results.map { ($0.task, .object(pairs: [($0.entry.cid, .string($0.status))])) }
            }
        answer(request, .success(isSilent ? nil : .object(pairs: data)))
    }

    func take(_ request: PushRequest) {
        seenIDs.formUnion(acceptedIDs)
        for (group, status) in accepted { reports[group, default: GroupReport()].add(status) }
        if let (app, now) = acceptedBroadcast { broadcasts.take(app: app, now: now) }
    }

    func refuse(_ request: PushRequest, as fault: Answer) {
        let code =
            switch fault.status {
            case 429: 10005
            case 503: 2
            default: 500
            }
        answer(request, .refusal(code))
    }

    private func nextTask(_ kind: String) -> String {
        taskNumber += 1
        let digits = String(taskNumber, radix: 16)
        return "\(kind)_" + String(repeating: "0", count: max(0, 32 - digits.count)) + digits
    }

    // MARK: Answers

    private func answer(_ request: PushRequest, _ reply: GetuiReply) {
        request.answer = Answer(status: reply.status, reason: reply.reason)
        request.answerText = reply.text
    }

    func header(of request: PushRequest) -> (name: StaticString, value: UnsafeBufferPointer<UInt8>) {
        let type: StaticString = "application/json;charset=utf-8"
        return ("content-type", type.bytes)
    }

    // MARK: The ledger

    /// Adds `target_kind`, `target` (whole: this file is a test's ground truth), `request_id` (of a
    /// list, its task), `status`, `code` and `payload_bytes`.
    func describe(_ push: Int, of request: PushRequest, in file: LedgerFile) {
        let addressee = request.addressees.isEmpty ? nil : request.addressees[push], answer = request.answer(to: push)
        file.add(",\"target_kind\":", text: addressee?.kind)
        file.add(",\"target\":", text: addressee?.target)
        file.add(",\"request_id\":", text: addressee?.id)
        file.add(",\"status\":")
        file.add(number: answer.status)
        file.add(",\"code\":", text: answer.isAccepted ? nil : answer.reason)
        file.add(",\"payload_bytes\":")
        file.add(number: request.payloadBytes)
    }

    // MARK: Bodies

    /// The body of a request that says that it is JSON; nil if it is not JSON.
    private static func json(_ request: PushRequest) -> JSONValue? {
        guard request.isBody(of: "application/json") else { return nil }
        return try? JSONValue(parsing: Array(request.payload))
    }
}

/// The contents of lists, by their task ids, and how many targets an app has named for them in a
/// day.
///
/// A task lives as long as its message. It is forgotten earlier when its owner requests it, or
/// after `IssuerSettings.listsPerTask` lists.
/// Source: docs.getui.com, RestAPI V2, "push", toList; the quota from a copy of "code" of 2022.
struct GetuiTasks {
    private struct Task {
        let app: String
        /// The `group_name` of its message; nil for none.
        let group: String?
        let end: Timestamp
        var lists = 0
    }

    private let mostLists: Int
    private let mostTargetsOfDay: Int
    private var tasks: [String: Task] = [:]
    private var named: [String: DayQuota] = [:]

    init(_ settings: IssuerSettings) {
        (mostLists, mostTargetsOfDay) = (settings.listsPerTask, settings.listTargetsPerDay)
    }

    /// Keeps the content of lists.
    mutating func keep(_ message: JSONValue, as id: String, app: String, now: Timestamp) {
        let seconds = Double(GetuiContent.lifetimeMilliseconds(of: message)) / 1000
        tasks[id] = Task(app: app, group: message["group_name"]?.stringValue, end: now.adding(seconds: seconds))
    }

    /// Forgets a task; false if the app has none of that id.
    mutating func remove(_ id: String, app: String) -> Bool {
        guard tasks[id]?.app == app else { return false }
        tasks[id] = nil
        return true
    }

    /// The group of a task's message.
    func group(of id: String?) -> String? { id.flatMap { tasks[$0]?.group } }

    /// Counts a list; the refusal if there is no such task, or the app has named too many targets
    /// today.
    mutating func take(_ id: String, targets: Int, app: String, now: Timestamp) -> GetuiReply? {
        guard let task = tasks[id], task.app == app, now < task.end, mostLists == 0 || task.lists < mostLists else {
            return .badParameter("taskid is invalid")
        }
        guard named[app, default: DayQuota(limit: mostTargetsOfDay)].take(targets, at: now) else {
            return .refusal(30008)
        }
        tasks[id]?.lists += 1
        return nil
    }
}

extension StandIn {
    /// A strict stand-in for Getui's RestAPI V2, on a loopback port, with its own thread.
    ///
    /// `GetuiKeys` and `GetuiContent` document what it demands of messages, `GetuiTokens` of
    /// callers, `CidRules` the targets with fixed answers, and `SimulatorFaults` the faults that
    /// you can configure.
    public static let getui = StandIn(
        service: "getui", displayName: "Getui",
        rules: """
            Gives out tokens at /v2/APP/auth for proofs of the app key and master secret of volley.yaml, or of a new one, whose file is \
            written there. A client id is 32 hex digits. Those that begin with 00000090 get the status successed_ignore, 00000200 gets \
            successed_offline; those that begin with 000 and a code of Getui in five digits get their whole request that code, 00020001 for \
            example; codes that pass (2, 301, 10001, 10003, 10005, 30012 to 30015, 30018, 30019) only the first time. A request_id that comes a \
            second time is answered as if it was sent, and is not. A list has none: it is sent as often as it comes. An alias and a tag may begin \
            with such digits, too: 00020001 is an alias that no device has. At most 5 pushes to everyone and to tags are taken in a minute, and \
            at most 100 in a day.
            """,
        credential: .secret(
            app: StandInName("app_id", "SimulatorAppId00000000"),
            names: [StandInName("app_key", "SimulatorAppKey0000000")],
            key: "master_secret"),
        keyFile: "getui-master-secret.txt", ignoresCase: true,
        gone: SimulatedAnswer(status: 200, reason: "successed_ignore"),
        unknown: SimulatedAnswer(status: 400, reason: "20001"), isLimited: true, hasOwnAudiences: true,
        limitsBroadcastsPerMinute: true,
        givesOutTokens: true,
        keepsTasks: true,
        makeRules: { configuration, _ in GetuiRules(configuration) })
}
