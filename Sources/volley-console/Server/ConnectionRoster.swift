import Base

/// Which connections there are, and which of them must go when there are too many: one that waits for its client holds no place that another
/// needs. A value without sockets.
struct ConnectionRoster {
    /// The most connections, together and from one address. Proxies bring those of many people.
    struct Limits {
        var all = 1_000
        var ofAddress = 100
    }

    private struct Connection {
        var address: IPAddress?
        /// When it began to wait for its client, as a number that grows; nil while a request is answered.
        var waitingSince: Int?
    }

    let limits: Limits
    private var connections: [Int: Connection] = [:]
    private var counts: [IPAddress: Int] = [:]
    private var step = 0

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// How many there are.
    var count: Int { connections.count }

    /// A client connected.
    /// - Parameters:
    ///   - id: names the connection.
    ///   - address: where it comes from; nil for a proxy, and over a Unix socket, where the limit of addresses does not count.
    /// - Returns: the connection to close: nil while there is room, this one when all others are at work.
    mutating func open(_ id: Int, from address: IPAddress?) -> Int? {
        step += 1
        connections[id] = Connection(address: address, waitingSince: step)
        if let address { counts[address, default: 0] += 1 }
        let isAddressFull = address.map { counts[$0, default: 0] > limits.ofAddress } ?? false
        guard isAddressFull || connections.count > limits.all else { return nil }
        var longest: (id: Int, since: Int)?
        for (other, connection) in connections where other != id && (!isAddressFull || connection.address == address) {
            guard let since = connection.waitingSince, longest.map({ since < $0.since }) ?? true else { continue }
            longest = (other, since)
        }
        // It is forgotten at once, as closing takes a moment, and the next one needs a place of its own.
        let leaving = longest?.id ?? id
        close(leaving)
        return leaving
    }

    /// The head of a request arrived.
    mutating func begin(_ id: Int) { connections[id]?.waitingSince = nil }

    /// An answer was sent: the client may ask again.
    mutating func rest(_ id: Int) {
        step += 1
        connections[id]?.waitingSince = step
    }

    /// It is closed; does nothing for one that gave way.
    mutating func close(_ id: Int) {
        guard let connection = connections.removeValue(forKey: id), let address = connection.address else { return }
        let count = counts[address, default: 0] - 1
        counts[address] = count > 0 ? count : nil
    }
}
