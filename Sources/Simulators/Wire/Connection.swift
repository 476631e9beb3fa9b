import Base
import Cryptography
import Glibc
import HTTP2

/// One client's connection that speaks HTTP/2: its session, and the requests on its open streams.
/// Only the server's thread uses it.
final class Connection: HTTP2ServerSession {
    /// The phases of a connection.
    enum Phase {
        case open
        /// The simulator's side of TCP is closed. The client's side is read to its end: closing the
        /// socket earlier would turn FIN into RST.
        case lingering
        /// Open, but no longer read or written.
        case silent
        case closed
    }

    let client: ClientSocket
    /// `unowned`: connections end before their server does, in `Server.run`.
    unowned let server: Server
    var phase = Phase.open
    /// What the connection must do later.
    @exclusivity(unchecked) var alarms = ConnectionAlarms()
    /// The events of the socket that the connection waits for.
    var awaitedEvents = Int16(POLLIN)
    /// Whether there may be more to read even if the socket does not become readable again.
    private(set) var hasMoreToRead = false
    /// What the rules of the service remember about this connection.
    @exclusivity(unchecked) private var memory = ConnectionMemory()
    @exclusivity(unchecked) var limits = ConnectionLimits()
    /// Whether an answer was submitted before.
    @exclusivity(unchecked) var hasAnswered = false
    /// Raw bytes, whole frames or not, that are written after all frames that are due.
    @exclusivity(unchecked) var rawBytes: [UInt8] = []
    /// Streams to reset once their answers are written. If the reset were submitted earlier, the
    /// answer would be lost.
    @exclusivity(unchecked) var earlyAnswered: [Int32] = []
    /// Windows to give back late; nil if nghttp2 gives them back.
    @exclusivity(unchecked) var owedWindows: DelayedWindowUpdates?
    private var requests: [PushRequest] = []
    @exclusivity(unchecked) private var idleRequests: [PushRequest] = []
    /// The last request with headers that came in; nil if its stream is ignored. `requests` keeps
    /// it alive, and both are emptied together.
    @exclusivity(unchecked) private var current: Unmanaged<PushRequest>?
    private var outgoing: [UInt8] = []
    private var sentBytes = 0
    private var lastActivity: Timestamp

    private static let pieceBytes = 64 << 10
    /// The bytes that a connection reads before the others get their turn.
    private static let mostBytesPerTurn = 256 << 10

    /// - Parameter client: after its handshake.
    init(_ client: ClientSocket, server: Server) throws(Diagnostic) {
        self.client = client
        self.server = server
        lastActivity = server.now
        try super.init(server.callbacks)
        outgoing.reserveCapacity(2 * Self.pieceBytes)
        begin()
    }

    var number: Int { client.number }

    var isClosed: Bool { phase == .closed }

    // MARK: Bytes

    /// Reads as far as the socket allows. Answers are written by `flush`.
    func advance(buffer: UnsafeMutableRawBufferPointer) {
        hasMoreToRead = false
        switch phase {
        case .open: break
        case .lingering: return discard(into: buffer)
        case .silent: return close()
        case .closed: return
        }
        guard limits.ending == nil, awaitedEvents & Int16(POLLOUT) == 0 else { return }
        var taken = 0
        while taken < Self.mostBytesPerTurn {
            switch client.tls.read(into: buffer) {
            case .done(let count):
                taken += count
                guard receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
            case .wantsRead: return
            case .wantsWrite:
                awaitedEvents = Int16(POLLOUT)
                return
            case .failed:
                close()
                return
            }
        }
        hasMoreToRead = true
    }

    private func begin() {
        let hasCertificate = client.tls.hasClientCertificate
        memory = server.rules.makeMemory(
            certificate: !hasCertificate ? .none : client.tls.clientCertificateIsInForce ? .inForce : .expired)
        limits = ConnectionLimits(server.faults, hasCertificate: hasCertificate)
        owedWindows = server.faults.windows.map(DelayedWindowUpdates.init)
        if server.sendsGarbageFirst() {
            writeGarbageFirst()
            // The garbage must come first, even before an acknowledgement of the client's SETTINGS.
            swap(&outgoing, &rawBytes)
        } else {
            submitFirstSettings()
        }
        server.ledger.countConnection()
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        lastActivity = server.now
        let isHTTP2 = consume(bytes)
        if !isHTTP2 { close() }
        return isHTTP2 && limits.ending == nil
    }

    /// Whether `flush` could make progress when the socket is ready for these events.
    func mayWrite(_ events: Int16) -> Bool {
        phase == .open && (awaitedEvents & Int16(POLLOUT) == 0 || events & ~Int16(POLLIN) != 0)
    }

    /// Writes what is due, and closes the connection if the session is over.
    func flush() {
        guard phase == .open else { return }
        awaitedEvents = Int16(POLLIN)
        while true {
            if sentBytes == outgoing.count { collect() }
            if outgoing.isEmpty { break }
            guard send() else {
                if let ending = limits.ending, !ending.waitsForWriting { end(ending) }
                return
            }
        }
        if let ending = limits.ending { end(ending) } else if isFinished { close() }
    }

    /// Gathers frames into one large piece: a system call for each frame would cost more than the
    /// frame.
    private func collect() {
        outgoing.removeAll(keepingCapacity: true)
        sentBytes = 0
        guard gather(into: &outgoing, upTo: Self.pieceBytes) else { return }
        if !earlyAnswered.isEmpty {
            for stream in earlyAnswered { submitReset(.noError, streamID: stream) }
            earlyAnswered = []
            _ = gather(into: &outgoing, upTo: .max)
        }
        outgoing += rawBytes
        rawBytes = []
    }

