public import Base
public import Campaigns
public import Runs

/// The proxy on the way from this machine to the server, if any. Like credentials it belongs to the machine: it is chosen when pushes are
/// sent, and is not part of a plan.
public struct ProxyRoute: Sendable {
    /// The proxy and who named it; nil if connections are direct.
    public var proxy: ProxyChoice?

    /// - Parameter setting: what volley.yaml says.
    /// - Throws: a `Diagnostic` for a proxy that cannot be used.
    public init(
        _ setting: ProxySetting?, to environment: FrozenEnvironment,
        _ variables: ProxyChoice.Variables = ProxyChoice.variables
    ) throws(Diagnostic) {
        if let (host, port) = environment.address { proxy = try ProxyChoice.choose(setting, host: host, port: port, variables) }
    }

    /// For people, after the server's name: ` through the proxy proxy:3128, which https_proxy sets`; empty without one.
    package var proxyText: String { proxy.map { " through the proxy \($0.address), which \($0.source) sets" } ?? "" }
}
