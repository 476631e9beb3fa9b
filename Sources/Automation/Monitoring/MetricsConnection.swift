import Glibc

/// A connection to the port for metrics: one request, its answer, and the end. No call blocks.
///
/// What a client sends is limited in bytes and in time, and so is the time for each step: a client
/// that sends nothing, sends its request byte by byte, never ends it, or never reads the answer
/// loses the connection.
final class MetricsConnection {
    /// The answer to a longer request is that it is a bad one. Prometheus sends some 300 bytes.
    static let mostRequestBytes = 16_384
    /// A client that takes the answer too slowly does not get all of it.
    private static let answerSeconds = 30.0
    /// How long the client may take to close the connection after the answer was sent, and how much
    /// it may send until then.
    private static let closingSeconds = 1.0, mostClosingBytes = 65_536

    private enum Phase {
        /// The request is not complete.
        case request
        case answer
        /// The answer was sent, and the client is about to close. Closing earlier, with bytes of
        /// the client unread, would reset the connection, and the client could lose the answer (RFC
        /// 9112 section 9.6).
        case closing
        case over
    }

    let descriptor: Int32
    /// The end of the time for this step. Nothing that the client sends extends it.
    private(set) var endsAt: ContinuousClock.Instant
    private var phase = Phase.request
    private var received: [UInt8] = []
    private var answer: [UInt8] = []
    private var sentBytes = 0
    private var closingBytes = 0

    /// - Parameter descriptor: of a socket that does not block; closed with this object.
    init(_ descriptor: Int32, requestSeconds: Double) {
        self.descriptor = descriptor
        endsAt = .now + .seconds(requestSeconds)
    }

    deinit { close(descriptor) }

    /// What poll waits for.
    var awaitedEvents: Int16 { Int16(isAnswering ? POLLOUT : POLLIN) }
    /// Whether a request was received, whose answer the client has not taken.
    var isAnswering: Bool { phase == .answer }
    /// Whether nothing is left to do.
    var isOver: Bool { phase == .over }

    /// Continues as far as the socket allows.
    /// - Parameter text: gives the metrics.
    func advance(_ text: () -> String) {
        switch phase {
        case .request: receive(text)
        case .answer: send()
        case .closing:
            closingBytes += receivePiece().count
            if closingBytes > Self.mostClosingBytes { phase = .over }
        case .over: break
        }
    }

    private func receive(_ text: () -> String) {
        let known = received.count
        received += receivePiece()
        if let end = MetricsRequest.end(in: received, from: max(0, known - 2)) {
            reply(MetricsRequest(received[..<end])?.answer(text) ?? MetricsRequest.refusal)
        } else if received.count > Self.mostRequestBytes {
            reply(MetricsRequest.refusal)
        }
    }

    private func reply(_ bytes: [UInt8]) {
        (answer, received, phase) = (bytes, [], .answer)
        endsAt = .now + .seconds(Self.answerSeconds)
        send()
    }

    /// Bytes from the client; none if none have arrived, or if the connection is over.
    private func receivePiece() -> ArraySlice<UInt8> {
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &piece, piece.count, 0)
        if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { phase = .over }
        return piece[..<max(0, count)]
    }

    private func send() {
        while sentBytes < answer.count {
            let count = answer[sentBytes...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                if errno != EAGAIN { phase = .over }
                return
            }
            sentBytes += count
        }
        shutdown(descriptor, Int32(SHUT_WR))
        (answer, phase) = ([], .closing)
        endsAt = .now + .seconds(Self.closingSeconds)
    }
}

/// The head of a request, as far as the port must understand it, and its answer (RFC 9112).
struct MetricsRequest {
    private var method: String
    private var target: String
    private var version: String
    /// Whether its body comes in chunks, or in another form that no reader of metrics needs.
    private var hasCodedBody = false

    /// The end of the head's last line; nil if the head is not complete.
    /// - Parameter start: the head does not end before this.
    static func end(in bytes: [UInt8], from start: Int) -> Int? {
        let newline = UInt8(ascii: "\n")
        return bytes[start...].indices.first { place in
            guard bytes[place] == newline else { return false }
            let rest = bytes[(place + 1)...]
            return rest.first == newline || rest.starts(with: "\r\n".utf8)
        }
    }

    /// - Parameter head: without its last line break. Lines may also end without a carriage return,
    ///   as people type them.
    /// - Returns: nil if it is not a request of HTTP/1.0 or HTTP/1.1.
    init?(_ head: ArraySlice<UInt8>) {
        let lines = head.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        let words = (lines.first ?? []).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, Self.isToken(words[0]), !words[1].isEmpty,
            words[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else {
            return nil
        }
        (method, target, version) = (Self.text(words[0]), Self.text(words[1]), Self.text(words[2]))
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { return nil }
        for line in lines.dropFirst() {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            guard name.count < line.count, Self.isToken(name) else { return nil }
            if Self.text(name).lowercased() == "transfer-encoding" { hasCodedBody = true }
        }
    }

    /// RFC 9110 section 5.6.2.
    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { (0x21...0x7E).contains($0) && !#""(),/:;<=>?@[\]{}"#.utf8.contains($0) }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The answer to a request that the port cannot read.
    static let refusal = Array("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".utf8)

    /// - Parameter text: gives the metrics.
    func answer(_ text: () -> String) -> [UInt8] {
        let isRead = method == "GET" || method == "HEAD"
        if isRead && hasCodedBody { return Self.refusal }
        let isKnown = isRead && target.prefix { $0 != "?" } == "/metrics"
        let status = !isRead ? "405 Method Not Allowed" : isKnown ? "200 OK" : "404 Not Found"
        let type = isKnown ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain; charset=utf-8"
        let body = Array((isKnown ? text() : "The metrics are at /metrics.\n").utf8)
        let head =
            "\(version) \(status)\r\ncontent-type: \(type)\r\ncontent-length: \(body.count)\r\nconnection: close\r\n\r\n"
        return Array(head.utf8) + (method == "HEAD" ? [] : body)
    }
}
