import Glibc
import Synchronization

/// SQLite's check of a whole file: its pages, and whether rows and indexes fit together. Nothing
/// else notices a flipped bit in a key: a search does not find the row then, nor many others, and
/// that looks as if they had never been there.
package enum WholeFile {
    /// Its answer is `ok`. Not `quick_check`: it compares neither indexes with their tables nor the
    /// order of keys in tables without rowids.
    package static let query = "PRAGMA integrity_check(1)"
    /// What is wrong with a file that is not whole. What SQLite finds may name values.
    package static let damage = "its pages or rows do not fit together"

    /// Files that were whole, by what they were then.
    private static let known = Mutex<[String: [FileStamp?]]>([:])

    /// Checks a database, about a second for two million rows, unless this process found it whole
    /// before and it has not changed since.
    /// - Parameter isWhole: the answer to `query`, and what SQLite cannot check.
    package static func check(_ path: String, _ isWhole: () throws -> Bool) rethrows -> Bool {
        let stamp = ["", "-wal"].map { FileStamp(path: path + $0) }
        if known.withLock({ $0[path] == stamp }) { return true }
        guard try isWhole() else { return false }
        // Two changes within a tick of a file system's clock, up to two seconds, leave the same
        // stamp.
        let latest = stamp.compactMap { $0?.changed.seconds }.max() ?? .max
        if latest < time(nil) - 2 { known.withLock { $0[path] = stamp } }
        return true
    }
}

/// What is wrong with databases that were looked at before, so that files are not read again each
/// minute.
package struct KnownDamage: Sendable {
    private var files: [String: (stamp: FileStamp, damage: Diagnostic?)] = [:]

    /// Nothing was looked at before.
    package init() {}

    /// Notes that a file was found whole.
    package mutating func noteWhole(_ path: String) { files[path] = FileStamp(path: path).map { ($0, nil) } }

    /// What is wrong with a file, which is read once, and again when another is in its place; nil
    /// for nothing, and without a file. What is recorded in a whole one leaves it whole: programs
    /// write to it all the time, and reading it each minute would keep them waiting.
    package mutating func damage(of path: String, _ read: () -> Diagnostic?) -> Diagnostic? {
        guard let stamp = FileStamp(path: path) else { return nil }
        if let last = files[path],
            last.stamp == stamp || last.damage == nil && last.stamp.isSameFile(as: stamp) && stamp.size > 0
        {
            return last.damage
        }
        let damage = read()
        files[path] = (stamp, damage)
        return damage
    }
}
