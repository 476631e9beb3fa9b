import Workspace
public import Base
public import Campaigns
import Cryptography
import Delivery
import PushServices
import Reports
import Runs
import Simulators

/// Checks an app's connection to one of its services, step by step, without sending to a device: its request has a
/// token that no device has.
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
            route = try ProxyRoute(app.proxy, to: settings.firstService.environment, tokens: settings.service.account.tokenExchange)
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
            if let token = settings.service.account.tokenExchange?.noun { steps.append(.ok(token, message: "given out")) }
            return steps + way(gateway.endpoint, gateway.credentials, settings, route, missing: nil)
        } catch {
            guard let token = settings.service.account.tokenExchange?.noun else {
                return steps + [.failed("server", Diagnostic(explaining: error))]
            }
            return steps + [.failed(token, Diagnostic(explaining: error))] + wayWithoutCredentials(settings, route, missing: token)
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
            return [credentials, proxy(try ProxyRoute(app.proxy, to: settings.firstService.environment, tokens: exchange))]
        } catch { return [credentials, .failed("proxy", error)] }
    }

    /// Checks the connection with a temporary key: if you repair a key or certificate, you also need to know whether
    /// the connection works.
    private func wayWithoutCredentials(_ settings: RunSettings, _ route: ProxyRoute, missing: String) -> [CheckStep] {
        guard let (host, port) = settings.firstService.environment.address else {
            return ConnectionReport.skipped(after: "the simulator starts only with a valid \(missing)", of: settings.service)
        }
        var endpoint = Endpoint(host: host, port: port)
        if case .server(_, _, let authority) = settings.firstService.environment { endpoint.certificateAuthorityFile = authority }
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
            service: settings.service, endpoint: endpoint, route: route, topic: SecretText.hidden(in: settings.firstService.topic),
            usesKey: usesKey, missingCredentials: missing, result: result
        ).steps()
    }
}
