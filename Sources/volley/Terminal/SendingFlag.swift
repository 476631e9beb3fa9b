/// Whether this process may have sent anything. This decides the exit code if the process cannot
/// continue.
public enum SendingFlag {
    /// 1 once something may have been sent. It is a separate word in memory, so that a signal
    /// handler can read it without Swift's runtime.
    ///
    /// `nonisolated(unsafe)`: it only changes from 0 to 1, and a reader that is a moment too early
    /// gets the value of that moment.
    public nonisolated(unsafe) static let word: UnsafePointer<Int32> = UnsafePointer(writable)

    private nonisolated(unsafe) static let writable: UnsafeMutablePointer<Int32> = {
        let word = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        word.initialize(to: 0)
        return word
    }()

    static func set() { writable.pointee = 1 }
}
