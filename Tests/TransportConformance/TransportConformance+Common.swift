import Base

extension TransportConformance {
    static let requests = [
        Behaviour("a connection is said to be open once, before anything else is said of it") { conformance in
            let scene = try conformance.readyScene()
            scene.pause()
            try scene.expect(scene.events.count { $0 == .opened(connection: 0) } == 1, "it is opened once")
            try scene.expect(scene.said(ofConnection: 0).first == .opened(connection: 0), "its opening comes first")
        },
        Behaviour("a request that is submitted to a connection that was never opened was not processed") {
            conformance in
            let scene = try conformance.scene()
            scene.submit(3..<4, on: 7)
            try scene.await(.notProcessed(request: 3))
        },
        Behaviour("nothing is said of a connection once it is closed, and its number may be opened again") {
            conformance in
            let scene = try conformance.readyScene()
            let late = try scene.deliver(0..<1)[0]
            scene.transport.close(0)
            let count = scene.events.count
            late.answer()
            scene.pause()
            try scene.expect(scene.events.count == count, "what came afterwards is of no matter")
            try scene.expect(scene.peer.sessions.allSatisfy(\.hasClientLeft), "the peer sees that it is closed")
            try scene.ready(0)
            try scene.expect(scene.events.count { $0 == .opened(connection: 0) } == 2, "it is another one")
            try scene.expect(try !scene.deliver(1..<2)[0].session.hasClientLeft, "the new one takes requests")
        },
        Behaviour("a request reaches the peer with its target and its body, whole, and with its own id") {
            conformance in
            let scene = try conformance.readyScene()
            let body = String(repeating: "0123456789", count: 2000)
            let request = try scene.deliver(5..<6, body: body)[0].request
            try scene.expect(request.headers[":method"] == "POST", "it is a POST")
            try scene.expect(request.headers[":path"]?.hasSuffix("target5") ?? false, "the path ends with the target")
            try scene.expect(request.body == Array(body.utf8), "the body is what was submitted")
            try scene.expect(request.headers["\(scene.transport.idHeader)"]?.isEmpty == false, "it has an id")
        },
        Behaviour("an answer has status, reason and retry-after, and tells whose id it has") { conformance in
            let scene = try conformance.readyScene()
            let calls = try scene.deliver(0..<3)
            let header = scene.transport.idHeader
            let id = calls[0].request.headers["\(header)"] ?? ""
            calls[0].answer(headers: [(header, id)])
            calls[1].answer(status: 429, body: #"{"reason":"TooManyRequests"}"#, headers: [("retry-after", "30")])
            calls[2].answer(status: 400, body: #"{"reason":"BadDeviceToken"}"#, headers: [(header, id)])
            try scene.await(.answered(request: 0, Answer(status: 200, hasOwnID: true)))
            try scene.await(
                .answered(request: 1, Answer(status: 429, reason: "TooManyRequests", retryAfterSeconds: 30)))
            // Another push's id does not count.
            try scene.await(.answered(request: 2, Answer(status: 400, reason: "BadDeviceToken")))
        },
        Behaviour("answers may come in any order; each is its own request's, and comes once") { conformance in
            let scene = try conformance.readyScene()
            let calls = try scene.deliver(0..<20)
            for request in calls.indices.sorted(by: { ($0 * 7) % 20 < ($1 * 7) % 20 }) {
                calls[request].answer(status: 200 + request)
            }
            try scene.go(until: "all are answered") { scene.said(of: 0..<20).count >= 20 }
            scene.pause()
            let answers = scene.said(of: 0..<20)
            try scene.expect(answers.count == 20, "one answer each")
            for request in 0..<20 {
                let own = answers.contains {
                    if case .answered(request, let answer) = $0 { answer.status == 200 + request } else { false }
                }
                try scene.expect(own, "request \(request) has its own answer")
            }
        },
        Behaviour("an answer whose body is cut off is an answer, and says so") { conformance in
            let scene = try conformance.readyScene()
            try scene.deliver(0..<1)[0].answer(
                status: 400, body: #"{"reason":"BadDeviceToken and more of that kind"}"#, isCutOff: true)
            try scene.await(.answered(request: 0, Answer(status: 400, isCutOff: true)))
        },
        Behaviour("a request that was given up is not spoken of again, and the peer learns of it") { conformance in
            let scene = try conformance.readyScene()
            let calls = try scene.deliver(0..<2)
            scene.transport.abandon(0, 0)
            // Where one connection tells of it, it does so at once. libcurl may wait for something
            // else to send.
            if !scene.transport.connectsWithRequest {
                try scene.go(until: "the peer learns of it") { calls[0].isGivenUp }
            }
            calls[1].answer()
            try scene.await(.answered(request: 1, Answer(status: 200)))
            try scene.go(until: "the peer learns of it") { calls[0].isGivenUp }
            scene.pause()
            try scene.expect(scene.said(of: 0..<1).isEmpty, "nothing is said of it")
        },
        Behaviour("a number may be used again once its request has ended") { conformance in
            let scene = try conformance.readyScene()
            try scene.deliver(0..<1)[0].answer()
            try scene.await(.answered(request: 0, Answer(status: 200)))
            try scene.deliver(0..<1)[0].answer(status: 410)
            try scene.await(.answered(request: 0, Answer(status: 410)))
        },
        Behaviour("requests to a peer that reads nothing are kept, and reach it when it reads again") { conformance in
            let scene = try conformance.readyScene()
            let before = scene.arrivals.count
            scene.isPeerAsleep = true
            scene.submit(0..<20, body: String(repeating: "x", count: 3000))
            scene.pause()
            try scene.expect(
                scene.said(of: 0..<20).isEmpty && scene.arrivals.count == before, "nothing happens to them")
            scene.isPeerAsleep = false
            try scene.go(until: "the peer has them") { scene.arrivals.count { $0.request.isComplete } == before + 20 }
        },
    ]

    static let waits = [
        Behaviour("a wait lasts as long as it may when nothing happens") { conformance in
            let scene = try conformance.readyScene()
            scene.pause()
            let start = Scene.seconds
            let events = scene.transport.poll(100)
            try scene.expect(events.isEmpty, "nothing happens")
            try scene.expect(Scene.seconds - start >= 0.095, "it waits")
        },
        Behaviour("a wait ends at once when another thread says so") { conformance in
            let scene = try conformance.readyScene()
            scene.pause()
            let start = Scene.seconds
            let wake = scene.transport.wake
            let thread = try WorkerThread("wake") { wake() }
            _ = scene.transport.poll(1000)
            thread.join()
            try scene.expect(Scene.seconds - start < 0.9, "it does not wait for its time")
        },
    ]
}
