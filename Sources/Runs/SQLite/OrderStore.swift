public import Base
import GRDB
import Glibc

/// What people ordered in the console: `orders.sqlite` in the folder of runs. The console places
/// orders while `volley schedule` takes them; each change is on the disk when its call returns.
///
/// Calls throw `Diagnostic`: the file is damaged, of a newer version, something else, not
/// permitted; the disk is full.
///
/// ```swift
/// let orders = try runs.orders.open()
/// let placed = try orders.place(Order(nonce: "4f1c…", kind: .pause(run: run.plan.id), by: "anna"))
/// ```
public final class OrderStore: Sendable {
    static let fileName = "orders.sqlite"
    /// "Volo"
    private static let applicationID = 0x566F_6C6F
    /// 2: `most_devices`. A file of version 1 gets the column when a process that writes opens it.
    static let version = 2
    private static let format = DatabaseFormat(
        applicationID: applicationID, version: version, name: "the record of orders",
        remedy:
            "Restore it from a backup, or move it away: then what was ordered and not done is forgotten, and must be ordered again."
    )
    /// How long a call waits for another process.
    private static let timeoutSeconds = 5.0
    /// The longest key, name and reason, in bytes. The console sets narrower limits; these protect
    /// the file.
    static let longestNonce = 200, longestName = 400, longestText = 10_000

    /// Where it is, for messages.
    public var place: String { path }
    private let path: String
    private let identity: DatabaseFile.Identity?
    private let database: DatabasePool

    static func path(in folder: String) -> String { FilePaths.join(folder, name: fileName) }

    /// Opens the file; creates it when it does not exist.
    /// - Parameter folder: of runs; made when missing.
    public init(folder: String) throws {
        let path = Self.path(in: folder)
        self.path = path
        try DatabaseFile.checkKind(ofDatabase: path, wanted: "the record of orders")
        try Self.format.make(path, doing: "cannot write the orders", .planning, Self.create)
        database = try Self.format.open(path, timeoutSeconds: Self.timeoutSeconds, upgrade: Self.upgrade)
        identity = DatabaseFile.identity(path)
    }

    /// Whether it is still the file that was opened: it was neither removed nor replaced.
    public var isInPlace: Bool { DatabaseFile.identity(path) == identity }

    /// The store cannot be used afterwards. The file stays in WAL mode: two processes that leave
    /// that mode get in one another's way, and the last one to close the file leaves one file
    /// anyway.
    public func close() { try? database.close() }

    // MARK: - Placing

    /// Writes an order down, once: a form that is sent a second time gives the order that it became
    /// the first time, with its state.
    /// - Throws: also when the form's key belongs to another order, of another person or with other
    ///   contents.
    public func place(_ order: Order) throws -> PlacedOrder {
        try Self.checkLengths(order)
        return try Self.format.translating(path) {
            try database.write { db in
                if let known = try Self.order(order.nonce, db, path) {
                    guard known.order.kind == order.kind, known.order.by == order.by else { throw Self.isUsed }
                    return known
                }
                try Self.insert(order, db)
                guard let placed = try Self.order(order.nonce, db, path) else {
                    throw Self.format.damaged(path, what: "an order in it is missing")
                }
                return placed
            }
        }
    }

    private static func checkLengths(_ order: Order) throws(Diagnostic) {
        func check(_ text: String, _ name: String, from least: Int = 0, through most: Int) throws(Diagnostic) {
            guard (least...most).contains(text.utf8.count) else {
                throw Diagnostic(
                    "the \(name) of an order has \(text.utf8.count) bytes",
                    remedy: "It may have \(least) to \(most). Nothing was ordered.")
            }
            // SQLite would give back only what comes before it.
            guard !text.utf8.contains(0) else {
                throw Diagnostic(
                    "the \(name) of an order has a character NUL", remedy: "Write it without. Nothing was ordered.")
            }
        }
        try check(order.nonce, "key", from: 1, through: longestNonce)
        try check(order.by, "name", from: 1, through: longestName)
        for text in order.kind.values.texts { try check(text, "text", through: longestText) }
        // No row holds any other: it would be read as damaged.
        if let run = order.kind.run, !RunID.isPossible(run) {
            throw Diagnostic(
                "an order names a run that cannot be: \(TextFormat.foreign(run))", remedy: "Nothing was ordered.")
        }
        if let time = order.kind.time, LocalTime(time.occurrence)?.description != time.occurrence {
            throw Diagnostic(
                "an order names a time that cannot be: \(TextFormat.foreign(time.occurrence))",
                remedy: "Nothing was ordered.")
        }
    }

    // MARK: - Taking

