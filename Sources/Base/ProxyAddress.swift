/// A proxy and Volley's credentials for it. Its description leaves out user and password, so that
/// neither reaches a message or a log.
///
/// ```swift
/// let proxy = try ProxyAddress("socks5h://proxy.example:1080")
/// ```
public struct ProxyAddress: Hashable, Sendable, CustomStringConvertible {
    /// The protocol of the proxy.
    public enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// CONNECT (RFC 9110 section 9.3.6), `https` over TLS.
        case http, https
        /// `socks4` and `socks5` resolve names here, the others leave it to the proxy.
        case socks4, socks4a, socks5, socks5h
    }

    /// The protocol of the proxy.
    public var scheme: Scheme
    /// A name or an address; IPv6 in brackets.
    public var host: String
    /// 1 to 65535.
    public var port: Int
    /// The user; nil for none.
    public var user: String?
    /// nil for none.
    public var password: String?

    /// `host:port`
    public var description: String { "\(host):\(port)" }

    /// The whole address, with user and password, in the form that libcurl takes: never show it.
    public var url: String {
        var credentials = ""
        if let user {
            credentials = Self.encoded(user)
            if let password { credentials += ":" + Self.encoded(password) }
            credentials += "@"
        }
        return "\(scheme.rawValue)://\(credentials)\(host):\(port)"
    }

    /// Whether such a proxy accepts a password; SOCKS4 only has a user.
    public var takesPassword: Bool { scheme != .socks4 && scheme != .socks4a }
}

extension ProxyAddress {
    /// Which parts of an address may be missing.
    public enum Form: Sendable {
        /// Scheme and port must be there: without them, programs guess differently.
        case whole
        /// As in environment variables: `http` without a scheme, and port 1080 (443 for `https`)
        /// without a port. Source: curl(1), --proxy.
        case asInEnvironment
    }

    /// Reads `scheme://user:password@host:port`; user and password may be left out, and are
    /// percent-encoded where needed.
    public init(_ text: String, _ form: Form = .whole) throws(Mistake) {
        let example = "For example: http://proxy.example.com:3128."
        let shown = Self.shown(text)
        var rest = text[...]
        scheme = .http
        if let end = text.firstRange(of: "://") {
            guard let known = Scheme(rawValue: text[..<end.lowerBound].lowercased()) else {
                throw Mistake(
                    "the scheme of the proxy '\(shown)' is unknown",
                    remedy: "It must be one of \(Scheme.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            scheme = known
            rest = text[end.upperBound...]
        } else if form == .whole {
            throw Mistake("the proxy '\(shown)' has no scheme", remedy: "Add one, \(example.lowercasedFirst)")
        }
        if rest.last == "/" { rest.removeLast() }
        // A password may hold an @; a host cannot.
        if let at = rest.lastIndex(of: "@") {
            (user, password) = try Self.credentials(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        guard !rest.contains(where: { "/?#".contains($0) }) else {
            throw Mistake(
                "the proxy '\(shown)' has more than scheme, host and port", remedy: "Remove what follows the port.")
        }
        let parts = HostPort(rest)
        host = String(parts.host)
        guard Self.isHost(host) else { throw Mistake("the proxy '\(shown)' has no host", remedy: example) }
        self.port = scheme == .https ? 443 : 1080
        if password != nil, !takesPassword {
            throw Mistake(
                "\(scheme.rawValue) takes a user but no password", remedy: "Remove the password, or use socks5h.")
        }
        guard parts.portText != nil else {
            guard form == .asInEnvironment else {
                throw Mistake(
                    "the proxy '\(shown)' has no port", remedy: "Add it: most proxies listen on 3128, 8080 or 1080.")
            }
            return
        }
        guard let number = parts.port else {
            throw Mistake("the port of the proxy '\(shown)' must be a number from 1 to 65535", remedy: example)
        }
        self.port = number
    }

    /// Scheme, host and port: user and password are secret, and so may be what follows.
    private static func shown(_ text: String) -> String {
        guard !text.isEmpty else { return "" }
        let name = text.firstRange(of: "://").map { text[..<$0.lowerBound] }
        let scheme = name.map { $0.allSatisfy { $0.isLetter || $0.isNumber } ? "\($0)://" : "" } ?? ""
        guard let address = SecretText.address(name == nil ? "http://\(text)" : text) else { return "\(scheme)…" }
        return "\(scheme)\(address.hasUser ? "…@" : "")\(address.host)\(address.hasPath ? "/…" : "")"
    }

    private static func credentials(_ text: Substring) throws(Mistake) -> (String?, String?) {
        let colon = text.firstIndex(of: ":")
        let password = colon.map { text[text.index(after: $0)...] }
        guard let user = decoded(text[..<(colon ?? text.endIndex)]), let plain = decoded(password ?? "") else {
            throw Mistake(
                "the proxy's user or password holds a % that is not followed by two hex digits",
                remedy: "Write a % itself as %25.")
        }
        if user.isEmpty, plain.isEmpty { return (nil, nil) }
        return (user, password == nil ? nil : plain)
    }

    private static func isHost(_ host: String) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.count > 2 && host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || ":.%".contains($0) }
        }
        return !host.isEmpty
            && host.utf8.allSatisfy { byte in
                byte > 0x20 && byte != 0x7F && !"/?#[]@:\\\"'<>%".utf8.contains(byte)
            }
    }

    /// Percent-encodes everything but unreserved characters (RFC 3986 section 2.3).
    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            let isUnreserved =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                    true
                default: false
                }
            if isUnreserved {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// nil if a % is not followed by two hex digits.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let pair = String(decoding: rest.prefix(2), as: UTF8.self)
            guard pair.utf8.count == 2, pair.allSatisfy(\.isHexDigit), let value = UInt8(pair, radix: 16), value != 0
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
