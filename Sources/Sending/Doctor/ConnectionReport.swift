import Audience
public import Base
public import Campaigns
import Delivery
import PushServices
import Reports
import Workspace

/// The checks of the connection to the server and of its answer, step by step.
struct ConnectionReport {
    var service: any PushService = PushServices.standard
    let endpoint: Endpoint
    let route: ProxyRoute
    let topic: String
    /// Whether Volley signs its requests with a key rather than showing a certificate.
    let usesKey: Bool
    /// Which of the app's credentials cannot be used, by its key in volley.yaml, so that the server
    /// was asked with a temporary key; nil otherwise.
    let missingCredentials: String?
    let result: ConnectionProbe.Result

    private static let stages = ["name", "connection", "tunnel", "TLS", "HTTP/2"]

    /// The largest difference at which a clock counts as right.
    private static let wellSetSeconds: Int64 = 30
    /// The largest difference that does no harm. Volley uses a provider token for 50 minutes and
    /// the service accepts it for 60; beyond this, the service refuses some.
    private static let worstSeconds: Int64 = 300

    /// All steps as skipped, for when the server could not be queried.
    static func skipped(after reason: String, of service: any PushService) -> [CheckStep] {
        (stages + ["clock", "credentials", service.account.topic.key]).map { .skipped($0, message: reason) }
    }

    func steps() -> [CheckStep] {
        ConnectionProbe.Stage.allCases.filter { $0 != .answer }.map(step) + answer
    }

    // MARK: - The connection

    private func step(_ stage: ConnectionProbe.Stage) -> CheckStep {
        let name = Self.stages[stage.rawValue]
        if let failure = result.failure {
            if failure.stage == stage { return .failed(name, message: failure.message, remedy: remedy(stage)) }
            if failure.stage < stage { return .skipped(name, message: "an earlier step failed") }
        }
        switch stage {
        case .name: return .ok(name, message: "\(nextHop) is \(result.address.isEmpty ? "known" : result.address)")
        case .connection: return .ok(name, message: "to \(nextHop)\(portOfNextHop)")
        case .proxy:
            return route.proxy == nil
                ? .skipped(name, message: "no proxy is used") : .ok(name, message: "the proxy leads to \(endpoint)")
        case .tls:
            return .ok(
                name,
                message: "the certificate of \(endpoint.host) is trusted\(result.tls.isEmpty ? "" : ", \(result.tls)")")
        case .http2: return .ok(name, message: "agreed on (ALPN h2)")
        case .answer: return .ok(name, message: "")
        }
    }

    private var nextHop: String { route.proxy.map { "the proxy \($0.address.host)" } ?? endpoint.host }
    private var portOfNextHop: String { ":\(route.proxy?.address.port ?? endpoint.port)" }

    private func remedy(_ stage: ConnectionProbe.Stage) -> String {
        switch stage {
        case .name:
            "Check the name in volley.yaml, and that this machine's resolver (/etc/resolv.conf) answers: getent hosts \(endpoint.host)"
        case .connection where route.proxy == nil:
            "Let this machine connect to \(endpoint.host), port \(endpoint.port) (TCP): in the firewall, or through a proxy (`proxy:` in volley.yaml). "
                + service.owner.networks
        case .connection: "Check that the proxy runs, and that its host and port are right."
        case .proxy: "Let the proxy allow CONNECT to \(endpoint); check its user and password."
        case .tls:
            "A device in between may be intercepting TLS: exempt \(endpoint.host) from inspection. Otherwise check the machine's certificate "
                + "authorities (ca-certificates), its clock, and `ca` in volley.yaml."
        case .http2:
            "A device in between may be intercepting TLS: exempt \(endpoint.host) from inspection. Also check host and port."
        case .answer: "Try again; if it happens again, look for a device in between that cuts connections."
        }
    }

    // MARK: - The answer

    private var topicKey: String { service.account.topic.key }

    private var answer: [CheckStep] {
        if let failure = result.failure {
            let reason = failure.stage == .answer ? failure.message : "the server was not reached"
            let clock = CheckStep.skipped("clock", message: "\(reason); this machine says \(result.localTime)")
            guard failure.stage == .answer else {
                return [clock, .skipped("credentials", message: reason), .skipped(topicKey, message: reason)]
            }
            return [
                clock, .failed("credentials", message: reason, remedy: remedy(.answer)),
                .skipped(topicKey, message: reason),
            ]
        }
        if let missingCredentials {
            let reason = "without a valid \(missingCredentials) the server says nothing"
            return [
                clock(.skipped("credentials", message: reason)), .skipped("credentials", message: reason),
                .skipped(topicKey, message: reason),
            ]
        }
        let (credentials, topic) = verdict
        return [clock(credentials), credentials, topic]
    }

