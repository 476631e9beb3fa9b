import Base
import HTTP2

extension TransportConformance {
    static let connections = [
        Behaviour("a connection is said to be open once, before anything else is said of it") { conformance in
            let (scene, _) = try conformance.openScene()
            scene.pause()
            try scene.expect(scene.events.count { $0 == .opened(connection: 0) } == 1, "it is opened once")
            try scene.expect(scene.said(ofConnection: 0).first == .opened(connection: 0), "its opening comes first")
        },
        Behaviour("a connection that nobody takes fails once, and is not said to be open or to end") { conformance in
            let scene = try conformance.scene()
            scene.peer.stopListening()
            scene.transport.open(0)
            try scene.await(.failed(connection: 0))
            scene.pause()
            try scene.expect(scene.events == [.failed(connection: 0)], "nothing else is said of it")
        },
        Behaviour("a server that speaks another protocol is no connection") { conformance in
            let scene = try conformance.scene(try Peer(applicationProtocol: "http/1.1"))
            scene.transport.open(0)
            try scene.await(.failed(connection: 0))
            try scene.expect(!scene.events.contains(.opened(connection: 0)), "it was never open")
        },
        Behaviour("a request that is submitted before its connection is open was not processed") { conformance in
            let scene = try conformance.scene()
            scene.transport.open(0)
            scene.submit(0..<1)
            try scene.await(.notProcessed(request: 0))
            try scene.await(.opened(connection: 0))
            scene.pause()
            try scene.expect(scene.peer.sessions.allSatisfy(\.requests.isEmpty), "the peer never saw it")
        },
        Behaviour("a request that is submitted to a connection that was never opened was not processed") { conformance in
            let scene = try conformance.scene()
            scene.submit(3..<4, on: 7)
            try scene.await(.notProcessed(request: 3))
        },
        Behaviour("two connections are told apart") { conformance in
            let (scene, first) = try conformance.openScene()
            let second = try scene.open(1)
            scene.submit(0..<1, on: 1)
            try scene.go(until: "the second has it") { second.requests.count == 1 }
            try scene.expect(first.requests.isEmpty, "the first has not")
            second.cut()
            try scene.await(.ended(connection: 1))
            scene.submit(1..<2, on: 0)
            try scene.go(until: "the first goes on") { first.requests.count == 1 }
            try scene.expect(!scene.events.contains(.ended(connection: 0)), "the first has not ended")
        },
        Behaviour("nothing is said of a connection once it is closed, and its number may be opened again") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<1, to: session)
            scene.transport.close(0)
            let count = scene.events.count
            session.answer()
            scene.pause()
            try scene.expect(scene.events.count == count, "what came afterwards is of no matter")
            try scene.expect(session.hasClientLeft, "the peer sees that it is closed")
            let again = try scene.open(0)
            try scene.expect(scene.events.count { $0 == .opened(connection: 0) } == 2, "it is another one")
            scene.submit(1..<2)
            try scene.go(until: "the new one takes requests") { again.requests.count == 1 }
        },
    ]

    static let requests = [
        Behaviour("a request reaches the peer with its target and its body, whole, and with its own id") { conformance in
            let (scene, session) = try conformance.openScene()
            let body = String(repeating: "0123456789", count: 2000)
            scene.submit(5..<6, body: body)
            try scene.go(until: "the peer has it") { session.requests.first?.isComplete ?? false }
            let request = session.requests[0]
            try scene.expect(request.headers[":method"] == "POST", "it is a POST")
            try scene.expect(request.headers[":path"]?.hasSuffix("target5") ?? false, "the path ends with the target")
            try scene.expect(request.body == Array(body.utf8), "the body is what was submitted")
            try scene.expect(request.headers["\(scene.transport.idHeader)"]?.isEmpty == false, "it has an id")
        },
        Behaviour("an answer has status, reason and retry-after, and tells whose id it has") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<3, to: session)
            let header = scene.transport.idHeader
            let id = session.requests[0].headers["\(header)"] ?? ""
            session.answer(0, id: (header, id))
            session.answer(1, status: 429, body: #"{"reason":"TooManyRequests"}"#, retryAfter: 30)
            session.answer(2, status: 400, body: #"{"reason":"BadDeviceToken"}"#, id: (header, id))
            try scene.await(.answered(request: 0, Answer(status: 200, hasOwnID: true)))
            try scene.await(.answered(request: 1, Answer(status: 429, reason: "TooManyRequests", retryAfterSeconds: 30)))
            // Another push's id does not count.
            try scene.await(.answered(request: 2, Answer(status: 400, reason: "BadDeviceToken")))
        },
        Behaviour("answers may come in any order; each is its own request's, and comes once") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<20, to: session)
            let order = session.requests.indices.sorted { ($0 * 7) % 20 < ($1 * 7) % 20 }
            for request in order { session.answer(request, status: 200 + request) }
            try scene.go(until: "all are answered") { scene.said(of: 0..<20).count >= 20 }
            scene.pause()
            let numbers = session.requests.map { Int($0.headers[":path"]?.split(separator: "t").last ?? "") ?? -1 }
            let answers = scene.said(of: 0..<20)
            try scene.expect(answers.count == 20, "one answer each")
            for (index, request) in numbers.enumerated() {
                let own = answers.contains { if case .answered(request, let answer) = $0 { answer.status == 200 + index } else { false } }
                try scene.expect(own, "request \(request) has its own answer")
            }
        },
        Behaviour("an answer whose body is cut off is an answer, and says so") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<1, to: session)
            session.answer(status: 400, body: #"{"reason":"BadDeviceToken and more of that kind"}"#, isCutOff: true)
            try scene.await(.answered(request: 0, Answer(status: 400, isCutOff: true)))
        },
        Behaviour("a request that was given up is not spoken of again, and the peer learns of it") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<2, to: session)
            scene.transport.abandon(0, 0)
            try scene.go(until: "its stream is closed") { session.closedStreams.contains(session.requests[0].stream) }
            session.answer(1)
            try scene.await(.answered(request: 1, Answer(status: 200)))
            scene.pause()
            try scene.expect(scene.said(of: 0..<1).isEmpty, "nothing is said of it")
        },
        Behaviour("a number may be used again once its request has ended") { conformance in
            let (scene, session) = try conformance.openScene()
            try scene.deliver(0..<1, to: session)
            session.answer(0)
            try scene.await(.answered(request: 0, Answer(status: 200)))
            scene.submit(0..<1)
            try scene.go(until: "the peer has the second") { session.requests.count == 2 && session.requests[1].isComplete }
            session.answer(1, status: 410)
            try scene.await(.answered(request: 0, Answer(status: 410)))
        },
    ]
}
