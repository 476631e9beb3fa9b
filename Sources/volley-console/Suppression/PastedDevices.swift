import Accounts
import Audience
import Base
import Glibc
import PushServices
import Runs

/// Devices that a person pasted into a form, one a line or as a table, in the form that `volley suppression import` takes from a file.
struct PastedDevices {
    let text: String
    /// Whether the table may have the columns of an export.
    let isWholeExport: Bool

    /// How far another machine's clock, or its time zone, may be ahead.
    private static let clockErrorSeconds = 86_400.0

    /// What became of the devices that were read.
    struct Result {
        var read: Int, added: Int, renewed: Int
    }

    /// Adds them to a list, all of them or none.
    /// - Parameters:
    ///   - reason: of those for which the table names none; blank for a usual one.
    ///   - runs: the folder of runs.
    /// - Throws: `Diagnostics` with the lines that cannot be read; a `Diagnostic` if the list or the disk does not work.
    func suppress(in part: SuppressionPart, reason: String, beside runs: String, at now: Timestamp) throws -> Result {
        // Readers take files. This one is in the folder that only its owner may enter, for as long as it is read.
        let path = FilePaths.join(FilePaths.join(runs, name: "console"), name: "pasted-\(Secrets.make().prefix(16)).\(ending(part))")
        try FilePaths.create(path, bytes: Array(text.utf8), mode: 0o600)
        defer { unlink(path) }
        let reason = reason.isEmpty ? "Added in the console" : reason
        var read = 0
        let change = try part.list.add(at: now) { entries in
            try TokenList.read(
                path, targets: part.list.targets, columns: part.columns, latest: now.adding(seconds: Self.clockErrorSeconds),
                allowsExport: isWholeExport, meaningAll: "tick the box"
            ) { entry in
                read += 1
                try entries.add(entry.token, reason: entry.reason.isEmpty ? reason : entry.reason, invalidSince: entry.invalidSince ?? now)
            }
        }
        return Result(read: read, added: change.added, renewed: change.renewed)
    }

    /// How a file with this text is called: the reader knows tables by their endings.
    private func ending(_ part: SuppressionPart) -> String {
        let first =
            text.split(whereSeparator: \.isNewline).lazy.map { String($0).trimming }.first { !$0.isEmpty && !$0.hasPrefix("#") } ?? ""
        if first.contains("\t") { return "tsv" }
        if first.contains(",") || first.contains(";") { return "csv" }
        // A table of one column has the name of the column first.
        let names = ["token", "device_token", part.list.targets.column]
        return names.contains(first.trimmingQuotes.lowercased()) ? "csv" : "txt"
    }
}

extension String {
    /// Without double quotes around it.
    fileprivate var trimmingQuotes: String { count > 1 && hasPrefix("\"") && hasSuffix("\"") ? String(dropFirst().dropLast()) : self }
}
