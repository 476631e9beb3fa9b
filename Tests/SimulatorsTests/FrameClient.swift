import Glibc
import Testing

@testable import Simulators

/// A frame as it is on the wire: RFC 9113 section 4.1.
struct Frame {
    var type: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    static let data: UInt8 = 0, headers: UInt8 = 1, reset: UInt8 = 3, settings: UInt8 = 4, ping: UInt8 = 6,
        goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8, continuation: UInt8 = 9
    static let endStream: UInt8 = 1, acknowledgement: UInt8 = 1, endHeaders: UInt8 = 4

    var bytes: [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags]
            + Self.bytes(of: stream) + payload
    }

    static func bytes(of number: UInt32) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 255) } }

    /// Four bytes of the payload.
    func number(at index: Int) -> UInt32 { payload[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) } }

    /// Whether it begins an answer 200: `:status` 200 is number 8 of the static table of RFC 7541.
    var isAccepted: Bool { type == Self.headers && payload.first == 0x88 }
    var endsStream: Bool { (type == Self.headers || type == Self.data) && flags & Self.endStream != 0 }

    /// SETTINGS as identifiers and values.
    var settings: [UInt16: UInt32] {
        guard type == Self.settings else { return [:] }
        let starts = stride(from: 0, to: payload.count - 5, by: 6)
        return Dictionary(
            uniqueKeysWithValues: starts.map {
                (UInt16(payload[$0]) << 8 | UInt16(payload[$0 + 1]), number(at: $0 + 2))
            })
    }

    var streamLimit: UInt32? { settings[3] }
}

/// A client that writes and reads single frames. TLS is that of `openssl s_client`, a separate
/// program behind a pair of sockets.
final class FrameClient {
    /// How the server ended the connection.
    enum Ending: Equatable {
        case closeNotify, plainFIN, reset
    }

    /// Whether SETTINGS and PING are acknowledged as they are read.
    var acknowledges = true
    private let provider: Provider
    private var process: pid_t = 0
    private var socket: Int32 = -1
    private let errorFile: String
    private let folder = TemporaryFolder()
    private(set) var unread: [UInt8] = []
    private var hasEnded = false
    private var lastStream: UInt32 = 0

    /// How long a test waits for something that must come.
    private static let timeoutMilliseconds: Int32 = 10_000

