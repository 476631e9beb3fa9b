import Base

/// Tells whether a run was written to: if two stamps are equal, nothing was planned, approved,
/// claimed, recorded or ordered in between. It does not tell whether a process holds the right to
/// send.
public struct RunStamp: Hashable, Sendable {
    /// What the run is kept in.
    let file: FileStamp
    /// What was written and is not in it yet; nil when all is.
    let log: FileStamp?

    /// A stamp.
    init(file: FileStamp, log: FileStamp?) { (self.file, self.log) = (file, log) }
}
