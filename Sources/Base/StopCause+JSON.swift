/// Causes as stored in run files: an object with `cause` and the cause's values by name.
extension StopCause {
    /// `{"cause": "refused", "service": "…", "reason": "BadTopic", "status": 400}`
    public var json: JSONValue {
        switch self {
        case .service(let service, let stop): stop.fields.json(service: service)
        case .connection(let service, let stop): stop.fields.json(service: service)
        case .limit(let service, let passed): passed.fields.json(service: service)
        case .services(let partial): partial.fields.json()
        case .ledger(let stop): stop.fields.json()
        case .notSent(let words): CauseFields("not_sent", ("words", .string(words))).json()
        case .interrupted: CauseFields("interrupted").json()
        case .cancelled: CauseFields("cancelled").json()
        case .rejected(let name, let reason):
            CauseFields("rejected", ("by", .string(name)), ("words", .string(reason))).json()
        case .described(let words): CauseFields("described", ("words", .string(words))).json()
        }
    }

    /// The cause from which `json` was made; nil for anything else.
    public init?(json: JSONValue) {
        let read = CauseReader(json: json)
        guard let cause = read.text("cause") else { return nil }
        if let service = read.text("service") {
            if let stop = ServiceStop(cause, read) {
                self = .service(service, stop)
            } else if let stop = ConnectionStop(cause, read) {
                self = .connection(service: service, stop)
            } else if cause == ExceededLimit.cause, let passed = ExceededLimit(read) {
                self = .limit(service: service, passed)
            } else {
                return nil
            }
            return
        }
        switch (cause, read.text("words")) {
        case ("interrupted", _): self = .interrupted
        case ("cancelled", _): self = .cancelled
        case ("rejected", let reason?):
            guard let name = read.text("by") else { return nil }
            self = .rejected(by: name, reason: reason)
        case ("not_sent", let words?): self = .notSent(words)
        case ("described", let words?): self = .described(words)
        case (PartialStop.cause, _):
            guard let partial = PartialStop(read) else { return nil }
            self = .services(partial)
        default:
            guard let stop = LedgerStop(cause, read) else { return nil }
            self = .ledger(stop)
        }
    }
}

/// A cause's name and values.
private struct CauseFields {
    let cause: String
    let values: [(String, JSONValue?)]

    init(_ cause: String, _ values: (String, JSONValue?)...) {
        self.cause = cause
        self.values = values
    }

    func json(service: String? = nil) -> JSONValue {
        let head = [("cause", JSONValue.string(cause))] + (service.map { [("service", .string($0))] } ?? [])
        return .object(pairs: head + values.compactMap { name, value in value.map { (name, $0) } })
    }
}

/// Reads values by their names.
private struct CauseReader {
    let json: JSONValue

    func text(_ name: String) -> String? { json[name]?.stringValue }
    func number(_ name: String) -> Int? { json[name]?.integerValue.map(Int.init) }

    func seconds(_ name: String) -> Double? { json[name]?.doubleValue }

    func flag(_ name: String) -> Bool {
        if case .bool(let value) = json[name] { value } else { false }
    }
}

extension PartialStop {
    fileprivate static let cause = "services"

    fileprivate var fields: CauseFields {
        CauseFields(
            Self.cause,
            (
                "stopped",
                .array(stopped.map { .object(pairs: [("service", .string($0.service)), ("why", $0.cause.json)]) })
            ),
            ("finished", .array(finished.map { .string($0) })))
    }

    fileprivate init?(_ read: CauseReader) {
        guard case .array(let stopped)? = read.json["stopped"], case .array(let finished)? = read.json["finished"]
        else { return nil }
        let stops = stopped.compactMap { stop -> Stop? in
            guard let name = stop["service"]?.stringValue, let cause = stop["why"].flatMap({ StopCause(json: $0) })
            else { return nil }
            return Stop(service: name, cause: cause)
        }
        guard stops.count == stopped.count else { return nil }
        self.init(stopped: stops, finished: finished.compactMap(\.stringValue))
    }
}

