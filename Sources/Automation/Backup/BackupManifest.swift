public import Base
import Cryptography
import Glibc
import Workspace

/// The contents of a backup, as listed in its `volley-backup.json`.
public struct BackupManifest: Hashable, Sendable {
    /// The name of its file.
    public static let fileName = ConsoleRoots.backupMark
    /// The newest format that this Volley reads, and the one that it writes. Format 1 has no sum of
    /// the manifest itself.
    static let format: Int64 = 2
    /// A manifest of a million files is smaller.
    private static let mostBytes = 256 << 20

    /// One file of the backup.
    public struct File: Hashable, Sendable {
        /// Below the backup's folder: `runs/sent.db`, `project/volley.yaml`,
        /// `elsewhere/var/lib/volley/campaigns/sale.yaml`.
        public var path: String
        /// Its size.
        public var bytes: Int
        /// The SHA-256 of its bytes, as 64 hex digits.
        public var sum: String
        /// The permissions of the file that it was copied from: `644`.
        public var mode: String
    }

    /// Something that is missing in the backup.
    public struct Omission: Hashable, Sendable {
        /// Why.
        public enum Reason: String, CaseIterable, Hashable, Sendable {
            /// Keys and certificates that volley.yaml names.
            case keys
            /// Files that campaigns or volley.yaml name outside of the folders that are copied.
            case outside
            /// Links to folders below that of volley.yaml, or a further folder of campaigns.
            case links
            /// Files in the folder of runs that are not Volley's, and unfinished plans.
            case foreign
            /// The database that several machines share.
            case store
            /// Files that cannot be copied because they are damaged or not permitted.
            case unreadable
        }

        /// Why.
        public var reason: Reason
        /// The missing things: paths, or the variable of the store.
        public var names: [String]
    }

    /// The version of Volley that made it.
    public var volley = volleyVersion
    /// When it began and ended. Anything that was sent after the beginning may be missing.
    public var startedAt: Timestamp, finishedAt: Timestamp
    /// The volley.yaml, by its absolute path; nil for only a folder of runs.
    public var project: String?
    /// The folder of runs, by its absolute path.
    public var runs: String
    /// Runs that processes were sending, by their ids.
    public var sending: [String]
    /// All its files except the manifest, by path.
    public var files: [File]
    /// What it does not hold.
    public var leftOut: [Omission]
}

extension BackupManifest {
    /// The document.
    public var json: JSONValue { json(format: Self.format) }

    private func json(format: Int64) -> JSONValue {
        .object(pairs: [
            ("format", .integer(format)), ("volley", .string(volley)), ("started_at", .string(startedAt.description)),
            ("finished_at", .string(finishedAt.description)), ("project", project.map { .string($0) } ?? .null),
            ("runs", .string(runs)),
            ("sending", .array(sending.map { .string($0) })),
            ("files", .array(files.map(\.json))), ("left_out", .array(leftOut.map(\.json))),
        ])
    }

    /// Its file: the document, and in its last member the sum of all that comes before it.
    var bytes: [UInt8] { Self.sealed(Array(json.indentedText.utf8.dropLast(2))) }

    private static func sealed(_ start: [UInt8]) -> [UInt8] {
        start + Array("\(sumStart)\(SHA256.hex(SHA256.digest(of: start)))\"\n}\n".utf8)
    }

    private static let sumStart = ",\n  \"sha256\": \""
    private static let sumBytes = sumStart.utf8.count + 64 + 4

    /// Reads the manifest of a backup.
    /// - Throws: `Diagnostic`: it does not exist, is damaged, or was written by a newer Volley.
    public init(of backup: String) throws(Diagnostic) {
        let path = FilePaths.join(backup, name: Self.fileName)
        guard FilePaths.exists(path) else {
            throw Diagnostic(
                "this is not a backup: there is no \(Self.fileName) in it", file: backup,
                remedy: "Name the folder volley-backup-DATE that `volley backup` made.")
        }
        let bytes = try FilePaths.read(path, atMost: Self.mostBytes)
        guard let json = try? JSONValue(parsing: bytes), let format = json["format"]?.integerValue, format > 0 else {
            throw Self.damaged(path)
        }
        guard format <= Self.format else {
            throw Diagnostic(
                "the backup was made by a newer Volley (\(TextFormat.inLine(json["volley"]?.stringValue ?? "?")); format \(format), and this one reads \(Self.format))",
                file: path, remedy: "Use the newer Volley.")
        }
        var document = json
        if format > 1 {
            guard bytes == Self.sealed(bytes.dropLast(Self.sumBytes)), case .object(let members) = json else {
                throw Self.damaged(path)
            }
            document = .object(members.dropLast())
        }
        // Every value is read exactly as it was written, and none is ignored.
        guard let read = BackupManifest(document), read.json(format: format) == document, read.isSound else {
            throw Self.damaged(path)
        }
        self = read
    }

