import Base

/// The dialogue with a proxy until the connection leads to the server behind it: what to send, and what the answers mean. A value: bytes
/// in, bytes out, no socket, no clock.
struct ProxyTunnel {
    /// How far the dialogue has come.
    enum Progress: Hashable {
        /// The proxy has more to say.
        case underway
        /// The tunnel is open: what is received next comes from the server, and what is sent next goes to it.
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

    /// Reads the next byte from the proxy. One byte at a time, so that it does not matter in which pieces they arrive.
    mutating func receive(_ byte: UInt8) -> ProxyStep
}
