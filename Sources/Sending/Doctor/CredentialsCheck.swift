public import Base
public import Campaigns
import Cryptography
import Delivery
import Glibc
public import PushServices
import Reports
import Runs
import Simulators
import Workspace

/// A check of whether the key or certificate can be used, as far as this machine can tell.
public struct CredentialsCheck: Sendable {
    let settings: RunSettings
    /// The service that takes them.
    let service: any PushService
    package let now: Timestamp

    private var names: CredentialNames { service.account.names }

    func step() -> CheckStep {
        if let credential = settings.firstService.credential, let form = service.account.credential(credential.form) {
            do {
                if form.kind.isPlainSecret { return try secret(credential, form) }
                switch form.kind {
                case .clientCertificate: return try certificate(credential, form)
                case .signingKey: return try key(credential, form)
                case .fetchedToken(let exchange): return try account(credential, form, exchange)
                case .basic, .signedRequest: preconditionFailure("a plain secret was checked before")
                }
            } catch {
                return .failed(form.key, error)
            }
        }
        let name = names.all[0]
        guard settings.firstService.environment == .simulator else {
            return .failed(
                name, message: "the app has \(names.none())", remedy: "Add `\(name):` to the app in volley.yaml.")
        }
        return .ok(name, message: "no \(name) is needed: the simulator gets its own for each run")
    }

    private func key(_ credential: FrozenCredential, _ form: CredentialForm) throws(Diagnostic) -> CheckStep {
        let file = credential[form.files.first] ?? "", id = credential[form.keyID] ?? ""
        _ = try SigningKey(file: file, KeyFileWords(of: service))
        var found = Findings("\(file): P-256, \(names.keyID) \(id), \(names.issuer) \(credential[form.issuer] ?? "")")
        found.add(SigningKey.permissionWarning(file: file))
        if let named = Self.keyID(inName: file, of: service), named != id {
            found.message += "; the file is named after the key \(named)"
            found.remedies.append("Check `\(names.keyID)` in volley.yaml: it must be the \(names.keyID) of this key.")
        }
        return found.step(form)
    }

    private func account(_ credential: FrozenCredential, _ form: CredentialForm, _ exchange: TokenExchange)
        throws(Diagnostic) -> CheckStep
    {
        let secret = AccountSecret(credential, form, of: service)
        let key = try secret.key(exchange, for: settings)
        let place = credential[form.files.first] ?? credential[form.variable] ?? ""
        var found = Findings("\(place): \(key.issuer), key \(key.keyID)")
        found.add(secret.permissionWarning)
        return found.step(form)
    }

    private func secret(_ credential: FrozenCredential, _ form: CredentialForm) throws(Diagnostic) -> CheckStep {
        let secret = credential.plainSecret(form)
        _ = try secret.text()
        let place = credential[form.files.first] ?? credential[form.variable].map { "the variable \($0)" } ?? ""
        let names =
            [(service.account.topic.noun, settings.firstService.topic)]
            + form.fieldsBeside.map { ($0.noun, credential[$0] ?? "") }
        var found = Findings("\(place): for the \(names.map { "\($0.0) \($0.1)" }.joined(separator: ", "))")
        found.add(secret.permissionWarning)
        return found.step(form)
    }

    /// The key id in the name of a key file, as the service names such files; nil if it has none.
    public static func keyID(inName file: String, of service: any PushService) -> String? {
        service.account.credentials.lazy.compactMap { $0.file?.id(inName: file) }.first
    }

    private func certificate(_ credential: FrozenCredential, _ form: CredentialForm) throws(Diagnostic) -> CheckStep {
        let file = credential[form.files.first] ?? ""
        let certificate = try ClientCertificate(
            file: file, passphrase: credential.passphrase(form), now: now, words: KeyFileWords(of: service))
        if let step = wrongTopic(certificate) { return step }
        var found = Findings("\(file): '\(certificate.commonName)', valid until \(certificate.notAfter)")
        found.add(ClientCertificate.permissionWarning(file: file))
        found.add(certificate.expiryWarning(now: now))
        return found.step(form)
    }

