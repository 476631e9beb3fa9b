import Audience
import Base
import Campaigns
import Runs
import Workspace

/// Facts about devices that are not in the exports, from this machine and from those that share its
/// store: which are suppressed, and which got enough pushes lately.
struct KnownDevices {
    /// nil if no device is suppressed.
    let suppressed: SuppressedDevices?
    /// nil without frequency caps.
    let capped: CappedDevices?
    /// What was sent to the app's devices in the last hours; nil where that does not matter.
    let recent: RecentSendings?
    /// How many pushes devices got today, of services whose pushes makers show; nil where that does
    /// not matter, or is not known.
    let today: CappedDevices?
    /// Where the suppressed devices are, for messages.
    let place: String
    /// The warning that the store of several machines cannot be reached, so that only this
    /// machine's own facts count; nil if it was, or without a store.
    let storeAway: Diagnostic?

    /// - Parameters:
    ///   - history: the pushes that devices got lately, from the runs of this machine.
    ///   - away: the warning that the store did not answer a moment ago, so that it is not waited
    ///     for again.
    ///   - countsRecent: whether the devices that got any push in the last hours are counted.
    ///   - day: the makers' caps, and the pushes that count for them; nil for none.
    /// - Throws: `Diagnostic`: a list or a run cannot be read.
    init(
        _ context: CampaignContext, _ history: FrequencyHistory, away: Diagnostic? = nil, countsRecent: Bool = false,
        day: FrequencyHistory? = nil,
        in catalog: RunsFolder
    ) throws {
        let (app, project) = (context.app.name.value, context.project)
        let settings = try RunSettings(context)
        var history = history
        var away = away ?? project.exchangeLists(of: app, settings, in: catalog)
        func note(_ error: any Error) {
            away = away ?? project.store.map { Project.storeAway(error, at: $0.variable.position) }
        }
        if away == nil, !history.caps.isEmpty {
            do { history.elsewhere = try project.sharedReached(settings) } catch { note(error) }
        }
        let lists = settings.services.map {
            catalog.suppression(app: app, service: $0.service, environment: $0.listName)
        }
        place = lists[0].place
        suppressed = try lists.suppressedDevices(hash: history.elsewhere?.hash)
        capped = try history.cappedDevices(beside: suppressed, in: catalog, onStoreAway: note)
        storeAway = away
        var recent = countsRecent ? try RecentSendings(of: app, in: settings, catalog, now: history.now) : nil
        // All tables of a scan have one hash.
        let hash = suppressed?.hash ?? capped?.hash ?? .random()
        recent?.readDevices(catalog, hash: hash)
        self.recent = recent
        var day = countsRecent ? day : nil
        day?.elsewhere = history.elsewhere
        // These are facts for a warning: what cannot be read has warnings of its own.
        today = try? day?.cappedDevices(beside: suppressed, hash: hash, in: catalog)
    }
}
