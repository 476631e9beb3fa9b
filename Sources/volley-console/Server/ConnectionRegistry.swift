import Base

/// All connections, and which of them to close when there are too many: one that waits for its
/// client must not hold a place that another client needs. A value without sockets and clock.
///
/// A connection counts for the client whose request it carries: behind a trusted proxy that is the
/// forwarded address, and the connection is the proxy's between two requests. The client with the
/// most connections loses one first: the slowest body, then an answer that is not read, then the
/// connection that has been idle longest, then what makes progress. Work that is being done for a
/// client is never cut off.
struct ConnectionRegistry {
    /// The most connections, in all and for one client.
    struct Limits {
        var all = 1_000
        var ofAddress = 100
    }

    /// What a connection waits for.
    enum Wait: Hashable {
        /// The head of a request.
        case head
        /// The rest of a body.
        case body
        /// That its client takes an answer.
        case reader
    }

    private struct Connection {
        /// The client that it counts for between two requests; nil for a proxy, and if the address
        /// says nothing.
        var peer: IPAddress?
        /// Whose request it carries.
        var client: IPAddress?
        /// nil while the console works for it.
        var wait: Wait?
        /// When it began to wait for that, seconds.
        var since: Double
        /// Of the body so far.
        var bytes = 0

        func bytesPerSecond(at now: Double) -> Double { Double(bytes) / max(now - since, 0.001) }
    }

    /// A connection that waits for its client is not judged before this age, seconds.
    private static let grace = 1.0
    /// A body that comes faster makes progress, bytes a second.
    static let slowestBody = 4_096.0

    let limits: Limits
    private var connections: [Int: Connection] = [:]
    private var counts: [IPAddress?: Int] = [:]

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// How many there are.
    var count: Int { connections.count }

    /// A client connected.
    /// - Parameters:
    ///   - id: names the connection.
    ///   - peer: its network; nil for a proxy, and over a Unix socket, where the limit of addresses
    ///     does not count.
    ///   - now: seconds, of a monotonic clock.
    /// - Returns: the connection to close: nil while there is room, this one when the console works
    ///   for all others.
    mutating func open(_ id: Int, from peer: IPAddress?, at now: Double) -> Int? {
        connections[id] = Connection(peer: peer, client: peer, wait: .head, since: now)
        counts[peer, default: 0] += 1
        return makeRoom(for: id, at: now)
    }

    /// The head of a request arrived; its body follows.
    /// - Parameter client: the network of the person that the request comes from; nil where that is
    ///   not known.
    /// - Returns: the connection to close, as the client has too many; nil for none.
    mutating func begin(_ id: Int, of client: IPAddress?, at now: Double) -> Int? {
        guard connections[id] != nil else { return nil }
        move(id, to: client)
        connections[id]?.bytes = 0
        wait(id, for: .body, at: now)
        return makeRoom(for: id, at: now)
    }

    /// A part of the body arrived.
    mutating func received(_ id: Int, bytes: Int) { connections[id]?.bytes += bytes }

    /// It waits for something else from now on, or for nothing: then the console works for it.
    mutating func wait(_ id: Int, for wait: Wait?, at now: Double) {
        guard let connection = connections[id] else { return }
        // Between two requests it is its peer's.
        if wait == .head { move(id, to: connection.peer) }
        connections[id]?.wait = wait
        connections[id]?.since = now
    }

    /// It was closed; does nothing for a connection that was already removed.
    mutating func close(_ id: Int) {
        guard connections[id] != nil else { return }
        leave(id)
        connections[id] = nil
    }

    private mutating func move(_ id: Int, to client: IPAddress?) {
        leave(id)
        connections[id]?.client = client
        counts[client, default: 0] += 1
    }

    private mutating func leave(_ id: Int) {
        guard let connection = connections[id] else { return }
        let count = counts[connection.client, default: 0] - 1
        counts[connection.client] = count > 0 ? count : nil
    }

    private mutating func makeRoom(for id: Int, at now: Double) -> Int? {
        let client = connections[id]?.client
        let isClientFull = client != nil && counts[client, default: 0] > limits.ofAddress
        guard isClientFull || connections.count > limits.all else { return nil }
        // The lowest rank goes: of the client with the most connections, the least useful one.
        let candidates = connections.filter {
            $0.key != id && $0.value.wait != nil && (!isClientFull || $0.value.client == client)
        }
        let leaving = candidates.min { rank($0, at: now) < rank($1, at: now) }?.key ?? id
        // It is removed at once, as closing takes a moment, and the next one also needs a place.
        close(leaving)
        return leaving
    }

    private func rank(_ entry: (key: Int, value: Connection), at now: Double) -> (Int, Int, Double, Int) {
        let connection = entry.value
        let isJudged = now - connection.since >= Self.grace, rate = connection.bytesPerSecond(at: now)
        let (order, key): (Int, Double) =
            switch connection.wait {
            case .body where isJudged && rate < Self.slowestBody: (0, rate)
            case .reader where isJudged: (1, connection.since)
            case .head where isJudged: (2, connection.since)
            // Of connections that have just begun, the newest stays: its client is active, while
            // the others may send nothing more.
            case .head: (3, connection.since)
            case .body where !isJudged: (3, connection.since)
            case .body: (4, rate)
            case .reader, nil: (5, connection.since)
            }
        return (-counts[connection.client, default: 0], order, key, entry.key)
    }
}
