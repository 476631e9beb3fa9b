import Base
import HTTP2
import Testing

@testable import Simulators

@Suite("A stream with a fault", .enabled(if: isInstalled("openssl"), "the program openssl is not installed"))
struct HurtStreamTests {
    private static func resets(_ frames: [Frame]) -> [UInt32: UInt32] {
        Dictionary(uniqueKeysWithValues: frames.filter { $0.type == Frame.reset }.map { ($0.stream, $0.number(at: 0)) })
    }

    @Test("is reset unprocessed, with INTERNAL_ERROR") func resetUnprocessed() throws {
        let stand = try FrameStand { $0.resetEvery = 2 }
        let client = stand.client()
        client.pushes(distinctTokens(4) + [someToken])
        let frames = client.readAnswers(3)
        #expect(frames.filter(\.isAccepted).map(\.stream) == [1, 5, 9])
        #expect(Self.resets(frames) == [3: 2, 7: 2])
        let summary = stand.simulator.stop()
        #expect((summary.requests, summary.accepted, summary.resetStreams, summary.refusedStreams) == (3, 3, 2, 0))
    }

    @Test("is reset after its push was accepted, with the code that was asked for") func resetAccepted() throws {
        let stand = try FrameStand { faults in (faults.resetAcceptedEvery, faults.resetErrorCode) = (2, .cancel) }
        let client = stand.client()
        client.pushes(distinctTokens(4) + [someToken])
        let frames = client.readAnswers(3)
        #expect(frames.filter(\.isAccepted).map(\.stream) == [1, 5, 9])
        #expect(Self.resets(frames) == [3: 8, 7: 8])
        let summary = stand.simulator.stop()
        #expect((summary.accepted, summary.acceptedTokens, summary.resetStreams) == (5, 5, 2))
    }

    @Test("is answered by a gateway: 502 to 504, without apns-id and without APNs' JSON, every other one accepted")
    func gateway() throws {
        let stand = try FrameStand { $0.gatewayEvery = 2 }
        let client = stand.client()
        client.pushes(distinctTokens(7) + [someToken])
        let frames = client.readAnswers(8)
        #expect(frames.filter { $0.type == Frame.headers && $0.isAccepted }.count == 4)
        let bodies = frames.filter { $0.type == Frame.data }.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(
            bodies.count == 4 && bodies.allSatisfy { $0.hasPrefix("<html>") && !$0.contains("reason") }, "\(bodies)")
        #expect(stand.simulator.stop().accepted == 6)
    }

    @Test("is answered before its payload is there, and then reset with NO_ERROR") func earlyAnswer() throws {
        let stand = try FrameStand { $0.earlyAnswerEvery = 1 }
        let client = stand.client()
        let stream = client.push(payload: nil)
        let frames = client.read { $0.type == Frame.reset }
        let answer = frames.first { $0.type == Frame.headers }
        #expect(answer?.isAccepted == true)
        #expect(answer?.endsStream == true)
        #expect(Self.resets(frames) == [stream: 0])
        // Frames that were already on the way do no harm.
        client.send(Frame(type: Frame.data, flags: Frame.endStream, stream: stream, payload: Array("{}".utf8)))
        client.push(payload: nil)
        #expect(client.readAnswers(1).last?.isAccepted == true)
        #expect(stand.simulator.stop().accepted == 2)
    }

