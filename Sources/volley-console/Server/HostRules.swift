import Base
import Campaigns
import HTTPTypes

/// The names that the console answers to, and the proxies that it trusts about the origin of a
/// request.
struct HostRules: Sendable {
    /// How a request reached the console.
    struct RequestOrigin: Hashable, Sendable {
        /// The address of the person; nil if it is not known.
        var client: IPAddress?
        /// Whether the person's browser used https.
        var isSecure: Bool
        /// `https://push.example.com`: the origin of the console's own pages, in lower case.
        var origin: String

        /// The network that takes turns for the work of people before they sign in. nil on this
        /// machine itself, which proxies that are not configured share with everyone.
        var turn: String? { client.flatMap { $0.isLoopback ? nil : "from \($0.clientNetwork)" } }
    }

    /// Host, and port if it is not 443, of `public_url`, in lower case; nil without one.
    private let publicHost: String?
    private let proxies: [AddressRange]

    init(_ settings: ConsoleSettings?) {
        publicHost = settings?.publicURL.map { Self.host($0.value.dropFirst("https://".count), usualPort: 443) }
        proxies = settings?.proxies ?? []
    }

    /// Whether it listens on an address that other machines reach.
    var isPublic: Bool { publicHost != nil }

    /// How a request came.
    /// - Parameter peer: the connected address; nil over a Unix socket, where only a proxy is.
    /// - Returns: nil if it names a host that is not the console's: another site may have led a
    ///   browser here under its own name (DNS rebinding).
    func requestOrigin(of headers: HTTPFields, authority: String?, peer: IPAddress?) -> RequestOrigin? {
        let isProxy = isProxy(peer)
        func forwarded(_ name: String) -> String? {
            guard isProxy, let name = HTTPField.Name(name) else { return nil }
            return headers[values: name].last.map { String($0.split(separator: ",").last ?? "").trimming }
        }
        guard let named = forwarded("X-Forwarded-Host") ?? authority else { return nil }
        let isHTTPS = forwarded("X-Forwarded-Proto")?.lowercased() == "https"
        let client = client(of: headers, peer: peer)
        if let publicHost, Self.host(named[...], usualPort: 443) == publicHost {
            return RequestOrigin(client: client, isSecure: true, origin: "https://\(publicHost)")
        }
        guard Self.isLoopback(HostPort(named[...])) else { return nil }
        let scheme = isHTTPS ? "https" : "http"
        return RequestOrigin(
            client: client, isSecure: isHTTPS,
            origin: "\(scheme)://\(Self.host(named[...], usualPort: isHTTPS ? 443 : 80))")
    }

    /// The address of the person: the connected one, or the one that a proxy of ours names; nil if
    /// it is not known.
    func client(of headers: HTTPFields, peer: IPAddress?) -> IPAddress? {
        isProxy(peer) ? clientBehindProxies(headers) ?? peer : peer
    }

    /// The network for which a client's connections count; nil for a proxy of ours, and on this
    /// machine itself, where others may be behind it.
    func network(of client: IPAddress?) -> IPAddress? {
        client.flatMap { $0.isLoopback || isProxy($0) ? nil : $0.clientNetwork }
    }

    /// Over a Unix socket, only a proxy is connected.
    private func isProxy(_ peer: IPAddress?) -> Bool {
        peer.map { peer in proxies.contains { $0.contains(peer) } } ?? true
    }

    /// The last address that is not one of our proxies: any client could have written the addresses
    /// before it.
    private func clientBehindProxies(_ headers: HTTPFields) -> IPAddress? {
        guard let name = HTTPField.Name("X-Forwarded-For") else { return nil }
        for part in headers[values: name].joined(separator: ",").split(separator: ",").reversed() {
            guard let address = IPAddress(HostPort.plain(String(part).trimming)) else { return nil }
            if !proxies.contains(where: { $0.contains(address) }) { return address }
        }
        return nil
    }

    private static func host(_ authority: Substring, usualPort: Int) -> String {
        let parts = HostPort(authority)
        return parts.host.lowercased() + (parts.portText.map { $0 == "\(usualPort)" ? "" : ":\($0)" } ?? "")
    }

    private static func isLoopback(_ host: HostPort) -> Bool {
        guard host.portText == nil || host.port != nil else { return false }
        return host.host.lowercased() == "localhost" || IPAddress(host.plainHost)?.isLoopback == true
    }
}

extension String {
    /// Without blanks at both ends.
    var trimming: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
