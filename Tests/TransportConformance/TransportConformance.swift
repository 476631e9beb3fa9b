import Base
import Cryptography
import Glibc

/// What every transport of the sender must do, however it is built: each behaviour is tested with
/// its own peer on this machine.
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

    /// What a transport must do that makes connections beforehand and tells about their streams:
    /// many small requests over HTTP/2.
    public static let ofConnections = common + connections + streams + ends + signsOfLife
    /// What a transport must do that opens sockets as requests need them, and tells about requests
    /// only: few large ones.
    public static let ofCalls = common + calls
    /// What every transport must do.
    static let common = requests + waits

    private let language: Peer.Language
    private let make: (PeerAddress) throws -> TransportUnderTest

    /// - Parameters:
    ///   - language: what the peers speak.
    ///   - make: a transport with no connection yet, for pushes to a peer.
    public init(_ language: Peer.Language = .http2, make: @escaping (PeerAddress) throws -> TransportUnderTest) {
        self.language = language
        self.make = make
    }

    /// - Throws: `Broken` if the promise is not kept.
    public func check(_ behaviour: Behaviour) throws { try behaviour.check(self) }

    /// A transport and a peer that have not connected.
    func scene(_ peer: Peer? = nil) throws -> Scene {
        let peer = try peer ?? Peer(language)
        return Scene(try make(peer.address), peer)
    }

    /// A transport that trusts another authority than its peer's.
    func distrustingScene() throws -> Scene {
        let peer = try Peer(language)
        var address = peer.address
        address.authorityPEM = CertificateAuthority(commonName: "Another authority").certificatePEM
        return Scene(try make(address), peer)
    }

    /// A transport with a connection 0 that takes any number of requests.
    func readyScene() throws -> Scene {
        let scene = try scene()
        try scene.ready(0)
        return scene
    }

    /// A transport with an open connection 0, and the peer's end of it.
    func openScene(_ peer: Peer? = nil) throws -> (Scene, HTTP2PeerSession) {
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
    /// The peer does nothing; the sockets' buffers fill up.
    var isPeerAsleep = false

    /// Seconds: nothing takes this long.
    private static let timeout = 10.0

    init(_ transport: TransportUnderTest, _ peer: Peer) {
        self.transport = transport
        self.peer = peer
    }

    /// Opens a connection; returns the peer's end of it.
    func open(_ connection: Int) throws -> HTTP2PeerSession {
        let known = peer.sessions.count
        transport.open(connection)
        try go(until: "connection \(connection) is open") { events.contains(.opened(connection: connection)) }
        try go(until: "the peer has it") { peer.sessions.count > known && peer.sessions[known].isOpen }
        guard let session = peer.sessions[known] as? HTTP2PeerSession else {
            throw TransportConformance.Broken(description: "the promise is about HTTP/2")
        }
        return session
    }

    /// Opens a connection, and has one request answered where it takes one to connect.
    func ready(_ connection: Int) throws {
        let count = events.count { $0 == .opened(connection: connection) }
        transport.open(connection)
        try go(until: "connection \(connection) is open") {
            events.count { $0 == .opened(connection: connection) } > count
        }
        if transport.connectsWithRequest {
            try deliver(Self.firstRequest..<Self.firstRequest + 1, on: connection)[0].answer()
            try self.await(.answered(request: Self.firstRequest, Answer(status: 200)))
            events.removeAll { $0.request == Self.firstRequest }
        }
    }

    /// The number of the request that makes a connection.
    private static let firstRequest = 10_000

    func submit(_ requests: Range<Int>, on connection: Int = 0, body: String = "{}") {
        for request in requests { transport.submit(request, connection, "target\(request)", Array(body.utf8)) }
    }

    /// Sends requests, and waits until the peer has them completely, on whichever session. Returns
    /// them by their numbers.
    func deliver(_ requests: Range<Int>, on connection: Int = 0, body: String = "{}") throws -> [Arrival] {
        let before = Set(arrivals.map(\.place))
        submit(requests, on: connection, body: body)
        var new: [Arrival] = []
        try go(until: "the peer has \(requests.count) requests") {
            new = arrivals.filter { !before.contains($0.place) && $0.request.isComplete }
            return new.count == requests.count
        }
        return new.sorted { $0.request.number < $1.request.number }
    }

    /// All requests that the peer has got, also those that it has only a part of.
    var arrivals: [Arrival] {
        peer.sessions.enumerated().flatMap { index, session in
            session.requests.indices.map { Arrival(session: session, place: .init(session: index, request: $0)) }
        }
    }

    /// Sends requests, and waits until the peer has them completely.
    func deliver(_ requests: Range<Int>, to session: HTTP2PeerSession) throws {
        submit(requests)
        try go(until: "the peer has \(requests.count) requests") {
            session.requests.count { $0.isComplete } >= requests.count
        }
    }

    /// Continues until a condition holds.
    /// - Throws: `Broken` if this takes too long.
    func go(until text: String, _ isDone: () -> Bool) throws {
        let start = Self.seconds
        while !isDone() {
            turn()
            if Self.seconds - start > Self.timeout {
                throw TransportConformance.Broken(
                    description: "it does not happen that \(text); what was said: \(events)")
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
        if !isPeerAsleep { peer.turn() }
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

/// A request at the peer.
struct Arrival {
    struct Place: Hashable {
        var session: Int
        var request: Int
    }

    let session: any PeerSession
    let place: Place

    var request: PeerRequest { session.requests[place.request] }
    /// Whether the client gave it up.
    var isGivenUp: Bool { session.isGivenUp(place.request) }

    func answer(status: Int = 200, body: String = "", headers: [(StaticString, String)] = [], isCutOff: Bool = false) {
        session.answer(place.request, PeerAnswer(status: status, body: body, headers: headers, isCutOff: isCutOff))
    }
}
