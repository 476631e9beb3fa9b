import HTTP2

/// A client's session and a server's, without a socket between them: the test carries the bytes
/// from one to the other.
final class SessionPair {
    let client: HTTP2ClientSession
    let server: HearingSession
    /// Every frame that the client has sent so far.
    private(set) var clientFrames: [Frame] = []
    private var isFirst = true
    private let callbacks: HTTP2ServerCallbacks

    /// - Parameter window: of each stream. Only `giveWindow` widens it again, and that of the
    ///   connection (65,535 bytes); nil for a window that never closes.
    init(
        headers: [HTTP2Header] = [HTTP2Header("apns-topic", value: "com.example.shop")], streamLimit: UInt32? = nil,
        window: UInt32? = nil
    ) throws {
        callbacks = try HTTP2ServerCallbacks(givesWindowsByHand: window != nil)
        client = try HTTP2ClientSession(authority: "localhost:2197", headers: headers, ownHeader: "apns-id")
        server = try HearingSession(callbacks)
        let limits = [
            streamLimit.map { (HTTP2ServerSession.Setting.maximumConcurrentStreams, $0) },
            window.map { (.initialWindowSize, $0) },
        ]
        server.submit(settings: limits.compactMap(\.self))
        exchange()
    }

    @discardableResult
    func submit(_ tag: Int, path: String = "/3/device/00", own: String = "id", body: String = "{}") -> Bool {
        Array(path.utf8).withUnsafeBufferPointer { path in
            Array(own.utf8).withUnsafeBufferPointer { own in
                Array(body.utf8).withUnsafeBufferPointer { body in
                    client.submit(
                        tag: tag, path: (path, UnsafeBufferPointer(start: nil, count: 0)), own: own, body: body)
                }
            }
        }
    }

    /// The client's pending bytes, kept from the server.
    func collect(upTo bytes: Int = 1 << 20) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: bytes)
        let count = buffer.withUnsafeMutableBytes { client.collect(into: $0) }
        return Array(buffer.prefix(count))
    }

    func deliver(_ bytes: [UInt8]) {
        clientFrames += Frame.all(in: isFirst ? Array(bytes.dropFirst(Frame.preface)) : bytes)
        if !bytes.isEmpty { isFirst = false }
        _ = bytes.withUnsafeBytes { server.consume($0) }
    }

    /// Carries the server's bytes to the client.
    func hear() {
        var answer: [UInt8] = []
        _ = server.gather(into: &answer, upTo: 1 << 20)
        _ = answer.withUnsafeBytes { client.receive($0) }
    }

    /// Carries everything across until both are silent.
    func exchange() {
        for _ in 0..<4 {
            deliver(collect())
            hear()
        }
    }
}

/// A server that records what it received.
final class HearingSession: HTTP2ServerSession {
    private(set) var requests: [Int32] = []
    private(set) var closed: [Int32] = []
    private(set) var received: [Int32: [UInt8]] = [:]
    /// Bodies of answers.
    var bodies: [Int32: [UInt8]] = [:]

    override func requestEnded(streamID: Int32) { requests.append(streamID) }
    override func streamClosed(_ streamID: Int32) { closed.append(streamID) }
    override func payloadReceived(_ bytes: UnsafeBufferPointer<UInt8>, streamID: Int32) {
        received[streamID, default: []] += bytes
    }

    override func takeBody(streamID: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> BodyPiece {
        let rest = bodies[streamID] ?? []
        let count = min(rest.count, buffer.count)
        _ = buffer.update(fromContentsOf: rest.prefix(count))
        bodies[streamID] = Array(rest.dropFirst(count))
        return BodyPiece(count: count, end: count == rest.count ? .endOfStream : .more)
    }

    func answer(
        _ stream: Int32, status: String = "200", retryAfter: String? = nil, id: String? = nil, body: [UInt8] = []
    ) {
        bodies[stream] = body
        Array(status.utf8).withUnsafeBufferPointer { status in
            Array((retryAfter ?? "").utf8).withUnsafeBufferPointer { wait in
                Array((id ?? "").utf8).withUnsafeBufferPointer { id in
                    let others = [
                        retryAfter.map { _ in Field("retry-after", wait) }, id.isEmpty ? nil : Field("apns-id", id),
                    ]
                    ([Field(":status", status)] + others.compactMap(\.self)).withUnsafeBufferPointer {
                        submitAnswer($0, hasBody: !body.isEmpty, streamID: stream)
                    }
                }
            }
        }
    }
}

/// A frame as it is on the wire (RFC 9113 section 4.1).
struct Frame {
    static let preface = 24

    var type: UInt8
    var stream: Int32
    var payload: [UInt8]

    static func all(in bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let stream = head[5...8].reduce(Int32(0)) { $0 << 8 | Int32($1) }
            frames.append(Frame(type: head[3], stream: stream, payload: Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }
}

/// The representation of a header in a HEADERS frame (RFC 7541 section 6).
enum Representation: Hashable {
    case indexed
    case literalIndexed
    case literalNotIndexed
    case literalNeverIndexed

    /// The representation of every header in a block, in order.
    static func all(in block: [UInt8]) -> [Representation] {
        var reader = BlockReader(rest: block[...])
        var found: [Representation] = []
        while let byte = reader.rest.first {
            switch byte {
            case 0x80...:
                _ = reader.integer(7)
                found.append(.indexed)
            case 0x40...: found.append(reader.literal(6, .literalIndexed))
            case 0x20...: _ = reader.integer(5)
            case 0x10...: found.append(reader.literal(4, .literalNeverIndexed))
            default: found.append(reader.literal(4, .literalNotIndexed))
            }
        }
        return found
    }

    private struct BlockReader {
        var rest: ArraySlice<UInt8>

        mutating func integer(_ prefix: Int) -> Int {
            let mask = 1 << prefix - 1
            var value = Int(rest.removeFirst()) & mask
            guard value == mask else { return value }
            var shift = 0
            while let byte = rest.popFirst() {
                value += Int(byte & 0x7F) << shift
                shift += 7
                if byte & 0x80 == 0 { break }
            }
            return value
        }

        mutating func literal(_ prefix: Int, _ kind: Representation) -> Representation {
            if integer(prefix) == 0 { text() }
            text()
            return kind
        }

        private mutating func text() {
            let count = integer(7)
            rest = rest.dropFirst(count)
        }
    }
}
