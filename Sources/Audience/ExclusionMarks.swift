/// The devices of excluded rows, and when they were last active then. An export may hold an older row of the same device that nothing
/// excludes: whoever unsubscribed since must not get the push. 36 bytes a device, and the 11 to 21 of the table.
struct ExclusionMarks: ~Copyable {
    // Not private: Swift 6.3.1 cannot compile `Blocks` of a private type.
    struct Mark {
        var token: Hash128
        var lastActive: Int64
    }

    private var index = HashIndex()
    private var marks = Blocks<Mark>()

    /// Remembers an excluded row of a device.
    mutating func add(_ token: Hash128, lastActive: Int64) {
        let (number, isNew) = index.insert(token)
        if isNew {
            marks.append(Mark(token: token, lastActive: lastActive))
        } else if lastActive > marks[number].lastActive {
            marks[number].lastActive = lastActive
        }
    }

    /// Calls `body` with every device and the date of its newest excluded row.
    func forEach(_ body: (Hash128, Int64) -> Void) {
        for number in 0..<marks.count { body(marks[number].token, marks[number].lastActive) }
    }
}
