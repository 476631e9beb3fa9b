import Base
import Cryptography
import Glibc

/// A connection that speaks HTTP/1.1: one request after the other, each with a length. What is not
/// so is kept as a fault.
final class HTTP1PeerSession: PeerSession {
    private(set) var requests: [PeerRequest] = []
    private(set) var isOpen = false
    private(set) var hasClientLeft = false
    private var isClosed = false

    private let socket: Int32
    private let tls: TLSConnection
    private var incoming: [UInt8] = []
    private var outgoing: [UInt8] = []
    private var isAnswered = true
    private var closesAfterwards = false

    init(_ socket: Int32, _ context: TLSServerContext) throws(Diagnostic) {
        self.socket = socket
        tls = try TLSConnection(context, socket: socket)
    }

    deinit { if !isClosed { Glibc.close(socket) } }

    func turn() {
        guard !isClosed else { return }
        if !isOpen {
            guard case .done = tls.handshake() else { return }
            isOpen = true
        }
        read()
        write()
    }

    private func read() {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { buffer in
            while true {
                switch tls.read(into: buffer) {
                case .done(let count):
                    incoming += buffer[..<count]
                    parse()
                case .failed:
                    hasClientLeft = true
                    return
                case .wantsRead, .wantsWrite: return
                }
            }
        }
    }

    private func parse() {
        if isAnswered, let head = head() {
            requests.append(head)
            isAnswered = false
        }
        guard let last = requests.indices.last, !requests[last].isComplete else { return }
        let length = Int(requests[last].headers["content-length"] ?? "") ?? 0
        let piece = incoming.prefix(length - requests[last].body.count)
        requests[last].body += piece
        incoming.removeFirst(piece.count)
        requests[last].isComplete = requests[last].body.count == length
    }

    /// Takes the head of a request once it is whole.
    private func head() -> PeerRequest? {
        let end = Array("\r\n\r\n".utf8)
        guard let start = incoming.indices.first(where: { incoming[$0...].starts(with: end) }) else { return nil }
        let lines = String(decoding: incoming[..<start], as: UTF8.self).split(separator: "\r\n")
        incoming.removeFirst(start + end.count)
        var request = PeerRequest()
        let words = lines[0].split(separator: " ").map(String.init)
        (request.headers[":method"], request.headers[":path"]) = (words[0], words[1])
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            request.headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        return request
    }

    private func write() {
        while !outgoing.isEmpty {
            guard case .done(let count) = outgoing.withUnsafeBytes({ tls.write($0) }) else { return }
            outgoing.removeFirst(count)
        }
        if closesAfterwards { closeQuietly() }
    }

    // MARK: What it is told to do

    func answer(_ request: Int, _ answer: PeerAnswer) {
        precondition(request == requests.count - 1 && !isAnswered, "HTTP/1.1 answers one request after the other")
        isAnswered = true
        var head = "HTTP/1.1 \(answer.status) Status\r\ncontent-length: \(answer.body.utf8.count)\r\n"
        for (name, value) in answer.headers { head += "\(name): \(value)\r\n" }
        let body = Array(answer.body.utf8)
        outgoing += Array((head + "\r\n").utf8) + body.prefix(answer.isCutOff ? body.count / 2 : body.count)
        closesAfterwards = answer.isCutOff
    }

    func isGivenUp(_ request: Int) -> Bool { hasClientLeft }

    func cut() {
        guard !isClosed else { return }
        isClosed = true
        reset(socket)
    }

    func closeQuietly() {
        guard !isClosed else { return }
        closesAfterwards = false
        write()
        tls.shutdown()
        isClosed = true
        Glibc.close(socket)
    }

    func talkNonsense() { outgoing += Array("Good morning\r\n\r\n".utf8) }
}
