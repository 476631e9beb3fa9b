import Base
import Glibc

/// What every transport of the sender must do, however it is built: each behaviour is tested with its own peer on this machine.
public struct TransportConformance {
    /// One promise, named as a sentence.
    public struct Behaviour: Sendable, CustomStringConvertible {
        /// The sentence.
        public let description: String
        let check: @Sendable (TransportConformance) throws -> Void

        init(_ description: String, _ check: @escaping @Sendable (TransportConformance) throws -> Void) {
            self.description = description
            self.check = check
        }
    }

    /// A promise that was not kept.
    public struct Broken: Error, CustomStringConvertible {
        /// What was expected, and what happened instead.
        public let description: String
    }

    /// All behaviours.
    public static let behaviours = connections + requests + streams + ends + waits

    private let make: (PeerAddress) throws -> TransportUnderTest

    /// - Parameter make: a transport with no connection yet, for pushes to a peer.
    public init(make: @escaping (PeerAddress) throws -> TransportUnderTest) { self.make = make }

    /// - Throws: `Broken` if the promise is not kept.
    public func check(_ behaviour: Behaviour) throws { try behaviour.check(self) }

    /// A transport and a peer that have not connected.
    func scene(_ peer: Peer? = nil) throws -> Scene {
        let peer = try peer ?? Peer()
        return Scene(try make(peer.address), peer)
    }

    /// A transport whose connection 0 is open, and the peer's end of it.
    func openScene(_ peer: Peer? = nil) throws -> (Scene, PeerSession) {
        let scene = try scene(peer)
        return (scene, try scene.open(0))
    }
}

/// A transport and its peer, which take turns on one thread.
final class Scene {
    let transport: TransportUnderTest
    let peer: Peer
    /// Everything that the transport reported.
    private(set) var events: [Event] = []

    /// Seconds: nothing takes this long.
    private static let patience = 10.0

    init(_ transport: TransportUnderTest, _ peer: Peer) {
        self.transport = transport
        self.peer = peer
    }

    /// Opens a connection; returns the peer's end of it.
    func open(_ connection: Int) throws -> PeerSession {
        let known = peer.sessions.count
        transport.open(connection)
        try go(until: "connection \(connection) is open") { events.contains(.opened(connection: connection)) }
        try go(until: "the peer has it") { peer.sessions.count > known && peer.sessions[known].isOpen }
        return peer.sessions[known]
    }

    func submit(_ requests: Range<Int>, on connection: Int = 0, body: String = "{}") {
        for request in requests { transport.submit(request, connection, "target\(request)", Array(body.utf8)) }
    }

    /// Sends requests, and waits until the peer has them completely.
    func deliver(_ requests: Range<Int>, to session: PeerSession) throws {
        submit(requests)
        try go(until: "the peer has \(requests.count) requests") { session.requests.count { $0.isComplete } >= requests.count }
    }

    /// Continues until a condition holds.
    /// - Throws: `Broken` if this takes too long.
    func go(until text: String, _ isDone: () -> Bool) throws {
        let start = Self.seconds
        while !isDone() {
            turn()
            if Self.seconds - start > Self.patience {
                throw TransportConformance.Broken(description: "it does not happen that \(text); what was said: \(events)")
            }
        }
    }

    /// Continues until an event occurs; returns its index among all.
    @discardableResult
    func await(_ event: Event) throws -> Int {
        try go(until: "the transport says \(event)") { events.contains(event) }
        return place(of: event)
    }

    /// Continues for a while, to see what happens without a cause.
    func pause(milliseconds: Int = 60) {
        let start = Self.seconds
        while Self.seconds - start < Double(milliseconds) / 1000 { turn() }
    }

    func place(of event: Event) -> Int { events.firstIndex(of: event) ?? -1 }

    func turn() {
        events += transport.poll(1)
        peer.turn()
    }

    func expect(_ isKept: Bool, _ text: String) throws {
        if !isKept { throw TransportConformance.Broken(description: "\(text); what was said: \(events)") }
    }

    /// The events that name these requests.
    func said(of requests: Range<Int>) -> [Event] { events.filter { $0.request.map(requests.contains) ?? false } }

    /// The events that name a connection, in order.
    func said(ofConnection connection: Int) -> [Event] { events.filter { $0.connection == connection } }

    static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
