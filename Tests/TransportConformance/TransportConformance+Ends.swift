import Base
import HTTP2

extension TransportConformance {
    static let streams = [
        Behaviour("the peer's limit of streams is told, and told again when it changes") { conformance in
            let peer = try Peer()
            peer.settings = [(.maximumConcurrentStreams, 3)]
            let (scene, session) = try conformance.openScene(peer)
            try scene.await(.limitChanged(connection: 0, limit: 3))
            session.submit(settings: [(.maximumConcurrentStreams, 8)])
            try scene.await(.limitChanged(connection: 0, limit: 8))
        },
        Behaviour("never more streams are open than the peer allows; what is beyond waits for its turn") {
            conformance in
            let peer = try Peer()
            peer.settings = [(.maximumConcurrentStreams, 2)]
            let (scene, session) = try conformance.openScene(peer)
            try scene.await(.limitChanged(connection: 0, limit: 2))
            scene.submit(0..<4)
            scene.pause()
            try scene.expect(session.requests.count == 2, "the peer has two")
            session.answer(0)
            session.answer(1)
            try scene.go(until: "the others follow") { session.requests.count == 4 }
        },
        Behaviour("a stream that is refused was not processed, and its connection goes on") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<2, to: session)
            session.submitReset(.refusedStream, streamID: session.requests[0].stream)
            try scene.await(.refused(request: 0))
            session.answer(1)
            try scene.await(.answered(request: 1, Answer(status: 200)))
            try scene.expect(scene.said(of: 0..<1) == [.refused(request: 0)], "that is all")
        },
        Behaviour("a stream that is reset for another reason is in doubt, and its connection goes on") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<2, to: session)
            session.submitReset(.internalError, streamID: session.requests[0].stream)
            try scene.await(.reset(request: 0))
            session.answer(1)
            try scene.await(.answered(request: 1, Answer(status: 200)))
            try scene.expect(scene.said(of: 0..<1) == [.reset(request: 0)], "it is not said to be unprocessed")
        },
        Behaviour("a window that is used up is told, and that it is open again") { conformance in
            let (scene, session) = try conformance.openScene(try Peer(givesWindowsByHand: true))
            scene.submit(0..<70, body: String(repeating: "x", count: 1000))
            try scene.await(.windowChanged(connection: 0, room: 0))
            try scene.go(until: "the peer has what fits") {
                session.requests.reduce(0) { $0 + $1.body.count } >= 65_535
            }
            session.giveWindow(1 << 20, streamID: 0)
            try scene.go(until: "the peer has all of it") { session.requests.count { $0.isComplete } == 70 }
            try scene.go(until: "there is room again") {
                if case .windowChanged(0, let room)? = scene.events.last(where: {
                    if case .windowChanged = $0 { true } else { false }
                }) {
                    room > 0
                } else {
                    false
                }
            }
        },
    ]

    static let ends = [
        Behaviour("a peer that leaves in good order is said to do so, once") { conformance in
            let (scene, session) = try conformance.openScene()
            session.submitGoAway(lastStreamID: 0, .noError, debugData: [])
            try scene.await(.leaving(connection: 0, isInOrder: true))
            scene.pause()
            try scene.expect(
                scene.events.count { if case .leaving = $0 { true } else { false } } == 1, "it is said once")
        },
        Behaviour("a peer that leaves because of an error does not leave in order") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<1, to: session)
            session.submitGoAway(
                lastStreamID: session.requests[0].stream, .internalError, debugData: Array("Overloaded".utf8))
            try scene.await(.leaving(connection: 0, isInOrder: false))
        },
        Behaviour(
            "above GOAWAY's last stream nothing was processed, which is said before the connection leaves; up to it answers still come"
        ) {
            conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<4, to: session)
            session.submitGoAway(lastStreamID: session.requests[1].stream, .noError, debugData: [])
            let leaves = try scene.await(.leaving(connection: 0, isInOrder: true))
            for request in 2..<4 {
                let place = scene.place(of: .notProcessed(request: request))
                try scene.expect(place >= 0 && place < leaves, "\(request) was not processed, and that was said before")
            }
            try scene.expect(scene.said(of: 0..<2).isEmpty, "nothing is known of the others yet")
            session.answer(0)
            session.answer(1, status: 410)
            try scene.await(.answered(request: 0, Answer(status: 200)))
            try scene.await(.answered(request: 1, Answer(status: 410)))
        },
        Behaviour("what is submitted to a connection that leaves was not processed") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<1, to: session)
            session.submitGoAway(lastStreamID: session.requests[0].stream, .noError, debugData: [])
            try scene.await(.leaving(connection: 0, isInOrder: true))
            scene.submit(1..<2)
            try scene.await(.notProcessed(request: 1))
            try scene.expect(session.requests.count == 1, "the peer never saw it")
        },
        Behaviour("of a connection that is cut the end is told, and nothing of requests that the peer may have") {
            conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<3, to: session)
            session.cut()
            try scene.await(.ended(connection: 0))
            scene.pause()
            try scene.expect(scene.said(of: 0..<3).isEmpty, "nobody knows what became of them")
            try scene.expect(scene.events.count { $0 == .ended(connection: 0) } == 1, "it ends once")
        },
        Behaviour("requests whose last byte never left were not processed, which is said before the connection's end") {
            conformance in
            let (scene, session) = try conformance.openScene(try Peer(givesWindowsByHand: true))
            scene.submit(0..<70, body: String(repeating: "x", count: 1000))
            try scene.go(until: "the peer has what fits") {
                session.requests.reduce(0) { $0 + $1.body.count } >= 65_535
            }
            session.cut()
            let end = try scene.await(.ended(connection: 0))
            let whole = session.requests.count { $0.isComplete }
            for request in whole..<70 {
                let place = scene.place(of: .notProcessed(request: request))
                try scene.expect(place >= 0 && place < end, "\(request) never left, and that was said before")
            }
            try scene.expect(scene.said(of: 0..<whole).isEmpty, "what left whole is in doubt")
        },
        Behaviour("an answer that came before the connection's end is told before it") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<2, to: session)
            session.answer(0)
            session.closeQuietly()
            let end = try scene.await(.ended(connection: 0))
            let answer = scene.place(of: .answered(request: 0, Answer(status: 200)))
            try scene.expect(answer >= 0 && answer < end, "the answer comes first")
            try scene.expect(scene.said(of: 1..<2).isEmpty, "of the other nothing is known")
        },
        Behaviour("a peer that talks nonsense is left, and what it has is in doubt") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<1, to: session)
            session.talkNonsense()
            try scene.await(.ended(connection: 0))
            try scene.expect(scene.said(of: 0..<1).isEmpty, "nothing is known of it")
        },
    ]

    static let signsOfLife = [
        Behaviour("a peer that answers a PING is alive") { conformance in
            let (scene, session) = try conformance.openScene()
            scene.transport.ping(0)
            try scene.await(.alive(connection: 0))
            try scene.expect(session.pings == 1, "it was asked once")
        },
        Behaviour("a peer that says nothing gives no sign of life") { conformance in
            let (scene, session) = try conformance.openScene()
            scene.pause()
            session.isMute = true
            scene.transport.ping(0)
            try scene.go(until: "it was asked") { session.pings == 1 }
            scene.pause()
            try scene.expect(!scene.events.contains(.alive(connection: 0)), "that it lives is not known")
            session.isMute = false
            try scene.await(.alive(connection: 0))
        },
    ]
}