extension ServiceStop {
    fileprivate var fields: CauseFields {
        switch self {
        case .refused(let reason, let status, let lag):
            CauseFields(
                "refused", ("reason", .string(reason)), ("status", .integer(Int64(status))),
                ("clock_lag_s", lag.map { .double($0) }))
        case .certificateExpired(let reason): CauseFields("certificate_expired", ("reason", .string(reason)))
        case .credentialsUnusable(let why): CauseFields("credentials_unusable", ("because", .string(why)))
        case .tokenExpired(let age, let lag):
            CauseFields("token_expired", ("age_s", age.map { .double($0) }), ("clock_lag_s", lag.map { .double($0) }))
        case .tokenRefused(let reason, let status, let lag):
            CauseFields(
                "token_refused", ("reason", .string(reason)), ("status", .integer(Int64(status))),
                ("clock_lag_s", lag.map { .double($0) }))
        case .tokenMissing(let trouble, let seconds):
            CauseFields("token_missing", ("reason", .string(trouble)), ("seconds", .double(seconds)))
        case .namesRefused(let reason, let status):
            CauseFields("names_refused", ("reason", .string(reason)), ("status", .integer(Int64(status))))
        case .namesMissing(let trouble, let seconds):
            CauseFields("names_missing", ("reason", .string(trouble)), ("seconds", .double(seconds)))
        case .notTheService(let status): CauseFields("not_the_service", ("status", .integer(Int64(status))))
        case .notHTTP2(let endpoint): CauseFields("not_http2", ("endpoint", .string(endpoint)))
        case .outage(let reason, let seconds):
            CauseFields("outage", ("reason", .string(reason)), ("seconds", .double(seconds)))
        case .quotaUsedUp(let reason, let until):
            CauseFields("quota_used_up", ("reason", .string(reason)), ("until", .string(until.description)))
        case .mostTargetsRefused(let reason): CauseFields("most_targets_refused", ("reason", .string(reason)))
        case .targetsRefused(let reason, let refusals):
            CauseFields(
                "targets_refused", ("reason", .string(reason)), ("refused", .integer(Int64(refusals.refused))),
                ("answers", .integer(Int64(refusals.answers))),
                ("since_accepted", .bool(refusals.isSinceOthersWereAccepted)),
                ("accepted", .integer(Int64(refusals.accepted))))
        case .mostRejected(let reason): CauseFields("most_rejected", ("reason", .string(reason)))
        }
    }

    fileprivate init?(_ cause: String, _ read: CauseReader) {
        let reason = read.text("reason") ?? ""
        switch cause {
        case "refused":
            guard let status = read.number("status") else { return nil }
            self = .refused(reason: reason, status: status, clockLagSeconds: read.seconds("clock_lag_s"))
        case "token_refused":
            guard let status = read.number("status") else { return nil }
            self = .tokenRefused(reason: reason, status: status, clockLagSeconds: read.seconds("clock_lag_s"))
        case "token_missing": self = .tokenMissing(lastTrouble: reason, seconds: read.seconds("seconds") ?? 0)
        case "names_refused":
            guard let status = read.number("status") else { return nil }
            self = .namesRefused(reason: reason, status: status)
        case "names_missing": self = .namesMissing(lastTrouble: reason, seconds: read.seconds("seconds") ?? 0)
        case "certificate_expired": self = .certificateExpired(reason: reason)
        case "credentials_unusable": self = .credentialsUnusable(because: read.text("because") ?? "")
        case "token_expired":
            self = .tokenExpired(ageSeconds: read.seconds("age_s"), clockLagSeconds: read.seconds("clock_lag_s"))
        case "not_the_service":
            guard let status = read.number("status") else { return nil }
            self = .notTheService(status: status)
        case "not_http2": self = .notHTTP2(endpoint: read.text("endpoint") ?? "")
        case "outage": self = .outage(lastReason: reason, seconds: read.seconds("seconds") ?? 0)
        case "quota_used_up":
            guard let until = read.text("until").flatMap({ Timestamp($0) }) else { return nil }
            self = .quotaUsedUp(reason: reason, until: until)
        case "most_targets_refused": self = .mostTargetsRefused(lastReason: reason)
        case "targets_refused":
            guard let refused = read.number("refused"), let answers = read.number("answers"),
                let accepted = read.number("accepted")
            else { return nil }
            self = .targetsRefused(
                reason: reason,
                TargetRefusals(
                    refused: refused, answers: answers, isSinceOthersWereAccepted: read.flag("since_accepted"),
                    accepted: accepted))
        case "most_rejected": self = .mostRejected(lastReason: reason)
        default: return nil
        }
    }
}

extension ConnectionStop {
    fileprivate var fields: CauseFields {
        switch self {
        case .serverNotTrusted(let endpoint, let why):
            CauseFields("server_not_trusted", ("endpoint", .string(endpoint)), ("because", .string(why)))
        case .certificateRefused(let endpoint, let why):
            CauseFields("certificate_refused", ("endpoint", .string(endpoint)), ("because", .string(why)))
        case .misconfigured(let endpoint, let why):
            CauseFields("misconfigured", ("endpoint", .string(endpoint)), ("because", .string(why)))
        case .proxyCredentials(let proxy, let why):
            CauseFields("proxy_credentials", ("proxy", .string(proxy)), ("because", .string(why)))
        case .proxyForbids(let proxy, let endpoint, let why):
            CauseFields(
                "proxy_forbids", ("proxy", .string(proxy)), ("endpoint", .string(endpoint)), ("because", .string(why)))
        case .proxyNotTrusted(let proxy, let why):
            CauseFields("proxy_not_trusted", ("proxy", .string(proxy)), ("because", .string(why)))
        case .unreachable(let destination, let attempts, let why):
            CauseFields(
                "unreachable", ("endpoint", .string(destination.endpoint)),
                ("proxy", destination.proxy.map { .string($0) }),
                ("certificate", .bool(destination.usesCertificate)), ("attempts", .integer(Int64(attempts))),
                ("because", .string(why)))
        case .lost(let destination, let why):
            CauseFields(
                "connection_lost", ("endpoint", .string(destination.endpoint)),
                ("proxy", destination.proxy.map { .string($0) }),
                ("certificate", .bool(destination.usesCertificate)), ("because", .string(why)))
        }
    }

