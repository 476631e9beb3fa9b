public import Base
public import Campaigns
public import PushServices
public import Runs

/// The proxy on the way from this machine to the server, if any. Like credentials it belongs to the
/// machine: it is chosen when pushes are sent, and is not part of a plan.
///
/// ```swift
/// let route = try ProxyRoute(project.proxy, to: run.plan.settings.get().firstService.environment)
/// ```
public struct ProxyRoute: Sendable {
    /// The proxy and the setting that names it; nil if connections are direct.
    public var proxy: ProxyChoice?
    /// The proxy on the way to the server that gives out tokens: the environment may make an
    /// exception for one of the two servers alone.
    public var tokenProxy: ProxyChoice?

    /// - Parameters:
    ///   - setting: what volley.yaml says.
    ///   - tokens: how the service gives out tokens; nil if it does not.
    /// - Throws: a `Diagnostic` for a proxy that cannot be used.
    public init(
        _ setting: ProxySetting?, to environment: FrozenEnvironment, tokens: TokenExchange? = nil,
        _ variables: ProxyChoice.Variables = ProxyChoice.variables
    ) throws(Diagnostic) {
        guard let (host, port) = environment.address else { return }
        proxy = try ProxyChoice.choose(setting, host: host, port: port, variables)
        // Only the service's own environments have a server of their own for tokens.
        guard case .named = environment, let tokens, let tokenHost = tokens.host else {
            tokenProxy = proxy
            return
        }
        tokenProxy = try ProxyChoice.choose(setting, host: tokenHost, port: 443, variables)
    }

    /// For people, after the server's name:
    /// ` through the proxy proxy:3128, which https_proxy sets`; empty without one.
    package var proxyText: String { proxy.map { " through the proxy \($0.address), which \($0.source) sets" } ?? "" }
}
