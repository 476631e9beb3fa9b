public import Glibc

/// Paths in campaigns and volley.yaml are relative to the file that names them.
///
/// ```swift
/// let export = FilePaths.resolve("exports/devices.csv", besideFile: "/srv/shop/volley.yaml")
/// let bytes = try FilePaths.read(export)
/// ```
public enum FilePaths {
    /// `path` unchanged if it is absolute, otherwise relative to the folder of `file`. `~` is the
    /// home folder; readers refuse the paths of `pathMistake`, which would lead to another folder
    /// with each folder that a command is started in.
    public static func resolve(_ path: String, besideFile file: String) -> String {
        if path.hasPrefix("/") { return path }
        if path == "~" || path.hasPrefix("~/"), let home { return home + path.dropFirst() }
        let folder = folder(of: file)
        if folder == "." { return path }
        // People write ./hook.sh, so that it is no name of a program.
        var below = path[...]
        while below.hasPrefix("./") { below = below.dropFirst(2).drop { $0 == "/" } }
        return folder + "/" + below
    }

    /// The home folder: `HOME` or, where that is not set or blank, that of the account, as libpq
    /// finds it; nil without an absolute one.
    public static var home: String? {
        (EnvironmentVariables.filled("HOME") ?? accountHome).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The home folder of the account; nil if this user has none, as in many containers.
    public static var accountHome: String? {
        var entry = passwd(), found: UnsafeMutablePointer<passwd>?
        var texts = [CChar](repeating: 0, count: 16_384)
        return texts.withUnsafeMutableBufferPointer { texts in
            guard let base = texts.baseAddress, getpwuid_r(geteuid(), &entry, base, texts.count, &found) == 0,
                found != nil
            else {
                return nil
            }
            return String(cString: entry.pw_dir)
        }
    }

    /// Why a path of a file cannot be read as it is meant: it names a variable, which only shells
    /// replace, or it is not known what its `~` means; nil if it can. The variables of a shell are
    /// written in capital letters, or in braces.
    /// - Parameters:
    ///   - variable: the value of `HOME`; nil if it is not set or blank.
    ///   - account: the home folder of the account; nil without one.
    public static func pathMistake(
        _ path: String, variable: String? = EnvironmentVariables.filled("HOME"), account: String? = accountHome
    ) -> Mistake? {
        let signs = "{_ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8
        if !path.hasPrefix("./"),
            zip(path.utf8, path.utf8.dropFirst()).contains(where: { $0 == UInt8(ascii: "$") && signs.contains($1) })
        {
            return Mistake(
                "variables such as $HOME are not replaced in paths",
                remedy:
                    "Write the whole path, or begin it with ~/ for the home folder. If a file or folder has this name, write ./ before it."
            )
        }
        guard path.hasPrefix("~") else { return nil }
        guard path == "~" || path.hasPrefix("~/") else {
            return Mistake(
                "'~' with a name is not read as the home folder of a user",
                remedy: "Write the whole path. If a file or folder has this name, write ./ before it.")
        }
        let remedy = "Write the whole path, or set HOME to the home folder where you start volley."
        if let variable {
            if variable.hasPrefix("/") { return nil }
            return Mistake(
                "it is not known what '~' means: HOME is \(TextFormat.inLine(variable)), which does not begin with /",
                remedy: remedy)
        }
        if account?.hasPrefix("/") ?? false { return nil }
        let user = FileAccess.name(ofUser: geteuid())
        return Mistake(
            "it is not known what '~' means: HOME is not set, and \(user) has no home folder", remedy: remedy)
    }

    /// Where temporary files may be, in the order in which to try: `TMPDIR` alone if it is set and
    /// not blank, otherwise /var/tmp and /tmp. SQLite uses the same.
    public static var temporaryFolders: [String] {
        EnvironmentVariables.filled("TMPDIR").map { [$0] } ?? ["/var/tmp", "/tmp"]
    }

    /// The folder of a file; `.` if the path names none.
    public static func folder(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "." }
        return slash == file.startIndex ? "/" : String(file[..<slash])
    }

    /// The same path without redundant parts: `./b.csv` and `b.csv` are one file, and get one name.
    public static func plain(_ path: String) -> String {
        let parts = path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        return path.hasPrefix("/") ? "/" + parts : parts.isEmpty ? "." : parts
    }

