import Base
import HTTP2
import Testing

@testable import Simulators

/// A simulator with faults, and clients that see its frames.
struct FrameStand {
    let simulator: ServiceSimulator
    let provider = Provider()

    init(_ change: (inout SimulatorFaults) -> Void) throws {
        var configuration = SimulatorConfiguration()
        configuration.keys = [provider.trusted]
        configuration.faults.firstStreamLimit = 100
        configuration.faults.streamLimit = 100
        change(&configuration.faults)
        simulator = try StandIn.apns.start(configuration)
    }

    func client() -> FrameClient { FrameClient(simulator, provider) }
}

/// This many different tokens.
func distinctTokens(_ count: Int) -> [String] { (0..<count).map { "abcdef" + String(10_000_000 + $0) } }

private func acceptedStreams(_ frames: [Frame]) -> [UInt32] { frames.filter(\.isAccepted).map(\.stream) }

@Suite("A connection with a fault", .enabled(if: isInstalled("openssl"), "the program openssl is not installed"))
struct HurtConnectionTests {
    @Test("ends with GOAWAY that leaves out the latest pushes, and answers the others") func lowGoAway() throws {
        let stand = try FrameStand { faults in (faults.lowGoAwayEvery, faults.lowGoAwayLeavesOut) = (5, 2) }
        let client = stand.client()
        #expect(client.pushes(distinctTokens(6)) == [1, 3, 5, 7, 9, 11])
        let frames = client.readAll()
        #expect(acceptedStreams(frames) == [1, 3, 5])
        let goAway = frames.first { $0.type == Frame.goAway }
        #expect(goAway?.number(at: 0) == 5)
        #expect(goAway?.number(at: 4) == 0)
        let summary = stand.simulator.stop()
        #expect((summary.requests, summary.accepted, summary.acceptedTokens) == (3, 3, 3))
    }

    @Test("does not wait for ever for the pushes that GOAWAY leaves out") func lowGoAwayWithFewer() throws {
        let stand = try FrameStand { faults in (faults.lowGoAwayEvery, faults.lowGoAwayLeavesOut) = (5, 2) }
        let client = stand.client()
        client.pushes(distinctTokens(4))
        let frames = client.readAll()
        #expect(acceptedStreams(frames) == [1, 3, 5])
        #expect(frames.first { $0.type == Frame.goAway }?.number(at: 0) == 5)
        #expect(stand.simulator.stop().accepted == 3)
    }