    /// The server's verdict on the credentials and on the topic.
    private var verdict: (credentials: CheckStep, topic: CheckStep) {
        let body = result.isStrange ? " with a body that is not JSON" : ""
        let said = "the server answered \(result.status)\(result.reason.isEmpty ? body : " \(result.reason)")"
        let credentials = CheckStep.ok("credentials", message: "the server accepted the \(accepted)")
        switch result.isStrange ? .notTheService : service.probeMeaning(status: result.status, reason: result.reason) {
        case .fine: return (credentials, .ok(topicKey, message: "\(topic) may be pushed to"))
        case .wrongTopic:
            let remedy =
                "Check \(spelling), and that \(owner)."
                + (account == nil ? " A \(names.signingKey) may also be limited to certain \(topicKey)s." : "")
            return (credentials, .failed(topicKey, message: "\(said) to \(topic)", remedy: remedy))
        case .wrongCredentials:
            let explanation = ReasonText.explanation(of: result.reason, by: service)
            let remedy = explanation ?? service.advice(status: result.status, reason: result.reason)
            return (
                .failed("credentials", message: said, remedy: remedy),
                .skipped(topicKey, message: "checked only with valid credentials")
            )
        case .busy:
            return (
                .failed("credentials", message: said, remedy: timeout),
                .skipped(topicKey, message: "the server did not say")
            )
        case .notTheService:
            return (
                .failed(
                    "credentials", message: "\(said), which \(service.displayName) would not",
                    remedy: "Check environment, host and port of the app in volley.yaml."),
                .skipped(topicKey, message: "the server did not say")
            )
        }
    }

    /// What to do while the service is busy. What the report says of such a reason speaks of
    /// retries, and the probe made none.
    private var timeout: String {
        service.words(about: result.reason) == nil
            ? "Try again in a few minutes." : service.advice(status: result.status, reason: result.reason)
    }

    private var names: CredentialNames { service.account.names }

    /// How the topic must be written.
    private var spelling: String {
        let topic = service.account.topic
        return topic.whatToAdd.isEmpty
            ? "`\(topic.key)` letter by letter" : "that `\(topic.key)` is \(topic.whatToAdd), letter by letter"
    }

    /// The account that tokens were given out for, and what they are called; nil if Volley signs
    /// them itself, or shows a certificate.
    private var account: (key: String, token: String)? {
        guard usesKey, service.account.signingKey == nil else { return nil }
        return service.account.credentials.lazy.compactMap { form in
            if case .fetchedToken(let exchange) = form.kind { (form.key, exchange.noun) } else { nil }
        }.first
    }

    /// What the server accepted of the credentials.
    private var accepted: String {
        if let account { return "\(account.key)'s \(account.token)" }
        return usesKey ? "\(names.signingKey)'s signature" : names.certificate
    }

    /// The account that the credentials must belong to.
    private var owner: String {
        if let account { return "the \(account.key) is this app's" }
        return usesKey
            ? "the \(names.signingKey)'s \(names.issuer) is the app's" : "the \(names.certificate) is this app's"
    }

    private func clock(_ credentials: CheckStep) -> CheckStep {
        let remedy = "Let the machine set its clock by itself: timedatectl set-ntp true"
        guard let serverTime = result.serverTime else {
            let local = "this machine says \(result.localTime)"
            if service.words(about: result.reason)?.meaning == .retry(.credentialExpired), missingCredentials == nil {
                return .failed(
                    "clock", message: "the server says that a signature made just now has expired; \(local)",
                    remedy: remedy)
            }
            guard usesKey, account == nil, credentials.state == .ok else {
                return .skipped("clock", message: "the server does not tell its time; \(local)")
            }
            return .ok(
                "clock", message: "close enough to the server's, which accepted a signature made just now; \(local)")
        }
        let seconds = (result.localTime.epochMilliseconds - serverTime.epochMilliseconds) / 1000
        let difference =
            "\(abs(seconds)) \(TextFormat.plural(abs(seconds), one: "second")) \(seconds < 0 ? "behind" : "ahead of") the server's"
        if abs(seconds) <= Self.wellSetSeconds { return .ok("clock", message: "agrees with the server's") }
        if abs(seconds) <= Self.worstSeconds { return .ok("clock", message: difference, remedy: remedy) }
        return .failed("clock", message: difference, remedy: remedy)
    }
}

/// Checks a database that devices are read from. No query of a campaign is executed.
public struct DatabaseCheck: Sendable {
    let database: Database
    let cancellation: Cancellation

    /// Prepares the check of a database of volley.yaml.
    public init(_ database: Database, _ cancellation: Cancellation) {
        (self.database, self.cancellation) = (database, cancellation)
    }

    /// Connects, and looks at the server and at what the role may do.
    /// - Throws: `CancellationError`.
    public func step() throws -> CheckStep {
        let audience = AudienceDatabase(
            name: database.name.value, variable: database.variable, seconds: database.timeoutSeconds)
        do { return .ok("database", message: try audience.check(cancellation)) } catch let mistake as Diagnostic {
            return .failed("database", mistake)
        }
    }
}
