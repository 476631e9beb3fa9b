/// A run and its retries, in the order in which they were planned: each sends to some of the recipients of an earlier
/// one again.
public struct RunChain: Sendable {
    /// At least the requested run. Each is opened for reading.
    public let runs: [RunFile]
    private let asked: RunFile

    /// Looks in the run's folder for runs that it retries, and that retry it. Files there that cannot be opened are
    /// skipped.
    /// - Throws: `Diagnostic`: the folder cannot be listed.
    public init(of run: RunFile) throws {
        var all = try run.catalog.runs(of: nil) { $0.retryOf != nil }
        let byID = Dictionary(all.map { ($0.plan.id, $0.plan) }) { first, _ in first }
        // All but the first of a chain are retries.
        var (first, seen) = (run.plan.retryOf, Set([run.plan.id]))
        while let id = first, seen.insert(id).inserted, let plan = byID[id] { first = plan.retryOf }
        if let first, byID[first] == nil { all += try run.catalog.runs(of: nil) { $0.id == first } }
        self.init(of: run, among: all)
    }

    /// Searches the runs of a folder.
    public init(of run: RunFile, among all: [RunFile]) {
        let byID = Dictionary(all.map { ($0.plan.id, $0) }) { first, _ in first }
        var first = run
        var ids: Set<String> = []
        while ids.insert(first.plan.id).inserted, let earlier = first.plan.retryOf.flatMap({ byID[$0] }) { first = earlier }
        ids = [first.plan.id]
        var chain = [first], before = 0
        // In the order of planning, until no more are found: a clock that was set back may have a retry planned before
        // the run that it retries.
        while before < chain.count {
            before = chain.count
            for candidate in all where candidate.plan.retryOf.map(ids.contains) ?? false && ids.insert(candidate.plan.id).inserted {
                chain.append(candidate)
            }
        }
        runs = chain
        asked = run
    }

    /// Closes its runs except the requested one, which keeps its lock.
    public func close() {
        for run in runs where run !== asked { run.close() }
    }

    /// The runs that retry `id`.
    public func retries(of id: String) -> [RunFile] { runs.filter { $0.plan.retryOf == id } }
}
