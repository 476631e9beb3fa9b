public import Base
import Glibc
import PushServices
import Runs

/// The name of a file that a result will replace: only an older result may be lost.
public enum ResultFileCheck {
    /// - Parameters:
    ///   - file: nil for standard output.
    ///   - option: the option that named it, for messages.
    ///   - what: what will be written, for messages.
    ///   - runsFolder: the folder of the project's runs, lists and records.
    /// - Throws: a `Diagnostic` when the name is blank, or that of a run, a list, a record, a
    ///   campaign or volley.yaml, or leads to something that is not an output (`OutputPlace`).
    ///   Nothing was written.
    public static func check(_ file: String?, option: String, what: String, runsFolder: String) throws(Diagnostic) {
        guard let file else { return }
        guard !file.allSatisfy(\.isWhitespace) else { throw Diagnostic("\(option) is blank", remedy: "Name a file.") }
        try check(name: file, what: what, runsFolder: runsFolder)
        // Behind a link, the file that it leads to is replaced.
        if case .file(let place) = try OutputPlace(file), place != file {
            try check(name: place, what: what, runsFolder: runsFolder)
        }
    }

    private static func check(name file: String, what: String, runsFolder: String) throws(Diagnostic) {
        let name = file.lowercased()
        if [".yaml", ".yml"].contains(where: name.hasSuffix) {
            throw Diagnostic(
                FilePaths.exists(file)
                    ? "this is a campaign or volley.yaml, and the \(what) would replace it"
                    : "files of this kind are campaigns, and the \(what) would look like one", file: file,
                remedy: "Name another file.")
        }
        let isInRunsFolder = FilePaths.absolute(FilePaths.folder(of: file)) == FilePaths.absolute(runsFolder)
        guard !(isInRunsFolder && belongsToVolley(name)), !ProtectedFiles.holds(file), !isDatabase(file) else {
            throw Diagnostic(
                "this is a run, or another file that Volley keeps, and the \(what) would replace it", file: file,
                remedy: "Name another file.")
        }
        guard !isKey(file) else {
            throw Diagnostic(
                "this file already exists and holds a key or a certificate, and the \(what) would replace it",
                file: file,
                remedy: "Name another file.")
        }
        guard !isExport(file), !isNameList(file) else {
            throw Diagnostic(
                "this file already exists and looks like an export or a list of devices or names, and the \(what) would replace it",
                file: file,
                remedy: "Name another file, or remove that one first.")
        }
    }

    /// First lines of results, which the next result may replace.
    private static let results =
        (PushServices.all.map { ReportCSV.columns(of: $0) } + [
            ReportCSV.columnsOfSeveralServices, SuppressionList.exportColumns,
        ]).flatMap {
            [$0.joined(separator: ","), $0.joined(separator: ";")]
        }

    /// PEM by what it begins with, PKCS #12 by its ending.
    private static func isKey(_ file: String) -> Bool {
        guard let bytes = beginning(of: file, count: 10) else { return false }
        return bytes.starts(with: "-----BEGIN".utf8) || [".p12", ".pfx"].contains(where: file.lowercased().hasSuffix)
    }

    /// Whether a file with an export's ending holds one: a table, objects, tokens, or compressed
    /// data.
    private static func isExport(_ file: String) -> Bool {
        let name = file.lowercased()
        guard let ending = [".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".gz"].first(where: name.hasSuffix),
            let bytes = beginning(of: file, count: 4096)
        else { return false }
        if bytes.starts(with: [0x1F, 0x8B]) { return true }
        let text = String(decoding: bytes, as: UTF8.self)
        let line = text.prefix { !$0.isNewline }.drop { $0 == "\u{FEFF}" }
        // A ledger of the simulator.
        if line.hasPrefix("{\"time_ms\":") { return false }
        // The first line of Volley's own JSON is only a brace.
        if ending.hasPrefix(".json") || ending == ".ndjson" {
            return line != "{" && (line.hasPrefix("{") || line.hasPrefix("["))
        }
        if line.count >= 32, line.allSatisfy(\.isHexDigit) { return true }
        // A header and a row, not a sentence with a comma.
        let lines = text.split(maxSplits: 2, whereSeparator: \.isNewline).prefix(2)
        return ending != ".txt" && lines.count == 2 && lines.allSatisfy { $0.contains { ",;\t".contains($0) } }
            && !results.contains(String(line))
    }

    /// Whether a file with any ending holds names for `{file: …}`, one a line, or a table of them
    /// with one column. Every result has lines with blanks, or a header of its own.
    private static func isNameList(_ file: String) -> Bool {
        guard let bytes = beginning(of: file, count: 4096) else { return false }
        let lines = String(decoding: bytes, as: UTF8.self).drop { $0 == "\u{FEFF}" }.split(whereSeparator: \.isNewline)
            .filter { !$0.hasPrefix("#") && !$0.allSatisfy(\.isWhitespace) }
        guard let first = lines.first, !results.contains(String(first)) else { return false }
        let isTable = [".csv", ".tsv"].contains(where: file.lowercased().hasSuffix)
        return lines.count > (isTable ? 1 : 0)
            && lines.allSatisfy { line in
                line.split(whereSeparator: \.isWhitespace).count == 1 && !line.contains { "{}<>".contains($0) }
            }
    }

    /// nil if the file does not exist, or it is a link, a pipe or a device: Volley does not wait
    /// for those.
    private static func beginning(of file: String, count: Int) -> [UInt8]? {
        var status = stat()
        guard lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let length = read(descriptor, &bytes, count)
        return length > 0 ? Array(bytes[..<length]) : nil
    }

    /// For files in the folder of runs.
    private static func belongsToVolley(_ name: String) -> Bool {
        [".sqlite", ".db", ".lock", ".partial", ".claimed", "-wal", "-shm", "-journal"].contains(where: name.hasSuffix)
    }

    /// Whether it is a database, in any folder, such as a run that was named by its path. Source:
    /// sqlite.org/fileformat2.html, section 1.3.
    private static func isDatabase(_ file: String) -> Bool {
        let mark = Array("SQLite format 3\0".utf8)
        var status = stat()
        // A pipe or a device is a valid target, but is not waited for.
        guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: mark.count)
        return read(descriptor, &bytes, bytes.count) == bytes.count && bytes == mark
    }
}
