import Glibc

/// The contents of folders.
public enum Folder {
    /// The names in a folder, without `.` and `..`, sorted by their bytes.
    /// - Parameters:
    ///   - limit: the most names to return; from a larger folder, those that the system lists first.
    ///   - isWanted: other names are left out, and do not count.
    /// - Throws: if the folder is missing, or cannot be read to its end.
    public static func names(
        in folder: String, atMost limit: Int = .max, where isWanted: (String) -> Bool = { _ in true }
    ) throws(FileError) -> [String] {
        guard let stream = opendir(folder) else { throw .system(errno) }
        defer { closedir(stream) }
        var names: [String] = []
        // An error and the end differ only in errno.
        errno = 0
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != ".", name != "..", isWanted(name) { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw .system(errno) }
        return names.sorted()
    }
}
