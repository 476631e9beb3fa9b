public import Base
import PushServices
public import Runs

/// Why a run stopped, in a sentence or two: what happened and what to check.
extension StopCause {
    /// What happened and what to check: `cancelled`, or one or two sentences.
    public var sentence: String { sentence(for: .terminal) }

    /// The same in the words of a face.
    public func sentence(for face: TextMedium) -> String { sentence(for: face, PushServices.named) }

    /// What happened and what to check, in the words of a service.
    /// - Parameters:
    ///   - face: the readers.
    ///   - service: the service with a name; nil for one that this Volley no longer supports.
    func sentence(for face: TextMedium = .terminal, _ service: (String) -> (any PushService)?) -> String {
        func words(_ name: String) -> ServiceWords { ServiceWords(name, service(name)) }
        return switch self {
        case .service(let name, let stop): ServiceStopWords(service: words(name), face: face).sentence(stop)
        case .connection(let name, let stop): ConnectionStopWords(service: words(name)).sentence(stop)
        case .limit(let name, let passed): Self.sentence(passed, words(name))
        case .services(let partial): Self.sentence(partial, for: face, service)
        case .ledger(let stop): stop.sentence
        case .notSent(let error): "Nothing more was sent: \(error)"
        case .interrupted: "interrupted"
        case .cancelled: "cancelled"
        case .rejected(let name, ""): "\(name) rejected the plan"
        case .rejected(let name, let reason): "\(name) rejected the plan: \(reason)"
        case .described(let words): words
        }
    }

    /// Each service's sentence, and which services were not affected. If only the end showed that
    /// the settings are wrong, everything was sent, and nothing is left.
    private static func sentence(
        _ partial: PartialStop, for face: TextMedium, _ service: (String) -> (any PushService)?
    ) -> String {
        func name(_ name: String) -> String { service(name)?.displayName ?? name }
        let stops = partial.stopped.map { stop in
            let sentence = stop.cause.sentence(for: face, service)
            return stop.cause.isJudgedAtEnd
                ? sentence : "Nothing more was sent through \(name(stop.service)): \(sentence)"
        }
        let others = Report.listed(partial.finished.map(name), by: "and")
        let isLeft = partial.stopped.contains { !$0.cause.isJudgedAtEnd && !$0.cause.blamesMessage(service) }
        let resume = face == .console ? "“Resume”" : "`volley resume`"
        let ends =
            others.isEmpty
            ? [] : ["All pushes through \(others) were sent\(isLeft ? "; \(resume) sends what is left." : ".")"]
        return (stops + ends).joined(separator: " ")
    }

    /// Whether the cause only showed in the answers after all pushes had been sent.
    private var isJudgedAtEnd: Bool {
        if case .service(_, .targetsRefused) = self { true } else { false }
    }

    /// Whether a service does not accept the message, which the run keeps, so that resuming it
    /// would not help.
    /// - Parameter service: the service with a name; nil for one that this Volley no longer
    ///   supports.
    func blamesMessage(_ service: (String) -> (any PushService)? = PushServices.named) -> Bool {
        guard case .service(let name, .refused(let reason, let status, _)) = self else { return false }
        return service(name)?.blamesMessage(status: status, reason: reason) ?? false
    }

    private static func sentence(_ passed: ExceededLimit, _ service: ServiceWords) -> String {
        "\(TextFormat.percent(Double(passed.count) / Double(passed.answers))) of the answers so far were \(passed.outcome) "
            + "(\(TextFormat.count(passed.count)) of \(TextFormat.count(passed.answers))), and delivery.stop_when in the campaign allows "
            + "\(passed.limit)" + (passed.lastReason.isEmpty ? "" : ". The last reason was \(passed.lastReason)")
            + advice(about: passed.outcome, service)
    }

    private static func advice(about outcome: Outcome, _ service: ServiceWords) -> String {
        switch outcome {
        case .invalidToken:
            ". Check that the export is recent and belongs to this app, and check its environment and \(service.topic) in volley.yaml. An old list "
                + "simply has many dead \(service.targets): then raise the limit in the campaign, and plan it again. This run keeps the limit that it "
                + "was planned with."
        case .rejected:
            ". Check the campaign's content and delivery, and the reasons in the report, before you send more."
        default:
            ": \(service.name) took these pushes at no attempt. Check in the report whether they all failed at once, and send the rest later or "
                + "with a slower delivery.pace."
        }
    }
}

/// A service as sentences need it, including one that this Volley no longer supports.
private struct ServiceWords {
    let name: String
    let service: (any PushService)?

    /// - Parameter service: nil for one that this Volley no longer supports.
    init(_ name: String, _ service: (any PushService)?) {
        self.service = service
        self.name = service?.displayName ?? name
    }

    /// The key of an app's topic.
    var topic: String { service?.account.topic.key ?? "topic" }

