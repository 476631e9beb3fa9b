import HTTP2
import Testing

/// What is sent if the peer's windows are smaller than what waits (RFC 9113 section 5.2).
@Suite("bodies under closed windows")
struct BodyOrderTests {
    private let body = String(repeating: "x", count: 400)

    /// The server reads, and returns as many bytes of the connection's window as it is told to.
    private func step(_ pair: SessionPair, giving bytes: Int) {
        if bytes > 0 { pair.server.giveWindow(bytes, streamID: 0) }
        pair.exchange()
    }

    @Test(
        "the one that the window cut in two is not overtaken by those that come after it",
        arguments: [1, 150, 399, 400, 401, 1000, 5000])
    func oldestFirst(_ given: Int) throws {
        let pair = try SessionPair(window: 65_535)
        var submitted = 0
        func submit(_ count: Int) {
            for _ in 0..<count {
                pair.submit(submitted, body: body)
                submitted += 1
            }
        }
        // 163 fit completely.
        submit(200)
        step(pair, giving: 0)
        #expect(pair.server.requests.count == 163)
        for _ in 0..<200 {
            submit(max(1, given / body.utf8.count))
            step(pair, giving: given)
        }
        #expect(pair.server.requests == pair.server.requests.sorted())
        let sent = 65_535 + 200 * given
        #expect(
            pair.server.requests.count == min(submitted, sent / body.utf8.count), "as many as the window takes whole")
    }

    @Test("streams with windows of 16 bytes wait for their own, and keep none from going", arguments: [UInt32(16), 0])
    func ownWindows(_ window: UInt32) throws {
        let pair = try SessionPair(window: window)
        for tag in 0..<5 { pair.submit(tag, body: body) }
        step(pair, giving: 0)
        #expect(pair.server.requests.isEmpty)
        // The third gets all that it needs, the others nothing.
        pair.server.giveWindow(1000, streamID: 5)
        step(pair, giving: 0)
        #expect(pair.server.requests == [5])
        // With a window of 16 it fits.
        pair.submit(5, body: "short")
        step(pair, giving: 0)
        #expect(pair.server.requests == (window == 0 ? [5] : [5, 11]))
        for stream: Int32 in [1, 3, 7, 9, 11] { pair.server.giveWindow(1000, streamID: stream) }
        step(pair, giving: 0)
        #expect(Set(pair.server.requests) == [1, 3, 5, 7, 9, 11])
    }

    @Test("a window that SETTINGS narrows, or widens, in the middle of a body is noticed")
    func changedSettings() throws {
        let pair = try SessionPair(window: 65_535)
        for tag in 0..<170 { pair.submit(tag, body: body) }
        step(pair, giving: 0)
        // The 164th is cut by the connection's window; now its own window is closed, and that of
        // all new streams is 100.
        pair.server.submit(settings: [(.initialWindowSize, 100)])
        step(pair, giving: 0)
        step(pair, giving: 5000)
        #expect(pair.server.requests.count == 163)
        pair.submit(200, body: "short")
        step(pair, giving: 0)
        #expect(pair.server.requests.count == 164, "one that fits goes out")
        pair.server.submit(settings: [(.initialWindowSize, 65_535)])
        step(pair, giving: 0)
        #expect(pair.server.requests.count == 171)
    }

    @Test("one that is cut and then reset, cancelled or answered lets the others go", arguments: 0..<3)
    func endOfTheCut(_ way: Int) throws {
        let pair = try SessionPair(window: 65_535)
        for tag in 0..<170 { pair.submit(tag, body: body) }
        step(pair, giving: 0)
        let cut: Int32 = 2 * 163 + 1
        switch way {
        case 0: pair.server.submitReset(.cancel, streamID: cut)
        case 1: pair.client.cancel(tag: 163)
        default: pair.server.answer(cut, status: "413")
        }
        step(pair, giving: 5000)
        #expect(pair.server.requests.count == 169)
    }

    @Test("there is room for what the window takes whole, by the mean length, and for one when nothing waits")
    func room() throws {
        let pair = try SessionPair(window: 65_535)
        #expect(pair.client.room > 1000)
        pair.submit(0, body: body)
        #expect(pair.client.room == 65_135 / 400)
        for tag in 1..<163 { pair.submit(tag, body: body) }
        #expect(pair.client.room == 0)
        step(pair, giving: 0)
        #expect(pair.client.room == 1, "335 bytes are left, and nothing waits")
        pair.submit(163, body: body)
        step(pair, giving: 0)
        #expect(pair.client.room == 0)
        step(pair, giving: 4065)
        #expect(pair.client.room == 10)
    }

    @Test("what waits for the windows of its own streams takes no room from others")
    func roomBesideBlocked() throws {
        let pair = try SessionPair(window: 100)
        for tag in 0..<100 { pair.submit(tag, body: body) }
        step(pair, giving: 0)
        // 100 bytes of each are sent.
        #expect(pair.client.room == (65_535 - 10_000) / 400)
    }
}