    fileprivate init?(_ cause: String, _ read: CauseReader) {
        let (endpoint, proxy, why) = (read.text("endpoint") ?? "", read.text("proxy"), read.text("because") ?? "")
        let destination = Destination(endpoint: endpoint, proxy: proxy, usesCertificate: read.flag("certificate"))
        switch cause {
        case "server_not_trusted": self = .serverNotTrusted(endpoint: endpoint, cause: why)
        case "certificate_refused": self = .certificateRefused(endpoint: endpoint, cause: why)
        case "misconfigured": self = .misconfigured(endpoint: endpoint, cause: why)
        case "proxy_credentials": self = .proxyCredentials(proxy: proxy ?? "", cause: why)
        case "proxy_forbids": self = .proxyForbids(proxy: proxy ?? "", endpoint: endpoint, cause: why)
        case "proxy_not_trusted": self = .proxyNotTrusted(proxy: proxy ?? "", cause: why)
        case "unreachable": self = .unreachable(destination, attempts: read.number("attempts") ?? 0, cause: why)
        case "connection_lost": self = .lost(destination, cause: why)
        default: return nil
        }
    }
}

extension ExceededLimit {
    fileprivate static let cause = "stop_when"

    fileprivate var fields: CauseFields {
        CauseFields(
            Self.cause, ("outcome", .string(outcome.name)), ("count", .integer(Int64(count))),
            ("answers", .integer(Int64(answers))),
            ("limit_millionths", .integer(Int64(limit.millionths))), ("reason", .string(lastReason)))
    }

    fileprivate init?(_ read: CauseReader) {
        guard let name = read.text("outcome"), let outcome = Outcome.allCases.first(where: { $0.name == name }),
            let count = read.number("count"), let answers = read.number("answers"),
            let limit = read.number("limit_millionths")
        else { return nil }
        self.init(
            outcome: outcome, count: count, answers: answers, limit: StopShare(millionths: limit),
            lastReason: read.text("reason") ?? "")
    }
}

extension LedgerStop {
    fileprivate var fields: CauseFields {
        func words(_ cause: String, words: String) -> CauseFields { CauseFields(cause, ("words", .string(words))) }
        func loss(_ cause: String, words: String, _ activity: RunActivity) -> CauseFields {
            CauseFields(cause, ("words", .string(words)), ("during", .string(activity.rawValue)))
        }
        return switch self {
        case .unusable(let error): words("run_unusable", words: error)
        case .endNotRecorded(let error): words("end_not_recorded", words: error)
        case .recordingFailed(let error): words("recording_failed", words: error)
        case .claimNotNoted(let error): words("claim_not_noted", words: error)
        case .readingFailed(let error): words("reading_failed", words: error)
        case .beginNotNoted: CauseFields("begin_not_noted")
        case .takenOver: CauseFields("taken_over")
        case .fileLost(let file, let activity): loss("run_file_lost", words: file, activity)
        case .accountFileLost(let file, let activity): loss("account_file_lost", words: file, activity)
        case .lockLost(let error, let activity): loss("lock_lost", words: error, activity)
        case .processGone: CauseFields("process_gone")
        case .forgotten(let entries): CauseFields("store_has_forgotten", ("entries", .integer(Int64(entries))))
        case .unwitnessed: CauseFields("store_unwitnessed")
        }
    }

    fileprivate init?(_ cause: String, _ read: CauseReader) {
        let words = read.text("words") ?? ""
        let activity = read.text("during").flatMap(RunActivity.init) ?? .sending
        switch cause {
        case "run_unusable": self = .unusable(words)
        case "end_not_recorded": self = .endNotRecorded(words)
        case "recording_failed": self = .recordingFailed(words)
        case "claim_not_noted": self = .claimNotNoted(words)
        case "reading_failed": self = .readingFailed(words)
        case "begin_not_noted": self = .beginNotNoted
        case "taken_over": self = .takenOver
        case "run_file_lost": self = .fileLost(words, during: activity)
        case "account_file_lost": self = .accountFileLost(words, during: activity)
        case "lock_lost": self = .lockLost(words, during: activity)
        case "process_gone": self = .processGone
        case "store_has_forgotten":
            guard let entries = read.number("entries") else { return nil }
            self = .forgotten(entries: entries)
        case "store_unwitnessed": self = .unwitnessed
        default: return nil
        }
    }
}