    /// The word for a token that is fetched.
    var token: String { service?.account.tokenExchange?.noun ?? "token" }

    /// The word for a name that it gives out for a request.
    var requestName: String { if case .fetched(let names)? = service?.repeatProtection { names.noun } else { "name" } }

    /// What targets are called.
    var fullTargets: String { service?.target.nouns ?? targets }

    /// The word for a target that is not a device.
    var target: String { service?.target.shortNoun ?? "target" }

    /// The word for targets that are not devices.
    var targets: String { service?.target.shortNouns ?? "targets" }

    /// The key of an app's certificate.
    var certificate: String { service?.account.names.certificate ?? "certificate" }

    /// The key of the environment, and the service's own environments to choose from.
    var environment: String {
        let names = service?.account.environments.choices.map(\.name) ?? []
        return names.count > 1 ? "environment (\(names.joined(separator: " or ")))" : "environment"
    }
}

private struct ServiceStopWords {
    let service: ServiceWords
    let face: TextMedium

    func sentence(_ stop: ServiceStop) -> String {
        switch stop {
        case .refused(let reason, let status, let lag):
            refused(reason, status: status, lagSeconds: lag)
        case .certificateExpired(let reason):
            "\(service.name) refused the client certificate with \(reason) (403). Check the expiry date of the one in volley.yaml."
        case .credentialsUnusable(let why):
            "The credentials for \(service.name) cannot be used: \(why)\(why.hasSuffix(".") ? "" : ".") Nothing is sent without them. Then "
                + "resume the run."
        case .tokenExpired(let age, let lag): tokenExpired(age, lagSeconds: lag)
        case .tokenRefused(let reason, let status, let lag): tokenRefused(reason, status: status, lagSeconds: lag)
        case .tokenMissing(let trouble, let seconds):
            "No new \(service.token) was given out for \(TextFormat.duration(seconds: seconds))\(trouble.isEmpty ? "" : " (the last time: \(trouble))"), "
                + "and nothing was sent without one. Resume the run later."
        case .namesRefused(let reason, let status): namesRefused(reason, status: status)
        case .namesMissing(let trouble, let seconds):
            "No \(service.requestName)s were given out for \(TextFormat.duration(seconds: seconds))\(trouble.isEmpty ? "" : " (the last time: \(trouble))"), "
                + "and no push leaves without one. Resume the run later."
        case .notTheService(let status):
            "The server answered a push with \(status)\(strangeness): something else answers in its place, and "
                + "what it does with pushes is not known. Check the app's environment (host and port) and proxy in volley.yaml"
                + (face == .console ? "." : "; `volley doctor` asks who answers.")
        case .notHTTP2(let endpoint):
            "\(endpoint) does not speak HTTP/2, so it is not a \(service.name) server. Check host and port in volley.yaml, and any proxy."
        case .outage(let reason, let seconds):
            "\(service.name) is refusing every push (the last with \(reason)) and has accepted none for "
                + "\(TextFormat.duration(seconds: seconds)). Resume the run later."
        case .quotaUsedUp(let reason, let until):
            "The quota that \(service.name) gives this app is used up\(reason.isEmpty ? "" : " (\(reason))"), and it takes nothing before "
                + "\(TextStyle.moment(until)). Resume the run then: what is left goes out. Resumed before, it waits until then."
        case .mostTargetsRefused(let reason):
            "More than half of the \(service.fullTargets) were refused as \(reason). That is the wrong \(service.environment) or the wrong "
                + "\(service.topic), not the \(service.targets): \(check)"
        case .targetsRefused(let reason, let refusals): targetsRefused(reason, refusals)
        case .mostRejected(let reason):
            "More than half of the pushes were refused permanently, the last with \(reason). The cause is the campaign or server, not the "
                + "devices: check the campaign's content and delivery, and the environment and \(service.topic) in volley.yaml."
        }
    }

    private var check: String {
        "check the environment and \(service.topic) in volley.yaml, and that the export belongs to this app."
    }

    /// The sign that an answer is not from the service.
    private var strangeness: String {
        guard let known = service.service, known.answersCarryID else { return ", which \(service.name) would not" }
        return " and without \(known.terms.aPushID), which \(service.name) always gives"
    }

    private func refused(_ reason: String, status: Int, lagSeconds: Double?) -> String {
        let code = reason.isEmpty ? StatusReason.text(status) : reason
        let advice = service.service?.advice(status: status, reason: reason) ?? check
        var clock = ""
        if service.service?.words(about: reason)?.mayBeClock == true, let complaint = clockComplaint(lagSeconds) {
            clock =
                " \(complaint) That alone makes \(service.service?.signedToken?.noun ?? "signature")s invalid. Set the clock."
        }
        let extent =
            service.service?.words(about: reason)?.meaning == .stopIfRepeated
            ? "refused push after push with \(code) (\(status)), and accepted none in between"
            : "refused the push with \(code) (\(status)) and would refuse all others"
        return "\(service.name) \(extent). \(advice)\(clock)"
    }

