import Base
import Foundation
import Postgres
import Runs
import Synchronization
import TestServers
import TestSupport

@testable import Cluster

/// A store of its own in the tests' PostgreSQL: a schema with the tables.
struct StoreBench {
    let store: Store
    let address: PostgresAddress
    let schema: String

    private static let next = Atomic(0)

    /// - Parameter role: works with it, and owns the tables.
    init(_ server: PostgresServer, role: String = "volley") throws {
        schema = "store_\(Self.next.wrappingAdd(1, ordering: .relaxed).newValue)"
        try server.sql("CREATE SCHEMA \(schema) AUTHORIZATION \(role)")
        address = try PostgresAddress(
            server.address(user: role) + " options='-c search_path=\(schema)'", of: "VOLLEY_TEST_STORE")
        let connection = try PostgresConnection.open(address, Cancellation())
        _ = try StoreSchema.migrate(connection)
        store = try Store.open(address, asked: Cancellation())
    }

    /// Begins an epoch of the database, unless it has one, and lets so much of it pass that times
    /// of schedules may be claimed (`FiringBarrier`).
    func passQuiet() throws {
        _ = try store.databaseEpoch()
        try sql("UPDATE volley_life SET began_at = began_at - interval '31 s', written_by = pg_current_xact_id()::xid")
    }

    /// What is left of an epoch when the database has forgotten.
    func forgetLife() throws { try sql("DELETE FROM volley_life; DELETE FROM volley_present") }

    /// Runs SQL in the schema.
    @discardableResult
    func sql(_ text: String) throws -> [[String?]] { try store.looking.once { try $0.execute(text, within: 30) } }

    /// The same store as another process sees it.
    func another() throws -> Store { try Store.open(address, asked: Cancellation()) }

    /// Writes a plan as a run file.
    static func file(_ plan: RunPlan, _ recipients: [Recipient], in folder: String) throws -> RunFile {
        let services = plan.serviceCount
        let writer = try RunWriter(folder: folder, id: plan.id, sorter: services > 1 ? sorter(of: plan) : nil)
        for (id, recipient) in recipients.enumerated() {
            try writer.put(recipient, at: id, service: UInt8(plan.service(of: id)))
        }
        if services > 1 { try writer.drop(BitSet(), of: recipients.count) }
        try writer.finish(plan).close()
        return try RunFile(path: "\(folder)/\(plan.id).sqlite")
    }

    /// Sorts recipients that come in the order of ids.
    private static func sorter(of plan: RunPlan) -> SegmentSorter {
        var id = -1
        return SegmentSorter(waves: max(1, plan.waves.count), services: plan.serviceCount) { _ in
            id += 1
            return plan.waves.firstIndex { $0.ids.contains(id) } ?? 0
        }
    }
}

/// A folder that is removed with this value.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/volley-store-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Diagnostic("no temporary folder can be made") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
