import Base
import Runs
import Scheduling

/// A time of a campaign's schedule goes out once, whoever sends it: `volley schedule`, or somebody by hand.
struct OccurrenceByHand {
    private let run: RunStore
    private let firing: Firing
    private let folder: String

    private static let reason = "sent by hand"

    /// nil for a run that belongs to no time.
    /// - Throws: `Diagnostic` when the time was fired already, or is another process's to fire.
    init?(_ run: RunStore, _ settings: RunSettings) throws {
        guard let occurrence = settings.schedule?.occurrence else { return nil }
        let (plan, folder) = (run.plan, FilePaths.folder(of: run.path))
        let name = "\(occurrence)"
        let (firings, campaigns) = try ScheduleStore.read(folder: folder, since: Timestamp(epochMilliseconds: 0))
        let remedy = "`volley send \(plan.campaignFile) --now` sends all the same, to everybody in the audience."
        if let earlier = firings.first(where: { $0.key == .init(campaign: plan.campaign, occurrence: name) && $0.state != .skipped }),
            earlier.run != plan.id
        {
            throw Diagnostic(
                "'\(plan.campaign)' was fired already for \(occurrence.words)\(earlier.run.map { ", as \($0)" } ?? ""); nothing was sent",
                file: run.path, remedy: remedy)
        }
        if ScheduleLock.isHeld(folder: folder), campaigns.contains(where: { $0.name == plan.campaign && !$0.times.isEmpty }) {
            throw Diagnostic(
                "`volley schedule` is at work with this folder of runs, and sends '\(plan.campaign)' at its times; nothing was sent",
                file: run.path, remedy: remedy)
        }
        let due = plan.waves.map(\.due)
        firing = Firing(
            key: .init(campaign: plan.campaign, occurrence: name), file: plan.campaignFile, run: plan.id, state: .stopped,
            reason: Self.reason, begins: due.min() ?? plan.plannedAt, ends: due.max() ?? plan.plannedAt, changedAt: .now())
        (self.run, self.folder) = (run, folder)
    }

    /// Notes the time as fired while `send` runs, and how it came out. Nobody else goes on with what was sent by hand.
    func sending<Result>(_ send: () throws -> Result) throws -> Result {
        try note(.stopped)
        do {
            let result = try send()
            try? note(run.status().state == .finished ? .finished : .stopped)
            return result
        } catch {
            // Nothing was sent.
            try? note(.skipped)
            throw error
        }
    }

    private func note(_ state: Firing.State) throws {
        var firing = firing
        (firing.state, firing.changedAt) = (state, .now())
        let store = try ScheduleStore(folder: folder)
        defer { store.close() }
        try store.save([firing], [])
    }
}
