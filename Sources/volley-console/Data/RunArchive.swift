import Base
import Runs
import Synchronization

/// All runs of the folder, cached: a run is read again only after it was written to. Listing a
/// thousand runs checks each file.
final class RunArchive: Sendable {
    /// The runs at one moment.
    struct Listing: Sendable {
        /// Newest first.
        var runs: [RunSummary] = [] {
            didSet { places = Dictionary(zip(runs.map(\.id), runs.indices)) { first, _ in first } }
        }
        private var places: [String: Int] = [:]
        /// What is wrong with files that cannot be shown.
        var broken: [Diagnostic] = []

        /// A run; nil for one that is not there, or cannot be shown.
        subscript(_ id: String) -> RunSummary? { places[id].map { runs[$0] } }
    }

    private struct Entry {
        var stamp: RunStamp
        var mark: HistorySnapshot.Mark
        /// nil for a copy under another name, which does not count.
        var result: Result<RunSummary, Diagnostic>?
        /// Whether its state depends on more than its file: whether a process sends it.
        var isPassing: Bool
    }

    private struct Memory {
        var entries: [String: Entry] = [:]
        var history: HistorySnapshot?
        var historyStamp: FileStamp?
        var listing = Listing()
        var listedAt: ContinuousClock.Instant?
    }

    let catalog: RunsFolder
    private let live: LiveFigures
    private let memory = Mutex(Memory())

    private let timeToLive: Duration

    /// - Parameter timeToLive: how long a listing stays valid: many requests at once share one.
    init(_ catalog: RunsFolder, timeToLive: Duration = .milliseconds(500)) {
        self.catalog = catalog
        self.timeToLive = timeToLive
        live = LiveFigures(catalog)
    }

    /// All runs as they are now, or were half a second ago.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    func listing() throws -> Listing {
        try memory.withLock { memory in
            let now = ContinuousClock.now
            if let at = memory.listedAt, now - at < timeToLive { return memory.listing }
            let stamps = catalog.isThere ? try catalog.stamps() : [:]
            let history = history(&memory)
            var isChanged = memory.entries.count != stamps.count
            for (id, stamp) in stamps {
                let mark = history.mark(of: id)
                if let entry = memory.entries[id], entry.stamp == stamp, entry.mark == mark, !entry.isPassing {
                    continue
                }
                memory.entries[id] = read(id, stamp, mark, history)
                isChanged = true
            }
            if isChanged {
                memory.entries = memory.entries.filter { stamps[$0.key] != nil }
                memory.listing = Self.listing(of: memory.entries)
            }
            memory.listedAt = now
            return memory.listing
        }
    }

    /// One run.
    /// - Throws: `Diagnostic`: the folder cannot be listed, or the run cannot be shown.
    /// - Returns: nil for an unknown run.
    func summary(of id: String) throws -> RunSummary? {
        if let run = try listing()[id] { return run }
        return try memory.withLock { try $0.entries[id]?.result?.get() }
    }

    /// The plans of a campaign's file that may still be sent, newest first.
    func plans(ofFile path: String) throws -> [RunSummary] {
        let names = [FilePaths.named(path), FilePaths.absolute(path)]
        return try listing().runs.filter { $0.isPlan && !$0.isTest && !$0.campaignFiles.isDisjoint(with: names) }
    }

    /// The runs of a campaign that were begun before one of them was planned, newest first, at most
    /// twenty: tests and retries do not count.
    func begun(before run: RunSummary) throws -> [RunSummary] {
        let found = try listing().runs.filter { other in
            other.campaign == run.campaign && other.app == run.app && !other.isTest && other.retryOf == nil
                && other.startedAt != nil
                && other.plannedAt < run.plannedAt
        }
        return Array(found.prefix(20))
    }

    private func history(_ memory: inout Memory) -> HistorySnapshot {
        let stamp = catalog.history.stamp
        if let history = memory.history, stamp == memory.historyStamp, history.failure == nil { return history }
        let history = HistorySnapshot(of: catalog)
        (memory.history, memory.historyStamp) = (history, stamp)
        return history
    }

    private func read(_ id: String, _ stamp: RunStamp, _ mark: HistorySnapshot.Mark, _ history: HistorySnapshot)
        -> Entry
    {
        do {
            return try catalog.withRun(id) { run in
                guard run.plan.id == id else { return Entry(stamp: stamp, mark: mark, result: nil, isPassing: false) }
                var summary = try RunSummary(run, figures: live.figures(of: run), known: history)
                summary.countedAt = live.countedAt(id)
                let isPassing = summary.isLive || summary.cause == .ledger(.processGone) || summary.doubt != nil
                return Entry(stamp: stamp, mark: mark, result: .success(summary), isPassing: isPassing)
            }
        } catch {
            // A run that cannot be opened now may be readable a moment later.
            return Entry(stamp: stamp, mark: mark, result: .failure(Diagnostic(explaining: error)), isPassing: true)
        }
    }

    private static func listing(of entries: [String: Entry]) -> Listing {
        var listing = Listing(), runs: [RunSummary] = []
        for entry in entries.values {
            switch entry.result {
            case .success(let run): runs.append(run)
            case .failure(let why): listing.broken.append(why)
            case nil: break
            }
        }
        listing.runs = runs.sorted { ($1.plannedAt, $1.id) < ($0.plannedAt, $0.id) }
        listing.broken.sort { ($0.file ?? "") < ($1.file ?? "") }
        return listing
    }
}