    private static func damaged(_ path: String) -> Diagnostic {
        Diagnostic("the list of a backup's files is damaged", file: path, remedy: "Use another backup.")
    }

    private init?(_ json: JSONValue) {
        guard let volley = json["volley"]?.stringValue, let runs = json["runs"]?.stringValue,
            let started = json["started_at"]?.stringValue.flatMap({ Timestamp($0) }),
            let finished = json["finished_at"]?.stringValue.flatMap({ Timestamp($0) }),
            case .array(let sending) = json["sending"], case .array(let files) = json["files"],
            case .array(let leftOut) = json["left_out"]
        else { return nil }
        let readFiles = files.compactMap(File.init), readLeftOut = leftOut.compactMap(Omission.init)
        self.init(
            volley: volley, startedAt: started, finishedAt: finished, project: json["project"]?.stringValue, runs: runs,
            sending: sending.compactMap(\.stringValue), files: readFiles, leftOut: readLeftOut)
    }

    /// Whether its parts agree, and its paths are possible in a backup.
    private var isSound: Bool {
        guard runs.hasPrefix("/"), files.allSatisfy({ $0.isInside && $0.isPlain }),
            Set(files.map(\.path)).count == files.count
        else {
            return false
        }
        var total = 0
        for file in files {
            let sum = total.addingReportingOverflow(file.bytes)
            if sum.overflow { return false }
            total = sum.partialValue
        }
        guard let project else { return files.allSatisfy { $0.path.hasPrefix("runs/") } }
        let name = project.split(separator: "/").last ?? ""
        return project.hasPrefix("/") && files.contains { $0.path == "project/\(name)" }
    }
}

extension BackupManifest.File {
    fileprivate var json: JSONValue {
        .object(pairs: [
            ("path", .string(path)), ("bytes", .integer(Int64(bytes))), ("sha256", .string(sum)),
            ("mode", .string(mode)),
        ])
    }

    fileprivate init?(_ json: JSONValue) {
        guard let path = json["path"]?.stringValue, let bytes = json["bytes"]?.integerValue,
            let sum = json["sha256"]?.stringValue,
            let mode = json["mode"]?.stringValue
        else { return nil }
        self.init(path: path, bytes: Int(bytes), sum: sum, mode: mode)
    }

    /// Whether its figures are possible for a file: for example, permissions without the bits that
    /// let others act as its owner.
    fileprivate var isPlain: Bool {
        bytes >= 0 && sum.utf8.count == 64 && sum.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
            && (1...3).contains(mode.utf8.count) && mode.utf8.allSatisfy { "01234567".utf8.contains($0) }
    }

    /// Whether it stays inside the backup, and inside the folder that it is restored into.
    fileprivate var isInside: Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count > 1 && ["runs", "project", "elsewhere"].contains(parts[0]) && !path.utf8.contains(0)
            && parts.allSatisfy { !["", ".", ".."].contains($0) }
            && !(parts[0] == "runs" && parts[1] == Restore.projectName)
    }
}

extension BackupManifest.Omission {
    fileprivate var json: JSONValue {
        .object(pairs: [("reason", .string(reason.rawValue)), ("names", .array(names.map { .string($0) }))])
    }

    fileprivate init?(_ json: JSONValue) {
        guard let reason = json["reason"]?.stringValue.flatMap(Reason.init(rawValue:)),
            case .array(let names) = json["names"]
        else {
            return nil
        }
        self.init(reason: reason, names: names.compactMap(\.stringValue))
    }
}
