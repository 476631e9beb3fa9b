package import Audience
package import Base
package import Campaigns
package import Cluster
package import Runs

/// How many pushes the devices of an app got lately, from the run files of earlier campaigns.
package struct FrequencyHistory {
    package let app: String
    /// Only pushes to the same services count, by the names of their lists: a rehearsal against the
    /// simulator reached no device.
    package let lists: Set<String>
    package let caps: [FrequencyCap]
    package let now: Timestamp
    /// The recipients of other machines; nil without a shared store.
    package var elsewhere: SharedReached?

    package init(app: String, lists: Set<String>, caps: [FrequencyCap], now: Timestamp) {
        self.app = app
        self.lists = lists
        self.caps = caps
        self.now = now
    }

    /// Devices that may get no more pushes; nil without caps.
    /// - Parameters:
    ///   - suppressed: those of the same scan, by the hash of `elsewhere` if there is one.
    ///   - scan: the hash of the scan, if other devices of it have one; that of `elsewhere` if
    ///     there is one.
    ///   - onStoreAway: called if the store goes away: what was found so far counts then.
    /// - Throws: `Diagnostic` when a run cannot be read: its devices would not be known, and could
    ///   get one push too many.
    package func cappedDevices(
        beside suppressed: SuppressedDevices?, hash scan: KeyedHash? = nil, in catalog: RunsFolder,
        onStoreAway: (any Error) -> Void = { _ in }
    ) throws -> CappedDevices? {
        guard !caps.isEmpty else { return nil }
        let hash = elsewhere?.hash ?? scan ?? suppressed?.hash ?? .random()
        return try CappedDevices(caps, hash: hash) { add in
            do { try addElsewhere(catalog, add) } catch { onStoreAway(error) }
            try addRuns(runs(in: catalog), add) { _ in true }
        }
    }

    /// Devices of a run in progress that may get no more pushes, because other runs sent to devices
    /// since it was planned; nil when none did. Of runs that are sent at the same time, the one
    /// that began or resumed sending first comes first.
    /// - Throws: `Diagnostic` when a run cannot be read.
    package func cappedDevices(for run: any RunLedger, in catalog: RunsFolder) throws -> CappedDevices? {
        let others = try othersSincePlanning(of: run.plan, in: catalog)
        guard !others.isEmpty || elsewhere != nil else { return nil }
        var isAnyElsewhere = false
        let since = (try? run.status())?.sendingSince ?? .max
        let capped = try CappedDevices(caps, hash: elsewhere?.hash ?? .random()) { add in
            isAnyElsewhere = try addElsewhere(catalog, add)
            // Where another machine has sent, all runs of this folder count, too.
            try addRuns(
                isAnyElsewhere && others.isEmpty ? runs(in: catalog).filter { $0.plan.id != run.plan.id } : others, add
            ) { other in
                // A run that no process sends now, such as a paused one, was promised to its
                // devices before.
                other.sendingSince.map { ($0, other.plan.id) < (since, run.plan.id) } ?? true
            }
        }
        return others.isEmpty && !isAnyElsewhere ? nil : capped
    }

    /// Adds what other machines have sent.
    /// - Returns: whether there is any.
    @discardableResult
    private func addElsewhere(_ catalog: RunsFolder, _ add: CappedDevices.Insertion) throws -> Bool {
        let starts = starts
        guard let earliest = starts.min() else { return false }
        var isAny = false
        try elsewhere?.forEach(of: app, lists: lists, since: earliest, elsewhereThan: catalog) { at, hashes in
            isAny = true
            for hash in hashes { add(hash: hash) { at > starts[$0] } }
        }
        return isAny
    }

    private var starts: [Timestamp] { caps.map { now.adding(seconds: -Double($0.seconds)) } }

    /// Checks that `cappedDevices(for:in:)` can read the other runs.
    /// - Throws: `Diagnostic`: it could not find out which devices another run reached.
    public func check(for plan: RunPlan, in catalog: RunsFolder) throws {
        _ = try othersSincePlanning(of: plan, in: catalog)
    }

    /// All other runs that count, if any of them may have reached a device since a run was planned,
    /// by the order in which runs began; otherwise none.
    private func othersSincePlanning(of plan: RunPlan, in catalog: RunsFolder) throws -> [RunFile] {
        guard !caps.isEmpty else { return [] }
        let others: [RunFile]
        do { others = try runs(in: catalog).filter { $0.plan.id != plan.id } } catch var error as Diagnostic {
            error.remedy =
                "If it does not matter which devices it reached, move it to another folder, then send this run again."
            throw error
        }
        let place = try plan.settings.get().place, order = try catalog.history.order()
        let isAnyNew = try others.contains { other in
            defer { other.close() }
            let start = try order.start(
                of: other.plan.id, epoch: other.status().epoch, after: place, at: plan.plannedAt)
            return try start.map { try other.mayHaveReached(since: $0) } ?? false
        }
        return isAnyNew ? others : []
    }

    private func runs(in catalog: RunsFolder) throws -> [RunFile] {
        let longest = caps.map(\.seconds).max() ?? 0
        let (runs, broken) = try catalog.runs(ofApp: app, reachingSince: now.adding(seconds: -Double(longest)))
        if let broken = broken.first {
            let remedy =
                (broken.remedy.map { $0 + " " } ?? "")
                + "If neither the campaign nor volley.yaml sets 'frequency', the file is not needed."
            throw Diagnostic(
                "which devices a run reached is not known, but the limit \(caps[0]) depends on it: \(broken.message)",
                file: broken.file, remedy: remedy)
        }
        return runs
    }

    /// Adds what runs of a folder have sent.
    /// - Parameter goesFirst: whether devices that a run will be sent to count as if they had got
    ///   it.
    private func addRuns(
        _ runs: [RunFile], _ add: CappedDevices.Insertion, goesFirst: (RunFile) throws -> Bool
    ) throws {
        let starts = starts
        for run in runs {
            defer { run.close() }
            let settings = try run.plan.settings.get()
            // No one notices a background push.
            let counted = settings.services.map { lists.contains($0.listName) }
            guard counted.contains(true), settings.pushType != .background else { continue }
            let goesFirst = try goesFirst(run)
            try run.forEachReached(closing: OwnReason.final) { token, moment, isToCome, service in
                guard counted[service] else { return }
                add(token) { cap in moment.map { $0 > starts[cap] } ?? false || isToCome && goesFirst }
            }
        }
    }
}

