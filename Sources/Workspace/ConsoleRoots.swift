public import Base
public import Campaigns
import Glibc
import PushServices
import Runs

/// The folders whose files a campaign may name when it is written, planned or sent in the console
/// (`console.roots`; by default that of volley.yaml), and what in them is closed: a person that may
/// write campaigns must not use them to read keys, runs or other files of the machine. The target
/// of a path decides, after links are followed; its name does not matter.
///
/// ```swift
/// let roots = ConsoleRoots(project, choice)
/// let mayBeNamed = roots.holds("exports/*.csv")
/// ```
public struct ConsoleRoots: Sendable {
    /// Why a campaign may not name a file.
    public enum Objection: Hashable, Sendable {
        /// It is not below any of the roots.
        case outside
        /// It is Volley's own, or a volley.yaml names it for another purpose: a key, a run, a
        /// backup, a campaign; or it is a copy of one, or holds a key. That may be the volley.yaml
        /// of another project, in any folder below the roots or above them; one with mistakes
        /// closes its folder.
        case closed
    }

    /// The identity of a file or a folder under any name: hard links and mounts have the same one.
    private struct Identity: Hashable {
        var device: UInt64, inode: UInt64

        init?(_ path: String) {
            guard let stamp = FileStamp(path: path) else { return nil }
            (device, inode) = (stamp.device, stamp.inode)
        }
    }

    /// Without links.
    private let folders: [String]
    /// The same as they are written.
    private let names: [String]
    /// Files and folders, without links.
    private let closedPaths: Set<String>
    private let closed: Set<Identity>
    /// Files and folders, as they are named: copies of these files are closed, too.
    private let originals: [String]

    /// The name of the file by which a folder is known for a backup.
    public static let backupMark = "volley-backup.json"

    /// The roots of a project; folders that do not exist allow nothing.
    /// - Parameters:
    ///   - choice: names the folder of runs, where volley.yaml does not.
    ///   - other: a folder that counts as a root, too; nil for none.
    public init(_ project: Project, _ choice: ProjectChoice = ProjectChoice(), and other: String? = nil) {
        let named = project.console?.roots.map(\.value) ?? []
        let folder = FilePaths.folder(of: FilePaths.anchored(project.file))
        names =
            (named.isEmpty ? [folder] : named.map { FilePaths.resolve($0, besideFile: project.file) })
            + (other.map { [$0] } ?? [])
        folders = names.compactMap { Self.real(FilePaths.anchored($0)) }
        let runs = [FilePaths.resolve(project.runs, besideFile: project.file), project.catalog(choice).place]
        let others = OtherProjects(besides: project, around: folders, runs: runs[1])
        originals = (project.closedFiles + others.closedFiles).map(FilePaths.anchored)
        let places = originals + runs.map(FilePaths.anchored)
        closedPaths = Set(places.compactMap(Self.destination))
        closed = Set(places.compactMap(Identity.init))
    }

    // MARK: - Paths

    /// Whether a path, which may be a pattern, leads into one of the folders, and to nothing closed
    /// in it.
    public func holds(_ path: String) -> Bool { objection(toPattern: path) == nil }

    /// Why a campaign may not name a path, which may be a pattern; nil if it may. The files that
    /// match a pattern are not checked: `objection(to:)` checks each of them.
    public func objection(toPattern path: String) -> Objection? {
        // The matches of a pattern are below the folder before it.
        var known = FilePaths.anchored(path).split(separator: "/").map(String.init)
        if let pattern = known.firstIndex(where: { $0.contains { "*?[{".contains($0) } }) {
            guard !known[pattern...].contains("..") else { return .outside }
            known.removeSubrange(pattern...)
        }
        return Self.destination("/" + known.joined(separator: "/")).map(place(of:)) ?? .outside
    }

    /// Why a campaign may not name a file; nil if it may.
    /// - Parameter path: no pattern. The file need not exist.
    public func objection(to path: String) -> Objection? {
        Self.destination(FilePaths.anchored(path)).map(objection(toFile:)) ?? .outside
    }

    /// Whether the matches of a pattern or a date cannot be elsewhere: `.*` also matches the folder
    /// above (glob(7)), and a date's format may hold any text.
    public static func isPlainPattern(_ path: String) -> Bool {
        let parts = path.components(around: "{{", "}}")
        let isDatePlain = parts.inside.allSatisfy { $0.unicodeScalars.allSatisfy { isPlain($0) } }
        let hidden = parts.outside.split(separator: "/", omittingEmptySubsequences: true).contains { part in
            part.hasPrefix(".") && part.contains { "*?[{".contains($0) }
        }
        return isDatePlain && !hidden
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || " %|:_-'\"".unicodeScalars.contains(scalar)
    }

    // MARK: - Open files

