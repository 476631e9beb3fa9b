import Foundation
import TestCommands
import TestServers

/// The PostgreSQL that machines share: a database of its own on a server that may have others, or a server of its own where it is what fails.
final class MachineDatabase {
    /// How a machine comes to it.
    enum Route {
        case socket, relay
        /// By both addresses, of which one is the primary.
        case eitherServer
    }

    private(set) var server: PostgresServer
    private(set) var standby: PostgresServer?
    private var relays: [TestRelay] = []
    let name: String

    /// For all histories in which the database does not fail.
    private static let calm = Result { try PostgresServer(settings: "max_connections = 400") }

    /// - Parameters:
    ///   - isOwn: whether it has a server of its own.
    ///   - hasStandby: whether commits wait for a standby.
    init(isOwn: Bool, hasStandby: Bool = false) throws {
        server = isOwn ? try PostgresServer() : try Self.calm.get()
        name = "m" + UUID().uuidString.prefix(8).lowercased()
        try server.sql("CREATE DATABASE \(name) OWNER volley")
        if hasStandby { standby = try server.standby() }
    }

    /// Runs SQL as the superuser, on the primary.
    @discardableResult
    func sql(_ text: String) throws -> String { try server.sql(text, database: name) }

    func address(by route: Route) throws -> String {
        switch route {
        case .socket: return server.address(database: name)
        case .eitherServer: return server.address(database: name, or: standby)
        case .relay:
            let relay = try TestRelay(.v4)
            relay.lead(to: server.port)
            relays.append(relay)
            return server.tlsAddress(port: relay.port, database: name)
        }
    }

    func freezeRelays(_ isFrozen: Bool) { for relay in relays { relay.freeze(isFrozen) } }

    /// Ends the primary at once, and makes the standby the primary.
    func failOver() throws {
        guard let standby else { throw CommandFailure(what: "there is no standby") }
        server.stop()
        try standby.promote()
        server = standby
        self.standby = nil
    }

    /// The state of the only run; blank before it was published.
    var runState: String { (try? sql("SELECT state FROM volley_run")) ?? "" }
}
