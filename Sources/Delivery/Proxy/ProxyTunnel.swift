import Base

/// The way through a proxy: what it is told, and what its answers mean, until the connection with it is one with the server behind it. A value: bytes
/// in, bytes out, no socket, no clock.
struct ProxyTunnel {
    /// How far it came.
    enum Progress: Hashable {
        /// The proxy has not said its last word.
        case underway
        /// What comes next is the server's, and what is said next is said to it.
        case open
        /// The proxy does not lead there, or cannot be understood.
        case failed(ConnectionFailure)
    }

    /// Where the tunnel leads.
    struct Destination: Hashable {
        /// The server's own name or address, without brackets.
        var host: String
        var port: Int
        /// The address for a proxy that is given no names.
        var address: IPAddress?
    }

    private(set) var progress = Progress.underway
    /// What the proxy is to be told next.
    private(set) var output: ArraySlice<UInt8> = []
    private var dialogue: any ProxyDialogue

    init(_ proxy: ProxyAddress, to destination: Destination) {
        switch proxy.scheme {
        case .http, .https: dialogue = HTTPConnect(proxy, to: destination)
        case .socks4, .socks4a: dialogue = SOCKS4(proxy, to: destination)
        case .socks5, .socks5h: dialogue = SOCKS5(proxy, to: destination)
        }
        take(dialogue.opening)
    }

    /// So many bytes of `output` were handed to the connection.
    mutating func noteSent(_ count: Int) { output.removeFirst(count) }

    /// Takes what the proxy said.
    /// - Returns: how many of the bytes are the proxy's own; those behind them belong to the server.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        var taken = 0
        for byte in bytes {
            guard progress == .underway else { break }
            taken += 1
            take(dialogue.receive(byte))
        }
        return taken
    }

    private mutating func take(_ step: ProxyStep) {
        switch step {
        case .listen: return
        case .say(let bytes): output += bytes
        case .open: progress = .open
        case .fail(let failure): progress = .failed(failure)
        }
    }
}

/// What follows from a byte that a proxy said.
enum ProxyStep: Hashable {
    /// There is more to come.
    case listen
    /// It is the client's turn, with these bytes; then there is more to come.
    case say([UInt8])
    /// This was the last byte before the server's own.
    case open
    case fail(ConnectionFailure)
}

/// One protocol, from the client's side.
protocol ProxyDialogue {
    /// What the client begins with.
    var opening: ProxyStep { get }

    /// Takes the next byte of the proxy, one at a time: then it cannot matter in which pieces they come.
    mutating func receive(_ byte: UInt8) -> ProxyStep
}