    /// The orders that have not ended, in the order in which they were placed, and the damaged ones
    /// that may not have.
    public func unended() throws -> OrderListing { try fetch("WHERE \(Self.notEnded) ORDER BY number", []) }

    /// As ranges: `NOT IN` would read the whole file each second. A state that is no text has no
    /// place among them.
    private static let notEnded = """
        (state < 'done' OR state > 'done' AND state < 'lapsed' OR state > 'lapsed' AND state < 'left' OR state > 'left' AND state < 'refused'
        OR state > 'refused' OR state IS NULL)
        """

    /// Lets a sender have an order: from then on no other sender can take it. Must return before
    /// anything is done.
    /// - Parameters:
    ///   - epoch: a random name of the process.
    ///   - former: the epoch of a process that took it and is gone; nil for an order that waits.
    /// - Returns: false when its state is another one by now.
    public func take(_ nonce: String, epoch: String, from former: String? = nil, at now: Timestamp) throws -> Bool {
        try change(
            "UPDATE placed SET state = 'taken', life = ?, changed_at = ? WHERE nonce = ? AND state = ? AND life = ?",
            [epoch, now.epochMilliseconds, nonce, former == nil ? "waiting" : "taken", former ?? ""])
    }

    /// Records which run an order makes. Must return before the run is made.
    /// - Returns: false when the order is no longer this process's.
    public func note(made run: String, by nonce: String, epoch: String) throws -> Bool {
        try change("UPDATE placed SET made = ? WHERE nonce = ? AND state = 'taken' AND life = ?", [run, nonce, epoch])
    }

    /// Ends an order that this process has, or that waits.
    /// - Parameter state: one that has ended.
    /// - Returns: false when the order ended before, or is another process's by now. A state that
    ///   its own process reports replaces one that another process found.
    public func end(_ nonce: String, as state: OrderState, epoch: String, at now: Timestamp) throws -> Bool {
        precondition(state.hasEnded, "an order ends in a state that has ended")
        let values = state.values
        return try change(
            """
            UPDATE placed SET state = ?, details = ?, changed_at = ?
            WHERE nonce = ? AND (state = 'waiting' OR state IN ('taken', 'left') AND life = ?)
            """, [state.name, values == .null ? "" : values.text, now.epochMilliseconds, nonce, epoch])
    }

    /// Takes over an order whose process is gone, to end it with what is known of it.
    /// - Parameter former: the epoch of that process.
    /// - Returns: false when its state is another one by now.
    public func leave(_ nonce: String, of former: String, as state: OrderState, at now: Timestamp) throws -> Bool {
        precondition(state.hasEnded, "an order ends in a state that has ended")
        return try change(
            "UPDATE placed SET state = ?, details = ?, changed_at = ? WHERE nonce = ? AND state = 'taken' AND life = ?",
            [state.name, state.values == .null ? "" : state.values.text, now.epochMilliseconds, nonce, former])
    }

    private func change(_ sql: String, _ arguments: StatementArguments) throws -> Bool {
        try Self.format.translating(path) {
            try database.write { db in
                try db.execute(sql: sql, arguments: arguments)
                return db.changesCount > 0
            }
        }
    }

    // MARK: - Reading

    /// An order by its key; nil for an unknown key.
    public func order(_ nonce: String) throws -> PlacedOrder? {
        try Self.format.translating(path) { try database.read { try Self.order(nonce, $0, path) } }
    }

    /// All orders about a run, or that made it, in the order in which they were placed.
    public func orders(ofRun run: String) throws -> OrderListing {
        try fetch("WHERE run = ? OR made = ? ORDER BY number", [run, run])
    }

    /// The accounts that had a run made: with a plan, a test or a retry. They do not approve it.
    /// - Throws: `Diagnostic`: a row that made it, or may have, cannot be read.
    public func askers(ofRun run: String) throws -> Set<String> {
        try Self.format.translating(path) {
            try database.read { db in
                var damaged: Diagnostic?
                let askers = try db.all(
                    "SELECT number, ordered_by, \(OrderRow.making) FROM placed WHERE made IS NOT NULL"
                ) { row in
                    do {
                        return try OrderRow.made(row, from: 2) == run ? try row.string(1) : nil
                    } catch let error as DatabaseError where error.resultCode == .SQLITE_MISMATCH {
                        damaged = try Self.mistake(error, number: Int64(row.int(0)), path)
                        return nil
                    }
                }.compactMap(\.self)
                // A run is made by one order.
                if askers.isEmpty, let damaged { throw damaged }
                return Set(askers)
            }
        }
    }

    private func fetch(_ condition: String, _ arguments: StatementArguments) throws -> OrderListing {
        try Self.format.translating(path) { try database.read { try Self.fetch(condition, arguments, $0, path) } }
    }

