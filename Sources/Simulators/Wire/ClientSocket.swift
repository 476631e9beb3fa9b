import Base
import Cryptography
import Glibc

/// A client's socket, from its arrival to its end, with TLS on it. Once the handshake is complete,
/// a `Connection` or a `CallConnection` reads and writes it, depending on the application protocol.
final class ClientSocket {
    /// The number of the connection, from 1 in order of arrival.
    let number: Int
    let descriptor: Int32
    let tls: TLSConnection
    /// The events that the handshake waits for.
    private(set) var awaitedEvents = Int16(POLLIN)
    /// Whether the handshake is not complete, and may become so.
    private(set) var isArriving = true
    private var isClosed = false

    /// - Parameter accepted: a socket that does not block. Until `init` succeeds, its caller closes
    ///   it.
    init(number: Int, accepted: Int32, context: TLSServerContext) throws(Diagnostic) {
        self.number = number
        descriptor = accepted
        tls = try TLSConnection(context, socket: accepted)
    }

    deinit { close() }

    /// Continues the handshake.
    /// - Returns: whether it is complete now.
    func shakeHands() -> Bool {
        switch tls.handshake() {
        case .done:
            isArriving = false
            return true
        case .wantsRead: awaitedEvents = Int16(POLLIN)
        case .wantsWrite: awaitedEvents = Int16(POLLOUT)
        case .failed: close()
        }
        return false
    }

    /// Closes the socket, without close_notify.
    /// - Parameter isReset: whether TCP ends with RST, and not with FIN.
    func close(isReset: Bool = false) {
        guard !isClosed else { return }
        (isClosed, isArriving) = (true, false)
        if isReset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(descriptor)
    }
}
