public import Base
public import Campaigns
import Cluster
import Reports
public import Runs

/// The runs in the store that several machines share: what is there, out of it, and away.
///
/// ```swift
/// if let store = project.store {
///     print(try StoreRuns(store, Cancellation()).list(passingOnFrom: runs))
/// }
/// ```
public struct StoreRuns: Sendable {
    private let store: Store

    /// A run's file after it was fetched.
    public struct Fetched: Hashable, Sendable {
        /// Where it is.
        public var place: String
        /// Whether the file was made; otherwise it was there, and was brought up to date.
        public var isNew: Bool
        /// Its recipients, and how many of them were claimed.
        public var audience: Int, claimed: Int
        /// Its state, and why it stopped.
        public var status: RunStatus
    }

    /// What takes a while.
    public enum Event: Hashable, Sendable {
        /// Processes on these machines do not beat: whether they are gone shows within half a
        /// minute.
        case waiting(machines: [String])
        /// The number of recipients copied so far.
        case recipients(Int)
        /// The number of outcomes taken over so far.
        case outcomes(Int)
    }

    /// Opens the store of volley.yaml.
    /// - Parameter cancellation: ends every wait for it.
    /// - Throws: a `Diagnostic`: it cannot be reached, or its tables are missing or of another
    ///   version; `CancellationError`.
    public init(_ settings: StoreSettings, _ cancellation: Cancellation) throws {
        store = try StoreAddress(variable: settings.variable).open(asked: cancellation)
    }

    /// All runs that are there. Where some are being sent, it takes a few seconds to see which
    /// workers beat.
    /// - Parameter catalog: where this machine's runs are: the store is told of orders to them that
    ///   it missed.
    /// - Throws: a `Diagnostic`; `CancellationError`.
    public func list(passingOnFrom catalog: RunsFolder) throws -> StoreRunList {
        let found = try store.runs(), open = found.filter { ![.finished, .cancelled].contains($0.status.state) }
        return StoreRunList(passOnOrders(ofRuns: open.map(\.id), store, in: catalog).isEmpty ? found : try store.runs())
    }

    /// The id of the run that a RUN argument means: an id, the path of a run's file, or `last`, the
    /// run in the store that was planned last.
    /// - Throws: a `Diagnostic`: no run matches; `CancellationError`.
    public func id(named argument: String, in catalog: RunsFolder) throws -> String {
        try store.id(named: argument, in: catalog)
    }

    /// Makes a run's file from what the store has of it, or brings the file up to date that is
    /// there.
    /// - Throws: a `Diagnostic`: it is not there, workers send it, or there is another run of its
    ///   id; `CancellationError`. No file was made then.
    public func fetch(_ run: String, into catalog: RunsFolder, _ observer: Observer<Event>) throws -> Fetched {
        let fetched = try store.fetch(run, into: catalog) { progress in
            switch progress {
            case .waiting(let machines): observer(.waiting(machines: machines))
            case .recipients(let count): observer(.recipients(count))
            case .outcomes(let count): observer(.outcomes(count))
            }
        }
        return Fetched(
            place: fetched.place, isNew: fetched.isNew, audience: fetched.audience, claimed: fetched.claimed,
            status: fetched.status)
    }

    /// Removes a run from the store.
    /// - Parameters:
    ///   - evenIfUnfetched: whether it is removed even if its file does not hold all that the store
    ///     has.
    ///   - catalog: where its file is.
    /// - Throws: a `Diagnostic`: it is not there, workers send it, or it would be lost;
    ///   `CancellationError`.
    public func remove(
        _ run: String, evenIfUnfetched: Bool, fetchedInto catalog: RunsFolder, _ observer: Observer<Event>
    ) throws {
        try store.remove(run, evenIfUnfetched: evenIfUnfetched, fetchedInto: catalog) {
            observer(.waiting(machines: $0))
        }
    }
}

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
                ("machine", .string(worker.machine)), ("is_conductor", .bool(worker.isCoordinator)),
                ("is_silent", .bool(worker.isSilent)),
            ])
        }
        return .object(pairs: [
            ("run", .string(run.id)), ("campaign", .string(run.campaign)), ("app", .string(run.app)),
            ("is_complete", .bool(run.isComplete)), ("state", .string(run.status.state.rawValue)),
            ("cause", run.status.cause.map(\.json) ?? .null), ("audience", .integer(Int64(run.audience))),
            ("claimed", .integer(Int64(run.claimed))), ("started_at", moment(run.status.startedAt)),
            ("finished_at", moment(run.status.finishedAt)), ("bytes", .integer(Int64(run.bytes))),
            ("members", .array(workers)),
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
                    ? TextFormat.aligned(row[column], to: widths[column])
                    : TextFormat.padded(row[column], to: widths[column])
            }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
        return ([lines[0]] + zip(lines.dropFirst(), runs).flatMap { line, run in [line] + Self.notes(run) }).joined(
            separator: "\n")
    }

    private static func cells(_ run: StoredRun) -> [String] {
        if run.problem != nil {
            return [TextFormat.foreign(run.id), "damaged", "-", "-", TextFormat.bytes(run.bytes), "-"]
        }
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
            notes.append(
                "  Not all of its recipients are there. `volley send` copies what is missing, `volley store remove` removes it."
            )
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
