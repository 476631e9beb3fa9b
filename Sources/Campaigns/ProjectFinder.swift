import Glibc

extension Project {
    /// What the project's file is called.
    public static let fileName = "volley.yaml"

    /// The other ending of YAML files counts where there is no file with the first name: a file further up is not meant for this folder.
    public static let fileNames = [fileName, "volley.yml"]

    /// Looks for volley.yaml in a folder, then in those above it up to the root. The nearest one counts, even when it is a broken link,
    /// a folder, or not accessible: a file further up is not meant for this folder. Reading it reports what is wrong with it.
    /// - Parameter folder: relative to the current folder, or absolute; empty for the current one.
    /// - Returns: its path: below `folder` as named when it is there, otherwise absolute; nil when there is none.
    public static func find(startingAt folder: String) -> String? {
        // The system would cut a path at a NUL.
        guard !folder.utf8.contains(0) else { return nil }
        let beginning = folder.isEmpty || folder == "." ? "" : folder.hasSuffix("/") ? folder : folder + "/"
        if let file = file(in: beginning) { return file }
        guard var above = absolute(folder.isEmpty ? "." : folder) else { return nil }
        while let slash = above.lastIndex(of: "/"), above != "/" {
            above = slash == above.startIndex ? "/" : String(above[..<slash])
            if let file = file(in: above == "/" ? "/" : above + "/") { return file }
        }
        return nil
    }

    /// - Parameter folder: blank, or with a slash at its end.
    private static func file(in folder: String) -> String? { fileNames.map { folder + $0 }.first(where: isThere) }

    /// Whether the name is taken, or that cannot be found out.
    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }

    /// Without links, so that "above" is where the folder really is.
    private static func absolute(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
