import Base
import HTTP2
import Testing

@Suite("the client's end of HTTP/2")
struct HTTP2ClientSessionTests {
    @Test("path, apns-id and authorization are never indexed; what all requests share is said once")
    func compression() throws {
        let pair = try SessionPair(headers: [
            HTTP2Header("apns-topic", value: "com.example.shop"),
            HTTP2Header("authorization", value: "bearer secret", isNeverIndexed: true),
        ])
        pair.submit(0, path: "/3/device/aa", own: "id-1")
        pair.submit(1, path: "/3/device/bb", own: "id-2")
        pair.exchange()
        let blocks = pair.clientFrames.filter { $0.type == 1 }.map { Representation.all(in: $0.payload) }
        try #require(blocks.count == 2)
        // :method, :scheme, :authority, :path, apns-topic, authorization, apns-id
        let own: [Representation] = [.literalNeverIndexed]
        #expect(blocks[0] == [.indexed, .indexed, .literalIndexed] + own + [.literalIndexed] + own + own)
        #expect(blocks[1] == [.indexed, .indexed, .indexed] + own + [.indexed] + own + own)
    }

    @Test("an answer carries status, body and retry-after")
    func answers() throws {
        let pair = try SessionPair()
        pair.submit(7, body: #"{"aps":{}}"#)
        pair.exchange()
        #expect(pair.server.received[1] == Array(#"{"aps":{}}"#.utf8))
        pair.server.answer(1, status: "429", retryAfter: "30", body: Array("{}".utf8))
        pair.exchange()
        let end = try #require(pair.client.ended.first)
        #expect(
            end.tag == 7 && end.status == 429 && end.retryAfterSeconds == 30 && end.body == Array("{}".utf8)
                && !end.isUnsent)
        #expect(pair.client.ended.count == 1)
    }

    @Test("a retry-after that is a date is counted from now, and one that has passed asks for no wait")
    func retryDate() throws {
        for (seconds, expected) in [(100.0, 98...101), (-5, 0...0)] {
            let pair = try SessionPair()
            pair.submit(0)
            pair.exchange()
            pair.server.answer(1, status: "503", retryAfter: Timestamp.now().adding(seconds: seconds).httpDate)
            pair.exchange()
            let end = try #require(pair.client.ended.first)
            #expect(end.retryAfterSeconds.map(expected.contains) == true, "\(end.retryAfterSeconds ?? -1)")
        }
    }

    @Test(
        "a retry-after that is no date, negative or blank is none",
        arguments: ["Sat, 21 Nov 2026", "soon", "-1", "", "1234567890"])
    func retryAfter(_ value: String) throws {
        let pair = try SessionPair()
        pair.submit(0)
        pair.exchange()
        pair.server.answer(1, status: "503", retryAfter: value)
        pair.exchange()
        let end = try #require(pair.client.ended.first)
        #expect(end.status == 503 && end.retryAfterSeconds == nil)
    }

    @Test("of an endless body only the beginning is kept")
    func bodyLimit() throws {
        let pair = try SessionPair()
        pair.submit(0)
        pair.exchange()
        pair.server.answer(1, body: [UInt8](repeating: 0x61, count: HTTP2ClientSession.bodyLimit + 1000))
        for _ in 0..<20 { pair.exchange() }
        #expect(try #require(pair.client.ended.first).body.count == HTTP2ClientSession.bodyLimit)
    }

    @Test("a request that waits for a stream is unsent when the connection is given up")
    func unsentWhileWaiting() throws {
        let pair = try SessionPair(streamLimit: 1)
        pair.submit(0)
        pair.submit(1)
        pair.exchange()
        pair.client.abandonAll(writtenBytes: pair.client.collectedBytes)
        let ends = pair.client.ended.sorted { $0.tag < $1.tag }
        #expect(ends.map(\.tag) == [0, 1] && ends.map(\.isUnsent) == [false, true])
    }

    @Test("a request is unsent exactly when the frame that ends it lies beyond what was written")
    func unsentByBytes() throws {
        for missing in [0, 1] {
            let pair = try SessionPair()
            pair.submit(0)
            let before = pair.client.collectedBytes
            // The last frame is DATA: 9 bytes of header, then the body.
            let count = pair.collect().count
            let lastFrame = before + count - 9 - 2
            pair.client.abandonAll(writtenBytes: lastFrame + 1 - missing)
            #expect(pair.client.ended.map(\.isUnsent) == [missing == 1])
        }
    }

