/// How workers share a pace so that together they are never faster than it, within any of its
/// intervals, whatever messages are lost.
///
/// The database keeps of each worker what it was *granted*, and what it says that it *uses*: the
/// larger of the part that is in force with it and of what has left within the last interval
/// (`SharedPace.used`). A worker takes a smaller part at once, and says so with its next beat; a
/// larger one is granted only from what the others neither have nor use. So workers shrink before
/// others grow. A worker takes a grant only from the answer to its latest beat: an older one may
/// have been taken back. This is the rows of one pace as a value: the database runs the same
/// arithmetic within one transaction.
///
/// Where not everybody can have a part (a push a second on three machines, or requests that are a
/// third of a second's devices), workers take turns: those that have had a part for a while go to
/// the end of the line.
struct PaceParts {
    /// Of one worker; in what the pace counts, in each of its intervals.
    struct Part: Hashable {
        var granted = 0
        var used = 0
        /// What had left it within the last interval, by then.
        var left = 0
        /// The number of the beat that said so.
        var beat: Int64 = 0
        var wants = false
        /// The smallest part with which it can send anything: from 1 to the pace.
        var least = 1
        /// Its place in the line: those with smaller numbers are served first.
        var turn: Int64 = 0
        /// How many of its beats were granted a part in this turn.
        var served = 0

        /// What it may be using, for all that others know.
        var mostUsed: Int { max(granted, used) }
    }

    /// The number of beats with a part after which a worker gives way to those without one. Each
    /// change of turns costs about two beats in which no worker has the part.
    static let beatsInTurn = 10

    /// Together never faster than this in each of its intervals.
    let pace: Int
    private(set) var parts: [String: Part] = [:]
    private(set) var turns: Int64 = 0

    /// - Parameter pace: at least 1.
    init(pace: Int) { self.pace = pace }

    /// - Parameters:
    ///   - parts: as they were.
    ///   - turns: as it was.
    init(pace: Int, parts: [String: Part], turns: Int64) { (self.pace, self.parts, self.turns) = (pace, parts, turns) }

    /// What all of them may be using.
    var mostUsed: Int { parts.values.reduce(0) { $0 + $1.mostUsed } }

    /// A worker's beat.
    /// - Parameters:
    ///   - number: larger than that of each beat before.
    ///   - used: what it uses (`SharedPace.used`), looked up after the part that it was granted
    ///     last had come into force.
    ///   - left: what has left it within the last interval (`SharedPace.left`); nil if that is not
    ///     known.
    ///   - wants: whether it has something to send.
    ///   - least: the smallest part with which it can send anything (`SharedPace.leastPart`).
    /// - Returns: what it is granted from now on; nil for a beat that comes after a later one, and
    ///   says what held once.
    mutating func beat(of worker: String, number: Int64, used: Int, left: Int? = nil, wants: Bool, least: Int = 1)
        -> Int?
    {
        var part = parts[worker] ?? Part()
        guard number > part.beat else { return nil }
        if wants, !part.wants { queue(&part) }
        (part.beat, part.used, part.left, part.wants, part.least) = (
            number, used, left ?? used, wants, min(max(1, least), pace)
        )
        parts[worker] = part
        if part.served >= Self.beatsInTurn, isSomebodyLeftOut { queue(&part) }
        parts[worker] = part
        let free = pace - parts.reduce(0) { $1.key == worker ? $0 : $0 + $1.value.mostUsed }
        let granted = min(share(of: worker), free)
        // Less than that would only be kept from others.
        part.granted = granted < part.least ? 0 : granted
        part.served += part.granted > 0 ? 1 : 0
        parts[worker] = part
        return part.granted
    }

    /// A worker has left or is on record as dead: nothing more leaves it. What may have left it
    /// within the last interval counts until `remove`.
    /// - Parameter mostSince: how much may have left it since its last beat, by the part that it
    ///   may have been using.
    mutating func leave(_ worker: String, mostSince: (Int) -> Int) {
        guard var part = parts[worker] else { return }
        (part.used, part.granted, part.wants) = (min(part.mostUsed, part.left + mostSince(part.mostUsed)), 0, false)
        parts[worker] = part
    }

    /// A worker is on record as dead, and its last pushes are over: its part is free.
    mutating func remove(_ worker: String) { parts[worker] = nil }

    private mutating func queue(_ part: inout Part) {
        turns += 1
        (part.turn, part.served) = (turns, 0)
    }

    /// Those that can have a part at the same time, by their places in the line. They count also
    /// while they have nothing yet, or the first one would keep everything.
    private var seated: [String: Part] {
        var left = pace
        let line = parts.filter(\.value.wants).sorted { $0.value.turn < $1.value.turn }
        let first = line.prefix { entry in
            left -= entry.value.least
            return left >= 0
        }
        return Dictionary(uniqueKeysWithValues: first.map { ($0.key, $0.value) })
    }

    private var isSomebodyLeftOut: Bool { seated.count < parts.values.count(where: \.wants) }

    /// What a worker gets when the others use no more than what is theirs: what it needs at least,
    /// and as much of the rest as each of the others.
    private func share(of worker: String) -> Int {
        let seated = seated
        guard let part = seated[worker] else { return 0 }
        return part.least + (pace - seated.values.reduce(0) { $0 + $1.least }) / seated.count
    }
}
