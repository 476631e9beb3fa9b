import Base
import CCurl
import Cryptography
import Glibc
import HTTP2
import PushServices

/// One connection with its TLS and HTTP/2 session, from dialing to the end. Belongs to its
/// transport's thread.
final class HTTP2Connection {
    private enum Phase {
        case dialing(Dialer)
        case open
        case closed
    }

    /// The most bytes to read in one turn before other connections have theirs.
    private static let mostBytesPerTurn = 256 << 10
    private static let outputBytes = 64 << 10
    /// More requests than a connection ever has in flight.
    private static let mostRoom = 2000

    /// Whether there may be more to read without the socket becoming readable again.
    private(set) var hasMoreToRead = false
    /// When the attempt to connect to the current address times out: monotonic nanoseconds, nil for
    /// no limit.
    var attemptEndsAt: Int64? { if case .dialing(let dialer) = phase { dialer.attemptEndsAt } else { nil } }

    private let index: Int
    private let answers: AnswerReader
    private let socket: ConnectionSocket
    private let session: HTTP2ClientSession
    @exclusivity(unchecked) private var phase: Phase
    @exclusivity(unchecked) private var tls: TLSConnection?
    private var isWriteBlocked = false
    private let output = UnsafeMutableRawBufferPointer.allocate(
        byteCount: outputBytes + HTTP2ClientSession.largestFrame, alignment: 16)
    /// How many bytes of `output` are filled and sent, and how many bytes the connection has
    /// written in all.
    private var filled = 0, sent = 0, writtenBytes = 0
    private var reportedLimit: Int?
    private var reportedRoom = Int.max
    private var reportedPongs = 0
    private var hasReportedLeaving = false
    private var hasAnswered = false

    init(index: Int, dialer: Dialer, session: HTTP2ClientSession, answers: AnswerReader) {
        self.answers = answers
        self.index = index
        self.session = session
        socket = dialer.socket
        phase = .dialing(dialer)
    }

    deinit { output.deallocate() }

    // MARK: Calls from the transport

    func submit(
        request: Int, path: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>), id: UnsafeBufferPointer<UInt8>,
        body: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard case .open = phase else { return false }
        return session.submit(tag: request, path: path, own: id, body: body)
    }

    func abandon(request: Int) { session.cancel(tag: request) }

    func ping() { session.ping() }

    /// Ends the connection, in good order as far as the socket accepts the last bytes at once.
    func close() {
        if case .open = phase, !isWriteBlocked, sent == filled {
            session.leave()
            var none: [TransportEvent] = []
            flush(&none)
        }
        drop()
    }

    /// - Parameter isBroken: nothing more can be sent to the peer.
    private func drop(isBroken: Bool = false) {
        // Without close_notify the peer must treat the end as a possible attack (RFC 8446 section
        // 6.1).
        if case .open = phase, !isBroken, !isWriteBlocked { tls?.shutdown() }
        phase = .closed
        hasMoreToRead = false
        tls = nil
        socket.close()
    }

    // MARK: Dialing

    /// Continues dialing after a name may have been looked up.
    func resolve(_ events: inout [TransportEvent]) {
        if case .dialing(let dialer) = phase { note(dialer.advance(), &events) }
    }

    /// Continues with the next address because the current one does not answer.
    func attemptTimedOut(_ events: inout [TransportEvent]) {
        if case .dialing(let dialer) = phase { note(dialer.attemptTimedOut(), &events) }
    }

    private func note(_ progress: consuming Dialer.Progress, _ events: inout [TransportEvent]) {
        switch consume progress {
        case .underway: return
        case .failed(let failure): fail(failure, &events)
        case .connected(let connected):
            tls = consume connected
            phase = .open
            socket.watch(EPOLLIN.rawValue)
            events.append(.opened(connection: index))
            // OpenSSL may already hold what the server sent together with its last handshake
            // message.
            hasMoreToRead = true
        }
    }

    private func fail(_ failure: ConnectionFailure, _ events: inout [TransportEvent]) {
        drop()
        events.append(.failed(connection: index, failure))
    }

    // MARK: Bytes

    /// Does whatever the socket is ready for.
    func advance(_ ready: UInt32, _ buffer: UnsafeMutableRawBufferPointer, _ events: inout [TransportEvent]) {
        switch phase {
        case .closed: return
        case .dialing(let dialer): return note(dialer.advance(), &events)
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
            case .wantsRead: return socket.noteDrained()
            case .wantsWrite: return socket.watch(EPOLLIN.rawValue | EPOLLOUT.rawValue)
            case .failed(let failure): return end(failure, &events)
            }
        }
        hasMoreToRead = true
    }

    /// Writes what is due, as far as the socket accepts it.
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
                socket.watch(EPOLLIN.rawValue | EPOLLOUT.rawValue)
                return report(&events)
            case .wantsRead: return report(&events)
            case .failed(let failure): return readLastWords(failure, &events)
            }
        }
        socket.watch(EPOLLIN.rawValue)
        report(&events)
        if !session.isAlive { end(.closed(session.lastWords ?? "both sides had finished"), isBroken: false, &events) }
    }

    // MARK: The end

    /// Tells the peer that it broke the protocol, as far as the socket accepts that at once, and
    /// ends the connection.
    private func sayLastWords(_ events: inout [TransportEvent]) {
        flush(&events)
        if case .open = phase {
            end(.closed(session.lastWords ?? "the server broke the rules of HTTP/2"), isBroken: false, &events)
        }
    }

    /// Reads what the peer may have sent before it left (answers, GOAWAY, an alert), after writing
    /// has failed, and ends the connection.
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
            // With TLS 1.3 the server's refusal arrives after the client has finished its
            // handshake.
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
        // Beyond the largest number of streams the window makes no difference.
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
                .leaving(
                    connection: index, cause: "the server closed the connection: \(words)",
                    isInOrder: session.leavesInOrder))
        }
    }

    private func report(_ request: EndedRequest, _ events: inout [TransportEvent]) {
        if request.status != 0 {
            hasAnswered = true
            events.append(.answered(request: request.tag, answers.answer(request)))
        } else if request.error == .refusedStream, session.goAway == nil {
            events.append(.refused(request: request.tag))
        } else if request.isUnsent || request.error == .refusedStream {
            // Above GOAWAY's last stream, or never handed to the socket.
            events.append(.notProcessed(request: request.tag))
        } else {
            events.append(.reset(request: request.tag))
        }
    }
}

extension AnswerReader {
    fileprivate func answer(_ request: EndedRequest) -> DeliveryMachine.Answer {
        var answer = answer(
            status: request.status, retryAfterSeconds: request.retryAfterSeconds.map(Double.init), date: request.date,
            body: GzipBody.plain(request.body, limit: HTTP2ClientSession.bodyLimit))
        answer.id =
            switch request.ownHeader {
            case .missing: .missing
            case .other: .other
            case .own: .own
            }
        if request.isCutOff { answer.isCutOff = true }
        return answer
    }
}
