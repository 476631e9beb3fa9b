import Base
import GRDB

/// A row of `orders.sqlite`.
enum OrderRow {
    static let columns = """
        number, nonce, kind, run, file, campaign, occurrence, digest, reason, ordered_by, asked_at, lapses_at, machine_start, uptime_ms,
        life, \(making), changed_at, most_devices
        """

    /// What columns hold of a kind: run, file, campaign, occurrence, digest, reason, most_devices.
    private struct Parts {
        var run: String?, file: String?, campaign: String?, occurrence: String?, digest: String?, reason: String?, mostDevices: Int?
    }

    private static func parts(of kind: Order.Kind) -> Parts {
        switch kind {
        case .approve(let run, let digest), .send(let run, let digest): Parts(run: run, digest: digest)
        case .reject(let run, let digest, let reason): Parts(run: run, digest: digest, reason: reason)
        case .test(let file, let digest), .plan(let file, let digest): Parts(file: file, digest: digest)
        case .resume(let run), .retry(let run), .pause(let run), .cancel(let run): Parts(run: run)
        case .skip(let campaign, let occurrence), .withdrawApproval(let campaign, let occurrence):
            Parts(campaign: campaign, occurrence: occurrence)
        case .approveTime(let campaign, let occurrence, let digest, let most):
            Parts(campaign: campaign, occurrence: occurrence, digest: digest, mostDevices: most)
        }
    }

    static func arguments(of kind: Order.Kind) -> StatementArguments {
        let parts = parts(of: kind)
        return [parts.run, parts.file, parts.campaign, parts.occurrence, parts.digest, parts.reason, parts.mostDevices]
    }

    /// The texts of a kind, which come from outside.
    static func texts(of kind: Order.Kind) -> [String] {
        let parts = parts(of: kind)
        return [parts.run, parts.file, parts.campaign, parts.occurrence, parts.digest, parts.reason].compactMap(\.self)
    }

    private static func kind(_ name: String, _ parts: Parts) -> Order.Kind? {
        func withRun(_ make: (String) -> Order.Kind) -> Order.Kind? { parts.run.map(make) }
        func withDigest(_ make: (String, String) -> Order.Kind) -> Order.Kind? {
            guard let subject = parts.run ?? parts.file, let digest = parts.digest else { return nil }
            return make(subject, digest)
        }
        func withTime(_ make: (String, String) -> Order.Kind) -> Order.Kind? {
            guard let campaign = parts.campaign, let occurrence = parts.occurrence else { return nil }
            return make(campaign, occurrence)
        }
        switch name {
        case "approve": return withDigest { .approve(run: $0, digest: $1) }
        case "reject": return withDigest { .reject(run: $0, digest: $1, reason: parts.reason ?? "") }
        case "send": return withDigest { .send(run: $0, digest: $1) }
        case "test": return withDigest { .test(file: $0, digest: $1) }
        case "plan": return withDigest { .plan(file: $0, digest: $1) }
        case "resume": return withRun { .resume(run: $0) }
        case "retry": return withRun { .retry(run: $0) }
        case "pause": return withRun { .pause(run: $0) }
        case "cancel": return withRun { .cancel(run: $0) }
        case "skip": return withTime { .skip(campaign: $0, occurrence: $1) }
        case "withdraw_approval": return withTime { .withdrawApproval(campaign: $0, occurrence: $1) }
        case "approve_time":
            guard let digest = parts.digest, let most = parts.mostDevices else { return nil }
            return withTime { .approveTime(campaign: $0, occurrence: $1, digest: digest, mostDevices: most) }
        default: return nil
        }
    }

    /// What a damaged row of `columns` is about: its run, file or campaign; nil where not exactly one of these can be
    /// read.
    static func subject(_ row: PreparedStatement.Row) -> Order.Kind.Subject? {
        let makes: [(CInt, (String) -> Order.Kind.Subject)] = [(3, { .run($0) }), (4, { .file($0) }), (5, { .campaign($0) })]
        let named = makes.filter { !row.isNull($0.0) }
        guard named.count == 1, let (column, make) = named.first else { return nil }
        return (try? row.string(column)).map(make)
    }

    /// The order of a row of `columns`.
    /// - Throws: `DatabaseError`: a value is not what it should be.
    static func read(_ row: PreparedStatement.Row) throws -> PlacedOrder {
        // A column may be NULL, but not of another type.
        func text(_ column: CInt) throws -> String? { try row.optional(column, row.string) }
        let parts = Parts(
            run: try row.optional(3, row.run), file: try text(4), campaign: try text(5), occurrence: try row.optional(6, row.occurrence),
            digest: try text(7), reason: try text(8), mostDevices: try row.optional(19, row.audience))
        guard let kind = kind(try row.string(2), parts) else { throw row.mismatch(2, "an order that its other columns fit") }
        let values = try row.unlessBlank(17, row.json) ?? .null
        guard let state = OrderState(name: try row.string(16), values: values, epoch: try row.string(14)) else {
            throw row.mismatch(16, "a state that its other columns fit")
        }
        let made = try made(row, from: 15)
        if made == nil, let named = try endedRun(row, from: 16), !(kind.run.map { $0 == named } ?? RunID.isPossible(named)) {
            throw row.mismatch(17, "about the order's run")
        }
        return PlacedOrder(
            number: Int64(try row.int(0)),
            order: Order(
                nonce: try row.string(1), kind: kind, by: try row.string(9), askedAt: try row.moment(10), lapsesAt: try row.moment(11),
                uptime: Uptime(start: try row.string(12), milliseconds: Int64(try row.count(13)))),
            state: state, made: made, changedAt: try row.moment(18))
    }

    /// The columns that tell which run an order made.
    static let making = "made, state, details"

    /// The run that an order made, of a row that has the columns `making`; nil for none.
    /// - Throws: `DatabaseError`: it cannot be a run, or the details of the order's end name another.
    static func made(_ row: PreparedStatement.Row, from column: CInt) throws -> String? {
        guard let made = try row.optional(column, row.run) else { return nil }
        if let named = try endedRun(row, from: column + 1), named != made {
            throw row.mismatch(column, "the run that the order's details name")
        }
        return made
    }

    /// The run that the details of an order's end name, in the columns state and details; nil for none. What an order
    /// was refused for may be about another.
    private static func endedRun(_ row: PreparedStatement.Row, from column: CInt) throws -> String? {
        guard ["done", "left"].contains(try row.string(column)) else { return nil }
        return try row.unlessBlank(column + 1, row.json)?["run"]?.stringValue
    }
}
