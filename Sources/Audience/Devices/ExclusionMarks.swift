/// The devices of excluded rows, and when they were last active then. An export may hold an older row of the same device that nothing
/// excludes: whoever unsubscribed since must not get the push. 16 bytes a row.
struct ExclusionMarks: ~Copyable {
    // Not private: Swift 6.3.1 cannot compile `Blocks` of a private type.
    struct Mark: BitwiseCopyable {
        var fingerprint: UInt64
        var moment: ActivityMoment
    }

    private var marks = Blocks<Mark>()

    /// Memory that they take.
    var bytes: Int { marks.count * MemoryLayout<Mark>.stride }

    /// Remembers an excluded row of a device.
    mutating func add(_ mark: Mark) { marks.append(mark) }

    /// Calls `body` with every excluded row's device and date.
    func forEach(_ body: (Mark) throws -> Void) rethrows {
        for number in 0..<marks.count { try body(marks[number]) }
    }
}
