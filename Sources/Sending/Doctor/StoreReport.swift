public import Base
public import Campaigns
import Cluster

/// What was found about a store, step by step.
struct StoreReport {
    let check: StoreCheck

    private static let stages = ["connection", "server", "tables", "rights", "commits", "clock", "latency"]
    /// The largest difference at which clocks count as the same; seconds.
    private static let noticeableSeconds = 1.0
    /// From here on a worker that waits for each claim is slow; seconds.
    private static let slowSeconds = 0.02

    private var facts: StoreFacts { check.facts }

    /// All steps, for when the store cannot be queried.
    static func unreachable(_ mistake: Diagnostic) -> [CheckStep] {
        [.failed(stages[0], mistake)] + stages.dropFirst().map { .skipped($0, message: "the store was not reached") }
    }

    /// All steps in order.
    var steps: [CheckStep] { [connection, server, tables, rights, commits, clock, latency] }

    private var connection: CheckStep {
        let message = "as \(TextFormat.foreign(facts.role)), \(facts.isEncrypted ? "TLS" : "no TLS, on this machine")"
        guard facts.isSuperuser else { return .ok("connection", message: message) }
        return .ok(
            "connection", message: "\(message); the role is a superuser, which may do anything",
            remedy: "Volley needs none: make a role that owns the store's database and nothing else.")
    }

    private var server: CheckStep {
        let name = "PostgreSQL \(facts.versionText)"
        guard facts.isRecentEnough else {
            return .failed("server", message: "\(name) is too old", remedy: StoreFacts.remedyForOldServer)
        }
        guard !facts.isStandby else {
            return .failed(
                "server", message: "\(name), a standby, which takes no changes", remedy: StoreFacts.remedyForStandby)
        }
        return .ok("server", message: name)
    }

    // MARK: - Tables

    private var tables: CheckStep {
        guard facts.isRecentEnough else { return .skipped("tables", message: "the server is too old") }
        guard let version = check.version else {
            return .skipped("tables", message: "the role may not read their version")
        }
        let needed = StoreCheck.neededVersion
        if version == 0 {
            return .failed(
                "tables", message: "there are none", remedy: "Make them, once for all machines: volley store migrate")
        }
        if version < needed {
            return .failed(
                "tables", message: "they are of version \(version), and this Volley needs version \(needed)",
                remedy: "Upgrade them, once all machines have this Volley: volley store migrate")
        }
        if version > needed {
            return .failed(
                "tables", message: "they are of version \(version), and this Volley knows version \(needed)",
                remedy: "Install the Volley that migrated them on every machine.")
        }
        guard check.missingTables.isEmpty else {
            return .failed(
                "tables", message: "missing: \(check.missingTables.joined(separator: ", "))",
                remedy:
                    "Somebody removed them, or the search_path of the role has changed. Restore the database, or begin with an empty one."
            )
        }
        return .ok("tables", message: "version \(version)")
    }

    private var rights: CheckStep {
        guard facts.isRecentEnough, !facts.isStandby else {
            return .skipped("rights", message: "the server cannot be used")
        }
        if facts.onlyReads {
            return .failed(
                "rights", message: "transactions of the role only read (default_transaction_read_only)",
                remedy: "Let it write: ALTER ROLE \(facts.role) SET default_transaction_read_only = off")
        }
        if !check.missingRights.isEmpty {
            return .failed(
                "rights", message: "the role lacks \(check.missingRights.joined(separator: ", "))",
                remedy: "As the role that made the tables: "
                    + check.missingRights.map { "GRANT \($0) TO \(facts.role)" }.joined(separator: "; "))
        }
        guard check.version == 0 else {
            return check.version == StoreCheck.neededVersion
                ? .ok("rights", message: "the role may read and change the tables")
                : .skipped("rights", message: "the tables are of another version")
        }
        guard let schema = facts.schema, facts.mayCreate else {
            return .failed("rights", message: "the role may not make the tables", remedy: facts.remedyForSchema)
        }
        return .ok("rights", message: "the role may make the tables in the schema \(TextFormat.foreign(schema))")
    }

    // MARK: - What a commit is worth

    private var commits: CheckStep {
        let standbys = facts.hasSynchronousStandbys ? ", and standbys that commits wait for" : ""
        let message = "synchronous_commit = \(facts.synchronousCommit), fsync = \(facts.fsync)\(standbys)"
        guard let (danger, remedy) = danger else { return .ok("commits", message: message) }
        return .ok("commits", message: "\(message): \(danger)", remedy: remedy)
    }

    /// What may be lost, and what to do about it. Claims that were lost are the worst: their
    /// devices may get a push twice.
    private var danger: (message: String, remedy: String)? {
        let role = facts.role
        if facts.fsync == "off" {
            return (
                "a power cut may damage the store, and lose runs with what is on record about their pushes",
                "Set fsync = on in postgresql.conf, and restart the server."
            )
        }
        switch facts.synchronousCommit {
        case "off":
            return (
                "a crash of the server loses what was recorded within the last second, claims too, so that devices may get a push twice",
                "Set it for this role: ALTER ROLE \(role) SET synchronous_commit = on"
            )
        case "local":
            return (
                "when a standby takes over, what it had not received yet is lost, claims too, so that devices may get a push twice",
                "Set it for this role: ALTER ROLE \(role) SET synchronous_commit = on; and name a standby in synchronous_standby_names."
            )
        default: return nil
        }
    }

    // MARK: - Information

    private var clock: CheckStep {
        let lead = check.clockLeadSeconds
        guard abs(lead) >= Self.noticeableSeconds else { return .ok("clock", message: "agrees with the server's") }
        let difference = TextFormat.duration(seconds: abs(lead))
        return .ok(
            "clock",
            message:
                "this machine is \(difference) \(lead > 0 ? "behind" : "ahead of") the server; members go by the server's"
        )
    }

    private var latency: CheckStep {
        let tenths = Int((check.roundTripSeconds * 10_000).rounded())
        let message = "\(tenths / 10).\(tenths % 10) ms there and back, the median of \(StoreCheck.roundTrips)"
        guard check.roundTripSeconds > Self.slowSeconds else { return .ok("latency", message: message) }
        return .ok(
            "latency", message: message, remedy: "Members wait for the store before they send: put it near them.")
    }
}

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
