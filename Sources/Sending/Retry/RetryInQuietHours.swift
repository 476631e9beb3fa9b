import Base
import Runs
import Workspace

/// The warning about quiet hours, shown before the question: a retry is sent at once, even to devices that are in their
/// quiet hours.
enum RetryInQuietHours {
    /// Counts the devices that are in their quiet hours now.
    /// - Parameter retry: a retry that was not sent yet.
    /// - Returns: the warning; nil if no device is in quiet hours.
    static func warning(_ retry: RunFile, _ settings: RunSettings, at now: Timestamp) throws -> Diagnostic? {
        guard let schedule = settings.schedule, let quiet = schedule.quietHours else { return nil }
        let hasZone = retry.plan.fields.last == ExportColumns.Standard.timezone.rawValue
        var isQuiet: [String: Bool] = [:]
        var count = 0
        try retry.forEachResult { _, recipient, _, _ in
            let own = hasZone ? recipient.fields.last ?? "" : ""
            let name = own.isEmpty ? schedule.timezone : own
            let isIn =
                isQuiet[name]
                ?? {
                    // As in the first run, the campaign's zone counts if the device's own does not exist.
                    let zone = (try? ZoneDatabase.system.zone(named: name)) ?? (try? ZoneDatabase.system.zone(named: schedule.timezone))
                    return zone.map { quiet.contains(now, in: $0) } ?? false
                }()
            isQuiet[name] = isIn
            if isIn { count += 1 }
        }
        guard count > 0 else { return nil }
        return .warning(
            .sentInQuietHours, message: quiet.sentInThem(count), file: retry.place,
            remedy: "To avoid that, retry after the quiet hours.")
    }
}