    /// An absolute path, with symbolic links resolved; the path itself if it does not exist.
    public static func absolute(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// What a link leads to; nil if it cannot be read.
    static func target(ofLink path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBytes { room in
            room.baseAddress.map { readlink(path, $0.assumingMemoryBound(to: CChar.self), room.count) } ?? -1
        }
        guard count > 0 else { return nil }
        let target = String(decoding: bytes[..<count], as: UTF8.self)
        return target.hasPrefix("/") ? target : join(folder(of: path), name: target)
    }

    /// An absolute path, with symbolic links kept: where a secret is rotated by pointing a link to
    /// another folder, as in Kubernetes, the link is the lasting name.
    public static func anchored(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return join(String(cString: folder), name: path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }

    /// An absolute path with symbolic links kept, and without `.` and `..`: one spelling of a
    /// file's name. A `..` after a link is resolved as the system does it.
    public static func named(_ path: String) -> String {
        var names = ""
        let whole = anchored(path)
        // The current folder was removed, and nothing can be found from there.
        guard whole.hasPrefix("/") else { return path }
        for name in whole.split(separator: "/") where name != "." {
            guard name == ".." else {
                names += "/" + name
                continue
            }
            if let resolved = realpath(names + "/..", nil) {
                defer { free(resolved) }
                let above = folder(of: names)
                // `..` removes the name above it, unless that name is a link.
                names = areOneFile(above, names + "/..") ? above : String(cString: resolved)
            } else {
                names = folder(of: names)
            }
            if names == "/" || names == "." { names = "" }
        }
        return names.isEmpty ? "/" : names
    }

    /// Whether two paths lead to the same file now.
    public static func areOneFile(_ path: String, _ other: String) -> Bool {
        if path == other { return true }
        guard let one = FileStamp(path: path), let two = FileStamp(path: other) else { return false }
        return one.isSameFile(as: two)
    }

    /// Whether a file contains exactly a text, apart from a byte order mark.
    public static func holds(_ file: String, text: String) -> Bool {
        guard let bytes = try? RegularFile.bytes(of: file, atMost: text.utf8.count + 3) else { return false }
        return bytes.count <= text.utf8.count + 3 && bytes.suffix(text.utf8.count).elementsEqual(text.utf8)
    }

    /// A path as a person gives it, for the parser of arguments. A blank one would be the current
    /// folder in one place and nothing in another.
    /// - Throws: a `Diagnostic` if it is blank: scripts write `--runs "$RUNS"`.
    @Sendable public static func given(_ text: String) throws -> String {
        guard Blank.isText(text) else { return text }
        throw Diagnostic("it is blank", remedy: "Name a file or folder.")
    }

    /// The path of a file in a folder; a blank folder is the current one, never the root.
    public static func join(_ folder: String, name: String) -> String {
        folder.isEmpty || folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// The path as you would type it at a prompt.
    public static func inShell(_ path: String) -> String {
        let isPlain = isPlain(path.hasPrefix("/") ? path : "/" + path) && !path.hasPrefix("-") && !path.isEmpty
        return isPlain ? path : "'\(path.replacing(scalar: "'", with: "'\\''"))'"
    }

    /// The path as you would write it into a list or a mapping of YAML.
    public static func inYAML(_ path: String) -> String {
        isPlain(path) ? path : TextFormat.yaml(path, like: .singleQuoted)
    }

    /// Whether a path from the root holds nothing that a shell or YAML reads in a way of its own.
    private static func isPlain(_ path: String) -> Bool {
        path.hasPrefix("/")
            && path.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "/._-".utf8.contains(byte)
                }
            }
    }

    /// The error for a file with a name that is not UTF-8: what was read of it leads to no file.
    /// nil for other paths.
    public static func misencoded(_ path: String) -> Diagnostic? {
        guard path.unicodeScalars.contains("\u{FFFD}"), !exists(path) else { return nil }
        return Diagnostic(
            "the name of this file is not UTF-8, so it cannot be opened", file: path,
            remedy: "Rename it; `ls -b` in its folder shows the bytes of its name.")
    }

    /// Whether something is there that this process may look up; a link that leads nowhere does not
    /// count.
    public static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether something has this name, readable or not; also a link that leads nowhere.
    public static func isTaken(_ path: String) -> Bool { exists(path) || FileKind.deadLink(path) != nil }

    /// The file that a mistyped path most likely means; nil if no file is similar.
    public static func nearest(to path: String) -> String? {
        if path.isEmpty { return nil }
        var found = path.hasPrefix("/") ? "/" : ""
        // Backslashes come from Windows.
        for name in path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).map(String.init) {
            if exists(found + name) || name == "." || name == ".." {
                found += name + "/"
            } else {
                guard let nearest = nearestName(to: name, among: entries(of: found.isEmpty ? "." : found)) else {
                    return nil
                }
                found += nearest + "/"
            }
        }
        found.removeLast()
        return found == path || found.isEmpty ? nil : found
    }

    /// The names in a folder, sorted; of a very large folder, some of them.
    private static func entries(of folder: String) -> [String] {
        (try? Folder.names(in: folder, atMost: 10_000) { !$0.hasPrefix(".") }) ?? []
    }

