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

/// Reads requests of HTTP/1.1 from a stream of bytes, as strictly as a server may: one after the
/// other, each with a length.
///
/// Refused are: more than 64 KiB of headers; bodies in chunks, without a length, or longer than 16
/// MiB (GET, HEAD and DELETE need no length); two lengths; no host, or two; folded lines, spaces
/// before a colon and control characters (RFC 9112, sections 3, 5.1, 5.2 and 6); `Expect`; and a
/// second request that does not wait for the first one's answer.
struct CallReader {
    /// What the bytes so far amount to.
    enum Progress: Equatable {
        case needsMore
        /// The request is complete.
        case complete
        /// The bytes are no request that this server takes. The connection is over.
        case refused(status: Int, String)
    }

    static let mostHeaderBytes = 64 << 10, mostBodyBytes = 16 << 20

    /// Whether the connection ends with the answer to the present request, as the client asked.
    private(set) var isLast = false
    private var bytes: [UInt8] = []
    /// How many bytes of the present body are still to come; nil while its headers are.
    private var bodyLeft: Int?
    private var requests: Int32 = 0

    mutating func take(_ piece: UnsafeRawBufferPointer) { bytes += piece }

    /// Puts what there is of the next request into `request`. Once it is complete, the next call is
    /// about the one after it.
    mutating func read(into request: PushRequest) -> Progress {
        if bodyLeft == nil {
            guard let end = headEnd else {
                return bytes.count > Self.mostHeaderBytes
                    ? .refused(status: 431, "more than 64 KiB of headers") : .needsMore
            }
            guard end <= Self.mostHeaderBytes else { return .refused(status: 431, "more than 64 KiB of headers") }
            let head = Array(bytes[..<end])
            bytes.removeFirst(end + 4)
            requests += 1
            request.begin(streamID: requests)
            switch Self.read(head, into: request, isLast: &isLast) {
            case .body(let length): bodyLeft = length
            case .refused(let status, let text): return .refused(status: status, text)
            }
        }
        guard let left = bodyLeft else { return .needsMore }
        let piece = bytes.prefix(left)
        piece.withUnsafeBufferPointer { request.addPayload($0) }
        bytes.removeFirst(piece.count)
        bodyLeft = left - piece.count
        guard bodyLeft == 0 else { return .needsMore }
        bodyLeft = nil
        return bytes.isEmpty ? .complete : .refused(status: 400, "the next request came before this one's answer")
    }

    /// Where the empty line begins that ends the headers; nil if it has not come.
    private var headEnd: Int? {
        let end = Array("\r\n\r\n".utf8)
        var start = bytes.startIndex
        while let place = bytes[start...].firstIndex(of: end[0]) {
            if bytes[place...].starts(with: end) { return place }
            start = place + 1
        }
        return nil
    }

    // MARK: The head

    private enum Head {
        /// The length of the body.
        case body(Int)
        case refused(status: Int, String)

        static func bad(_ text: String) -> Head { .refused(status: 400, text) }
    }

    /// Checks a head.
    private static func read(_ head: [UInt8], into request: PushRequest, isLast: inout Bool) -> Head {
        var lines = head.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for index in lines.indices.dropLast() {
            guard lines[index].last == UInt8(ascii: "\r") else { return .bad("a line does not end with CR and LF") }
            lines[index].removeLast()
        }
        guard lines.allSatisfy({ $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }) else {
            return .bad("a control character among the headers")
        }
        return refusal(ofRequestLine: lines.removeFirst(), into: request)
            ?? readFields(lines, into: request, isLast: &isLast)
    }

    private static func refusal(ofRequestLine line: ArraySlice<UInt8>, into request: PushRequest) -> Head? {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[1].first == UInt8(ascii: "/") else {
            return .bad("the first line is not METHOD PATH VERSION")
        }
        guard words[2].elementsEqual("HTTP/1.1".utf8) else {
            return .refused(status: 505, "the version is not HTTP/1.1")
        }
        words[0].withUnsafeBufferPointer { request.add(.method, $0) }
        words[1].withUnsafeBufferPointer { request.add(.path, $0) }
        return nil
    }

    private static func readFields(_ lines: [ArraySlice<UInt8>], into request: PushRequest, isLast: inout Bool) -> Head
    {
        var length: Int?, hosts = 0
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy({ $0 != UInt8(ascii: " ") && $0 != 0x09 })
            else { return .bad("a line is not NAME: VALUE") }
            let name = line[..<colon].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
            let value = line[(colon + 1)...].trimmed
            switch String(decoding: name, as: UTF8.self) {
            case "host": hosts += 1
            case "content-length":
                guard length == nil, !value.isEmpty, value.count < 10, value.allSatisfy({ (0x30...0x39).contains($0) })
                else {
                    return .bad("the length is no number, or there are two")
                }
                length = Int(String(decoding: value, as: UTF8.self))
            case "transfer-encoding": return .refused(status: 501, "a body must have a length")
            case "expect": return .refused(status: 417, "nothing is expected here")
            case "connection": isLast = isLast || value.elementsEqual("close".utf8)
            default:
                name.withUnsafeBufferPointer { name in value.withUnsafeBufferPointer { request.add(named: name, $0) } }
            }
        }
        // RFC 9112 section 6.3: without a length there is no body. Only methods that require one
        // are refused then.
        func hasBody(_ request: PushRequest) -> Bool {
            request[.method].map { method in ["GET", "HEAD", "DELETE"].allSatisfy { !method.elementsEqual($0.utf8) } }
                ?? true
        }
        guard hosts == 1 else { return .bad("there must be one host") }
        guard let length = length ?? (hasBody(request) ? nil : 0) else {
            return .refused(status: 411, "a request must have a length")
        }
        guard length <= mostBodyBytes else { return .refused(status: 413, "the body is too large") }
        return .body(length)
    }
}

extension ArraySlice<UInt8> {
    /// Without blanks at either end.
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return []
        }
        return self[first...last]
    }
}