    @Test("still answers a push below the last stream that becomes complete after GOAWAY") func completedLater() throws
    {
        let stand = try FrameStand { faults in (faults.lowGoAwayEvery, faults.lowGoAwayLeavesOut) = (2, 1) }
        let client = stand.client()
        let open = client.push(payload: nil)
        client.push()
        client.push()
        #expect(client.read { $0.type == Frame.goAway }.last?.number(at: 0) == 3)
        client.send(Frame(type: Frame.data, flags: Frame.endStream, stream: open, payload: Array(#"{"aps":{}}"#.utf8)))
        #expect(acceptedStreams(client.readAll()) == [open])
        #expect(stand.simulator.stop().accepted == 2)
    }

    @Test("ends in two steps, and takes the pushes between them") func gracefulGoAway() throws {
        let stand = try FrameStand { faults in
            (faults.gracefulGoAwayEvery, faults.gracefulGoAwayMilliseconds) = (1, 500)
        }
        let client = stand.client()
        client.push()
        #expect(client.read { $0.type == Frame.goAway }.last?.number(at: 0) == 0x7FFF_FFFF)
        client.push()
        let rest = client.readAll()
        #expect(acceptedStreams(rest) == [3])
        #expect(rest.first { $0.type == Frame.goAway }?.number(at: 0) == 3)
        #expect(stand.simulator.stop().accepted == 2)
    }

    @Test("falls silent, open as it is, and leaves others alone") func silentAfter() throws {
        let stand = try FrameStand { $0.silentAfter = 3 }
        let client = stand.client()
        client.pushes(distinctTokens(5))
        #expect(acceptedStreams(client.readAnswers(2)) == [1, 3])
        client.send(Frame(type: Frame.ping, payload: [1, 2, 3, 4, 5, 6, 7, 8]))
        client.push()
        #expect(client.hearsNothing(forMilliseconds: 300))
        let other = stand.client()
        other.push()
        #expect(acceptedStreams(other.readAnswers(1)) == [1])
        let summary = stand.simulator.stop()
        #expect((summary.accepted, summary.pings) == (4, 0))
    }

    @Test("ends in the middle of a HEADERS frame") func midFrame() throws {
        let stand = try FrameStand { $0.cutMidFrameEvery = 3 }
        let client = stand.client()
        client.pushes(distinctTokens(50))
        #expect(acceptedStreams(client.readAll()) == [1, 3])
        #expect(client.unread == [0, 0, 40, 1, 5, 0, 0, 0, 5, 0x88, 0, 7])
        #expect(client.ending() == .plainFIN)
        #expect(stand.simulator.stop().accepted == 3)
    }

    @Test("is reset by TCP") func tcpReset() throws {
        let stand = try FrameStand { $0.resetConnectionEvery = 3 }
        let client = stand.client()
        client.pushes(distinctTokens(3))
        #expect(client.ending() == .reset)
        #expect(stand.simulator.stop().accepted == 3)
    }

    @Test("is closed without close_notify while an answer is pending, even though more is being sent")
    func withoutNotify() throws {
        let stand = try FrameStand { $0.closeWithoutNotifyEvery = 3 }
        let client = stand.client()
        client.pushes(distinctTokens(50))
        let frames = client.readAll()
        #expect(acceptedStreams(frames) == [1, 3])
        #expect(!frames.contains { $0.type == Frame.goAway })
        #expect(client.ending() == .plainFIN)
        #expect(stand.simulator.stop().accepted == 3)
    }

    @Test("is closed with close_notify and without GOAWAY") func withoutGoAway() throws {
        let stand = try FrameStand { $0.closeWithoutGoAwayEvery = 3 }
        let client = stand.client()
        client.pushes(distinctTokens(50))
        let frames = client.readAll()
        #expect(acceptedStreams(frames) == [1, 3])
        #expect(!frames.contains { $0.type == Frame.goAway })
        #expect(client.ending() == .closeNotify)
        #expect(stand.simulator.stop().accepted == 3)
    }

    @Test("begins with garbage, as often as it was told to, and then takes no push") func garbageFirst() throws {
        let stand = try FrameStand { $0.garbage = SimulatedGarbage(afterPushes: 0, connections: 1) }
        let first = stand.client()
        first.push()
        #expect(first.receives(256))
        #expect((first.unread.first ?? 0) >= 0x80)
        let second = stand.client()
        second.push()
        #expect(second.next()?.streamLimit == 100)
        #expect(acceptedStreams(second.readAnswers(1)) == [1])
        let summary = stand.simulator.stop()
        #expect((summary.accepted, summary.connections) == (1, 2))
    }

    @Test("is sent garbage behind its answers, and closed") func garbageLater() throws {
        let stand = try FrameStand { $0.garbage = SimulatedGarbage(afterPushes: 2, connections: 1, thenCloses: true) }
        let client = stand.client()
        client.pushes(distinctTokens(4))
        #expect(acceptedStreams(client.readAll()) == [1, 3])
        #expect(client.unread.count == 256)
        #expect((client.unread.first ?? 0) >= 0x80)
        #expect(client.ending() == .plainFIN)
        #expect(stand.simulator.stop().accepted == 2)
    }

    @Test("is sent garbage and goes on") func garbageBetween() throws {
        let stand = try FrameStand { $0.garbage = SimulatedGarbage(afterPushes: 1, connections: 1) }
        let client = stand.client()
        client.push()
        #expect(acceptedStreams(client.readAnswers(1)) == [1])
        #expect(client.receives(256))
        client.push()
        #expect(client.receives(257))
        #expect(stand.simulator.stop().accepted == 2)
    }
}
