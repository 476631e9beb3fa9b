public import Base
public import Campaigns
import Cluster

/// Sets up the store that several machines share, and checks it.
public struct StoreSetup: Sendable {
    private let address: StoreAddress
    private let cancellation: Cancellation

    /// What was done with the tables.
    public enum Migration: Hashable, Sendable {
        /// There were none.
        case made(version: Int)
        /// They were of an older version.
        case upgraded(from: Int, to: Int)
        /// They were of this version.
        case unchanged(version: Int)
    }

    /// Prepares work on the store of volley.yaml.
    public init(_ settings: StoreSettings, _ cancellation: Cancellation) {
        (address, self.cancellation) = (StoreAddress(variable: settings.variable), cancellation)
    }

    /// Makes the tables, or upgrades them.
    /// - Throws: a `Diagnostic` with what to do, or `CancellationError`; nothing was changed then.
    public func migrate() throws -> Migration {
        let migration = try address.migrate(cancellation)
        if migration.before == migration.now { return .unchanged(version: migration.now) }
        return migration.before == 0
            ? .made(version: migration.now) : .upgraded(from: migration.before, to: migration.now)
    }

    /// Checks connection, server, tables, rights, what a commit is worth there, clock and latency,
    /// and changes nothing.
    /// - Throws: `CancellationError`.
    public func check() throws -> [CheckStep] {
        do { return StoreReport(check: try address.check(cancellation)).steps } catch let mistake as Diagnostic {
            return StoreReport.unreachable(mistake)
        }
    }
}