/// The recipients of the runs of other machines, from the store: for frequency caps.
package struct SharedReached: Sendable {
    private let store: Store
    /// By which devices are on record there.
    package let hash: KeyedHash

    /// - Throws: `Diagnostic`: the store cannot be asked.
    package init(_ store: Store) throws {
        self.store = store
        hash = KeyedHash(key: try store.hashKey())
    }

    /// Calls `body` with pushes of the runs that are not in a folder.
    /// - Throws: `Diagnostic`: the store cannot be asked.
    func forEach(
        of app: String, lists: Set<String>, since: Timestamp, elsewhereThan catalog: RunsFolder,
        _ body: (_ at: Timestamp, _ hashes: [UInt64]) throws -> Void
    ) throws {
        for list in lists.sorted() {
            try store.forEachReached(
                of: app, list: list, since: Int(since.epochMilliseconds), where: { !catalog.holds($0) }, body)
        }
    }

    /// Writes what a run of this machine has sent into the store, if it counts for caps of its app:
    /// its campaign or the app has one. This replaces the run's earlier data there.
    /// - Throws: `Diagnostic`: the run cannot be read, or the store not written.
    package func share(_ run: RunFile, _ settings: RunSettings, _ app: App?) throws {
        let caps = settings.frequencyCaps + [app?.frequency].compactMap(\.self)
        guard let longest = caps.map(\.seconds).max(), settings.pushType != .background, !run.plan.isTest else {
            return
        }
        var minutes: [Int: [Int: [UInt64]]] = [:]
        try run.forEachReached(closing: OwnReason.final) { token, moment, _, service in
            // The remaining recipients are shared after this is done.
            guard let moment else { return }
            minutes[service, default: [:]][Int(moment.epochSeconds / 60), default: []].append(hash.token(token))
        }
        let reached = minutes.sorted { $0.key < $1.key }.flatMap { service, minutes in
            minutes.sorted { $0.key < $1.key }.map {
                Store.ReachedMinute(
                    list: settings.services[service].listName, at: ($0.key + 1) * 60_000, hashes: $0.value)
            }
        }
        try store.setReached(reached, by: run.plan.id, of: run.plan.app, keptFor: longest)
    }
}

extension Project {
    /// The recipients of the runs of other machines; nil if volley.yaml names no store, or the
    /// settings are for the simulator alone.
    /// - Throws: `Diagnostic`: the store cannot be asked.
    package func sharedReached(_ settings: RunSettings) throws -> SharedReached? {
        guard settings.services.contains(where: { !$0.environment.isSimulator }) else { return nil }
        return try openStore().map { try SharedReached($0) }
    }
}
