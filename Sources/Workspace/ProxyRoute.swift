package import Base
package import Campaigns
package import Runs

/// The way from this machine to the server: through which proxy. It belongs to the machine, as credentials do: chosen when something is sent, and no
/// part of a plan.
package struct ProxyRoute: Sendable {
    package var proxy: ProxyChoice?

    /// - Parameter setting: what volley.yaml says.
    /// - Throws: a `Diagnostic` for a proxy that cannot be used.
    package init(
        _ setting: ProxySetting?, to environment: FrozenEnvironment,
        _ variables: ProxyChoice.Variables = ProxyChoice.variables
    ) throws(Diagnostic) {
        if let (host, port) = environment.address { proxy = try ProxyChoice.choose(setting, host: host, port: port, variables) }
    }

    /// For people, behind the server's name: ` through the proxy proxy:3128, which https_proxy sets`; empty without one.
    package var proxyText: String { proxy.map { " through the proxy \($0.address), which \($0.source) sets" } ?? "" }
}