/// The figures of runs that are being sent. Counting those of a large run takes seconds, so it is
/// done once for all watchers, outside their requests, and never for more than a part of the time:
/// the sender reads from the same disk.
final class LiveFigures: Sendable {
    private struct Count {
        var figures: RunFigures?
        var at: ContinuousClock.Instant
        var cost = Duration.zero
        var isUnderWay = false
    }

    private let catalog: RunsFolder
    private let counts = Mutex<[String: Count]>([:])

    /// How much longer than the counting itself a count stays valid, and the shortest such time.
    private static let rest = 25, least = Duration.seconds(1)
    /// The number of recipients that are counted at once, within a few hundredths of a second.
    private static let few = 200_000

    init(_ catalog: RunsFolder) { self.catalog = catalog }

    /// The figures of a run: those that it keeps, if it has ended; otherwise those of a moment ago.
    /// nil while a large run is counted for the first time.
    func figures(of run: RunFile) throws -> RunFigures? {
        let id = run.plan.id
        let state = try run.status().state
        guard state == .running || state == .paused else {
            counts.withLock { $0[id] = nil }
            return try run.figures()
        }
        let now = ContinuousClock.now
        let (known, isDue) = counts.withLock { counts in
            let count = counts[id]
            let isDue = count.map { !$0.isUnderWay && now - $0.at >= max(Self.least, $0.cost * Self.rest) } ?? true
            if isDue { counts[id, default: Count(at: now)].isUnderWay = true }
            return (count?.figures, isDue)
        }
        guard isDue else { return known }
        guard run.plan.audience > Self.few else {
            do { return try count(run) } catch {
                forget(id)
                throw error
            }
        }
        do {
            try detachThread { [self] in
                do {
                    let own = try catalog.open(id)
                    defer { own.close() }
                    _ = try count(own)
                } catch { forget(id) }
            }
        } catch { forget(id) }
        return known
    }

    private func count(_ run: RunFile) throws -> RunFigures {
        let begin = ContinuousClock.now
        let figures = try run.figures()
        let end = ContinuousClock.now
        counts.withLock { $0[run.plan.id] = Count(figures: figures, at: end, cost: end - begin) }
        return figures
    }

    /// When the figures of a run that is being sent were counted; nil if they were not.
    func countedAt(_ run: String) -> ContinuousClock.Instant? {
        counts.withLock { $0[run].flatMap { $0.figures == nil ? nil : $0.at } }
    }

    /// The next request tries again.
    private func forget(_ id: String) { counts.withLock { $0[id]?.isUnderWay = false } }
}
