public import Base
import Postgres
public import Runs

/// A run in the store.
public struct StoredRun: Hashable, Sendable {
    /// A process that sends it.
    public struct Worker: Hashable, Sendable {
        /// Its number in the store.
        public var number: Int
        /// Its machine and process.
        public var machine: String
        /// Whether it does what is done once for all.
        public var isCoordinator: Bool
        /// Whether its beat did not change while it was watched (`Store.watchedSeconds`): it may be
        /// gone.
        public var isSilent: Bool
        var beat: Int64
    }

    /// Its id, its campaign's name and its app's.
    public var id: String, campaign: String, app: String
    /// Whether all of its recipients are there. If not, it cannot be sent.
    public var isComplete: Bool
    /// Its state, why it stopped, when it began and ended. One that says it is running while it has
    /// no workers was cut off: it is stopped, without an end.
    public var status: RunStatus
    /// Recipients, and how many of them were claimed.
    public var audience: Int, claimed: Int
    /// Those that are there.
    public var workers: [Worker]
    /// What is wrong with the run's row; nil where all of it can be read. The state, the moments
    /// and the counts then say nothing.
    public var problem: Diagnostic?
    /// What its recipients and its journal take, without indexes.
    public var bytes: Int
}

extension Store {
    /// How long workers are watched to see which of them beat; seconds. They beat once a second.
    public static let watchedSeconds = 2.5

    /// All runs, in the order in which they were published. Where there are workers it takes
    /// `watchedSeconds`.
    /// - Throws: `Diagnostic`; `CancellationError`.
    public func runs() throws -> [StoredRun] {
        let storeConnection = storeConnection(answerSeconds: Self.answerSeconds)
        var (runs, workers) = try StoreError.explaining {
            try storeConnection.retrying { (try Self.runs($0), try Self.workers($0)) }
        }
        if !workers.isEmpty {
            retryDeadline.rest(atMost: Self.watchedSeconds)
            if retryDeadline.isAsked { throw CancellationError() }
            let later = try StoreError.explaining { try storeConnection.retrying { try Self.workers($0) } }
            // Workers that have left since then are no longer there.
            workers = later.mapValues { list in
                list.map { worker in
                    var worker = worker
                    worker.isSilent = workers.values.joined().contains {
                        $0.number == worker.number && $0.beat == worker.beat
                    }
                    return worker
                }
            }
        }
        return runs.map { number, run in
            var run = run
            run.workers = workers[number] ?? []
            if run.status.state == .running, run.workers.isEmpty {
                (run.status.state, run.status.cause) = (.stopped, .ledger(.processGone))
            }
            return run
        }
    }

    private static func runs(_ connection: PostgresConnection) throws -> [(number: Int, run: StoredRun)] {
        var runs: [(number: Int, run: StoredRun)] = []
        // The lengths of what is stored apart are known without reading it.
        try connection.run(
            """
            SELECT r.number, r.id, r.campaign, r.app, r.is_published, r.state, r.cause, r.started_at, r.ended_at, r.audience,
                (SELECT least(coalesce(sum(last::numeric - first), 0), \(Int.max))::bigint
                    FROM volley_journal j WHERE j.run = r.number AND kind = 1),
                octet_length(r.plan) + (SELECT coalesce(sum(octet_length(data)), 0) FROM volley_block b WHERE b.run = r.number)
                    + (SELECT coalesce(sum(octet_length(data)), 0) FROM volley_journal j WHERE j.run = r.number)
            FROM volley_run r ORDER BY r.number
            """, within: answerSeconds
        ) { cells in
            var run = StoredRun(
                id: cells.text(1), campaign: cells.text(2), app: cells.text(3), isComplete: cells.int(4) == 1,
                status: RunStatus(state: .stopped, cause: nil, startedAt: nil, finishedAt: nil), audience: 0,
                claimed: 0, workers: [],
                bytes: cells.int(11))
            // A run whose row is damaged hides no other.
            do throws(Diagnostic) {
                guard let state = RunState(rawValue: cells.text(5)) else {
                    throw StoreError.damaged("the state", ofRun: run.id)
                }
                run.status = RunStatus(
                    state: state, cause: StoredCause.read(cells.text(6)), startedAt: try cells.optionalMoment(7),
                    finishedAt: try cells.optionalMoment(8))
                (run.audience, run.claimed) = (try cells.count(9), try cells.count(10))
            } catch { run.problem = error }
            runs.append((cells.int(0), run))
        }
        return runs
    }

    /// Workers that are there, by the numbers of runs.
    private static func workers(_ connection: PostgresConnection) throws -> [Int: [StoredRun.Worker]] {
        var workers: [Int: [StoredRun.Worker]] = [:]
        try connection.run(
            """
            SELECT s.run, s.number, s.machine, s.beat, s.number = r.conductor FROM volley_sender s JOIN volley_run r ON r.number = s.run
            WHERE s.dead_at IS NULL ORDER BY s.joined_at, s.number
            """, within: answerSeconds
        ) { cells in
            let worker = StoredRun.Worker(
                number: cells.int(1), machine: cells.text(2), isCoordinator: cells.int(4) == 1, isSilent: false,
                beat: Int64(cells.int(3)))
            workers[cells.int(0), default: []].append(worker)
        }
        return workers
    }
}
