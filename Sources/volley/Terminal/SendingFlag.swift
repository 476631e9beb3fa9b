/// Whether this process may have sent anything: what decides its exit code when it cannot go on.
public enum SendingFlag {
    /// 1 once something may have been sent. A word in memory of its own, so that a signal handler can read it with nothing of Swift's around it.
    ///
    /// `nonisolated(unsafe)`: it is only ever set from 0 to 1, and a reader that is a moment too early is as right as if it had looked a moment before.
    public nonisolated(unsafe) static let word: UnsafePointer<Int32> = UnsafePointer(writable)

    private nonisolated(unsafe) static let writable: UnsafeMutablePointer<Int32> = {
        let word = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        word.initialize(to: 0)
        return word
    }()

    static func set() { writable.pointee = 1 }
}
