import Base
import CCurl
import Cryptography
import Glibc
import HTTP2

/// One connection: its socket, TLS and HTTP/2 session, from looking the name up to the end. Belongs to its transport's thread.
final class HTTP2Connection {
    private enum Phase {
        case resolving(AddressLookup)
        /// The addresses that were not tried yet.
        case connecting(rest: ArraySlice<SocketAddress>)
        case handshake
        case open
        case closed
    }

    /// What may be read in one turn, before others have theirs.
    private static let mostBytesPerTurn = 256 << 10
    private static let outputBytes = 64 << 10
    /// More requests than anybody has in flight on a connection.
    private static let mostRoom = 2000

    let token: ProviderToken?
    /// There may be more to read without the socket becoming readable again.
    private(set) var hasMoreToRead = false
    /// When the attempt to connect to the present address has lasted for long enough: monotonic nanoseconds.
    private(set) var attemptEndsAt: Int64?

    private let index: Int
    private let epoll: Int32
    private let host: String
    private let connectTimeout: Int64
    private var attemptNanoseconds: Int64 = 0
    private let tlsContext: TLSClientContext
    private let session: HTTP2ClientSession
    @exclusivity(unchecked) private var phase: Phase
    private var socket: Int32 = -1
    private var watchedEvents: UInt32 = 0
    @exclusivity(unchecked) private var tls: TLSConnection?
    private var isWriteBlocked = false
    private let output = UnsafeMutableRawBufferPointer.allocate(
        byteCount: outputBytes + HTTP2ClientSession.largestFrame, alignment: 16)
    /// Of `output`, and of all that was ever collected.
    private var filled = 0, sent = 0, writtenBytes = 0
    private var reportedLimit: Int?
    private var reportedRoom = Int.max
    private var reportedPongs = 0
    private var hasReportedLeaving = false
    private var hasAnswered = false

    init(
        index: Int, epoll: Int32, tls: TLSClientContext, session: HTTP2ClientSession, token: ProviderToken?, host: String,
        lookup: AddressLookup, connectTimeoutSeconds: Double
    ) {
        self.index = index
        self.epoll = epoll
        self.token = token
        self.host = host
        self.session = session
        tlsContext = tls
        connectTimeout = Int64(nanosecondsFromSeconds: connectTimeoutSeconds)
        phase = .resolving(lookup)
    }

    deinit { output.deallocate() }

    // MARK: What the transport asks for

