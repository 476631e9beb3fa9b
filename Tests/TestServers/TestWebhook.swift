import Glibc
import Synchronization

/// An HTTP server on loopback that accepts POSTs, answers as instructed, and remembers its
/// requests. It ends with this value.
public final class TestWebhook: Sendable {
    /// A request.
    public struct Request: Sendable {
        /// The first line.
        public var line: String
        /// By name in lower case.
        public var headers: [String: String]
        /// What was posted.
        public var body: String
    }

    /// The port on which it listens, on 127.0.0.1.
    public let port: Int
    private let state: State

    private final class State: Sendable {
        let isStopped = Atomic(false)
        let answers: Mutex<[String]>
        let requests = Mutex<[Request]>([])
        init(_ answers: [String]) { self.answers = Mutex(answers) }
    }

    /// Listens from now on.
    /// - Parameter answers: statuses with further header lines for the first requests; 200
    ///   afterwards. A blank one closes without an answer.
    public init(answers: [String] = []) throws {
        let (listener, port) = try Sockets.listen()
        self.port = port
        let state = State(answers)
        self.state = state
        startThread {
            while !state.isStopped.load(ordering: .relaxed) {
                guard Sockets.waitToRead([listener]) != 0 else { continue }
                let client = accept(listener, nil, nil)
                if client >= 0 { startThread { Self.serve(client, state) } }
            }
            close(listener)
        }
    }

    deinit { state.isStopped.store(true, ordering: .relaxed) }

    /// The requests so far, in order.
    public var requests: [Request] { state.requests.withLock { $0 } }

    /// The address of a path.
    public func url(_ path: String = "/hook") -> String { "http://127.0.0.1:\(port)\(path)" }

    private static func serve(_ client: Int32, _ state: State) {
        defer { close(client) }
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), bytes.count < 16_384 {
            guard let byte = Sockets.read(1, from: client) else { return }
            bytes += byte
            // A TLS record begins with 22: web servers answer that in plain text.
            if bytes == [22] {
                _ = Sockets.write(Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8), to: client)
                return
            }
        }
        var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").map(String.init)
        let first = lines.removeFirst()
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        guard let body = length == 0 ? [] : Sockets.read(length, from: client) else { return }
        // One lock over both: the order of answers is the order of requests.
        let answer = state.requests.withLock { requests in
            requests.append(Request(line: first, headers: headers, body: String(decoding: body, as: UTF8.self)))
            return state.answers.withLock { $0.isEmpty ? "200 OK" : $0.removeFirst() }
        }
        guard !answer.isEmpty else { return }
        _ = Sockets.write(
            Array("HTTP/1.1 \(answer)\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".utf8), to: client)
    }
}
