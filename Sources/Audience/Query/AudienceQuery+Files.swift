public import Base
import Glibc

extension AudienceQuery {
    /// Resolves paths and globs (`*`, `?`, `[…]`, as fnmatch(3) reads them) to files: those of a glob sorted by name, each file once. A
    /// path that exists is taken literally, whatever characters it holds; one without glob characters need not exist, as the
    /// scan reports it better. A glob does not match the files that Excel keeps next to an open one (`~$devices.csv`).
    /// - Throws: every glob that matches nothing, and what could not be looked into.
    public static func expand(paths: [String]) throws(Diagnostics) -> [String] {
        var files: [String] = []
        var seen: Set<String> = []
        var mistakes: [Diagnostic] = []
        for path in paths {
            do throws(Diagnostic) {
                let matches = try matches(of: path)
                if matches.isEmpty {
                    mistakes.append(Diagnostic("no file matches '\(path)'", remedy: "Paths are relative to the file that names them."))
                }
                if let problem = matches.lazy.compactMap(FileAccess.lookupProblem).first { throw problem }
                files += matches.filter { seen.insert($0).inserted }
            } catch { mistakes.append(error) }
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
        return files
    }

    /// What one path or glob means: the path itself, whether anything is there or not; empty if a glob matches nothing.
    /// - Throws: a folder that this user may not enter or list, a link that leads to none: files in it may be meant, and to leave them out in silence,
    ///   as glob(3) does, would send to devices that a list excludes.
    public static func matches(of path: String) throws(Diagnostic) -> [String] {
        guard path.contains(where: { "*?[".contains($0) }), !FilePaths.exists(path) else {
            return [path]
        }
        var found = [path.hasPrefix("/") ? "/" : ""]
        for part in path.split(separator: "/") {
            var next: [String] = []
            for folder in found {
                next += try names(in: folder, matching: String(part)).map { folder.isEmpty ? $0 : FilePaths.join(folder, name: $0) }
            }
            found = next
        }
        return found.sorted { Array($0.utf8).lexicographicallyPrecedes($1.utf8) }
    }

    /// The names in a folder that a part of a glob matches; none in what is no folder.
    /// - Parameter folder: blank for the current one.
    private static func names(in folder: String, matching part: String) throws(Diagnostic) -> [String] {
        let place = folder.isEmpty ? "." : folder
        do throws(FileError) {
            // A backslash takes the meaning of the character behind it.
            if part.contains(where: { "*?[\\".contains($0) }) {
                return try Folder.names(in: place) { fnmatch(part, $0, FNM_PERIOD) == 0 && !$0.hasPrefix("~$") }
            }
            var status = stat()
            guard lstat(FilePaths.join(place, name: part), &status) == 0 else { throw .system(errno) }
            return [part]
        } catch .system(ENOENT) where FileKind.isLink(place) && FileKind(path: place) == nil {
            throw Diagnostic(
                "this is a link that leads nowhere, so it is not known which files are in it", file: place,
                remedy: "Make again what it leads to, or remove the link.")
        } catch .system(ENOENT), .system(ENOTDIR) {
            return []
        } catch .system(EACCES) where place.hasSuffix("/lost+found") {
            // Only root looks into the folder that fsck(8) keeps.
            return []
        } catch {
            throw FileAccess.problem(place, .reading, purpose: nil) ?? FileAccess.lookupProblem(FilePaths.join(place, name: part))
                ?? error.diagnostic("the folder cannot be read", file: place)
        }
    }
}
