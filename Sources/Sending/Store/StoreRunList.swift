public import Base
import PostgresRuns
import Reports
import Runs

/// The runs in the store, for `volley store list`.
public struct StoreRunList: Sendable {
    private let runs: [StoredRun]

    init(_ runs: [StoredRun]) { self.runs = runs }

    /// The document of `store list --json`.
    public var json: JSONValue { .object(pairs: [("runs", .array(runs.map(Self.json)))]) }

    private static func json(_ run: StoredRun) -> JSONValue {
        func moment(_ moment: Timestamp?) -> JSONValue { moment.map { .string($0.description) } ?? .null }
        let workers = run.workers.map { worker in
            JSONValue.object(pairs: [
                ("machine", .string(worker.machine)), ("is_conductor", .bool(worker.isCoordinator)), ("is_silent", .bool(worker.isSilent)),
            ])
        }
        return .object(pairs: [
            ("run", .string(run.id)), ("campaign", .string(run.campaign)), ("app", .string(run.app)),
            ("is_complete", .bool(run.isComplete)), ("state", .string(run.status.state.rawValue)),
            ("cause", run.status.cause.map(\.json) ?? .null), ("audience", .integer(Int64(run.audience))),
            ("claimed", .integer(Int64(run.claimed))), ("started_at", moment(run.status.startedAt)),
            ("finished_at", moment(run.status.finishedAt)), ("bytes", .integer(Int64(run.bytes))), ("members", .array(workers)),
            ("problem", run.problem.map { .string($0.message) } ?? .null),
        ])
    }

    /// A table with one line for each run, and below it why it stopped and which machines send it.
    public var text: String {
        if runs.isEmpty { return "There are no runs in the store." }
        let head = ["RUN", "STATE", "AUDIENCE", "CLAIMED", "SIZE", "STARTED"]
        let rows = [head] + runs.map(Self.cells)
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = row.indices.map { column in
                (2...4).contains(column)
                    ? TextFormat.aligned(row[column], to: widths[column]) : TextFormat.padded(row[column], to: widths[column])
            }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
        return ([lines[0]] + zip(lines.dropFirst(), runs).flatMap { line, run in [line] + Self.notes(run) }).joined(separator: "\n")
    }

    private static func cells(_ run: StoredRun) -> [String] {
        if run.problem != nil { return [TextFormat.foreign(run.id), "damaged", "-", "-", TextFormat.bytes(run.bytes), "-"] }
        return [
            run.id, run.isComplete ? run.status.state.rawValue : "incomplete", TextFormat.count(run.audience),
            TextFormat.count(run.claimed),
            TextFormat.bytes(run.bytes), run.status.startedAt?.description ?? "-",
        ]
    }

    private static func notes(_ run: StoredRun) -> [String] {
        var notes: [String] = []
        if let problem = run.problem { notes.append("  \(problem)") }
        if !run.isComplete {
            notes.append("  Not all of its recipients are there. `volley send` copies what is missing, `volley store remove` removes it.")
        }
        if let cause = run.status.cause { notes.append("  why: \(TextFormat.foreign(cause.sentence))") }
        for worker in run.workers {
            notes.append(
                "  sent by \(TextFormat.foreign(worker.machine))\(worker.isCoordinator ? ", which conducts" : "")"
                    + "\(worker.isSilent ? "; silent just now" : "")")
        }
        return notes
    }
}
