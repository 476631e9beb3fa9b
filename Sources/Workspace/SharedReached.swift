package import Audience
import Base
package import Campaigns
package import PostgresRuns
package import Runs

/// Whom the runs of other machines have sent to, as the store has it: for frequency caps.
package struct SharedReached: Sendable {
    private let store: Store
    /// By which devices are on record there.
    package let hash: KeyedHash

    /// - Throws: `Diagnostic`: the store cannot be asked.
    package init(_ store: Store) throws {
        self.store = store
        hash = KeyedHash(key: try store.hashKey())
    }

    /// Calls `body` with pushes of runs that are not in a folder, which has its own runs itself.
    /// - Throws: `Diagnostic`: the store cannot be asked.
    func forEach(
        of app: String, lists: Set<String>, since: Timestamp, elsewhereThan catalog: RunsFolder,
        _ body: (_ at: Timestamp, _ hashes: [UInt64]) throws -> Void
    ) throws {
        for list in lists.sorted() {
            try store.forEachReached(of: app, list: list, since: Int(since.epochMilliseconds), where: { !catalog.holds($0) }, body)
        }
    }

    /// Puts what a run of this machine has sent into the store, if it counts for caps of its app: its campaign or the app has one. It takes the place of what
    /// was there of the run.
    /// - Throws: `Diagnostic`: the run cannot be read, or the store not written.
    package func share(_ run: RunFile, _ settings: RunSettings, _ app: App?) throws {
        let caps = settings.frequencyCaps + [app?.frequency].compactMap(\.self)
        guard let longest = caps.map(\.seconds).max(), settings.pushType != .background, !run.plan.isTest else { return }
        var minutes: [Int: [Int: [UInt64]]] = [:]
        try run.forEachReached(closing: OwnReason.final) { token, moment, _, service in
            // Who is still to be sent to is shared once that was done.
            guard let moment else { return }
            minutes[service, default: [:]][Int(moment.epochSeconds / 60), default: []].append(hash.token(token))
        }
        let reached = minutes.sorted { $0.key < $1.key }.flatMap { service, minutes in
            minutes.sorted { $0.key < $1.key }.map {
                Store.ReachedMinute(list: settings.services[service].listName, at: ($0.key + 1) * 60_000, hashes: $0.value)
            }
        }
        try store.setReached(reached, by: run.plan.id, of: run.plan.app, keptFor: longest)
    }
}

extension Project {
    /// Whom the runs of other machines have sent to; nil if volley.yaml names no store, or the settings are for the simulator alone.
    /// - Throws: `Diagnostic`: the store cannot be asked.
    package func sharedReached(_ settings: RunSettings) throws -> SharedReached? {
        guard settings.services.contains(where: { !$0.environment.isSimulator }) else { return nil }
        return try openStore().map { try SharedReached($0) }
    }
}
