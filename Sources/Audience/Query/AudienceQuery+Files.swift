public import Base
import Glibc

extension AudienceQuery {
    /// Resolves paths and globs (`*`, `?`, `[…]`, as glob(3) reads them) to files: those of a glob sorted by name, each file once. A
    /// path that exists is taken literally, whatever characters it holds; one without glob characters need not exist, as the
    /// scan reports it better.
    /// - Throws: every glob that matches nothing.
    public static func expand(paths: [String]) throws(Diagnostics) -> [String] {
        var files: [String] = []
        var seen: Set<String> = []
        var mistakes: [Diagnostic] = []
        for path in paths {
            let matches = matches(of: path)
            if matches.isEmpty {
                mistakes.append(Diagnostic("no file matches '\(path)'", remedy: "Paths are relative to the file that names them."))
            }
            files += matches.filter { seen.insert($0).inserted }
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
        return files
    }

    private static func matches(of path: String) -> [String] {
        guard path.contains(where: { "*?[".contains($0) }), access(path, F_OK) != 0 else { return [path] }
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(path, 0, nil, &found) == 0, let paths = found.gl_pathv else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { paths[$0].map { String(cString: $0) } }.sorted {
            Array($0.utf8).lexicographicallyPrecedes($1.utf8)
        }
    }
}