    private func namesRefused(_ reason: String, status: Int) -> String {
        let code = reason.isEmpty ? StatusReason.text(status) : reason
        let name = service.requestName
        return "\(service.name) refused to give out \(name)s with \(code) (\(status)). "
            + "Each call needs a \(name), so nothing more was sent. "
            + (service.service?.advice(status: status, reason: reason) ?? check)
    }

    private func tokenRefused(_ reason: String, status: Int, lagSeconds: Double?) -> String {
        let form = service.service?.account.credentials.first
        let beside = (form?.fieldsBeside ?? []).map(\.key)
        let check = beside.isEmpty ? "Check" : "Check \(beside.joined(separator: ", ")) of the app in volley.yaml, and"
        let next =
            clockComplaint(lagSeconds).map { "\($0) Set the clock" }
            ?? "\(check) that the key of the \(form?.noun ?? "account") was not deleted or disabled"
        return "No new \(service.token) is given out: the server for them answered \(status) with '\(reason)'. "
            + "Nothing is sent without one. \(next), then resume the run."
    }

    private func tokenExpired(_ ageSeconds: Double?, lagSeconds: Double?) -> String {
        let complaint = clockComplaint(lagSeconds)
        if let known = service.service, let exchange = known.account.tokenExchange {
            let age =
                ageSeconds.map { "only \(TextFormat.duration(seconds: $0)) after it was given out" }
                ?? "although it is new"
            return
                "\(service.name) does not accept the \(exchange.noun), \(age). \(complaint.map { "\($0) Set the clock." } ?? known.advice(status: 401, reason: ""))"
        }
        guard let facts = service.service?.signedToken else {
            return "\(service.name) calls a new signature expired. \(setClock(complaint))"
        }
        let clock =
            complaint
            ?? ageSeconds.map {
                "A token is good for \(Self.span(facts.lifetimeSeconds)), so this machine's clock seems to be at least "
                    + "\(TextFormat.duration(seconds: max(0, facts.lifetimeSeconds - $0))) behind the server's."
            }
        let shortest = Self.span(facts.shortestRenewalSeconds)
        let age =
            ageSeconds.map { "it is only \(TextFormat.duration(seconds: $0)) old" } ?? "it is younger than \(shortest)"
        return
            "\(service.name) calls the \(facts.noun) expired although \(age), and allows no newer one within \(shortest). "
            + setClock(clock)
    }

    /// - Parameter complaint: what is known about the clock.
    private func setClock(_ complaint: String?) -> String {
        (complaint.map { "\($0) Set the clock" } ?? "Check this machine's clock") + ", then resume the run."
    }

    /// `20 minutes`, `an hour`: a length of time in a sentence.
    private static func span(_ seconds: Double) -> String {
        let minutes = Int((seconds / 60).rounded(.up))
        if minutes % 60 == 0 { return minutes == 60 ? "an hour" : "\(minutes / 60) hours" }
        return minutes == 1 ? "a minute" : "\(minutes) minutes"
    }

    private func clockComplaint(_ lagSeconds: Double?) -> String? {
        lagSeconds.map {
            "This machine's clock is \(TextFormat.duration(seconds: abs($0))) \($0 > 0 ? "behind" : "ahead of") the server's."
        }
    }

    private func targetsRefused(_ reason: String, _ refusals: TargetRefusals) -> String {
        let devices =
            switch (refusals.refused, refusals.answers) {
            case (_, 1): "\(service.target) of the one device that was pushed to"
            case (let part, let all) where part == all:
                "\(service.targets) of all \(TextFormat.count(all)) devices that were pushed to"
            case (let part, let all):
                "\(service.targets) of \(TextFormat.count(part)) of the \(TextFormat.count(all)) devices that were pushed to"
            }
        // A single answer proves nothing.
        let cause =
            refusals.refused == 1
            ? "The \(service.environment), the \(service.topic) or that \(service.target) may be wrong. The \(service.target) is not suppressed: "
            : "Most likely the \(service.environment) or the \(service.topic) is wrong, not the \(service.targets), which are not suppressed: "
        return
            "\(service.name) refused the \(devices)\(refusals.isSinceOthersWereAccepted ? " since others were accepted" : ""), as \(reason). "
            + "\(cause)\(check) Then plan the campaign again, as this run keeps the settings that it was planned with."
            + repetition(refusals.accepted)
    }

    private func repetition(_ accepted: Int) -> String {
        switch accepted {
        case 0: ""
        case 1: " The device that got this push would get it again."
        default: " The \(TextFormat.count(accepted)) devices that got this push would get it again."
        }
    }
}

