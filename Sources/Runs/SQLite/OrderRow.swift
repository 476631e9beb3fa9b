import Base
import GRDB

/// A row of `orders.sqlite`.
enum OrderRow {
    static let columns = """
        number, nonce, kind, run, file, campaign, occurrence, digest, reason, ordered_by, asked_at, lapses_at, machine_start, uptime_ms,
        life, \(making), changed_at, most_devices
        """

    static func arguments(of values: Order.Kind.Values) -> StatementArguments {
        [values.run, values.file, values.campaign, values.occurrence, values.digest, values.reason, values.mostDevices]
    }

    /// What a damaged row of `columns` is about: its run, file or campaign; nil where not exactly
    /// one of these can be read.
    static func subject(_ row: PreparedStatement.Row) -> Order.Kind.Subject? {
        let makes: [(CInt, (String) -> Order.Kind.Subject)] = [
            (3, { .run($0) }), (4, { .file($0) }), (5, { .campaign($0) }),
        ]
        let named = makes.filter { !row.isNull($0.0) }
        guard named.count == 1, let (column, make) = named.first else { return nil }
        return (try? row.string(column)).map(make)
    }

    /// The order of a row of `columns`.
    /// - Throws: `DatabaseError`: a value is not what it should be.
    static func read(_ row: PreparedStatement.Row) throws -> PlacedOrder {
        // A column may be NULL, but not of another type.
        func text(_ column: CInt) throws -> String? { try row.optional(column, row.string) }
        let values = Order.Kind.Values(
            run: try row.optional(3, row.run), file: try text(4), campaign: try text(5),
            occurrence: try row.optional(6, row.occurrence),
            digest: try text(7), reason: try text(8), mostDevices: try row.optional(19, row.audience))
        guard let kind = Order.Kind(name: try row.string(2), values) else {
            throw row.mismatch(2, "an order that its other columns fit")
        }
        let details = try row.unlessBlank(17, row.json) ?? .null
        guard let state = OrderState(name: try row.string(16), values: details, epoch: try row.string(14)) else {
            throw row.mismatch(16, "a state that its other columns fit")
        }
        let made = try made(row, from: 15)
        if made == nil, let named = try endedRun(row, from: 16),
            !(kind.run.map { $0 == named } ?? RunID.isPossible(named))
        {
            throw row.mismatch(17, "about the order's run")
        }
        return PlacedOrder(
            number: Int64(try row.int(0)),
            order: Order(
                nonce: try row.string(1), kind: kind, by: try row.string(9), askedAt: try row.moment(10),
                lapsesAt: try row.moment(11),
                uptime: Uptime(start: try row.string(12), milliseconds: Int64(try row.count(13)))),
            state: state, made: made, changedAt: try row.moment(18))
    }

    /// The columns that tell which run an order made.
    static let making = "made, state, details"

    /// The run that an order made, of a row that has the columns `making`; nil for none.
    /// - Throws: `DatabaseError`: it cannot be a run, or the details of the order's end name
    ///   another.
    static func made(_ row: PreparedStatement.Row, from column: CInt) throws -> String? {
        guard let made = try row.optional(column, row.run) else { return nil }
        if let named = try endedRun(row, from: column + 1), named != made {
            throw row.mismatch(column, "the run that the order's details name")
        }
        return made
    }

    /// The run that the details of an order's end name, in the columns state and details; nil for
    /// none. What an order was refused for may be about another.
    private static func endedRun(_ row: PreparedStatement.Row, from column: CInt) throws -> String? {
        guard ["done", "left"].contains(try row.string(column)) else { return nil }
        return try row.unlessBlank(column + 1, row.json)?["run"]?.stringValue
    }
}
