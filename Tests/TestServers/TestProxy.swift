import Glibc
import Synchronization

/// A proxy on loopback that follows instructions and remembers its requests. It ends with this
/// value.
public final class TestProxy: Sendable {
    /// Its protocol.
    public enum Kind: String, Sendable, CaseIterable { case http, socks4, socks4a, socks5, socks5h }

    /// What it does.
    public struct Behaviour: Sendable {
        /// The user that may pass; nil lets everybody pass.
        public var user: String?, password = ""
        /// Its tunnel has no target: it closes after its answer.
        public var closesAfterAnswer = false
        /// Closes every connection after its first tunnel, silently.
        public var diesAfterFirstTunnel = false
        /// Replaces `HTTP/1.1 200 Whatever` and an empty line, both with CR LF.
        public var connected: String?
        /// Answers every CONNECT with this status and closes.
        public var refusal: Int?
        /// Answers every SOCKS5 request with this code and closes.
        public var socksRefusal: UInt8?
        /// Cannot reach IPv6 addresses.
        public var knowsNoIPv6 = false
        /// Where tunnels lead instead of to the requested target: a port of this machine.
        public var destinationPort: Int?
        /// Cuts a tunnel after this many bytes from the server …
        public var cutAfterBytes = Int.max
        /// … and does this to this many tunnels, the first ones.
        public var cuts = 0

        /// A well-behaved proxy.
        public init() {}
    }

    /// What a client asked for.
    public struct Request: Sendable {
        /// `host:port`
        public var target: String
        /// The whole request, as text.
        public var head: String
    }

    /// The port on which it listens, on 127.0.0.1.
    public let port: Int
    private let state: ProxyState

    /// Listens from now on.
    public init(_ kind: Kind, _ behaviour: Behaviour = Behaviour()) throws {
        let (listener, port) = try Sockets.listen()
        self.port = port
        let state = ProxyState(kind, behaviour)
        self.state = state
        startThread {
            while !state.isStopped.load(ordering: .relaxed) {
                guard Sockets.waitToRead([listener]) != 0 else { continue }
                let client = accept(listener, nil, nil)
                if client >= 0 { startThread { state.serve(client) } }
            }
            close(listener)
        }
    }

    deinit { state.isStopped.store(true, ordering: .relaxed) }

    /// The requests so far, in order, including refused ones.
    public var requests: [Request] { state.requests.withLock { $0 } }

    /// Tunnels that were established.
    public var tunnels: Int { state.tunnels.load(ordering: .relaxed) }
}

private final class ProxyState: Sendable {
    let kind: TestProxy.Kind
    let behaviour: TestProxy.Behaviour
    let isStopped = Atomic(false)
    let tunnels = Atomic(0)
    let requests = Mutex<[TestProxy.Request]>([])

    init(_ kind: TestProxy.Kind, _ behaviour: TestProxy.Behaviour) {
        self.kind = kind
        self.behaviour = behaviour
    }

    func serve(_ client: Int32) {
        defer { close(client) }
        if behaviour.diesAfterFirstTunnel, tunnels.load(ordering: .relaxed) > 0 { return }
        let server: Int32?
        switch kind {
        case .http: server = connectHTTP(client)
        case .socks5, .socks5h: server = connectSOCKS5(client)
        case .socks4, .socks4a: server = connectSOCKS4(client)
        }
        guard let server else { return }
        defer { close(server) }
        if behaviour.closesAfterAnswer { return }
        let number = tunnels.add(1, ordering: .relaxed).newValue
        relay(client, server, atMost: number <= behaviour.cuts ? behaviour.cutAfterBytes : .max)
    }

    private func note(_ target: String, _ head: String) {
        requests.withLock { $0.append(.init(target: target, head: head)) }
    }

    /// Everything leads to this machine, whatever name was requested.
    private func connect(_ target: String) -> Int32? {
        if behaviour.knowsNoIPv6, target.hasPrefix("[") { return nil }
        guard let colon = target.lastIndex(of: ":"), let port = Int(target[target.index(after: colon)...]) else {
            return nil
        }
        return Sockets.connect(behaviour.destinationPort ?? port)
    }

    // MARK: CONNECT (RFC 9110 section 9.3.6)

