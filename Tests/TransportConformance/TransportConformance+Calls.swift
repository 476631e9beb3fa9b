import Base

extension TransportConformance {
    static let calls = [
        Behaviour("a server at which nobody is fails the connection, and nothing else is said of the request") {
            conformance in
            let scene = try conformance.scene()
            scene.peer.stopListening()
            scene.transport.open(0)
            scene.submit(0..<1)
            try scene.await(.failed(connection: 0))
            scene.pause()
            try scene.expect(scene.events == [.opened(connection: 0), .failed(connection: 0)], "that is all")
        },
        Behaviour("a server that is not trusted fails the connection, and gets no request") { conformance in
            let scene = try conformance.distrustingScene()
            scene.transport.open(0)
            scene.submit(0..<1)
            try scene.await(.failed(connection: 0))
            scene.pause()
            try scene.expect(scene.arrivals.isEmpty, "the peer never saw it")
        },
        Behaviour(
            "requests whose sockets are cut are in doubt, which is said of each once, and others take new sockets"
        ) { conformance in
            let scene = try conformance.readyScene()
            _ = try scene.deliver(0..<3)
            for session in scene.peer.sessions { session.cut() }
            for request in 0..<3 { try scene.await(.reset(request: request)) }
            // Over HTTP/2 they shared a socket, so the connection is left.
            let hasLeft = scene.events.contains(.leaving(connection: 0, isInOrder: false))
            if hasLeft { try scene.ready(1) }
            try scene.deliver(3..<4, on: hasLeft ? 1 : 0)[0].answer()
            try scene.await(.answered(request: 3, Answer(status: 200)))
            try scene.expect(scene.said(of: 0..<3).count == 3, "it is said once of each")
            try scene.expect(
                scene.arrivals.count { (0..<3).contains($0.request.number) } == 3, "none of them was sent again")
        },
        Behaviour("an answer that came before the end of its socket counts, and a request without one is in doubt") {
            conformance in
            let scene = try conformance.readyScene()
            let calls = try scene.deliver(0..<2)
            calls[0].answer()
            for session in scene.peer.sessions { session.closeQuietly() }
            try scene.await(.answered(request: 0, Answer(status: 200)))
            try scene.await(.reset(request: 1))
            scene.pause()
            try scene.expect(scene.said(of: 0..<2).count == 2, "that is all")
        },
        Behaviour("what a peer has that talks nonsense is in doubt") { conformance in
            let scene = try conformance.readyScene()
            try scene.deliver(0..<1)[0].session.talkNonsense()
            try scene.await(.reset(request: 0))
        },
        Behaviour("a request whose connection died while idle is not sent twice") { conformance in
            let scene = try conformance.readyScene()
            // The peer has read it by the time its end of a connection from the pool is gone.
            let call = try scene.deliver(0..<1)[0]
            try scene.expect(call.place.session == 0, "the connection was there before")
            call.session.cut()
            try scene.await(.reset(request: 0))
            scene.pause()
            try scene.expect(scene.arrivals.count { $0.request.number == 0 } == 1, "it was sent once")
        },
        Behaviour("a body is never read twice") { conformance in
            let scene = try conformance.readyScene()
            scene.submit(0..<1, body: String(repeating: "0123456789", count: 200_000))
            try scene.go(until: "the peer has a part") {
                scene.arrivals.contains { $0.request.number == 0 && !$0.request.body.isEmpty }
            }
            scene.arrivals.first { $0.request.number == 0 }?.session.cut()
            try scene.await(.reset(request: 0))
            scene.pause()
            try scene.expect(
                scene.arrivals.count { $0.request.number == 0 } == 1, "no other connection got a byte of it")
        },
        Behaviour("a connection that was closed while idle is replaced, and the request arrives once") { conformance in
            let scene = try conformance.readyScene()
            for session in scene.peer.sessions { session.closeQuietly() }
            scene.pause()
            try scene.deliver(0..<1)[0].answer()
            try scene.await(.answered(request: 0, Answer(status: 200)))
            try scene.expect(scene.peer.sessions.count == 2, "on another connection")
            try scene.expect(scene.arrivals.count { $0.request.number == 0 } == 1, "it arrived once")
        },
        Behaviour("large answers reach their requests, also when those of others come with them") { conformance in
            let scene = try conformance.readyScene()
            for bytes in [15_000, 20_000, 40_000, 300_000] {
                let calls = try scene.deliver(0..<8)
                for (index, call) in calls.enumerated() {
                    call.answer(
                        status: 400,
                        body: String(repeating: " ", count: index % 3 == 2 ? 0 : bytes) + "{\"reason\":\"\(bytes)\"}")
                }
                for request in 0..<8 {
                    try scene.await(.answered(request: request, Answer(status: 400, reason: "\(bytes)")))
                }
            }
        },
        Behaviour("an answer that does not seem to end is cut off") { conformance in
            let scene = try conformance.readyScene()
            try scene.deliver(0..<1)[0].answer(status: 400, body: String(repeating: " ", count: 2_000_000))
            try scene.await(.answered(request: 0, Answer(status: 400, isCutOff: true)))
        },
        Behaviour("a page in place of an answer counts as cut off") { conformance in
            let scene = try conformance.readyScene()
            try scene.deliver(0..<1)[0].answer(
                status: 502, body: "<html></html>", headers: [("content-type", "text/html; charset=utf-8")])
            try scene.await(.answered(request: 0, Answer(status: 502, isCutOff: true)))
        },
        Behaviour("a redirect is an answer, and is not followed") { conformance in
            let scene = try conformance.readyScene()
            let address = "https://\(scene.peer.address.host):\(scene.peer.address.port)/target0"
            try scene.deliver(0..<1)[0].answer(status: 307, headers: [("location", address)])
            try scene.await(.answered(request: 0, Answer(status: 307)))
            scene.pause()
            try scene.expect(scene.arrivals.count { $0.request.number == 0 } == 1, "it was sent once")
        },
    ]
}