    /// Why an open file must not be read; nil if it may. The descriptor is checked, because a link
    /// may have changed since the path was checked.
    /// - Parameters:
    ///   - path: as it was opened.
    ///   - stamp: of the descriptor.
    public func refusal(ofOpened path: String, descriptor: Int32, stamp: FileStamp) -> Diagnostic? {
        // Without /proc, the path must still lead to the same file.
        guard let real = Self.real("/proc/self/fd/\(descriptor)") ?? Self.real(path),
            FileStamp(path: real)?.isSameFile(as: stamp) ?? false
        else {
            return Diagnostic(
                "the file \(TextFormat.inLine(name(of: path))) was replaced while it was opened", file: path,
                remedy: "Try again.")
        }
        return objection(toFile: real).map { refusal(name(of: path), $0, file: path) }
    }

    /// The objection that a campaign may not name a file.
    /// - Parameters:
    ///   - shown: the file, as the campaign names it.
    ///   - position: where.
    public func refusal(
        _ shown: String, _ objection: Objection, file: String? = nil, at position: SourcePosition? = nil
    ) -> Diagnostic {
        let remedy =
            switch objection {
            case .outside:
                "It lies outside of \(names.map(TextFormat.inLine).joined(separator: ", ")). Name a file there, or have `console: {roots: […]}` of volley.yaml extended."
            case .closed:
                "Keys, runs, backups, campaigns, hidden files and what volley.yaml names for another purpose are closed to campaigns. Name an export or a list of names."
            }
        let message = "the console may not use the file \(TextFormat.inLine(shown))"
        return position.map { Diagnostic(message, at: $0, remedy: remedy) }
            ?? Diagnostic(message, file: file, remedy: remedy)
    }

    private func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    // MARK: - Places without links

    private func objection(toFile real: String) -> Objection? {
        if let objection = place(of: real) { return objection }
        if ProtectedFiles.holds(real) { return .closed }
        // Another campaign, or the settings of another program.
        if Self.hasEndingOfYAML(real) || isLinkToYAML(real) { return .closed }
        guard let size = FileStamp(path: real)?.size, (1...Self.longestClosed).contains(size),
            let bytes = Self.bytes(of: real)
        else { return nil }
        return isCopy(bytes) || Self.holdsKey(bytes) || Self.isCampaign(bytes, file: real) ? .closed : nil
    }

    /// The console saves no longer campaigns, and keys are shorter. A longer list is not searched.
    private static let longestClosed = 2 << 20

    private static func bytes(of path: String) -> [UInt8]? {
        try? RegularFile.bytes(of: path, atMost: longestClosed)
    }

    /// Whether these are the bytes of a closed file, as in a copy of it.
    private func isCopy(_ bytes: [UInt8]) -> Bool {
        originals.contains { FileStamp(path: $0)?.size == bytes.count && Self.bytes(of: $0) == bytes }
    }

    /// Whether a key or a certificate in PEM begins there (RFC 7468), perhaps within JSON. In
    /// UTF-16 its letters have a zero between them.
    private static func holdsKey(_ bytes: [UInt8]) -> Bool {
        holds("-----BEGIN", isUTF16(bytes) ? bytes.filter { $0 != 0 } : bytes)
    }

    private static func isUTF16(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    }

    private static func holds(_ word: String, _ bytes: [UInt8]) -> Bool {
        let word = Array(word.utf8)
        return bytes.indices.contains { bytes[$0] == word[0] && bytes[$0...].starts(with: word) }
    }

    private static func hasEndingOfYAML(_ path: String) -> Bool {
        [".yaml", ".yml"].contains { path.lowercased().hasSuffix($0) }
    }

    /// Whether a file has a second name, next to it or in a root, with the ending of a campaign.
    private func isLinkToYAML(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_nlink > 1, let own = Identity(path) else { return false }
        return Set(folders + [FilePaths.folder(of: path)]).contains { folder in
            let names = (try? Folder.names(in: folder)) ?? []
            return names.contains { Self.hasEndingOfYAML($0) && Identity(FilePaths.join(folder, name: $0)) == own }
        }
    }

    /// Whether a file reads as a campaign of an app, whatever its name: a copy is no list.
    private static func isCampaign(_ bytes: [UInt8], file: String) -> Bool {
        let keys = ["audience", "content", "variants"]
        // The reader checks only files that may be one: most are exports. UTF-16 begins with a
        // mark.
        guard isUTF16(bytes) || holds("app", bytes) && keys.contains(where: { holds($0, bytes) }) else { return false }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        if lines.contains(where: { $0.hasPrefix("app:") }),
            lines.contains(where: { line in keys.contains { line.hasPrefix("\($0):") } })
        {
            return true
        }
        let draft = Campaign.draft(bytes: bytes, file: file, now: .now()) { _ in [PushServices.standard] }
        return draft.app != nil && (draft.audience != nil || draft.content != nil || !draft.variants.isEmpty)
    }

