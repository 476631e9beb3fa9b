import Testing

@testable import Simulators

@Suite("requests of HTTP/1.1, as the simulators read them")
struct CallReaderTests {
    private static let host = "host: localhost\r\n"

    /// Reads a text in pieces of a size.
    private static func read(_ text: String, piece: Int = 1 << 20) -> (
        progress: CallReader.Progress, request: PushRequest
    ) {
        var reader = CallReader()
        let request = PushRequest(), bytes = Array(text.utf8)
        var progress = CallReader.Progress.needsMore
        for start in stride(from: 0, to: bytes.count, by: piece) {
            bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { reader.take($0) }
            progress = reader.read(into: request)
            if case .refused = progress { break }
        }
        return (progress, request)
    }

    private static func status(_ text: String) -> Int? {
        if case .refused(let status, _) = read(text).progress { status } else { nil }
    }

    @Test("a request is the same in one piece as byte by byte", arguments: [1, 2, 7, 1 << 20])
    func pieces(size: Int) throws {
        let text = "POST /token HTTP/1.1\r\n\(Self.host)Content-Type:  text/plain \r\nCONTENT-LENGTH: 5\r\n\r\nhello"
        let (progress, request) = Self.read(text, piece: size)
        #expect(progress == .complete)
        #expect(
            request[.method].map(Array.init) == Array("POST".utf8)
                && request[.path].map(Array.init) == Array("/token".utf8))
        #expect(request[.contentType].map(Array.init) == Array("text/plain".utf8))
        #expect(Array(request.payload) == Array("hello".utf8) && request.payloadBytes == 5)
        #expect(Self.read(String(text.dropLast()), piece: size).progress == .needsMore)
    }

    @Test("a request that asks for something needs no length") func withoutBody() {
        let (progress, request) = Self.read("GET /v3/push/cid?count=10 HTTP/1.1\r\n\(Self.host)\r\n")
        #expect(progress == .complete && request.payloadBytes == 0)
        #expect(request[.path].map(Array.init) == Array("/v3/push/cid?count=10".utf8))
    }

    @Test("headers that a service alone reads are kept for it, once, and others are not")
    func ownHeaders() {
        var reader = CallReader()
        let request = PushRequest(ownHeaders: ["app-key", "nonce"])
        func read(_ headers: String) {
            Array("POST / HTTP/1.1\r\n\(Self.host)\(headers)content-length: 0\r\n\r\n".utf8).withUnsafeBytes {
                reader.take($0)
            }
            #expect(reader.read(into: request) == .complete)
        }
        read("App-Key: shop\r\nNONCE: 17\r\nTimestamp: 5\r\n")
        #expect(request.own("app-key") == Array("shop".utf8) && request.own("nonce") == Array("17".utf8))
        #expect(request.own("timestamp") == nil && !request.hasDuplicateHeader)
        read("app-key: shop\r\napp-key: news\r\n")
        #expect(
            request.own("app-key") == Array("shop".utf8) && request.own("nonce") == nil && request.hasDuplicateHeader)
        read("")
        #expect(request.own("app-key") == nil && !request.hasDuplicateHeader)
    }

    @Test("the next request on a connection is another one")
    func next() {
        var reader = CallReader()
        let request = PushRequest()
        for (number, body) in [(1, "one"), (2, "three")] {
            Array("POST / HTTP/1.1\r\n\(Self.host)content-length: \(body.count)\r\n\r\n\(body)".utf8).withUnsafeBytes {
                reader.take($0)
            }
            #expect(reader.read(into: request) == .complete)
            #expect(Array(request.payload) == Array(body.utf8) && request.streamID == number)
        }
    }

    @Test(
        "what a strict server refuses is refused",
        arguments: [
            (400, "POST / HTTP/1.1\r\ncontent-length: 1\r\n\r\nx"),
            (400, "POST / HTTP/1.1\r\n\(host)\(host)content-length: 1\r\n\r\nx"),
            (400, "POST / HTTP/1.1\r\n\(host)content-length: 1\r\ncontent-length: 1\r\n\r\nx"),
            (400, "POST / HTTP/1.1\r\n\(host)content-length: +1\r\n\r\nx"),
            (400, "POST / HTTP/1.1\r\n\(host)content-length:\r\n\r\n"),
            (400, "POST / HTTP/1.1\r\n\(host)topic : a\r\ncontent-length: 1\r\n\r\nx"),
            (400, "POST / HTTP/1.1\r\n\(host)topic: a\r\n b\r\ncontent-length: 1\r\n\r\nx"),
            (400, "POST / HTTP/1.1\r\n\(host)topic: a\nb: c\r\ncontent-length: 1\r\n\r\nx"),
            (400, "POST / HTTP/1.1\r\n\(host)topic: a\u{1}\r\ncontent-length: 1\r\n\r\nx"),
            (400, "POST /  HTTP/1.1\r\n\(host)content-length: 1\r\n\r\nx"),
            (400, "POST localhost HTTP/1.1\r\n\(host)content-length: 1\r\n\r\nx"),
            (400, "POST / HTTP/1.1\r\n\(host)content-length: 1\r\n\r\nxPOST"),
            (411, "POST / HTTP/1.1\r\n\(host)\r\n"),
            (413, "POST / HTTP/1.1\r\n\(host)content-length: 99999999\r\n\r\n"),
            (417, "POST / HTTP/1.1\r\n\(host)expect: 100-continue\r\ncontent-length: 1\r\n\r\nx"),
            (
                431,
                "POST / HTTP/1.1\r\n\(host)x: \(String(repeating: "y", count: 65_536))\r\ncontent-length: 1\r\n\r\nx"
            ),
            (431, "POST / HTTP/1.1\r\n\(host)x: \(String(repeating: "y", count: 65_600))"),
            (501, "POST / HTTP/1.1\r\n\(host)transfer-encoding: chunked\r\n\r\n"),
            (505, "POST / HTTP/1.0\r\n\(host)content-length: 1\r\n\r\nx"),
        ])
    func refuses(status: Int, text: String) { #expect(Self.status(text) == status) }

    @Test("a client may say that a request is its last")
    func last() {
        var reader = CallReader()
        Array("POST / HTTP/1.1\r\n\(Self.host)connection: close\r\ncontent-length: 1\r\n\r\nx".utf8).withUnsafeBytes {
            reader.take($0)
        }
        #expect(!reader.isLast)
        #expect(reader.read(into: PushRequest()) == .complete)
        #expect(reader.isLast)
    }
}