    /// Writes the whole piece; false if the socket accepts no more bytes now, or the connection
    /// failed.
    private func send() -> Bool {
        while sentBytes < outgoing.count {
            switch outgoing.withUnsafeBytes({ client.tls.write(UnsafeRawBufferPointer(rebasing: $0[sentBytes...])) }) {
            case .done(let count): sentBytes += count
            case .wantsRead: return false
            case .wantsWrite:
                awaitedEvents = Int16(POLLOUT)
                return false
            case .failed:
                close()
                return false
            }
        }
        return true
    }

    /// Closes the connection without sending more HTTP/2. After a fault it does not even send
    /// close_notify.
    func close() {
        guard phase != .closed else { return }
        if phase == .open && limits.ending == nil { client.tls.shutdown() }
        phase = .closed
        client.close(isReset: limits.ending == .reset)
        dropRequests()
    }

    /// Drops the requests without an answer. The session must not be used afterwards.
    func dropRequests() {
        for request in requests where request.state == .held {
            request.state = .finished
            server.record(request, of: self, isAnswered: false)
        }
        requests = []
        idleRequests = []
        current = nil
        alarms.removeAll()
    }

    /// Sends GOAWAY, as far as the socket accepts it without waiting.
    func sayGoodbye(reason: String) {
        guard phase == .open, !limits.isEnding, limits.ending == nil, awaitedEvents & Int16(POLLOUT) == 0 else {
            return
        }
        goAway(reason: reason)
        flush()
    }

    /// Whether the connection is open, is not ending, and has received nothing since a moment.
    func isIdle(since moment: Timestamp) -> Bool {
        phase == .open && lastActivity < moment && !limits.isEnding && limits.ending == nil
    }

    /// Lends what the rules remember. It stays alive as long as the connection, so it is not
    /// counted for each request.
    func withMemory(_ body: (ConnectionMemory) -> Void) {
        Unmanaged.passUnretained(memory)._withUnsafeGuaranteedRef(body)
    }

    // MARK: Requests, as the session reports them

    override func headersBegan(streamID: Int32, isRequest: Bool) {
        guard isRequest, limits.admits(streamID: streamID) else {
            current = nil
            return
        }
        let request = idleRequests.popLast() ?? makeRequest()
        request.begin(streamID: streamID)
        setUserData(Unmanaged.passUnretained(request).toOpaque(), streamID: streamID)
        current = Unmanaged.passUnretained(request)
    }

    private func makeRequest() -> PushRequest {
        let request = PushRequest(keptPayloadBytes: server.keptBodyBytes, ownHeaders: server.ownHeaders)
        requests.append(request)
        return request
    }

    override func headerReceived(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        current?._withUnsafeGuaranteedRef { $0.add(named: name, value) }
    }

    override func payloadReceived(_ bytes: UnsafeBufferPointer<UInt8>, streamID: Int32) {
        request(on: streamID)?.addPayload(bytes)
        if owedWindows != nil { oweWindow(bytes.count, streamID: streamID) }
    }

    override func headersEnded(streamID: Int32) {
        guard server.faults.earlyAnswerEvery > 0, let request = openRequest(on: streamID), server.answersEarly(request)
        else { return }
        server.decide(request, on: self, isEarly: true)
    }

    override func requestEnded(streamID: Int32) {
        guard let request = openRequest(on: streamID), !leavesOut(request) else { return }
        server.decide(request, on: self)
    }

    /// The request on a stream if it must be decided; nil if not.
    private func openRequest(on streamID: Int32) -> PushRequest? {
        guard limits.admits(streamID: streamID), let request = request(on: streamID), request.state == .receiving else {
            return nil
        }
        return request
    }

    override func streamClosed(_ streamID: Int32) {
        guard let request = request(on: streamID) else { return }
        if request.state == .held { server.record(request, of: self, isAnswered: false) }
        request.state = .idle
        // Keep `current` otherwise: another stream's headers may be half read.
        if current?.toOpaque() == Unmanaged.passUnretained(request).toOpaque() { current = nil }
        idleRequests.append(request)
        if limits.isDipped { riseIfDrained() }
    }

    override func streamRefused() { server.ledger.countRefusedStream() }

    override func streamLimitViolated() { server.ledger.countStreamLimitViolation() }

    override func pingReceived() { server.ledger.countPing() }

    /// The request on an open stream. It stays alive in `requests` as long as the session can name
    /// it.
    private func request(on streamID: Int32) -> PushRequest? {
        userData(streamID: streamID).map { Unmanaged<PushRequest>.fromOpaque($0).takeUnretainedValue() }
    }

    override func takeBody(streamID: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> BodyPiece {
        guard let request = request(on: streamID) else { return BodyPiece(count: 0, end: .endOfStream) }
        let count = min(buffer.count, request.unsentBody.count)
        _ = buffer.update(fromContentsOf: request.unsentBody.prefix(count))
        request.unsentBody = request.unsentBody.dropFirst(count)
        guard request.unsentBody.isEmpty else { return BodyPiece(count: count, end: .more) }
        guard request.hasTrailers else { return BodyPiece(count: count, end: .endOfStream) }
        submitTrailers(to: request)
        return BodyPiece(count: count, end: .beforeTrailers)
    }
}