    /// - Parameter offersProtocol: whether it offers HTTP/2 in TLS.
    init(_ simulator: ServiceSimulator, _ provider: Provider, settings: [UInt8] = [], offersProtocol: Bool = true) {
        self.provider = provider
        errorFile = folder.path + "/errors.txt"
        // A server that ends a connection ends the program in between, and a later write would end
        // the tests.
        signal(SIGPIPE, SIG_IGN)
        start(port: simulator.port, offersProtocol: offersProtocol)
        send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Frame(type: Frame.settings, payload: settings).bytes)
    }

    deinit {
        end()
        close(socket)
    }

    private func start(port: Int, offersProtocol: Bool) {
        // A pair of sockets can be kept from other programs at once; with pipe(2), a program that
        // starts in the meantime could keep the end open.
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, errorFile, O_WRONLY | O_CREAT, 0o600)
        let words =
            ["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-quiet"]
            + (offersProtocol ? ["-alpn", "h2"] : [])
        var arguments = words.map { strdup($0) } + [nil]
        posix_spawnp(&process, "openssl", &actions, nil, &arguments, environ)
        posix_spawn_file_actions_destroy(&actions)
        for argument in arguments { free(argument) }
        close(ends[1])
        socket = ends[0]
    }

    /// Ends the program in between; the simulator sees that the client is gone.
    func end() {
        guard process > 0 else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        process = 0
    }

    // MARK: Writing

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ frame: Frame) { send(frame.bytes) }

    /// Sends a push on the next stream, and returns the stream's id.
    @discardableResult
    func push(_ token: String = someToken, payload: String? = #"{"aps":{"alert":"Hello"}}"#) -> UInt32 {
        pushes([token], payload: payload)[0]
    }

    /// Sends pushes in one piece, on the next streams. Without a payload they stay incomplete.
    @discardableResult
    func pushes(_ tokens: [String], payload: String? = #"{"aps":{"alert":"Hello"}}"#) -> [UInt32] {
        var bytes: [UInt8] = []
        let streams = tokens.map { token in
            let stream = nextStream()
            bytes +=
                Frame(
                    type: Frame.headers, flags: Frame.endHeaders, stream: stream,
                    payload: headerBlock(token, stream: stream)
                ).bytes
            if let payload {
                bytes +=
                    Frame(type: Frame.data, flags: Frame.endStream, stream: stream, payload: Array(payload.utf8)).bytes
            }
            return stream
        }
        send(bytes)
        return streams
    }

    private func nextStream() -> UInt32 {
        lastStream = lastStream == 0 ? 1 : lastStream + 2
        return lastStream
    }

    private lazy var authorization = "bearer " + provider.token(issuedAt: Int64(time(nil)))

    /// Every header spelled out: RFC 7541 section 6.2.2.
    private func headerBlock(_ token: String, stream: UInt32) -> [UInt8] {
        let digits = String(stream, radix: 16)
        let id = "0b7a1c52-88f2-4b0e-9d1c-" + String(repeating: "0", count: 12 - digits.count) + digits
        let headers = [
            (":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", "/3/device/\(token)"),
            ("authorization", authorization),
            ("apns-topic", "com.example.shop"), ("apns-push-type", "alert"), ("apns-id", id),
        ]
        return headers.flatMap { [0] + Self.text($0.0) + Self.text($0.1) }
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var length: [UInt8] = [127], rest = bytes.count - 127
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    // MARK: Reading

    /// The next frame; nil if the connection ended before a whole one.
    func next() -> Frame? {
        while true {
            if let frame = takeFrame() {
                acknowledge(frame)
                return frame
            }
            guard readMore(waitingMilliseconds: Self.timeoutMilliseconds) else { return nil }
        }
    }

    /// Frames up to one that a test waits for, or to the end.
    @discardableResult
    func read(until isLast: (Frame) -> Bool) -> [Frame] {
        var frames: [Frame] = []
        while let frame = next() {
            frames.append(frame)
            if isLast(frame) { break }
        }
        return frames
    }

    /// All frames to the end of the connection.
    func readAll() -> [Frame] { read { _ in false } }

    /// Reads until this many streams have ended.
    func readAnswers(_ count: Int) -> [Frame] {
        var ended = 0
        return read { frame in
            if frame.endsStream { ended += 1 }
            return ended == count
        }
    }

    /// Whether nothing comes for a while, not even the end.
    func hearsNothing(forMilliseconds milliseconds: Int32) -> Bool {
        !readMore(waitingMilliseconds: milliseconds) && !hasEnded
    }

    /// Whether this many bytes come after the frames that were read.
    func receives(_ count: Int) -> Bool {
        while unread.count < count {
            guard readMore(waitingMilliseconds: Self.timeoutMilliseconds) else { return false }
        }
        return true
    }

    /// How the connection ended, once it has.
    func ending() -> Ending {
        while readMore(waitingMilliseconds: Self.timeoutMilliseconds) {}
        if process > 0 { waitpid(process, nil, 0) }
        process = 0
        let errors = run("cat \(errorFile)").output
        if errors.contains("unexpected eof") { return .plainFIN }
        return errors.contains("errno=104") ? .reset : .closeNotify
    }

    private func takeFrame() -> Frame? {
        guard unread.count >= 9 else { return nil }
        let length = Int(unread[0]) << 16 | Int(unread[1]) << 8 | Int(unread[2])
        guard unread.count >= 9 + length else { return nil }
        let stream = unread[5..<9].reduce(0) { $0 << 8 | UInt32($1) }
        let frame = Frame(type: unread[3], flags: unread[4], stream: stream, payload: Array(unread[9..<9 + length]))
        unread.removeFirst(9 + length)
        return frame
    }

    private func acknowledge(_ frame: Frame) {
        guard acknowledges, frame.flags & Frame.acknowledgement == 0 else { return }
        if frame.type == Frame.settings { send(Frame(type: Frame.settings, flags: Frame.acknowledgement)) }
        if frame.type == Frame.ping {
            send(Frame(type: Frame.ping, flags: Frame.acknowledgement, payload: frame.payload))
        }
    }

    private func readMore(waitingMilliseconds: Int32) -> Bool {
        var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, waitingMilliseconds) == 1 else { return false }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(socket, &buffer, buffer.count)
        hasEnded = count <= 0
        guard count > 0 else { return false }
        unread += buffer[..<count]
        return true
    }
}
