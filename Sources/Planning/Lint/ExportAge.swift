import Base
import Glibc

/// Warns about old exports: new devices are missing, and the cells that texts print are out of
/// date.
enum ExportAge {
    /// The age in days at which an export is old.
    static let warningDays = 7

    /// Names the oldest of several files. A rehearsal reaches no device, so there the age does not
    /// matter.
    static func warnings(of files: [String], isRehearsal: Bool, now: Timestamp) -> [Diagnostic] {
        guard !isRehearsal else { return [] }
        let ages = files.compactMap { file in age(of: file, now: now).map { (file: file, days: $0) } }
        let old = ages.filter { $0.days >= warningDays }
        guard let oldest = old.max(by: { $0.days < $1.days }) else { return [] }
        let more = old.count - 1
        let others =
            more == 0
            ? ""
            : ", and \(more) more \(TextFormat.plural(more, one: "is", many: "are")) at least \(warningDays) days old"
        return [
            .warning(
                .staleExport, message: "the export is \(oldest.days) days old\(others)", file: oldest.file,
                remedy: "Export the devices again: new devices are missing, and devices that left are still listed.")
        ]
    }

    /// Whole days since a file was written.
    private static func age(of file: String, now: Timestamp) -> Int? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        return Int((now.epochSeconds - Int64(status.st_mtim.tv_sec)) / 86_400)
    }
}