    /// Makes a folder and its parent folders.
    /// - Parameter mode: the folder's permissions, before the umask; its parents have the usual
    ///   ones.
    /// - Returns: those that were made, for `removeFolders` if the work for which they were made
    ///   fails. On an error none of them is left.
    @discardableResult
    public static func makeFolder(_ path: String, mode: mode_t = 0o777) throws(Diagnostic) -> [String] {
        if path.isEmpty || exists(path) { return [] }
        if let dead = FileKind.deadLink(path) { throw dead }
        let above = try makeFolder(path.contains("/") ? folder(of: path) : "")
        if mkdir(path, mode) == 0 { return above + [path] }
        let code = errno
        if code == EEXIST { return above }
        removeFolders(above)
        let parent = path.contains("/") ? folder(of: path) : "."
        throw
            (code == EACCES
            ? FileAccess.problem(parent, .writing, purpose: "in which \(TextFormat.inLine(path)) has to be made") : nil)
            ?? FileError.system(code).diagnostic("the folder cannot be made", file: path)
    }

    /// Removes folders that are empty, the last first.
    public static func removeFolders(_ paths: [String]) { for path in paths.reversed() { rmdir(path) } }

    /// Writes a complete new file; refuses to overwrite one, and follows no link.
    /// - Parameter mode: permissions, before the umask.
    public static func create(_ path: String, bytes: [UInt8], mode: mode_t = 0o666) throws(Diagnostic) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            throw FileError.system(errno).diagnostic("the file cannot be written", file: path)
        }
        defer { close(descriptor) }
        let code = WriteAll.write(bytes, to: descriptor)
        guard code == 0 else {
            unlink(path)
            throw FileError.system(code).diagnostic("the file cannot be written", file: path)
        }
    }

    /// The part of a file's name that stands for a name of any characters, such as an app's: what
    /// names of files cannot or should not hold is percent-encoded.
    package static func encoded(_ name: String) -> String {
        var encoded: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), 0x80...:
                encoded.append(byte)
            default: encoded += "%\(TextFormat.hex(byte, digits: 2, uppercase: true))".utf8
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Makes a file that gets its name when it is complete and on the disk, unless that is taken.
    /// So one that is found empty was emptied, whatever process was killed.
    /// - Parameter fill: fills the file of the path that it gets, which only its owner may read.
    /// - Throws: `FileError`: the file cannot be made; what `fill` throws.
    package static func makeWhole(_ path: String, _ fill: (_ unfinished: String) throws -> Void) throws {
        let unfinished = join(
            folder(of: path), name: ".new-\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))")
        // No descriptor is opened: closing one takes a database's locks from the whole process
        // (fcntl(2)).
        guard mknod(unfinished, S_IFREG | 0o600, 0) == 0 else { throw FileError.system(errno) }
        defer { for ending in ["", "-journal", "-wal", "-shm"] { unlink(unfinished + ending) } }
        try fill(unfinished)
        try synchronize(unfinished)
        if link(unfinished, path) != 0 {
            // Not every file system can link.
            guard errno != EEXIST, !isTaken(path) else { throw FileError.system(EEXIST) }
            guard rename(unfinished, path) == 0 else { throw FileError.system(errno) }
        }
        try synchronize(folder(of: path))
    }

    /// Writes a complete file, and replaces the regular file that has its name; through links and
    /// into pipes and devices as `OutputPlace` says.
    /// - Parameter mode: permissions of a new file, before the umask.
    public static func replace(
        _ path: String, bytes: [UInt8], mode: mode_t = 0o666, _ timeout: OutputTimeouts = .service
    ) throws(Diagnostic) {
        let place = try OutputPlace(path)
        do throws(FileError) {
            let file = try OutputFile(place, mode: mode, timeout)
            try file.write(bytes)
            try file.finish()
        } catch {
            let what =
                place.isStream
                ? "this cannot be written through, and what was to be written is dropped" : "the file cannot be written"
            throw error.diagnostic(what, file: path)
        }
    }

    /// Writes a file's or a folder's changes through to the disk.
    public static func synchronize(_ path: String) throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system(errno) }
    }

    /// Reads a small file whole.
    public static func read(_ path: String, atMost limit: Int = 1 << 20) throws(Diagnostic) -> [UInt8] {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try RegularFile.bytes(of: path, atMost: limit) } catch {
            if case .notAFile(let kind) = error { throw kind.refusal(path) }
            throw error.diagnostic("the file cannot be read", file: path)
        }
        guard bytes.count <= limit else {
            throw Diagnostic("the file is larger than \(TextFormat.bytes(limit))", file: path)
        }
        return bytes
    }
}