private struct ConnectionStopWords {
    let service: ServiceWords

    func sentence(_ stop: ConnectionStop) -> String {
        switch stop {
        case .serverNotTrusted(let endpoint, let cause):
            "The certificate of \(endpoint) cannot be trusted: \(cause). Check the host in volley.yaml, its ca file, this machine's "
                + "clock and its ca-certificates package."
        case .certificateRefused(let endpoint, let cause):
            "\(endpoint) refused the client certificate: \(cause). Check the app's \(service.certificate) and environment in volley.yaml."
        case .misconfigured(let endpoint, let cause):
            "Volley cannot connect to \(endpoint): \(cause). Check the app in volley.yaml, and the files that it names."
        case .proxyCredentials(let proxy, let cause):
            "The proxy \(proxy) asks for a user and password and did not accept those it got: \(cause). Check them in volley.yaml "
                + "(proxy) or in the environment (https_proxy)."
        case .proxyForbids(let proxy, let endpoint, let cause):
            "The proxy \(proxy) does not connect to \(endpoint): \(cause). Ask its operator to allow that host and port, or name "
                + "another proxy in volley.yaml (proxy) or in the environment (https_proxy)."
        case .proxyNotTrusted(let proxy, let cause):
            "The certificate of the proxy \(proxy) cannot be trusted: \(cause). Check the proxy's name in volley.yaml (proxy) or in the environment "
                + "(https_proxy), this machine's clock and its ca-certificates package."
        case .unreachable(let destination, let attempts, let cause):
            unreachable(destination, attempts: attempts, cause: cause)
        case .lost(let destination, let cause):
            "The connection to \(way(destination)) was lost and could not be restored: \(cause). Check the network, then resume the run."
        }
    }

    private func unreachable(_ destination: ConnectionStop.Destination, attempts: Int, cause: String) -> String {
        let ports = service.service.map { " (\($0.owner.ports) must be open)" } ?? ""
        return "\(attempts) attempts to reach \(way(destination)) failed, the last with \(cause). "
            + (destination.proxy == nil
                ? "Check the host and port, the network, and any firewall or proxy\(ports)"
                : "Check that the proxy in volley.yaml (proxy) or in the environment (https_proxy) is right and running, and check the host and port")
            + (destination.usesCertificate ? ", and whether the server accepts the client certificate." : ".")
    }

    /// The destination: `api.push.apple.com:443 through the proxy proxy:3128`.
    private func way(_ destination: ConnectionStop.Destination) -> String {
        destination.proxy.map { "\(destination.endpoint) through the proxy \($0)" } ?? destination.endpoint
    }
}

extension LedgerStop {
    fileprivate var sentence: String {
        switch self {
        case .unusable(let error): "The run file cannot be used. \(error)"
        case .endNotRecorded(let error): "The end of the run could not be recorded. \(error)"
        case .recordingFailed(let error): "Recording stopped. \(error)"
        case .claimNotNoted(let error):
            "Claiming stopped because the claim could not be recorded next to the run. \(error)"
        case .readingFailed(let error): "Reading and claiming stopped. \(error)"
        case .beginNotNoted: "its start could not be recorded next to it, so nothing was sent"
        case .takenOver: "Another volley took over the run while this one stood still."
        case .fileLost(let file, let activity): "The run file \(file) was removed or replaced while \(activity.clause)."
        case .accountFileLost(let file, let activity):
            "\(file) was removed or replaced while \(activity.clause). Without it the account of the run would be lost."
        case .lockLost(let error, let activity):
            "Another volley took over while \(activity.clause), as its lock file was removed. \(error)"
        case .processGone: "the process that sent it has ended: it was killed, or the machine went down"
        case .forgotten(let entries):
            "The store has forgotten \(TextFormat.counted(entries, one: "entry", many: "entries")) that it had confirmed, as a standby took over that "
                + "lagged behind, or a backup was brought back. An entry is about up to some thousands of devices."
        case .unwitnessed:
            "The store's database came up again, and no process was left that had sent before and could say whether something is missing in it."
        }
    }
}

extension RunActivity {
    fileprivate var clause: String {
        switch self {
        case .sending: "it was being sent"
        case .paused: "the run was paused"
        case .waiting: "the run was waiting"
        }
    }
}

extension RunStatus {
    /// Why it stopped, or that the cause is unknown; nil if it did not stop.
    public var because: String? { because(for: .terminal) }

    /// The same in the words of a face.
    func because(for face: TextMedium) -> String? {
        if isSenderHidden {
            return "whether a process is still sending it is not known: you may not read its lock file"
        }
        guard let sentence = cause?.sentence(for: face) else { return nil }
        return state == .cancelled && cause?.isForgetting == true
            ? "A person cancelled it. Besides: \(sentence)" : sentence
    }
}
