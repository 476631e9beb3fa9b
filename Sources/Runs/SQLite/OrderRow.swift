import Base
import GRDB

/// A row of `orders.sqlite`.
enum OrderRow {
    static let columns = """
        number, nonce, kind, run, file, campaign, occurrence, digest, reason, ordered_by, asked_at, lapses_at, machine_start, uptime_ms,
        state, life, details, made, changed_at, most_devices
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

    /// The order of a row of `columns`; nil if a value is not what it should be.
    static func read(_ row: Row) -> PlacedOrder? {
        // A column may be NULL, but not of another type.
        func text(_ column: Int) -> String?? { String?.fromDatabaseValue(row[column]) }
        guard let number = Int64.fromDatabaseValue(row[0]), let nonce = String.fromDatabaseValue(row[1]),
            let name = String.fromDatabaseValue(row[2]), let run = text(3), let file = text(4), let campaign = text(5),
            let occurrence = text(6), let digest = text(7), let reason = text(8), let by = String.fromDatabaseValue(row[9]),
            let askedAt = Int64.fromDatabaseValue(row[10]), let lapsesAt = Int64.fromDatabaseValue(row[11]),
            let start = String.fromDatabaseValue(row[12]), let uptime = Int64.fromDatabaseValue(row[13]),
            let stateName = String.fromDatabaseValue(row[14]), let life = String.fromDatabaseValue(row[15]),
            let details = String.fromDatabaseValue(row[16]), let made = text(17), let changedAt = Int64.fromDatabaseValue(row[18]),
            let mostDevices = Int?.fromDatabaseValue(row[19]),
            let kind = kind(
                name,
                Parts(
                    run: run, file: file, campaign: campaign, occurrence: occurrence, digest: digest, reason: reason,
                    mostDevices: mostDevices))
        else { return nil }
        let values = details.isEmpty ? JSONValue.null : try? JSONValue(parsing: details)
        guard let values, let state = OrderState(name: stateName, values: values, life: life) else { return nil }
        return PlacedOrder(
            number: number,
            order: Order(
                nonce: nonce, kind: kind, by: by, askedAt: Timestamp(epochMilliseconds: askedAt),
                lapsesAt: Timestamp(epochMilliseconds: lapsesAt), uptime: Uptime(start: start, milliseconds: uptime)),
            state: state, made: made, changedAt: Timestamp(epochMilliseconds: changedAt))
    }
}
