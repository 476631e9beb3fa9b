import Base

/// SOCKS5 (RFC 1928), without credentials or with a user and password (RFC 1929).
struct SOCKS5: ProxyDialogue {
    let opening: ProxyStep

    private enum Stage { case method, authentication, request }
    private let proxy: ProxyAddress
    private let destination: ProxyTunnel.Destination
    private var stage = Stage.method
    private var reply: [UInt8] = []

    private static let noAuthentication: UInt8 = 0, userAndPassword: UInt8 = 2, nothingOffered: UInt8 = 0xFF
    private static let garbage = ProxyStep.fail(.unreachable("the proxy does not speak SOCKS5"))

    init(_ proxy: ProxyAddress, to destination: ProxyTunnel.Destination) {
        self.proxy = proxy
        self.destination = destination
        opening = .say(proxy.user == nil ? [5, 1, Self.noAuthentication] : [5, 2, Self.noAuthentication, Self.userAndPassword])
    }

    mutating func receive(_ byte: UInt8) -> ProxyStep {
        reply.append(byte)
        let step =
            switch stage {
            case .method: readMethod()
            case .authentication: readAuthentication()
            case .request: readAnswer()
            }
        if step != .listen { reply.removeAll() }
        return step
    }

    private mutating func readMethod() -> ProxyStep {
        if reply[0] != 5 { return Self.garbage }
        guard reply.count == 2 else { return .listen }
        switch reply[1] {
        case Self.noAuthentication: return request()
        case Self.userAndPassword where proxy.user != nil: return authenticate()
        case Self.nothingOffered:
            return .fail(.proxyRefused(.credentials("it accepts none of the authentication methods offered")))
        default: return Self.garbage
        }
    }

    private mutating func authenticate() -> ProxyStep {
        let user = Array((proxy.user ?? "").utf8), password = Array((proxy.password ?? "").utf8)
        guard user.count <= 255, password.count <= 255 else {
            return .fail(.proxyRefused(.credentials("SOCKS5 does not allow a user or password longer than 255 bytes")))
        }
        stage = .authentication
        return .say([1, UInt8(user.count)] + user + [UInt8(password.count)] + password)
    }

    private mutating func readAuthentication() -> ProxyStep {
        guard reply.count == 2 else { return .listen }
        return reply[1] == 0 ? request() : .fail(.proxyRefused(.credentials("it rejected the user and password")))
    }

    private mutating func request() -> ProxyStep {
        stage = .request
        var request: [UInt8] = [5, 1, 0]
        if let address = destination.address ?? IPAddress(destination.host) {
            request += [address.isIPv4 ? 1 : 4] + address.bytes
        } else {
            let name = Array(destination.host.utf8)
            guard name.count <= 255 else { return .fail(.misconfigured("SOCKS5 does not allow a name longer than 255 bytes")) }
            request += [3, UInt8(name.count)] + name
        }
        return .say(request + bigEndian(destination.port))
    }

    /// Reads the answer up to its end: the address that the proxy connects from, whose value does not matter but whose length does.
    private func readAnswer() -> ProxyStep {
        if reply[0] != 5 { return Self.garbage }
        guard reply.count >= 2 else { return .listen }
        // The rest of a refusal may never come.
        if reply[1] != 0 { return .fail(Self.refusal(reply[1])) }
        guard reply.count >= 5 else { return .listen }
        let addressLength: Int
        switch reply[3] {
        case 1: addressLength = 4
        case 3: addressLength = 1 + Int(reply[4])
        case 4: addressLength = 16
        default: return Self.garbage
        }
        return reply.count == 4 + addressLength + 2 ? .open : .listen
    }

    private static func refusal(_ code: UInt8) -> ConnectionFailure {
        let cause =
            switch code {
            case 1: "general failure"
            case 2: "not allowed by its rules"
            case 3: "network unreachable"
            case 4: "host unreachable"
            case 5: "connection refused"
            case 6: "time to live expired"
            case 7: "command not supported"
            case 8: "type of address not supported"
            default: "an unknown failure"
            }
        let answer = "it answered \(code) (\(cause))"
        return code == 2 ? .proxyRefused(.forbidden(answer)) : .unreachable("the proxy cannot reach it: \(answer)")
    }
}
