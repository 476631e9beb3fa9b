import Glibc
import Synchronization

/// Passes connections of any protocol on to a port of 127.0.0.1. It listens on a single address,
/// and ends with this value.
public final class TestRelay: Sendable {
    /// The port on which it listens.
    public let port: Int
    private let state = State()

    private final class State: Sendable {
        let target = Atomic(0), connections = Atomic(0)
        let isStopped = Atomic(false), isFrozen = Atomic(false)
    }

    /// Listens from now on.
    /// - Parameter address: of this machine; nil for 127.0.0.1 or ::1.
    public init(_ family: Sockets.Family, address: String? = nil) throws {
        let (listener, port) = try Sockets.listen(family, address: address)
        self.port = port
        let state = state
        startThread {
            while !state.isStopped.load(ordering: .relaxed) {
                guard Sockets.waitToRead([listener]) != 0 else { continue }
                let client = accept(listener, nil, nil)
                guard client >= 0 else { continue }
                state.connections.add(1, ordering: .relaxed)
                startThread { Self.relay(client, state) }
            }
            close(listener)
        }
    }

    deinit { state.isStopped.store(true, ordering: .relaxed) }

    /// Sets where connections lead; until then they are closed.
    public func lead(to port: Int) { state.target.store(port, ordering: .relaxed) }

    /// Passes nothing on, in either direction, and closes nothing; or continues with what has
    /// arrived since.
    public func freeze(_ isFrozen: Bool) { state.isFrozen.store(isFrozen, ordering: .relaxed) }

    /// Connections so far.
    public var connections: Int { state.connections.load(ordering: .relaxed) }

    private static func relay(_ client: Int32, _ state: State) {
        defer { close(client) }
        guard let server = Sockets.connect(state.target.load(ordering: .relaxed)) else { return }
        defer { close(server) }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !state.isStopped.load(ordering: .relaxed) {
            guard !state.isFrozen.load(ordering: .relaxed) else {
                usleep(10_000)
                continue
            }
            let ready = Sockets.waitToRead([client, server])
            for (index, (source, target)) in [(client, server), (server, client)].enumerated()
            where ready & 1 << index != 0 {
                let count = recv(source, &chunk, chunk.count, 0)
                guard count > 0, Sockets.write(Array(chunk[..<count]), to: target) else { return }
            }
        }
    }
}