    @Test("a stream above GOAWAY's last one ends as refused, one below is answered, and no more are taken")
    func goAway() throws {
        let pair = try SessionPair()
        pair.submit(0)
        pair.submit(1)
        pair.exchange()
        pair.server.submitGoAway(lastStreamID: 1, .noError, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        pair.exchange()
        #expect(pair.client.goAway == #"{"reason":"Shutdown"}"#)
        #expect(pair.client.ended.map(\.tag) == [1] && pair.client.ended.map(\.error) == [.refusedStream])
        #expect(!pair.submit(2))
        pair.server.answer(1)
        pair.exchange()
        #expect(pair.client.ended.last?.tag == 0 && pair.client.ended.last?.status == 200)
        #expect(!pair.client.isAlive)
    }

    @Test("a reset is told with its code, and is not unsent")
    func reset() throws {
        let pair = try SessionPair()
        pair.submit(3)
        pair.exchange()
        pair.server.submitReset(.internalError, streamID: 1)
        pair.exchange()
        let end = try #require(pair.client.ended.first)
        #expect(end.tag == 3 && end.error == .internalError && end.status == 0 && !end.isUnsent)
    }

    @Test(
        "an answer whose body is cut off by a reset, or by the connection's end, keeps its status",
        arguments: [true, false])
    func cutOff(isReset: Bool) throws {
        let pair = try SessionPair()
        pair.submit(3)
        pair.exchange()
        pair.server.answer(1, status: "410", body: [UInt8](repeating: 0x20, count: 1_000_000))
        pair.exchange()
        #expect(pair.client.ended.count == 0)
        if isReset {
            pair.server.submitReset(.internalError, streamID: 1)
            pair.exchange()
        } else {
            pair.client.abandonAll(writtenBytes: 0)
        }
        let end = try #require(pair.client.ended.first)
        #expect(end.status == 410 && end.isCutOff && !end.isUnsent)
    }

    @Test("an answer that carries the request's own header shows it; one with another's does not")
    func ownHeader() throws {
        let pair = try SessionPair()
        for (tag, id) in ["one", "two", "three"].enumerated() { pair.submit(tag, own: id) }
        pair.exchange()
        pair.server.answer(1, status: "503", id: "one")
        pair.server.answer(3, status: "503", id: "one")
        pair.server.answer(5, status: "503")
        pair.exchange()
        #expect(pair.client.ended.map(\.ownHeader) == [.own, .other, .missing])
    }

    @Test("a cancelled request is reset and never told of; its tag can be used again at once")
    func cancel() throws {
        let pair = try SessionPair()
        pair.submit(5)
        pair.exchange()
        pair.client.cancel(tag: 5)
        pair.submit(5)
        pair.exchange()
        #expect(pair.clientFrames.contains { $0.type == 3 && $0.stream == 1 && $0.payload == [0, 0, 0, 8] })
        #expect(pair.client.ended.isEmpty && pair.server.closed == [1])
        pair.server.answer(3)
        pair.exchange()
        #expect(pair.client.ended.map(\.tag) == [5])
    }

    @Test("an answer before the body is sent ends the request, and the rest of it is not sent")
    func earlyAnswer() throws {
        let pair = try SessionPair()
        // More than the window of a stream, 65,535 bytes: the server returns none of it before it
        // has read.
        pair.submit(0, body: String(repeating: "x", count: 100_000))
        var said = pair.collect(upTo: HTTP2ClientSession.largestFrame)
        pair.deliver(said)
        pair.server.answer(1, status: "413")
        pair.hear()
        #expect(pair.client.ended.map(\.status) == [413])
        said = pair.collect()
        pair.deliver(said)
        #expect(pair.clientFrames.contains { $0.type == 3 && $0.stream == 1 })
        #expect((pair.server.received[1]?.count ?? 0) < 100_000)
    }

    @Test("the latest limit of streams is known, also when it falls, and its absence is none")
    func limits() throws {
        let pair = try SessionPair(streamLimit: 100)
        #expect(pair.client.streamLimit == 100)
        pair.server.submit(settings: [(.maximumConcurrentStreams, 1)])
        pair.exchange()
        #expect(pair.client.streamLimit == 1)
    }

    @Test("a PING is answered, and counted once")
    func ping() throws {
        let pair = try SessionPair()
        pair.client.ping()
        #expect(pair.client.pongs == 0)
        pair.exchange()
        #expect(pair.client.pongs == 1)
    }

    @Test("a thousand requests one after the other use the slots of the first again")
    func slots() throws {
        let pair = try SessionPair()
        for round in 0..<1000 {
            pair.submit(0, path: "/3/device/\(round)", body: String(repeating: "y", count: round))
            pair.exchange()
            pair.server.answer(Int32(2 * round + 1))
            pair.exchange()
        }
        #expect(pair.client.ended.map(\.status) == Array(repeating: 200, count: 1000))
        #expect(pair.server.received[1999] == [UInt8](repeating: 0x79, count: 999))
    }

    @Test("no session is made with a header that holds a line break")
    func brokenHeaders() async {
        await #expect(processExitsWith: .failure) {
            _ = try? SessionPair(headers: [HTTP2Header("apns-topic", value: "x\r\napns-priority: 1")])
        }
        await #expect(processExitsWith: .failure) {
            _ = try? SessionPair(headers: [HTTP2Header("apns-topic", value: "x\u{7F}")])
        }
    }

    @Test("bytes that are no HTTP/2 end the session with a word about it")
    func garbage() throws {
        let pair = try SessionPair()
        pair.submit(0)
        let isAlive = Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).withUnsafeBytes { pair.client.receive($0) }
        _ = pair.collect()
        #expect(!isAlive || !pair.client.isAlive)
        #expect(pair.client.lastWords == "the peer broke the rules of HTTP/2 (FRAME_SIZE_ERROR)")
    }
}
