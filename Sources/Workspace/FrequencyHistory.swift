package import Audience
package import Base
package import Runs

/// How often the devices of an app got a push lately, from the run files of earlier campaigns.
package struct FrequencyHistory {
    package let app: String
    /// Pushes count for plans to the same service only: a rehearsal against the simulator reached nobody.
    package let environment: FrozenEnvironment
    package let caps: [FrequencyCap]
    package let now: Timestamp

    package init(app: String, environment: FrozenEnvironment, caps: [FrequencyCap], now: Timestamp) {
        self.app = app
        self.environment = environment
        self.caps = caps
        self.now = now
    }

    /// Devices that may get no more; nil without caps.
    /// - Throws: `Diagnostic` when a run cannot be read: not to know whom it reached would mean to push once more to somebody.
    package func cappedDevices(beside suppressed: SuppressedDevices?, in catalog: any RunCatalog) throws -> CappedDevices? {
        guard !caps.isEmpty else { return nil }
        return try cappedDevices(by: runs(in: catalog), beside: suppressed) { _ in true }
    }

    /// Devices of a run that is being sent and may get no more by now, as others were pushed to since it was planned; nil when none were. Of runs that
    /// go on at the same time, whichever went on first comes first.
    /// - Throws: `Diagnostic` when a run cannot be read.
    package func cappedDevices(for run: any RunLedger, in catalog: any RunCatalog) throws -> CappedDevices? {
        let others = try othersSincePlanning(of: run.plan, in: catalog)
        guard !others.isEmpty else { return nil }
        let since = run.sendingSince ?? .max
        return try cappedDevices(by: others, beside: nil) { other in
            // One that is paused, and that no process sends, has been promised to its devices before.
            other.sendingSince.map { ($0, other.plan.id) < (since, run.plan.id) } ?? true
        }
    }

    /// - Throws: `Diagnostic`: `cappedDevices(for:in:)` could not say whom another run reached.
    package func check(for plan: RunPlan, in catalog: any RunCatalog) throws { _ = try othersSincePlanning(of: plan, in: catalog) }

    /// All others that count, if any of them may have pushed to anybody since a run was planned, as the order of beginnings says; else none.
    private func othersSincePlanning(of plan: RunPlan, in catalog: any RunCatalog) throws -> [any RecordedRun] {
        guard !caps.isEmpty else { return [] }
        let others: [any RecordedRun]
        do { others = try runs(in: catalog).filter { $0.plan.id != plan.id } } catch var error as Diagnostic {
            error.remedy = "Move it to another folder if it does not matter whom it reached, then send this run again."
            throw error
        }
        let place = try plan.settings.get().place, order = try catalog.history.order()
        let isAnyNew = try others.contains { other in
            defer { other.close() }
            let start = try order.start(of: other.plan.id, life: other.life(), after: place, at: plan.plannedAt)
            return try start.map { try other.mayHaveReached(since: $0) } ?? false
        }
        return isAnyNew ? others : []
    }

    private func runs(in catalog: any RunCatalog) throws -> [any RecordedRun] {
        let longest = caps.map(\.seconds).max() ?? 0
        let (runs, broken) = try catalog.runs(ofApp: app, reachingSince: now.adding(seconds: -Double(longest)))
        if let broken = broken.first {
            let remedy = (broken.remedy.map { $0 + " " } ?? "") + "Without 'frequency' in campaign and volley.yaml the file is not needed."
            throw Diagnostic(
                "whom a run reached is not known, and \(caps[0]) was asked for: \(broken.message)", file: broken.file, remedy: remedy)
        }
        return runs
    }

    /// - Parameter goesFirst: whether those to whom a run is still to be sent count as if they had got it.
    private func cappedDevices(
        by runs: [any RecordedRun], beside suppressed: SuppressedDevices?, goesFirst: (any RecordedRun) throws -> Bool
    ) throws -> CappedDevices {
        let starts = caps.map { now.adding(seconds: -Double($0.seconds)) }
        return try CappedDevices(caps, beside: suppressed) { add in
            for run in runs {
                defer { run.close() }
                let settings = try run.plan.settings.get()
                // Nobody notices a background push.
                guard settings.environment.listName == environment.listName, settings.pushType != .background else { continue }
                let goesFirst = try goesFirst(run)
                try run.forEachReached(closing: OwnReason.final) { token, moment, isToCome in
                    add(token) { cap in moment.map { $0 > starts[cap] } ?? false || isToCome && goesFirst }
                }
            }
        }
    }
}
