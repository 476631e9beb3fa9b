import Base

/// The dialogue with a proxy until the connection leads to the server behind it: what to send, and
/// what the answers mean. A value: bytes in, bytes out, no socket, no clock.
struct ProxyTunnel {
    /// How far the dialogue has come.
    enum Progress: Hashable {
        /// The proxy has more to say.
        case underway
        /// The tunnel is open: what is received next comes from the server, and what is sent next
        /// goes to it.
        case open
        /// The proxy does not connect to the server, or its answer cannot be understood.
        case failed(ConnectionFailure)
    }

    /// Where the tunnel leads.
    struct Destination: Hashable {
        /// The server's own name or address, without brackets.
        var host: String
        var port: Int
        /// The server's address, for a proxy protocol that cannot carry names.
        var address: IPAddress?
    }

    private(set) var progress = Progress.underway
    /// What to send to the proxy next.
    private(set) var output: ArraySlice<UInt8> = []
    private var dialogue: any ProxyDialogue

    init(_ proxy: ProxyAddress, to destination: Destination) {
        switch proxy.scheme {
        case .http, .https: dialogue = HTTPConnect(proxy, to: destination)
        case .socks4, .socks4a: dialogue = SOCKS4(proxy, to: destination)
        case .socks5, .socks5h: dialogue = SOCKS5(proxy, to: destination)
        }
        apply(dialogue.opening)
    }

    /// Notes how many bytes of `output` were handed to the connection.
    mutating func noteSent(_ count: Int) { output.removeFirst(count) }

    /// Reads what the proxy sent.
    /// - Returns: how many of the bytes are the proxy's own; those after them belong to the server.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        var taken = 0
        for byte in bytes {
            guard progress == .underway else { break }
            taken += 1
            apply(dialogue.receive(byte))
        }
        return taken
    }

    private mutating func apply(_ step: ProxyStep) {
        switch step {
        case .listen: return
        case .say(let bytes): output += bytes
        case .open: progress = .open
        case .fail(let failure): progress = .failed(failure)
        }
    }
}

/// What follows from a byte that a proxy sent.
enum ProxyStep: Hashable {
    /// Wait for more bytes.
    case listen
    /// Send these bytes, then wait for more.
    case say([UInt8])
    /// This was the last byte before the server's own.
    case open
    case fail(ConnectionFailure)
}

/// The client's side of a proxy protocol.
protocol ProxyDialogue {
    /// The client's first step.
    var opening: ProxyStep { get }

    /// Reads the next byte from the proxy. One byte at a time, so that it does not matter in which
    /// pieces they arrive.
    mutating func receive(_ byte: UInt8) -> ProxyStep
}

/// SOCKS4, and SOCKS4a, which accepts names. The protocols' only sources are NEC's SOCKS4.protocol
/// and SOCKS4A.protocol. They have a user but no password.
struct SOCKS4: ProxyDialogue {
    let opening: ProxyStep
    private var reply: [UInt8] = []

    private static let replyLength = 8

    init(_ proxy: ProxyAddress, to destination: ProxyTunnel.Destination) {
        var request: [UInt8] = [4, 1] + bigEndian(destination.port)
        let user = Array((proxy.user ?? "").utf8) + [0]
        if let address = destination.address ?? IPAddress(destination.host), address.isIPv4 {
            request += address.bytes + user
        } else if proxy.scheme == .socks4a {
            // The impossible address 0.0.0.x says that a name follows.
            request += [0, 0, 0, 1] + user + Array(destination.host.utf8) + [0]
        } else {
            opening = .fail(.unreachable("\(destination.host) has no IPv4 address, and SOCKS4 supports no other"))
            return
        }
        opening = .say(request)
    }

    mutating func receive(_ byte: UInt8) -> ProxyStep {
        reply.append(byte)
        if reply[0] != 0 { return .fail(.unreachable("the proxy does not speak SOCKS4")) }
        guard reply.count == Self.replyLength else { return .listen }
        return switch reply[1] {
        case 90: .open
        case 92, 93:
            .fail(.proxyRefused(.credentials("it asked this machine's identd for the user, and rejected the answer")))
        default: .fail(.unreachable("the proxy rejected the request, or cannot reach it"))
        }
    }
}