    private func place(of real: String) -> Objection? {
        func lies(in folder: String) -> Bool { real == folder || real.hasPrefix(folder == "/" ? "/" : folder + "/") }
        guard let root = folders.filter(lies).max(by: { $0.utf8.count < $1.utf8.count }) else { return .outside }
        // Archived campaigns, settings of editors, keys of ssh; but not the folders that Kubernetes
        // mounts, `..data` and `..2026_12_01`.
        let isHidden = real.dropFirst(root.count).split(separator: "/").contains {
            $0.hasPrefix(".") && !$0.hasPrefix("..")
        }
        if isHidden { return .closed }
        var place = real
        while true {
            if closedPaths.contains(place) || Identity(place).map(closed.contains) ?? false { return .closed }
            if place.utf8.count > root.utf8.count, FilePaths.exists(FilePaths.join(place, name: Self.backupMark)) {
                return .closed
            }
            guard place != "/" else { return nil }
            place = FilePaths.folder(of: place)
        }
    }

    /// The target of an absolute path, without links; what does not exist yet is in the last folder
    /// that does. nil if it cannot be determined.
    private static func destination(_ path: String) -> String? {
        var known = path.split(separator: "/").map(String.init)
        var missing: [String] = []
        while !known.isEmpty, real("/" + known.joined(separator: "/")) == nil { missing.append(known.removeLast()) }
        guard !missing.contains(".."), let real = real("/" + known.joined(separator: "/")) else { return nil }
        return missing.reversed().filter { $0 != "." }.reduce(real) { FilePaths.join($0, name: $1) }
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}

extension String {
    /// The text between two marks, and everything else, in which each such place counts as a plain
    /// letter.
    fileprivate func components(around start: String, _ end: String) -> (inside: [String], outside: String) {
        var (inside, outside, rest) = ([String](), "", self[...])
        while let begin = rest.firstRange(of: start) {
            outside += rest[..<begin.lowerBound] + "x"
            rest = rest[begin.upperBound...]
            let finish = rest.firstRange(of: end)
            inside.append(String(rest[..<(finish?.lowerBound ?? rest.endIndex)]))
            rest = rest[(finish?.upperBound ?? rest.endIndex)...]
        }
        return (inside, outside + rest)
    }
}

/// The projects around some folders, other than the present one: the keys and secrets that their
/// volley.yaml names, and their runs, must not be read as a list or an export of this project,
/// either.
///
/// Input: folders without links. These are searched, with all folders below and above them. Named
/// files are not opened.
public struct OtherProjects {
    /// Those whose volley.yaml can be read.
    public private(set) var projects: [Project] = []
    /// Folders whose volley.yaml has mistakes, so that it is not known what it names, and those
    /// after `mostNames`.
    private var unclear: [String] = []

    /// Searching more would take seconds at each click.
    private static let mostNames = 1_000_000

    /// - Parameters:
    ///   - folders: without links.
    ///   - runs: the folder of runs of this project, which holds no projects, and may be large.
    public init(besides project: Project, around folders: [String], runs: String) {
        let own = FileStamp(path: project.file), runs = FileStamp(path: runs)
        var seen: Set<String> = []
        for folder in folders {
            var above = folder
            while above != "/", above != "." {
                above = FilePaths.folder(of: above)
                if seen.insert(above).inserted { add(above, besides: own) }
            }
            var rest = [folder], count = 0
            while let next = rest.popLast() {
                guard count < Self.mostNames else {
                    unclear.append(next)
                    continue
                }
                add(next, besides: own)
                var files = 0, isBackup = false
                let folders = try? Folder.folders(in: next) { name in
                    files += 1
                    isBackup = isBackup || name == ConsoleRoots.backupMark
                }
                // The whole content of a backup is closed.
                guard let folders, !isBackup, !folders.contains(ConsoleRoots.backupMark) else { continue }
                count += files + folders.count
                for path in folders.map({ FilePaths.join(next, name: $0) }) {
                    var status = stat()
                    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
                    if let runs, runs.inode == UInt64(status.st_ino), runs.device == UInt64(status.st_dev) { continue }
                    rest.append(path)
                }
            }
        }
    }

    private mutating func add(_ folder: String, besides own: FileStamp?) {
        for name in Project.fileNames {
            let file = FilePaths.join(folder, name: name)
            guard let stamp = FileStamp(path: file), !(own.map(stamp.isSameFile) ?? false) else { continue }
            if let project = try? Project.read(file: file).0 {
                projects.append(project)
            } else {
                unclear.append(folder)
            }
        }
    }

    /// Files with their secrets.
    public var secretFiles: [String] { projects.flatMap(\.secretFiles) }

    /// Their folders of runs.
    public var runs: [String] { projects.map { $0.catalog(ProjectChoice()).place } }

    /// All files and folders that a campaign of this project must not name.
    var closedFiles: [String] { projects.flatMap(\.closedFiles) + runs + unclear }
}