    private func connectHTTP(_ client: Int32) -> Int32? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), bytes.count < 8192 {
            guard let byte = Sockets.read(1, from: client) else { return nil }
            bytes += byte
        }
        let head = String(decoding: bytes, as: UTF8.self)
        let words = head.split(separator: " ")
        guard words.count > 2, words[0] == "CONNECT" else { return nil }
        note(String(words[1]), head)
        var status = behaviour.refusal ?? 200
        if let user = behaviour.user,
            !head.contains("\r\nProxy-Authorization: Basic \(base64("\(user):\(behaviour.password)"))\r\n")
        {
            status = 407
        }
        let server = status == 200 ? connect(String(words[1])) : nil
        if status == 200, server == nil { status = 502 }
        let challenge = status == 407 ? "Proxy-Authenticate: Basic realm=\"test\"\r\n" : ""
        let refusal = "HTTP/1.1 \(status) Whatever\r\nContent-Length: 4\r\nConnection: close\r\n\(challenge)\r\nno!\n"
        _ = Sockets.write(
            Array((status == 200 ? behaviour.connected ?? "HTTP/1.1 200 Whatever\r\n\r\n" : refusal).utf8), to: client)
        return server
    }

    private func base64(_ text: String) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let bytes = Array(text.utf8)
        var result = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word = group.reduce(0) { $0 << 8 | Int($1) }
            word <<= 8 * (3 - group.count)
            for digit in 0..<4 { result.append(digit <= group.count ? digits[word >> (18 - 6 * digit) & 63] : "=") }
        }
        return result
    }

    // MARK: SOCKS5 (RFC 1928, RFC 1929)

    private func connectSOCKS5(_ client: Int32) -> Int32? {
        guard let greeting = Sockets.read(2, from: client), greeting[0] == 5,
            let methods = Sockets.read(Int(greeting[1]), from: client)
        else { return nil }
        let method: UInt8 = behaviour.user == nil ? 0 : 2
        guard methods.contains(method) else {
            note("", "no method")
            _ = Sockets.write([5, 0xFF], to: client)
            return nil
        }
        _ = Sockets.write([5, method], to: client)
        if method == 2, !authenticates(client) { return nil }
        guard let target = socks5Target(client) else { return nil }
        note(target, "methods \(methods)")
        let server = behaviour.socksRefusal == nil ? connect(target) : nil
        let reply = behaviour.socksRefusal ?? (server == nil ? 5 : 0)
        _ = Sockets.write([5, reply, 0, 1, 0, 0, 0, 0, 0, 0], to: client)
        return server
    }

    private func authenticates(_ client: Int32) -> Bool {
        guard let start = Sockets.read(2, from: client), let user = Sockets.read(Int(start[1]), from: client),
            let length = Sockets.read(1, from: client), let password = Sockets.read(Int(length[0]), from: client)
        else { return false }
        let isKnown = user.elementsEqual((behaviour.user ?? "").utf8) && password.elementsEqual(behaviour.password.utf8)
        if !isKnown { note("", "wrong password") }
        return Sockets.write([1, isKnown ? 0 : 1], to: client) && isKnown
    }

    /// socks5h requires a name: a name that the client looked up would be an address, as in socks5.
    private func socks5Target(_ client: Int32) -> String? {
        guard let head = Sockets.read(4, from: client), (head[3] == 3) == (kind == .socks5h) else { return nil }
        let host: String
        switch head[3] {
        case 1:
            guard let address = Sockets.read(4, from: client) else { return nil }
            host = address.map(String.init).joined(separator: ".")
        case 3:
            guard let count = Sockets.read(1, from: client), let name = Sockets.read(Int(count[0]), from: client) else {
                return nil
            }
            host = String(decoding: name, as: UTF8.self)
        default:
            guard let address = Sockets.read(16, from: client) else { return nil }
            host = address == [UInt8](repeating: 0, count: 15) + [1] ? "[::1]" : "\(address)"
        }
        guard let port = Sockets.read(2, from: client) else { return nil }
        return "\(host):\(Int(port[0]) << 8 | Int(port[1]))"
    }

    private func connectSOCKS4(_ client: Int32) -> Int32? {
        func text() -> String? {
            var bytes: [UInt8] = []
            while let byte = Sockets.read(1, from: client)?[0] {
                if byte == 0 { return String(decoding: bytes, as: UTF8.self) }
                bytes.append(byte)
            }
            return nil
        }
        guard let head = Sockets.read(8, from: client), head[0] == 4, let user = text() else { return nil }
        var host = head[4...7].map(String.init).joined(separator: ".")
        // Such an address means that a name follows (SOCKS4A).
        let namesHost = head[4...6].allSatisfy { $0 == 0 }
        guard namesHost == (kind == .socks4a) else { return nil }
        if namesHost {
            guard let name = text() else { return nil }
            host = name
        }
        let target = "\(host):\(Int(head[2]) << 8 | Int(head[3]))"
        note(target, user)
        let server = user == behaviour.user ?? user ? connect(target) : nil
        _ = Sockets.write([0, server == nil ? 91 : 90, 0, 0, 0, 0, 0, 0], to: client)
        return server
    }

    // MARK: The tunnel

    private func relay(_ client: Int32, _ server: Int32, atMost limit: Int) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var fromServer = 0
        while !isStopped.load(ordering: .relaxed), fromServer < limit {
            let ready = Sockets.waitToRead([client, server])
            for (index, (source, target)) in [(client, server), (server, client)].enumerated()
            where ready & 1 << index != 0 {
                // No more than is left: on a busy machine a chunk may hold all answers of a test.
                let count = recv(source, &chunk, index == 1 ? min(chunk.count, limit - fromServer) : chunk.count, 0)
                guard count > 0, Sockets.write(Array(chunk[..<count]), to: target) else { return }
                if index == 1 { fromServer += count }
            }
        }
    }
}