    func submit(
        push: Int, path: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>), id: UnsafeBufferPointer<UInt8>,
        payload: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard case .open = phase else { return false }
        return session.submit(tag: push, path: path, own: id, body: payload)
    }

    func abandon(push: Int) { session.cancel(tag: push) }

    func ping() { session.ping() }

    /// Ends the connection, in good order as far as the socket takes it at once.
    func close() {
        if case .open = phase, !isWriteBlocked, sent == filled {
            session.leave()
            var none: [TransportEvent] = []
            flush(&none)
        }
        drop()
    }

    /// - Parameter isBroken: nothing more can be said to the peer.
    private func drop(isBroken: Bool = false) {
        // Without close_notify the peer has to take the end for an attack (RFC 8446 section 6.1).
        if case .open = phase, !isBroken, !isWriteBlocked { tls?.shutdown() }
        phase = .closed
        attemptEndsAt = nil
        hasMoreToRead = false
        tls = nil
        // Closing a socket ends its watch as well.
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
        watchedEvents = 0
    }

    // MARK: Connecting

    /// Goes on when the name was looked up.
    func resolve(_ events: inout [TransportEvent]) {
        guard case .resolving(let lookup) = phase, let result = lookup.take() else { return }
        switch result {
        case .found(let addresses):
            attemptNanoseconds = connectTimeout / 2 / Int64(max(1, addresses.count - 1))
            connect(addresses[...], after: "", &events)
        case .failed(let cause): fail(.unreachable(cause), &events)
        }
    }

    /// Tries the addresses one after the other; all but the last share half of the time, the last has what is left.
    private func connect(_ addresses: ArraySlice<SocketAddress>, after cause: String, _ events: inout [TransportEvent]) {
        drop()
        var rest = addresses
        var cause = cause
        while let address = rest.popFirst() {
            if let started = address.startConnecting() {
                socket = started
                phase = .connecting(rest: rest)
                attemptEndsAt = rest.isEmpty ? nil : monotonicNanoseconds() + attemptNanoseconds
                return watch(EPOLLOUT.rawValue)
            }
            cause = String(cString: strerror(errno))
        }
        fail(.unreachable(cause), &events)
    }

    /// The present address does not answer: the next one.
    func attemptTimedOut(_ events: inout [TransportEvent]) {
        attemptEndsAt = nil
        if case .connecting(let rest) = phase { connect(rest, after: "it did not answer", &events) }
    }

    private func finishConnecting(_ rest: ArraySlice<SocketAddress>, _ events: inout [TransportEvent]) {
        var cause: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &cause, &length)
        guard cause == 0 else { return connect(rest, after: String(cString: strerror(cause)), &events) }
        attemptEndsAt = nil
        tls = TLSConnection(tlsContext, host: host, socket: socket)
        phase = .handshake
        shakeHands(&events)
    }

    private func shakeHands(_ events: inout [TransportEvent]) {
        switch tls?.handshake() {
        case .done:
            phase = .open
            watch(EPOLLIN.rawValue)
            events.append(.opened(connection: index))
            // What the server said with its last handshake message may be in OpenSSL's hands already.
            hasMoreToRead = true
        case .wantsRead: watch(EPOLLIN.rawValue)
        case .wantsWrite: watch(EPOLLOUT.rawValue)
        case .failed(let failure): fail(ConnectionFailure(failure), &events)
        case nil: return
        }
    }

    private func fail(_ failure: ConnectionFailure, _ events: inout [TransportEvent]) {
        drop()
        events.append(.failed(connection: index, failure))
    }

    // MARK: Bytes

    /// Goes on with whatever the socket is ready for.
    func advance(_ ready: UInt32, _ buffer: UnsafeMutableRawBufferPointer, _ events: inout [TransportEvent]) {
        switch phase {
        case .resolving, .closed: return
        case .connecting(let rest): return finishConnecting(rest, &events)
        case .handshake: return shakeHands(&events)
        case .open: break
        }
        if ready & EPOLLOUT.rawValue != 0 { isWriteBlocked = false }
        hasMoreToRead = false
        var taken = 0
        while taken < Self.mostBytesPerTurn {
            guard let progress = tls?.read(into: buffer) else { return }
            switch progress {
            case .done(let count):
                taken += count
                let isAlive = session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                report(&events)
                if !isAlive { return sayLastWords(&events) }
            case .wantsRead: return
            case .wantsWrite: return watch(EPOLLIN.rawValue | EPOLLOUT.rawValue)
            case .failed(let failure): return end(failure, &events)
            }
        }
        hasMoreToRead = true
    }

    /// Writes what is due, as far as the socket takes it.
    func flush(_ events: inout [TransportEvent]) {
        guard case .open = phase, !isWriteBlocked else { return }
        while true {
            if sent == filled {
                filled = session.collect(into: output)
                sent = 0
                if filled == 0 { break }
            }
            guard let progress = tls?.write(UnsafeRawBufferPointer(rebasing: output[sent..<filled])) else { return }
            switch progress {
            case .done(let count):
                sent += count
                writtenBytes += count
            case .wantsWrite:
                isWriteBlocked = true
                watch(EPOLLIN.rawValue | EPOLLOUT.rawValue)
                return report(&events)
            case .wantsRead: return report(&events)
            case .failed(let failure): return readLastWords(failure, &events)
            }
        }
        watch(EPOLLIN.rawValue)
        report(&events)
        if !session.isAlive { end(.closed(session.lastWords ?? "both sides were done"), isBroken: false, &events) }
    }

    private func watch(_ wanted: UInt32) {
        guard wanted != watchedEvents else { return }
        var event = epoll_event(events: wanted, data: epoll_data_t(u64: UInt64(index)))
        epoll_ctl(epoll, watchedEvents == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event)
        watchedEvents = wanted
    }

    // MARK: The end

    /// The peer broke the protocol: it is told so, as far as the socket takes it at once.
    private func sayLastWords(_ events: inout [TransportEvent]) {
        flush(&events)
        if case .open = phase { end(.closed(session.lastWords ?? "the server broke the rules of HTTP/2"), isBroken: false, &events) }
    }

    /// Writing failed, but what the peer said before it left (answers, GOAWAY, an alert) may still be there to be read.
    private func readLastWords(_ failure: TLSFailure, _ events: inout [TransportEvent]) {
        isWriteBlocked = true
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
        defer { buffer.deallocate() }
        while case .done(let count)? = tls?.read(into: buffer) {
            guard session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { break }
        }
        end(failure, &events)
    }

    private func end(_ failure: TLSFailure, isBroken: Bool = true, _ events: inout [TransportEvent]) {
        report(&events)
        session.abandonAll(writtenBytes: writtenBytes)
        drop(isBroken: isBroken)
        if case .certificateRefused(let cause) = failure, !hasAnswered {
            // With TLS 1.3 the server's refusal comes after the client's part of the handshake is over.
            return events.append(.failed(connection: index, .certificateRefused(cause)))
        }
        for request in session.ended where request.isUnsent || request.status != 0 { report(request, &events) }
        session.ended.removeAll()
        events.append(.ended(connection: index, cause: session.lastWords ?? failure.words))
    }

    // MARK: Reporting

    private func report(_ events: inout [TransportEvent]) {
        if let limit = session.streamLimit, limit != reportedLimit {
            reportedLimit = limit
            events.append(.limitChanged(connection: index, limit: limit))
        }
        let room = session.room
        // Above the largest number of streams it makes no difference.
        let told = room >= Self.mostRoom ? Int.max : room
        if told != reportedRoom {
            reportedRoom = told
            events.append(.windowChanged(connection: index, room: told))
        }
        for request in session.ended { report(request, &events) }
        session.ended.removeAll(keepingCapacity: true)
        if session.pongs != reportedPongs {
            reportedPongs = session.pongs
            events.append(.alive(connection: index))
        }
        if let words = session.goAway, !hasReportedLeaving {
            hasReportedLeaving = true
            events.append(
                .leaving(connection: index, cause: "the server closed the connection: \(words)", isInOrder: session.leavesInOrder))
        }
    }

    private func report(_ request: EndedRequest, _ events: inout [TransportEvent]) {
        if request.status != 0 {
            hasAnswered = true
            events.append(.answered(push: request.tag, DeliveryMachine.Answer(request)))
        } else if request.error == .refusedStream, session.goAway == nil {
            events.append(.refused(push: request.tag))
        } else if request.isUnsent || request.error == .refusedStream {
            // Above GOAWAY's last stream, or never handed to the socket.
            events.append(.notProcessed(push: request.tag))
        } else {
            events.append(.reset(push: request.tag))
        }
    }
}

extension DeliveryMachine.Answer {
    fileprivate init(_ request: EndedRequest) {
        self.init(
            status: request.status, retryAfterSeconds: request.retryAfterSeconds.map(Double.init), date: request.date, body: request.body)
        carriesID = request.hasOwnHeader
        isCutOff = request.isCutOff
    }
}

extension ConnectionFailure {
    fileprivate init(_ failure: TLSFailure) {
        switch failure {
        case .untrusted(let cause): self = .untrusted(cause)
        case .otherProtocol: self = .notHTTP2
        case .certificateRefused(let cause): self = .certificateRefused(cause)
        case .closed(let cause), .broken(let cause): self = .unreachable(cause)
        }
    }
}

extension TLSFailure {
    fileprivate var words: String {
        switch self {
        case .closed(let cause), .untrusted(let cause), .certificateRefused(let cause), .broken(let cause): cause
        case .otherProtocol: "the server does not speak HTTP/2"
        }
    }
}
