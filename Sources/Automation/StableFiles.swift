import Base

/// Decides whether files have been unchanged for long enough to be read: an export that is still being written lacks its last devices. It
/// has no clock and opens no files: callers pass what they see.
///
/// A file is stable when its last change is at least `seconds` ago by the machine's clock. Where the clocks of machine and file system
/// disagree (a file from the future, a server whose clock is wrong), it is stable when every look in that many seconds saw it unchanged.
struct StableFiles {
    /// The seconds that a file must have been unchanged.
    static let seconds = 10
    /// The seconds after which a file that is not asked about is forgotten.
    private static let rememberedSeconds = 3600.0

    /// The stamp that was last seen of a file, and the uptime of the first and the last look that saw it.
    private struct Look { var stamp: FileStamp, since: Double, last: Double }

    private var looks: [String: Look] = [:]

    /// Notes the present stamps of files.
    /// - Parameters:
    ///   - files: the files with their stamps; a file without a stamp does not exist, and is ignored here.
    ///   - now: the time on the machine's clock.
    ///   - uptime: seconds on a clock that cannot be set.
    /// - Returns: the files that may still be being written, in their order.
    mutating func observe(_ files: [(path: String, stamp: FileStamp?)], now: Timestamp, uptime: Double) -> [String] {
        looks = looks.filter { uptime - $0.value.last < Self.rememberedSeconds }
        return files.compactMap { path, stamp in
            guard let stamp else { return nil }
            let look = looks[path].flatMap { $0.stamp == stamp ? $0 : nil }
            looks[path] = Look(stamp: stamp, since: look?.since ?? uptime, last: uptime)
            if let look, uptime - look.since >= Double(Self.seconds) { return nil }
            let newest = max(stamp.modified, stamp.changed).seconds
            return Int(now.epochSeconds) - newest >= Self.seconds ? nil : path
        }
    }
}
