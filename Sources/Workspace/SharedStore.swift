public import Base
public import Campaigns
package import Cluster
public import Runs

/// A project's part of the store that it shares with other machines. Without `store` in volley.yaml
/// there is no connection.
extension Project {
    /// Opens the store. If it goes away, callers wait some seconds for it.
    /// - Returns: nil if volley.yaml names none.
    /// - Throws: `Diagnostic`: the store cannot be reached, or its tables are missing or of another
    ///   version.
    package func openStore() throws -> Store? {
        try store.map { try StoreAddress(variable: $0.variable).open(asked: nil) }
    }

    /// Brings the suppression lists of an app up to date with those of other machines, and theirs
    /// with these. Lists of the simulator stay on their machine.
    /// - Returns: a warning if the store cannot be reached. The rest is exchanged the next time.
    public func exchangeLists(of app: String, _ settings: RunSettings, in catalog: RunsFolder) -> Diagnostic? {
        let services = settings.services.filter { !$0.environment.isSimulator }
        guard let place = store?.variable.position, !services.isEmpty else { return nil }
        do {
            guard let store = try openStore() else { return nil }
            for service in services {
                try store.exchange(
                    catalog.suppression(app: app, service: service.service, environment: service.listName))
            }
            return nil
        } catch { return Self.storeAway(error, at: place) }
    }

    /// The time by the store's clock; nil without a store, for a run that does not go through it,
    /// and where it cannot be reached: then with the warning that says so.
    /// - Throws: `CancellationError`, at once when a person asks to end.
    package func storeTime(
        for settings: RunSettings, asked cancellation: Cancellation
    ) throws(CancellationError) -> (time: Timestamp?, away: Diagnostic?) {
        guard let store, !settings.isRehearsal else { return (nil, nil) }
        do {
            let offset = try StoreAddress(variable: store.variable).clockOffsetSeconds(cancellation)
            return (Timestamp.now().adding(seconds: offset), nil)
        } catch let error as CancellationError { throw error } catch {
            return (nil, Self.storeAway(error, at: store.variable.position))
        }
    }

    /// The warning that this machine works without the store.
    package static func storeAway(_ error: any Error, at place: SourcePosition) -> Diagnostic {
        let found = Diagnostic(explaining: error)
        return .warning(
            .storeAway,
            message:
                "suppressed devices and recent pushes could not be exchanged with other machines: \(found.message)",
            at: place,
            remedy: found.remedy)
    }
}
