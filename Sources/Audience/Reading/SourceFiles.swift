public import Base
import Synchronization

/// The files that are read for one audience, each as it was when first opened. An export that is still being written ends in the middle of its
/// devices without any other sign, so every file must be the same, with the same content, whenever it is opened again and when everything
/// is read.
public final class SourceFiles: Sendable {
    /// Why an open file must not be read, by its path, its descriptor and the descriptor's stamp; nil if it may.
    public typealias Limit = @Sendable (String, Int32, FileStamp) -> Diagnostic?

    private let seen = Mutex<[String: FileStamp]>([:])
    private let trusted = Mutex<Set<String>>([])
    private let limit: Limit?

    /// Nothing was read yet.
    /// - Parameter limit: decides for each file, when it is open and before a byte of it is read; nil to read every file.
    public init(limit: Limit? = nil) { self.limit = limit }

    /// The same limit, and nothing read yet.
    func anew() -> SourceFiles {
        let sources = SourceFiles(limit: limit)
        sources.trust(Array(trusted.withLock { $0 }))
        return sources
    }

    /// Files that no campaign chose, but volley.yaml or Volley itself: the limit is not for them.
    public func trust(_ paths: [String]) { trusted.withLock { $0.formUnion(paths) } }

    /// Notes a file that was opened.
    /// - Throws: it must not be read; it was opened before, and has changed since.
    func opened(_ path: String, _ stamp: FileStamp, descriptor: Int32) throws(Diagnostic) {
        if let limit, !trusted.withLock({ $0.contains(path) }), let refusal = limit(path, descriptor, stamp) { throw refusal }
        let first = seen.withLock { seen in
            if seen[path] == nil { seen[path] = stamp }
            return seen[path] ?? stamp
        }
        if let change = Self.change(of: path, from: first, to: stamp) { throw change }
    }

    /// Checks every file again.
    /// - Throws: those that are not as they were when they were opened.
    public func checkUnchanged() throws(Diagnostics) {
        let files = seen.withLock { $0 }.sorted { $0.key < $1.key }
        let changes = files.compactMap { Self.change(of: $0.key, from: $0.value, to: FileStamp(path: $0.key)) }
        if !changes.isEmpty { throw Diagnostics(changes) }
    }

    /// What happened to a file between two checks; nil when it is unchanged.
    /// - Parameter after: nil when the file no longer exists.
    static func change(of path: String, from before: FileStamp, to after: FileStamp?) -> Diagnostic? {
        guard before != after else { return nil }
        let what =
            if let after {
                if !after.isSameFile(as: before) {
                    "was replaced by another file"
                } else if after.size > before.size {
                    "grew from \(TextFormat.count(before.size)) to \(TextFormat.count(after.size)) bytes"
                } else if after.size < before.size {
                    "shrank from \(TextFormat.count(before.size)) to \(TextFormat.count(after.size)) bytes"
                } else {
                    "was changed"
                }
            } else {
                "was removed or renamed"
            }
        return Diagnostic(
            "the file \(what) while it was read", file: path,
            remedy: "Wait until it is complete, and try again. "
                + "To avoid this, write the file under another name and rename it when it is complete.")
    }
}
