import Foundation
import TestCommands
import TestServers

/// The PostgreSQL that machines share: a separate database on a server that may have others, or a
/// separate server if the server itself must fail.
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
    /// A small separate file system with all tables.
    private var disk: SmallDisk?

    /// For all histories in which the database does not fail.
    private static let calm = Result { try PostgresServer(settings: "max_connections = 400").endingWithProcess() }

    /// - Parameters:
    ///   - isOwn: whether it has a separate server.
    ///   - hasStandby: whether commits wait for a standby.
    ///   - hasSmallDisk: whether its tables are in a file system that can be filled.
    init(isOwn: Bool, hasStandby: Bool = false, hasSmallDisk: Bool = false) throws {
        server = isOwn || hasStandby || hasSmallDisk ? try PostgresServer() : try Self.calm.get()
        name = "m" + UUID().uuidString.prefix(8).lowercased()
        if hasSmallDisk {
            let small = try SmallDisk("\(server.folder)/disk")
            try server.sql("CREATE TABLESPACE small LOCATION '\(small.tables)'")
            disk = small
        }
        try server.sql("CREATE DATABASE \(name) OWNER volley" + (hasSmallDisk ? " TABLESPACE small" : ""))
        if hasStandby { standby = try server.standby() }
    }

    deinit {
        guard disk != nil else { return }
        // Its folder cannot be removed while a file system is mounted there.
        server.stop()
        disk = nil
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

    /// Leaves no room on the disk, or makes room again.
    func fillDisk(_ isFull: Bool) throws { try disk?.fill(isFull) }

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
