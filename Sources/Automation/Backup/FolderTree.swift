import Base
import Glibc

/// Folders with everything below them.
enum FolderTree {
    /// Removes a folder; follows no links.
    static func remove(_ path: String) {
        for name in (try? Folder.names(in: path)) ?? [] {
            let entry = FilePaths.join(path, name: name)
            var status = stat()
            if lstat(entry, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { remove(entry) } else { unlink(entry) }
        }
        rmdir(path)
    }

    /// The folder and all below it, the deepest first.
    static func folders(below path: String) -> [String] {
        let names = (try? Folder.names(in: path)) ?? []
        let below = names.map { FilePaths.join(path, name: $0) }.filter { entry in
            var status = stat()
            return lstat(entry, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
        return below.flatMap { folders(below: $0) } + [path]
    }

    /// All files below a folder, by their paths below it, in order.
    static func files(below folder: String, in part: String = "") -> [String] {
        let here = part.isEmpty ? folder : FilePaths.join(folder, name: part)
        return ((try? Folder.names(in: here)) ?? []).flatMap { name -> [String] in
            let relative = part.isEmpty ? name : "\(part)/\(name)"
            var status = stat()
            guard lstat(FilePaths.join(folder, name: relative), &status) == 0 else { return [] }
            return status.st_mode & S_IFMT == S_IFDIR ? files(below: folder, in: relative) : [relative]
        }
    }
}