    private func wrongTopic(_ certificate: ClientCertificate) -> CheckStep? {
        let (key, topic) = (service.account.topic.key, settings.firstService.topic)
        let named = service.topic(ofCertificate: certificate.commonName, userID: certificate.userID)
        guard !named.isEmpty, named != topic, !topic.hasPrefix(named + ".") else { return nil }
        return .failed(
            names.certificate, message: "the certificate is for \(named), but the app's \(key) is \(topic)",
            remedy: "Name the certificate of this app in volley.yaml, or correct its \(key).")
    }
}

/// What was found about a credential that can be used.
private struct Findings {
    var message: String
    var remedies: [String] = []

    init(_ message: String) { self.message = message }

    mutating func add(_ warning: Diagnostic?) {
        guard let warning else { return }
        message += "; \(warning.message)"
        if let remedy = warning.remedy { remedies.append(remedy) }
    }

    func step(_ form: CredentialForm) -> CheckStep {
        .ok(form.key, message: message, remedy: remedies.isEmpty ? nil : remedies.joined(separator: " "))
    }
}

/// One check of `volley doctor`.
public struct CheckStep: Sendable {
    /// The result of a check.
    public enum State: String, Sendable {
        /// The check passed.
        case ok
        /// Pushes cannot be sent, or soon cannot.
        case failed
        /// The check was impossible or unnecessary.
        case skipped
    }

    /// What was checked, in one or two words: `key`, `connection`, `TLS`.
    public var name: String
    /// The result of the check.
    public var state: State
    /// What the check found, without a final full stop.
    public var message: String
    /// What to do, in whole sentences; nil if nothing. An `ok` check has a remedy if you should do
    /// something soon.
    public var remedy: String?

    static func ok(_ name: String, message: String, remedy: String? = nil) -> CheckStep {
        CheckStep(name: name, state: .ok, message: message, remedy: remedy)
    }

    static func failed(_ name: String, message: String, remedy: String?) -> CheckStep {
        CheckStep(name: name, state: .failed, message: message, remedy: remedy)
    }

    /// A check that was impossible or unnecessary, with the reason.
    public static func skipped(_ name: String, message: String) -> CheckStep {
        CheckStep(name: name, state: .skipped, message: message)
    }

    /// Makes a failed step from an error.
    public static func failed(_ name: String, _ mistake: Diagnostic) -> CheckStep {
        let place = mistake.position.map { "\($0): " } ?? mistake.file.map { "\($0): " } ?? ""
        return .failed(name, message: place + mistake.message, remedy: mistake.remedy)
    }

    /// The step in `doctor --json`.
    public var json: JSONValue {
        .object(pairs: [
            ("step", .string(name)), ("state", .string(state.rawValue)), ("message", .string(message)),
            ("remedy", remedy.map { .string($0) } ?? .null),
        ])
    }
}

/// Checks an app's connection to one of its services, step by step, without sending to a device:
/// its request has a token that no device has.
///
/// ```swift
/// let check = ServiceCheck(app: app, project: project, now: .now(), context: context)
/// for step in check.steps() { print(step.name, step.state) }
/// ```
public struct ServiceCheck: Sendable {
    let app: App
    let project: Project
    /// The number of the service among the app's.
    let service: Int
    let now: Timestamp
    let context: SendingContext

    /// Prepares the check of an app of a project.
    /// - Parameter service: the number of the service among the app's.
    public init(app: App, project: Project, service: Int = 0, now: Timestamp, context: SendingContext) {
        self.app = app
        self.project = project
        self.service = service
        self.now = now
        self.context = context
    }