/// Returns a port in network byte order.
func bigEndian(_ port: Int) -> [UInt8] { [UInt8(port >> 8 & 0xFF), UInt8(port & 0xFF)] }

/// CONNECT (RFC 9110 section 9.3.6). It sends Basic credentials (RFC 7617) at once: a proxy that
/// requires them would only close the connection after asking.
struct HTTPConnect: ProxyDialogue {
    /// The most bytes of all heads together. Real proxies send less than a tenth of that.
    static let longestAnswer = 65_536

    let opening: ProxyStep
    private var line: [UInt8] = []
    private var count = 0
    /// The status of the head being read; nil until its first line is complete.
    private var status: Int?

    init(_ proxy: ProxyAddress, to destination: ProxyTunnel.Destination) {
        let host = destination.host.contains(":") ? "[\(destination.host)]" : destination.host
        let target = "\(host):\(destination.port)"
        var head = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
        if let user = proxy.user {
            head += "Proxy-Authorization: Basic \(Base64.text(Array("\(user):\(proxy.password ?? "")".utf8)))\r\n"
        }
        opening = .say(Array("\(head)\r\n".utf8))
    }

    mutating func receive(_ byte: UInt8) -> ProxyStep {
        count += 1
        if count > Self.longestAnswer {
            return .fail(.unreachable("the proxy's answer to CONNECT is longer than \(Self.longestAnswer) bytes"))
        }
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            return status == nil && !Self.mayBeStatusLine(line) ? Self.garbage : .listen
        }
        // A bare line feed also ends a line (RFC 9112 section 2.2).
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { line.removeAll(keepingCapacity: true) }
        guard let status else { return readStatusLine() }
        guard line.isEmpty else { return .listen }
        // After 1xx another head follows. What a 2xx says about a body does not count (RFC 9110
        // sections 15.2 and 9.3.6).
        self.status = nil
        return status < 200 ? .listen : .open
    }

    private mutating func readStatusLine() -> ProxyStep {
        let digits = line.dropFirst(Self.prefix.count + 2).prefix(4)
        guard line.count >= Self.prefix.count + 5, line[Self.prefix.count + 1] == UInt8(ascii: " "),
            digits.count == 3 || digits.last == UInt8(ascii: " "),
            let code = Int(String(decoding: digits.prefix(3), as: UTF8.self)),
            code >= 100
        else { return Self.garbage }
        status = code
        // The rest of a refusal does not matter, and may never come.
        return code < 300 ? .listen : .fail(Self.refusal(code))
    }

    private static let prefix = Array("HTTP/1.".utf8)
    private static let garbage = ProxyStep.fail(
        .unreachable("the proxy answered CONNECT with something that is not HTTP/1"))

    private static func mayBeStatusLine(_ line: [UInt8]) -> Bool {
        line.prefix(prefix.count).elementsEqual(prefix.prefix(line.count))
    }

    private static func refusal(_ status: Int) -> ConnectionFailure {
        let answer = "it answered \(status) to CONNECT"
        return switch status {
        case 407: .proxyRefused(.credentials(answer))
        case 408, 429, 500...: .unreachable("the proxy cannot reach it: \(answer)")
        default: .proxyRefused(.forbidden(answer))
        }
    }
}

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
        opening = .say(
            proxy.user == nil ? [5, 1, Self.noAuthentication] : [5, 2, Self.noAuthentication, Self.userAndPassword])
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
            guard name.count <= 255 else {
                return .fail(.misconfigured("SOCKS5 does not allow a name longer than 255 bytes"))
            }
            request += [3, UInt8(name.count)] + name
        }
        return .say(request + bigEndian(destination.port))
    }

    /// Reads the answer up to its end: the address that the proxy connects from. Its value does not
    /// matter, but its length does.
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
