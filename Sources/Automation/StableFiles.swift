import Base

/// Decides whether files have been left alone for long enough to be read: an export that is still being written ends in the middle of its devices. A
/// value without a clock or files: looks come in.
///
/// A file is quiet when it was last changed so long ago by the clocks of machine and file system; or, where these disagree (a file from the future, a
/// server whose clock is wrong), when it was the same in all looks for so long.
struct StableFiles {
    /// What a file has to be left alone for.
    static let seconds = 10
    /// What was not asked for in so long is forgotten.
    private static let rememberedSeconds = 3600.0

    /// What was last seen of a file.
    private struct Look { var stamp: FileStamp, since: Double, last: Double }

    private var looks: [String: Look] = [:]

    /// Takes a look at files.
    /// - Parameters:
    ///   - files: what is seen of each now. What is not there is nobody's business here.
    ///   - now: what the clock says.
    ///   - uptime: seconds of a clock that nobody sets.
    /// - Returns: those that may still be being written, in their order.
    mutating func look(at files: [(path: String, stamp: FileStamp?)], now: Timestamp, uptime: Double) -> [String] {
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
