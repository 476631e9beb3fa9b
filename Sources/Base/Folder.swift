import Glibc

/// The contents of folders.
///
/// ```swift
/// let exports = try Folder.folders(in: "exports") { file in print(file) }
/// ```
public enum Folder {
    /// The names in a folder, without `.` and `..`, sorted by their bytes.
    /// - Parameters:
    ///   - limit: the most names to return; from a larger folder, those that the system lists
    ///     first.
    ///   - isWanted: other names are left out, and do not count.
    /// - Throws: if the folder is missing, or cannot be read to its end.
    public static func names(
        in folder: String, atMost limit: Int = .max, where isWanted: (String) -> Bool = { _ in true }
    ) throws(FileError) -> [String] {
        var names: [String] = []
        try read(folder) { name, _ in
            guard names.count < limit else { return false }
            if isWanted(name) { names.append(name) }
            return true
        }
        return names.sorted()
    }

    /// The names of the folders in a folder, without links, sorted by their bytes. Where the file
    /// system does not say with a name what it is (readdir(3)), the name counts as a folder's. A
    /// tree is walked in this way without a look at each file.
    /// - Parameter other: called with each other name.
    /// - Throws: if the folder is missing, or cannot be read to its end.
    public static func folders(in folder: String, other: (String) -> Void) throws(FileError) -> [String] {
        var names: [String] = []
        try read(folder) { name, type in
            if type == DT_DIR || type == DT_UNKNOWN { names.append(name) } else { other(name) }
            return true
        }
        return names.sorted()
    }

    /// - Parameter body: is called with each name and its `d_type`, until it returns false.
    private static func read(_ folder: String, _ body: (_ name: String, _ type: Int) -> Bool) throws(FileError) {
        guard let stream = opendir(folder) else { throw .system(errno) }
        defer { closedir(stream) }
        // An error and the end differ only in errno.
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name == "." || name == ".." || body(name, Int(entry.pointee.d_type)) else { return }
            errno = 0
        }
        guard errno == 0 else { throw .system(errno) }
    }
}
