import Base
import Cryptography
import Glibc

/// One client's connection that speaks HTTP/1.1: one request at a time (`CallReader`). Only the
/// server's thread uses it. It shares the rules, the ledger and the faults with connections of
/// HTTP/2, and nothing of their path.
final class CallConnection {
    private enum Phase { case open, silent, closed }

    let client: ClientSocket
    /// When the connection ends, and how.
    var limits: ConnectionLimits
    /// When the answer that is held back is due; nil for none.
    private(set) var answerDue: Timestamp?
    /// The events of the socket that the connection waits for.
    private(set) var awaitedEvents = Int16(POLLIN)
    let request: PushRequest
    let memory: ConnectionMemory

    /// `unowned`: connections end before their server does, in `Server.run`.
    private unowned let server: Server
    private var phase = Phase.open
    private var reader = CallReader()
    private var outgoing: [UInt8] = []
    /// The answer to the present request is due, or held back.
    private var isBusy = false
    private var endsAfterwards = false
    private var lastActivity: Timestamp

    /// - Parameter client: after its handshake.
    init(_ client: ClientSocket, server: Server) {
        self.client = client
        self.server = server
        lastActivity = server.now
        request = PushRequest(keptPayloadBytes: server.keptBodyBytes, ownHeaders: server.ownHeaders)
        limits = ConnectionLimits(server.faults)
        memory = server.rules.makeMemory(certificate: .none)
        server.ledger.countConnection()
    }

    var number: Int { client.number }

    var isClosed: Bool { phase == .closed }

    /// Whether the connection is open and has received nothing since a moment.
    func isIdle(since moment: Timestamp) -> Bool { phase == .open && !isBusy && lastActivity < moment }

    // MARK: Bytes

    /// Reads as far as the socket allows.
    func advance(buffer: UnsafeMutableRawBufferPointer) {
        if phase == .silent { return close() }
        while phase == .open {
            switch client.tls.read(into: buffer) {
            case .done(let count):
                lastActivity = server.now
                reader.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                read()
            case .wantsRead, .wantsWrite: return
            case .failed: return close()
            }
        }
    }

    private func read() {
        guard !endsAfterwards else { return }
        // The next request may come only after the answer.
        guard !isBusy else { return refuse(400, "the next request came before this one's answer") }
        switch reader.read(into: request) {
        case .needsMore: break
        case .complete:
            isBusy = true
            server.decide(request, on: self)
        case .refused(let status, let text): refuse(status, text)
        }
    }

    /// Writes what is due.
    func flush() {
        guard phase == .open else { return }
        awaitedEvents = Int16(POLLIN)
        while !outgoing.isEmpty {
            switch outgoing.withUnsafeBytes({ client.tls.write($0) }) {
            case .done(let count): outgoing.removeFirst(count)
            case .wantsRead: return
            case .wantsWrite:
                awaitedEvents |= Int16(POLLOUT)
                return
            case .failed: return close()
            }
        }
        if endsAfterwards { close() }
    }

    /// Closes the connection, in good order if nothing is under way.
    func close(isReset: Bool = false) {
        guard phase != .closed else { return }
        if phase == .open, !isReset { client.tls.shutdown() }
        phase = .closed
        client.close(isReset: isReset)
        if answerDue != nil { server.record(request, on: self, isAnswered: false) }
        answerDue = nil
    }

    /// Stays open, and neither reads nor writes any more, until the client closes.
    func fallSilent() {
        phase = .silent
        awaitedEvents = Connection.peerClosed
    }

    // MARK: Answers

    /// Holds an answer back.
    func hold(until due: Timestamp) { answerDue = due }

    /// Takes the answer that is due, if it is.
    func takesAnswer(at now: Timestamp) -> Bool {
        guard let due = answerDue, due <= now else { return false }
        answerDue = nil
        return true
    }

    /// Queues an answer.
    /// - Parameter isHalf: only the first half of it, and then the end.
    func write(status: Int, headers: [(String, String)], body: [UInt8], isHalf: Bool = false) {
        var head = "HTTP/1.1 \(status) Answer\r\ncontent-length: \(body.count)\r\n"
        for (name, value) in headers where !value.isEmpty { head += "\(name): \(value)\r\n" }
        if reader.isLast || isHalf { endsAfterwards = true }
        if endsAfterwards { head += "connection: close\r\n" }
        let bytes = Array((head + "\r\n").utf8) + body
        outgoing += isHalf ? Array(bytes.prefix(bytes.count / 2)) : bytes
        isBusy = false
    }

    /// Answers what is no request, and ends the connection.
    private func refuse(_ status: Int, _ text: String) {
        endsAfterwards = true
        write(status: status, headers: [("content-type", "text/plain")], body: Array((text + "\n").utf8))
    }
}