    /// What a folder's orders are, newest first, whether or not processes work with them; none when
    /// there is no file.
    static func read(folder: String, before number: Int64?, atMost limit: Int) throws -> OrderListing {
        let path = path(in: folder)
        try DatabaseFile.checkKind(ofDatabase: path, wanted: "the record of orders")
        guard DatabaseFile.kind(path) != .missing else { return OrderListing() }
        return try format.read(path, timeoutSeconds: timeoutSeconds) {
            try fetch("WHERE number < ? ORDER BY number DESC LIMIT ?", [number ?? .max, limit], $0, path)
        }
    }

    /// Row by row: one that cannot be read keeps none of the others from being read.
    private static func fetch(_ condition: String, _ arguments: StatementArguments, _ db: Database, _ path: String)
        throws -> OrderListing
    {
        let columns = try isOlder(db) ? OrderRow.columns.replacing("most_devices", with: "NULL") : OrderRow.columns
        var listing = OrderListing()
        try PreparedStatement(db, sql: "SELECT \(columns) FROM placed \(condition)", arguments).forEachRow { row in
            do { listing.orders.append(try OrderRow.read(row)) } catch let error as DatabaseError
                where error.resultCode == .SQLITE_MISMATCH
            {
                let number = Int64(try row.int(0))
                listing.damaged.append(
                    DamagedOrder(
                        number: number, subject: OrderRow.subject(row), mistake: mistake(error, number: number, path)))
            }
            return true
        }
        return listing
    }

    private static func order(_ nonce: String, _ db: Database, _ path: String) throws -> PlacedOrder? {
        let found = try fetch("WHERE nonce = ?", [nonce], db, path)
        if let damaged = found.damaged.first { throw damaged.mistake }
        return found.orders.first
    }

    private static func mistake(_ error: DatabaseError, number: Int64, _ path: String) -> Diagnostic {
        Diagnostic(
            "order \(number) is damaged: \(error.ofValue)", file: path,
            remedy: "Restore the file from a backup; or remove the row, and order it again: "
                + "`sqlite3 \(FilePaths.inShell(path)) 'DELETE FROM placed WHERE number = \(number)'`.",
            [.ask(.mendOrders)])
    }

    // MARK: - The file

    private static func insert(_ order: Order, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO placed (nonce, kind, run, file, campaign, occurrence, digest, reason, most_devices, ordered_by, asked_at, lapses_at,
                    machine_start, uptime_ms, state, life, details, made, changed_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', '', '', NULL, ?)
                """,
            arguments: [order.nonce, order.kind.name] + OrderRow.arguments(of: order.kind.values) + [
                order.by, order.askedAt.epochMilliseconds, order.lapsesAt.epochMilliseconds, order.uptime.start,
                order.uptime.milliseconds,
                order.askedAt.epochMilliseconds,
            ])
    }

    private static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE placed (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    nonce TEXT NOT NULL UNIQUE,                  -- the key of the form
                    kind TEXT NOT NULL,                          -- Order.Kind.name: approve, send, pause, skip …
                    run TEXT, file TEXT, campaign TEXT, occurrence TEXT, digest TEXT, reason TEXT,
                    ordered_by TEXT NOT NULL,
                    asked_at INTEGER NOT NULL, lapses_at INTEGER NOT NULL,          -- epoch milliseconds
                    machine_start TEXT NOT NULL, uptime_ms INTEGER NOT NULL,        -- boot id and CLOCK_BOOTTIME when it was asked for
                    state TEXT NOT NULL,                         -- waiting, taken, done, refused, lapsed, left
                    life TEXT NOT NULL,                          -- the process that took it; blank for none
                    details TEXT NOT NULL,                       -- {"run": "…", "end": "finished"}; blank for none
                    made TEXT,                                   -- the run that it makes
                    changed_at INTEGER NOT NULL,
                    most_devices INTEGER                         -- the largest audience of an approval ahead
                );
                CREATE INDEX placed_by_state ON placed (state, number);
                CREATE INDEX placed_by_run ON placed (run);
                CREATE INDEX placed_by_made ON placed (made);
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version);
                """)
    }

    private static func isOlder(_ db: Database) throws -> Bool { try db.pragma("user_version") == 1 }

    private static func upgrade(_ db: Database) throws {
        guard try isOlder(db) else { return }
        try db.execute(sql: "ALTER TABLE placed ADD COLUMN most_devices INTEGER; PRAGMA user_version = \(version);")
    }

    private static let isUsed = Diagnostic(
        "this form was already used for another order",
        remedy: "Load the page again, and order from there. Nothing was ordered now.")
}
