import PushServices

/// How much is read at once, how long a record may be, how many threads scan, and how much memory
/// devices may take.
struct ReadingLimits: Sendable {
    /// Bytes of a chunk; tests make it tiny, so that every record straddles a boundary.
    var chunkSize = 256 << 10
    /// Bytes of the longest record, give or take a block. Beyond it, an unclosed quote is far more
    /// likely than a cell of that length.
    var maximumRecordSize = 16 << 20
    /// Threads that scan; nil for one on each core that the process may use.
    var threads: Int?
    /// Bytes that devices may take in memory before they go to disk.
    var deviceMemory = Int.max
    /// What targets look like, by which a header, and a cell of many lines, are told from rows.
    var targets = PushServices.standard.target
    /// Records which files are read, so that each can be checked to be unchanged.
    var sources = SourceFiles()
}
