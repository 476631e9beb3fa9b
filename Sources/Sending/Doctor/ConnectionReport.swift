import Workspace
import Base
import Campaigns
import Delivery
import PushServices
import Reports

/// The checks of the connection to the server and of its answer, step by step.
struct ConnectionReport {
    var service: any PushService = PushServices.standard
    let endpoint: Endpoint
    let route: ProxyRoute
    let topic: String
    /// Whether Volley signs its requests with a key rather than showing a certificate.
    let usesKey: Bool
    /// `key` or `certificate` if the app's own cannot be used, so that the server was asked with a temporary key; nil otherwise.
    let missingCredentials: String?
    let result: ConnectionProbe.Result

    private static let names = ["name", "connection", "tunnel", "TLS", "HTTP/2", "clock", "credentials", "topic"]

    /// The largest difference at which a clock counts as right.
    private static let wellSetSeconds: Int64 = 30
    /// The largest difference that does no harm. Volley uses a provider token for 50 minutes and the service accepts it for 60; beyond
    /// this, the service refuses some.
    private static let worstSeconds: Int64 = 300

    /// All steps as skipped, for when the server could not be asked.
    static func skipped(after reason: String) -> [CheckStep] { names.map { .skipped($0, message: reason) } }

    func steps() -> [CheckStep] {
        ConnectionProbe.Stage.allCases.filter { $0 != .answer }.map(step) + answer
    }

    // MARK: - The connection

    private func step(_ stage: ConnectionProbe.Stage) -> CheckStep {
        let name = Self.names[stage.rawValue]
        if let failure = result.failure {
            if failure.stage == stage { return .failed(name, message: failure.message, remedy: remedy(stage)) }
            if failure.stage < stage { return .skipped(name, message: "an earlier step failed") }
        }
        switch stage {
        case .name: return .ok(name, message: "\(nextHop) is \(result.address.isEmpty ? "known" : result.address)")
        case .connection: return .ok(name, message: "to \(nextHop)\(portOfNextHop)")
        case .proxy:
            return route.proxy == nil ? .skipped(name, message: "no proxy is used") : .ok(name, message: "the proxy leads to \(endpoint)")
        case .tls: return .ok(name, message: "the certificate of \(endpoint.host) is trusted\(result.tls.isEmpty ? "" : ", \(result.tls)")")
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
                + service.networks
        case .connection: "Check that the proxy runs, and that its host and port are right."
        case .proxy: "Let the proxy allow CONNECT to \(endpoint); check its user and password."
        case .tls:
            "A device in between may be intercepting TLS: exempt \(endpoint.host) from inspection. Otherwise check the machine's certificate "
                + "authorities (ca-certificates), its clock, and `ca` in volley.yaml."
        case .http2: "A device in between may be intercepting TLS: exempt \(endpoint.host) from inspection. Also check host and port."
        case .answer: "Try again; if it happens again, look for a device in between that cuts connections."
        }
    }

    // MARK: - The answer

    private var answer: [CheckStep] {
        if let failure = result.failure {
            let reason = failure.stage == .answer ? failure.message : "the server was not reached"
            let clock = CheckStep.skipped("clock", message: "\(reason); this machine says \(result.localTime)")
            guard failure.stage == .answer else {
                return [clock, .skipped("credentials", message: reason), .skipped("topic", message: reason)]
            }
            return [clock, .failed("credentials", message: reason, remedy: remedy(.answer)), .skipped("topic", message: reason)]
        }
        if let missingCredentials {
            let reason = "without a valid \(missingCredentials) the server says nothing"
            return [
                clock(.skipped("credentials", message: reason)), .skipped("credentials", message: reason),
                .skipped("topic", message: reason),
            ]
        }
        let (credentials, topic) = verdict
        return [clock(credentials), credentials, topic]
    }

    /// The server's verdict on the credentials and on the topic.
    private var verdict: (credentials: CheckStep, topic: CheckStep) {
        let said = "the server answered \(result.status)\(result.reason.isEmpty ? "" : " \(result.reason)")"
        let advice = ReasonText.explanation(of: result.reason)
        let credentials = CheckStep.ok(
            "credentials", message: usesKey ? "the server accepted the key's signature" : "the server accepted the certificate")
        switch service.probeMeaning(status: result.status, reason: result.reason) {
        case .fine: return (credentials, .ok("topic", message: "\(topic) may be pushed to"))
        case .wrongTopic:
            let remedy =
                "Check that `topic` is the app's bundle id, letter by letter, and that \(usesKey ? "the key's team is the app's" : "the certificate is this app's"). "
                + "A key may also be limited to certain topics."
            return (credentials, .failed("topic", message: "\(said) to \(topic)", remedy: remedy))
        case .wrongCredentials:
            let remedy = advice ?? Self.otherAdvice
            return (
                .failed("credentials", message: said, remedy: remedy), .skipped("topic", message: "checked only with valid credentials")
            )
        case .busy:
            let remedy = advice ?? "Try again in a few minutes."
            return (.failed("credentials", message: said, remedy: remedy), .skipped("topic", message: "the server did not say"))
        case .notTheService:
            return (
                .failed(
                    "credentials", message: "\(said), which \(service.displayName) would not",
                    remedy: "Check environment, host and port of the app in volley.yaml."),
                .skipped("topic", message: "the server did not say")
            )
        }
    }

    private static let otherAdvice = "Check key, team, topic and environment of the app in volley.yaml."

    private func clock(_ credentials: CheckStep) -> CheckStep {
        let remedy = "Let the machine set its clock by itself: timedatectl set-ntp true"
        guard let serverTime = result.serverTime else {
            let local = "this machine says \(result.localTime)"
            if service.words(about: result.reason)?.meaning == .retry(.credentialExpired), missingCredentials == nil {
                return .failed("clock", message: "the server says that a signature made just now has expired; \(local)", remedy: remedy)
            }
            guard usesKey, credentials.state == .ok else {
                return .skipped("clock", message: "the server does not tell its time; \(local)")
            }
            return .ok("clock", message: "close enough to the server's, which accepted a signature made just now; \(local)")
        }
        let seconds = (result.localTime.epochMilliseconds - serverTime.epochMilliseconds) / 1000
        let difference =
            "\(abs(seconds)) \(TextFormat.plural(abs(seconds), one: "second")) \(seconds < 0 ? "behind" : "ahead of") the server's"
        if abs(seconds) <= Self.wellSetSeconds { return .ok("clock", message: "agrees with the server's") }
        if abs(seconds) <= Self.worstSeconds { return .ok("clock", message: difference, remedy: remedy) }
        return .failed("clock", message: difference, remedy: remedy)
    }
}
