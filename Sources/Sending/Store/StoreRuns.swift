public import Base
public import Campaigns
import PostgresRuns
public import Runs

/// The runs in the store that several machines share: what is there, out of it, and away.
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
        /// Processes on these machines do not beat: whether they are gone shows within half a minute.
        case waiting(machines: [String])
        /// The number of recipients copied so far.
        case recipients(Int)
        /// The number of outcomes taken over so far.
        case outcomes(Int)
    }

    /// Opens the store of volley.yaml.
    /// - Parameter cancellation: ends every wait for it.
    /// - Throws: a `Diagnostic`: it cannot be reached, or its tables are missing or of another version;
    ///   `CancellationError`.
    public init(_ settings: StoreSettings, _ cancellation: Cancellation) throws {
        store = try StoreAddress(variable: settings.variable).open(asked: cancellation)
    }

    /// All runs that are there. Where some are being sent, it takes a few seconds to see which workers beat.
    /// - Parameter catalog: where this machine's runs are: the store is told of orders to them that it missed.
    /// - Throws: a `Diagnostic`; `CancellationError`.
    public func list(passingOnFrom catalog: RunsFolder) throws -> StoreRunList {
        let found = try store.runs(), open = found.filter { ![.finished, .cancelled].contains($0.status.state) }
        return StoreRunList(passOnOrders(ofRuns: open.map(\.id), store, in: catalog).isEmpty ? found : try store.runs())
    }

    /// The id of the run that a RUN argument means: an id, the path of a run's file, or `last`, the run in the store
    /// that was planned last.
    /// - Throws: a `Diagnostic`: no run matches; `CancellationError`.
    public func id(named argument: String, in catalog: RunsFolder) throws -> String { try store.id(named: argument, in: catalog) }

    /// Makes a run's file from what the store has of it, or brings the file up to date that is there.
    /// - Throws: a `Diagnostic`: it is not there, workers send it, or there is another run of its id;
    ///   `CancellationError`. No file was made then.
    public func fetch(_ run: String, into catalog: RunsFolder, _ observer: Observer<Event>) throws -> Fetched {
        let fetched = try store.fetch(run, into: catalog) { progress in
            switch progress {
            case .waiting(let machines): observer(.waiting(machines: machines))
            case .recipients(let count): observer(.recipients(count))
            case .outcomes(let count): observer(.outcomes(count))
            }
        }
        return Fetched(
            place: fetched.place, isNew: fetched.isNew, audience: fetched.audience, claimed: fetched.claimed, status: fetched.status)
    }

    /// Removes a run from the store.
    /// - Parameters:
    ///   - evenIfUnfetched: whether it is removed even if its file does not hold all that the store has.
    ///   - catalog: where its file is.
    /// - Throws: a `Diagnostic`: it is not there, workers send it, or it would be lost; `CancellationError`.
    public func remove(_ run: String, evenIfUnfetched: Bool, fetchedInto catalog: RunsFolder, _ observer: Observer<Event>) throws {
        try store.remove(run, evenIfUnfetched: evenIfUnfetched, fetchedInto: catalog) { observer(.waiting(machines: $0)) }
    }
}