    @Test("is refused before its payload is there, reason and all") func earlyRefusal() throws {
        let stand = try FrameStand { $0.earlyAnswerEvery = 1 }
        let client = stand.client()
        client.push("00000400" + someToken, payload: nil)
        let frames = client.readAnswers(1)
        #expect(String(decoding: frames.last?.payload ?? [], as: UTF8.self) == #"{"reason":"BadDeviceToken"}"#)
        client.send(Frame(type: Frame.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(Self.resets(client.read { $0.type == Frame.ping }).isEmpty)
        #expect(stand.simulator.stop().reasons == ["BadDeviceToken": 1])
    }

    @Test("is told of 103 before its answer") func information() throws {
        let stand = try FrameStand { $0.informationEvery = 1 }
        let client = stand.client()
        client.push()
        let headers = client.readAnswers(1).filter { $0.type == Frame.headers }
        #expect(headers.map(\.isAccepted) == [false, true])
        #expect(headers.map(\.endsStream) == [false, true])
    }

    @Test("ends with trailers, with a body and without", arguments: [someToken, "00000400" + someToken])
    func trailers(_ token: String) throws {
        let stand = try FrameStand { $0.trailersEvery = 1 }
        let client = stand.client()
        client.push(token)
        let frames = client.readAnswers(1).filter { $0.stream == 1 }
        #expect(frames.filter { $0.type == Frame.headers }.map(\.endsStream) == [false, true])
        #expect(frames.last?.type == Frame.headers)
        let body = frames.filter { $0.type == Frame.data }.flatMap(\.payload)
        #expect(String(decoding: body, as: UTF8.self) == (token == someToken ? "" : #"{"reason":"BadDeviceToken"}"#))
    }

    @Test("is answered with headers that one frame does not hold") func largeHeaders() throws {
        let stand = try FrameStand { $0.largeHeadersEvery = 1 }
        let client = stand.client()
        client.push()
        let frames = client.read { $0.type == Frame.continuation && $0.flags & Frame.endHeaders != 0 }.filter {
            $0.stream == 1
        }
        #expect(frames.first?.isAccepted == true)
        #expect((frames.first?.flags ?? 0) & Frame.endHeaders == 0)
        #expect(frames.reduce(0) { $0 + $1.payload.count } > 20_000)
    }

    @Test("has its answer held back, like all of its connection") func latency() throws {
        let stand = try FrameStand { $0.latencyMilliseconds = 300 }
        let client = stand.client()
        let start = Timestamp.now()
        client.pushes(distinctTokens(3))
        #expect(client.readAnswers(3).filter(\.isAccepted).count == 3)
        #expect(Timestamp.now().epochMilliseconds - start.epochMilliseconds >= 300)
    }
}

@Suite("Limits and noise", .enabled(if: isInstalled("openssl"), "the program openssl is not installed"))
struct LimitAndNoiseTests {
    @Test("the stream limit falls to 1, rises when all streams are drained, and falls again") func drainedDip() throws {
        let stand = try FrameStand { $0.streamLimitDipEvery = 2 }
        let client = stand.client()
        var limits: [UInt32] = []
        func read(until count: Int) {
            client.read { frame in
                if let limit = frame.streamLimit { limits.append(limit) }
                return limits.count == count
            }
        }
        // Streams that were open before the limit fell stay open. The third push is accepted while
        // it is low, which does not raise it.
        for stream in client.pushes(distinctTokens(3), payload: nil) {
            client.send(
                Frame(type: Frame.data, flags: Frame.endStream, stream: stream, payload: Array(#"{"aps":{}}"#.utf8)))
        }
        read(until: 3)
        client.push()
        read(until: 5)
        #expect(limits == [100, 1, 100, 1, 100])
        #expect(stand.simulator.stop().accepted == 4)
    }

    @Test("the stream limit stays down as long as it was told to") func timedDip() throws {
        let stand = try FrameStand { faults in
            (faults.streamLimitDipEvery, faults.streamLimitDipMilliseconds) = (1, 300)
        }
        let client = stand.client()
        client.push()
        client.read { $0.streamLimit == 1 }
        let start = Timestamp.now()
        #expect(client.read { $0.streamLimit == 100 }.last?.streamLimit == 100)
        #expect(Timestamp.now().epochMilliseconds - start.epochMilliseconds >= 250)
    }

    @Test("a stream beyond a limit that was acknowledged is a violation, and ends the connection") func violation()
        throws
    {
        let stand = try FrameStand { faults in
            (faults.streamLimitDipEvery, faults.streamLimitDipMilliseconds) = (1, 60_000)
        }
        let client = stand.client()
        client.push()
        client.read { $0.streamLimit == 1 }
        client.pushes(distinctTokens(2), payload: nil)
        let goAway = client.readAll().first { $0.type == Frame.goAway }
        #expect(goAway?.number(at: 4) == 1)
        let summary = stand.simulator.stop()
        #expect((summary.streamLimitViolations, summary.refusedStreams) == (1, 0))
    }

    @Test("a stream beyond a limit that was not acknowledged yet is refused, and no violation") func refusal() throws {
        let stand = try FrameStand { faults in
            (faults.streamLimitDipEvery, faults.streamLimitDipMilliseconds) = (1, 60_000)
        }
        let client = stand.client()
        client.push()
        client.acknowledges = false
        client.read { $0.streamLimit == 1 }
        client.pushes(distinctTokens(2), payload: nil)
        let reset = client.read { $0.type == Frame.reset }.last
        #expect(reset?.stream == 5)
        #expect(reset?.number(at: 0) == 7)
        let summary = stand.simulator.stop()
        #expect((summary.streamLimitViolations, summary.refusedStreams) == (0, 1))
    }

    @Test("a small window is announced, and given back late and to the byte") func windows() throws {
        let stand = try FrameStand { $0.windows = SimulatedWindows(streamBytes: 16, delayMilliseconds: 100) }
        let client = stand.client()
        #expect(client.next()?.settings[4] == 16)
        let stream = client.push(payload: nil)
        let start = Timestamp.now()
        client.send(Frame(type: Frame.data, stream: stream, payload: Array(#"{"aps":{"alert""#.utf8)))
        var given: [UInt32: UInt32] = [:]
        client.read { frame in
            if frame.type == Frame.windowUpdate { given[frame.stream, default: 0] += frame.number(at: 0) }
            return given.count == 2
        }
        #expect(given == [stream: 15, 0: 15])
        #expect(Timestamp.now().epochMilliseconds - start.epochMilliseconds >= 100)
        client.send(Frame(type: Frame.data, flags: Frame.endStream, stream: stream, payload: Array(#":"Hi"}}"#.utf8)))
        #expect(client.readAnswers(1).last?.isAccepted == true)
    }

    @Test("of the connection's first window only the configured size is ever given back") func connectionWindow() {
        var owed = DelayedWindowUpdates(
            SimulatedWindows(streamBytes: 16, connectionBytes: 65_500, delayMilliseconds: 10))
        owed.append(30, streamID: 1, now: noon)
        owed.append(16, streamID: 3, now: noon.adding(seconds: 0.005))
        #expect(owed.nextDue == noon.adding(seconds: 0.01))
        #expect(owed.takeDue(at: noon).isEmpty)
        let first = owed.takeDue(at: noon.adding(seconds: 0.01))
        #expect(first.map(\.streamBytes) == [30])
        #expect(first.map(\.connectionBytes) == [0])
        #expect(owed.takeDue(at: noon.adding(seconds: 1)).map(\.connectionBytes) == [11])
        #expect(owed.nextDue == nil)
    }

    @Test("a flood of PINGs comes after every n-th push, and the connection goes on") func pingFlood() throws {
        let stand = try FrameStand { faults in (faults.pingFloodEvery, faults.pingFloodSize) = (2, 5_000) }
        let client = stand.client()
        var pings = 0
        func read(until count: Int) {
            client.read { frame in
                if frame.type == Frame.ping { pings += 1 }
                return pings == count
            }
        }
        client.pushes(distinctTokens(2))
        read(until: 5_000)
        client.pushes(distinctTokens(2))
        read(until: 10_000)
        #expect(pings == 10_000)
        let summary = stand.simulator.stop()
        #expect((summary.accepted, summary.pings) == (4, 0))
    }

    @Test("a flood of SETTINGS comes after every n-th push, and the connection goes on") func settingsFlood() throws {
        let stand = try FrameStand { $0.settingsFloodEvery = 1 }
        let client = stand.client()
        client.push()
        var settings = 0
        client.read { frame in
            if frame.type == Frame.settings, frame.flags == 0, frame.payload.isEmpty { settings += 1 }
            return settings == 100
        }
        #expect(settings == 100)
        client.push()
        #expect(client.read { $0.isAccepted && $0.stream == 3 }.last?.stream == 3)
    }

    @Test("what clients must ignore comes between, and the connection goes on") func strangeFrames() throws {
        let stand = try FrameStand { $0.strangeFramesEvery = 1 }
        let client = stand.client()
        client.push()
        let frames = client.read { $0.type == 0xFA && $0.stream == 1 }
        #expect(frames.contains { $0.type == 2 && $0.stream == 1 && $0.payload.count == 5 })
        #expect(frames.contains { $0.type == 0xFA && $0.stream == 0 })
        #expect(frames.contains { $0.settings[0xFAFA] == 1 })
        client.push()
        #expect(client.read { $0.isAccepted }.last?.stream == 3)
    }

    @Test("PINGs of a client are answered and counted") func pings() throws {
        let stand = try FrameStand { _ in }
        let client = stand.client()
        for _ in 0..<2 { client.send(Frame(type: Frame.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8])) }
        var answers = 0
        client.read { frame in
            if frame.type == Frame.ping, frame.flags == Frame.acknowledgement { answers += 1 }
            return answers == 2
        }
        #expect(answers == 2)
        #expect(stand.simulator.stop().pings == 2)
    }
}
