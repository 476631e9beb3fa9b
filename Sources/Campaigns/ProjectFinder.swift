import Glibc

extension Project {
    /// What the project's file is called.
    public static let fileName = "volley.yaml"

    /// The other ending of YAML files will do, where there is no file of the first name: one further up is not meant for this place.
    private static let fileNames = [fileName, "volley.yml"]

    /// Looks for volley.yaml in a folder, then in those above it up to the root. The nearest of that name counts, also when it is a link that leads
    /// nowhere, a folder, or out of reach: what one further up says is not meant for this place. Reading it tells what is wrong with it.
    /// - Parameter folder: relative to the current folder, or absolute; empty for the current one.
    /// - Returns: its path: below `folder` as named when it is there, otherwise absolute; nil when there is none.
    public static func find(startingAt folder: String) -> String? {
        // A path that holds a NUL would be cut there by the system.
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

    /// Whether the name is taken, or nobody can tell.
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
