import Base
import Glibc
import Runs

/// Exports that were not made anew for long: devices that came since are missing, and texts are out of date.
enum ExportAge {
    /// Days from which on an export is old.
    static let warningDays = 7

    /// Of several files the oldest is named. In the simulator nobody is reached, so the age does not matter.
    static func warnings(of files: [String], environment: FrozenEnvironment, now: Timestamp) -> [Diagnostic] {
        guard environment != .simulator else { return [] }
        let ages = files.compactMap { file in age(of: file, now).map { (file: file, days: $0) } }
        let old = ages.filter { $0.days >= warningDays }
        guard let oldest = old.max(by: { $0.days < $1.days }) else { return [] }
        let others = old.count == 1 ? "" : ", and \(old.count - 1) more of its exports are older than \(warningDays) days"
        return [
            .warning(
                .staleExport, "the export is \(oldest.days) days old\(others)", file: oldest.file,
                remedy: "Export the devices anew: those that came since are missing, and those that left are still there.")
        ]
    }

    /// Whole days since a file was written.
    private static func age(of file: String, _ now: Timestamp) -> Int? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        return Int((now.epochSeconds - Int64(status.st_mtim.tv_sec)) / 86_400)
    }
}
