import Base
import HTTP2

extension TransportConformance {
    static let connections = [
        Behaviour("a connection that nobody takes fails once, and is not said to be open or to end") { conformance in
            let scene = try conformance.scene()
            scene.peer.stopListening()
            scene.transport.open(0)
            try scene.await(.failed(connection: 0))
            scene.pause()
            try scene.expect(scene.events == [.failed(connection: 0)], "nothing else is said of it")
        },
        Behaviour("a server that speaks another protocol is no connection") { conformance in
            let scene = try conformance.scene(try Peer(.http1))
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
    ]
}