    /// Runs all steps in order. A step that needs an earlier one is skipped if that one failed.
    public func steps() -> [CheckStep] {
        let settings: RunSettings
        do { settings = try RunSettings(app, projectFile: project.file, pushType: .alert).ofService(service) } catch {
            return [.failed("settings", Diagnostic(explaining: error))]
        }
        let credentials = CredentialsCheck(settings: settings, service: settings.service, now: now).step()
        let route: ProxyRoute
        var steps = [credentials]
        do {
            route = try ProxyRoute(
                app.proxy, to: settings.firstService.environment, tokens: settings.service.account.tokenExchange)
            steps.append(proxy(route))
        } catch {
            steps.append(.failed("proxy", error))
            return steps + ConnectionReport.skipped(after: "the proxy cannot be used", of: settings.service)
        }
        guard credentials.state == .ok else {
            return steps + wayWithoutCredentials(settings, route, missing: credentials.name)
        }
        do {
            let gateway = try Gateway(settings, context, proxy: route.tokenProxyURL, now: now)
            defer { _ = gateway.close() }
            if let token = settings.service.account.tokenExchange?.noun {
                steps.append(.ok(token, message: "given out"))
            }
            return steps + way(gateway.endpoint, gateway.credentials, settings, route, missing: nil)
        } catch {
            guard let token = settings.service.account.tokenExchange?.noun else {
                return steps + [.failed("server", Diagnostic(explaining: error))]
            }
            return steps + [.failed(token, Diagnostic(explaining: error))]
                + wayWithoutCredentials(settings, route, missing: token)
        }
    }

    /// The steps for which no server is asked: the settings, the key or certificate, the proxy.
    public func stepsWithoutAsking() -> [CheckStep] {
        let settings: RunSettings
        do { settings = try RunSettings(app, projectFile: project.file, pushType: .alert).ofService(service) } catch {
            return [.failed("settings", Diagnostic(explaining: error))]
        }
        let credentials = CredentialsCheck(settings: settings, service: settings.service, now: now).step()
        do {
            let exchange = settings.service.account.tokenExchange
            return [
                credentials, proxy(try ProxyRoute(app.proxy, to: settings.firstService.environment, tokens: exchange)),
            ]
        } catch { return [credentials, .failed("proxy", error)] }
    }

    /// Checks the connection with a temporary key: if you repair a key or certificate, you also
    /// need to know whether the connection works.
    private func wayWithoutCredentials(_ settings: RunSettings, _ route: ProxyRoute, missing: String) -> [CheckStep] {
        guard let (host, port) = settings.firstService.environment.address else {
            return ConnectionReport.skipped(
                after: "the simulator starts only with a valid \(missing)", of: settings.service)
        }
        var endpoint = Endpoint(host: host, port: port)
        if case .server(_, _, let authority) = settings.firstService.environment {
            endpoint.certificateAuthorityFile = authority
        }
        let standIn = Gateway.standIn(settings)
        let source = SignedTokenSource(
            key: .generate(), keyID: standIn.keyID, teamID: standIn.teamID, history: context.signedTokens,
            facts: settings.service.signedToken ?? .standard)
        return way(endpoint, .token(source), settings, route, missing: missing)
    }

    private func proxy(_ route: ProxyRoute) -> CheckStep {
        guard let proxy = route.proxy else { return .skipped("proxy", message: "none is set") }
        return .ok("proxy", message: "\(proxy.address.scheme.rawValue)://\(proxy.address), which \(proxy.source) sets")
    }

    private func way(
        _ endpoint: Endpoint, _ credentials: Credentials, _ settings: RunSettings, _ route: ProxyRoute, missing: String?
    ) -> [CheckStep] {
        var sender = SenderSettings(
            settings.service, endpoint: endpoint, credentials: credentials, options: settings.options(startingAt: now),
            runSeed: .random())
        route.apply(to: &sender)
        sender.options.expiration = 0
        let result = ConnectionProbe(sender).run()
        let usesKey: Bool
        if case .certificate = credentials { usesKey = false } else { usesKey = true }
        return ConnectionReport(
            service: settings.service, endpoint: endpoint, route: route,
            topic: SecretText.hidden(in: settings.firstService.topic),
            usesKey: usesKey, missingCredentials: missing, result: result
        ).steps()
    }
}
