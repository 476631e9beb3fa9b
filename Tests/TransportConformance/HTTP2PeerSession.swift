import Base
import Cryptography
import Glibc
import HTTP2

/// A connection that speaks HTTP/2.
final class HTTP2PeerSession: HTTP2ServerSession, PeerSession {
    private(set) var requests: [PeerRequest] = []
    private(set) var closedStreams: [Int32] = []
    private(set) var pings = 0
    private(set) var isOpen = false
    private(set) var isClosed = false
    private(set) var hasClientLeft = false
    /// Holds back frames.
    var isMute = false

    private static let bytesBeforeReset = 200_000

    private let socket: Int32
    private let tls: TLSConnection
    private let firstSettings: [(Setting, UInt32)]
    private var bodies: [Int32: [UInt8]] = [:]
    /// How much was sent of bodies that are cut off.
    private var cutOffs: [Int32: Int] = [:]
    private var outgoing: [UInt8] = []
    private var current: Int32 = 0

    init(
        _ socket: Int32, _ context: TLSServerContext, _ callbacks: borrowing HTTP2ServerCallbacks,
        _ settings: [(Setting, UInt32)]
    ) throws(Diagnostic) {
        self.socket = socket
        firstSettings = settings
        tls = try TLSConnection(context, socket: socket)
        try super.init(callbacks)
    }

    deinit { if !isClosed { Glibc.close(socket) } }

    func turn() {
        guard !isClosed else { return }
        if !isOpen {
            guard case .done = tls.handshake() else { return }
            isOpen = true
            submit(settings: firstSettings)
        }
        read()
        write()
    }

    private func read() {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { buffer in
            while true {
                switch tls.read(into: buffer) {
                case .done(let count): _ = consume(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                case .failed:
                    hasClientLeft = true
                    return
                case .wantsRead, .wantsWrite: return
                }
            }
        }
    }

    private func write() {
        guard !isMute else { return }
        while true {
            if outgoing.isEmpty { _ = gather(into: &outgoing, upTo: 1 << 16) }
            guard !outgoing.isEmpty else { return }
            let progress = outgoing.withUnsafeBytes { tls.write($0) }
            guard case .done(let count) = progress else { return }
            outgoing.removeFirst(count)
        }
    }

    // MARK: What it is told to do

    func answer(_ request: Int, _ answer: PeerAnswer) {
        let stream = requests[request].stream
        bodies[stream] = Array(answer.body.utf8)
        if answer.isCutOff { cutOffs[stream] = 0 }
        let texts: [(StaticString, String)] = [(":status", "\(answer.status)")] + answer.headers
        let bytes = texts.map { Array($0.1.utf8) }
        let pointers = bytes.map { bytes in
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            _ = copy.initialize(from: bytes)
            return copy
        }
        defer { for pointer in pointers { pointer.deallocate() } }
        let fields = zip(texts, pointers).map { Field($0.0.0, UnsafeBufferPointer($0.1)) }
        fields.withUnsafeBufferPointer { submitAnswer($0, hasBody: !answer.body.isEmpty, streamID: stream) }
    }

    func isGivenUp(_ request: Int) -> Bool { closedStreams.contains(requests[request].stream) }

    func cut() {
        guard !isClosed else { return }
        isClosed = true
        reset(socket)
    }

    /// Without GOAWAY.
    func closeQuietly() {
        guard !isClosed else { return }
        write()
        tls.shutdown()
        isClosed = true
        Glibc.close(socket)
    }

    func talkNonsense() { outgoing += Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8) }

    // MARK: What it hears

    override func headersBegan(streamID: Int32, isRequest: Bool) {
        current = streamID
        if isRequest { requests.append(PeerRequest(stream: streamID)) }
    }

    override func headerReceived(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let index = requests.lastIndex(where: { $0.stream == current }) else { return }
        requests[index].headers[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
    }

    override func payloadReceived(_ bytes: UnsafeBufferPointer<UInt8>, streamID: Int32) {
        guard let index = requests.lastIndex(where: { $0.stream == streamID }) else { return }
        requests[index].body += bytes
    }

    override func requestEnded(streamID: Int32) {
        guard let index = requests.lastIndex(where: { $0.stream == streamID }) else { return }
        requests[index].isComplete = true
    }

    override func streamClosed(_ streamID: Int32) { closedStreams.append(streamID) }

    override func pingReceived() { pings += 1 }

    override func takeBody(streamID: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> BodyPiece {
        let rest = bodies[streamID] ?? []
        if let sent = cutOffs[streamID] {
            // Half of it, then blanks, and then only the reset, which must not come together with
            // the status.
            let half = rest.prefix(rest.count / 2)
            let piece = sent == 0 ? Array(half) : Array(repeating: UInt8(ascii: " "), count: min(buffer.count, 8192))
            _ = buffer.update(fromContentsOf: piece)
            cutOffs[streamID] = sent + piece.count
            if sent > Self.bytesBeforeReset { submitReset(.internalError, streamID: streamID) }
            return BodyPiece(count: piece.count, end: .more)
        }
        let count = min(rest.count, buffer.count)
        _ = buffer.update(fromContentsOf: rest.prefix(count))
        bodies[streamID] = Array(rest.dropFirst(count))
        return BodyPiece(count: count, end: count == rest.count ? .endOfStream : .more)
    }
}

/// Closes TCP at once, whatever is on its way.
func reset(_ socket: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    Glibc.close(socket)
}
