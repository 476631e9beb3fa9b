/// How members share a pace so that together they are never faster than it, in any second, whatever messages are lost.
///
/// The database keeps of each member what it was *granted*, and what it says that it *uses*. A member takes a smaller part at once, and says so with its next
/// beat; a larger one is granted only from what the others neither have nor use. So who shrinks does so first. This is one row of the table as a value: the
/// database runs the same arithmetic within one transaction.
struct PaceParts {
    /// Of one member; in what the pace counts, per second.
    struct Part: Hashable {
        var granted = 0
        var used = 0
        /// The number of the beat that said so.
        var beat: Int64 = 0
        var wants = true

        /// What it may be using, for all that others know.
        var mostUsed: Int { max(granted, used) }
    }

    /// Together never faster than this per second.
    let pace: Int
    private(set) var parts: [String: Part] = [:]

    /// - Parameter pace: at least 1.
    init(pace: Int) { self.pace = pace }

    /// What all of them may be using.
    var mostUsed: Int { parts.values.reduce(0) { $0 + $1.mostUsed } }

    /// A member's beat.
    /// - Parameters:
    ///   - number: larger than that of each beat before.
    ///   - used: the largest part that was in force with it within the last second (`PaceUse`).
    ///   - wants: whether it has something to send.
    /// - Returns: what it is granted from now on; nil for a beat that comes after a later one, and says what held once.
    mutating func beat(of member: String, number: Int64, used: Int, wants: Bool) -> Int? {
        guard number > parts[member, default: Part()].beat else { return nil }
        let others = parts.filter { $0.key != member }
        let free = pace - others.values.reduce(0) { $0 + $1.mostUsed }
        // Those that have nothing yet count, or the first one would keep everything.
        let sharers = others.values.count { $0.mostUsed > 0 || $0.wants } + 1
        let granted = wants ? max(0, min(max(1, pace / sharers), free)) : 0
        parts[member] = Part(granted: granted, used: used, beat: number, wants: wants)
        return granted
    }

    /// A member is on record as dead, and its last pushes are over: its part is free.
    mutating func remove(_ member: String) { parts[member] = nil }
}

/// The part of a pace that is in force with a member, and what it has to tell of it.
struct PaceUse {
    /// A window of the pace; seconds.
    static let windowSeconds = 1.0

    /// In what the pace counts, per second.
    private(set) var current = 0
    private var former: [(part: Int, until: Double)] = []

    /// Takes what was granted. At once, larger or smaller: the database granted it only once nobody else may use it.
    mutating func take(_ granted: Int, at now: Double) {
        guard granted != current else { return }
        former.append((current, now))
        current = granted
    }

    /// The largest part that was in force within the last second: what the others have to leave it.
    mutating func used(at now: Double) -> Int {
        former.removeAll { now - $0.until >= Self.windowSeconds }
        return former.reduce(current) { max($0, $1.part) }
    }
}
