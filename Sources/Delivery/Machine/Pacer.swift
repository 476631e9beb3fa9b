import Base
import PushServices

/// Lets pushes through no faster than a pace in any sliding second, and in any of the pace's own
/// intervals.
///
/// Pushes are spaced evenly, 1.5 % wider than the pace. Two thirds of that leave room for jitter in
/// the network and the server's clock; the last third lets a loop that wakes late catch up. With
/// spacing `s` and catching up by at most `c`, any `pace` + 1 pushes in a row span at least
/// `pace`·`s` − `c` = 1.015 − 0.005 of the interval: more than one.
///
/// A request that another pace held back may also be caught up, by one space, and by as much of a
/// longer interval as by waking late of a second: of a pace by the minute 0.3 s. The interval is
/// kept, and a second has one push more at most.
///
/// Where a pace counts targets, those of a request leave at one moment, followed by the spaces of
/// all of them. Even spacing does not tell how many of them a second has then, so it is also
/// counted (`PaceWindow`). A request that waits until the second has room for all its targets may
/// have fallen behind by the spaces of these: that much may be caught up. Where the service refuses
/// what comes faster, the targets of a whole request but one are left out of every second, as one
/// request that arrives late would fill another second beyond it.
///
/// With a ramp the rate rises in a straight line from `ServicePace.rampStart` of the pace to all of
/// it. A ramp begins with the first push, and again with the first one after a rest that is as long
/// as the ramp.
///
/// Where machines divide the pace, each uses a part of it: whole pushes in an interval (`setPart`).
/// Spaces are wider by what the part is smaller, and what has left within the last interval is also
/// counted: no push leaves that would be one more than the part that is in force then. So of any
/// interval, whatever parts were in force in it, no more leaves here than the part with which its
/// last push left; and of one that ends later than now, no more than the larger of today's part and
/// what has left in the interval before now (`used`), as long as no larger part is given. If parts
/// are given so that these numbers never add up to more than the pace, the pace is kept in any
/// interval.
struct Pacer {
    private static let spacingFactor = 1.015
    private static let catchUpShare = 0.005
    /// A time that does not come.
    static let never = Int64.max / 2

    private let spacingNanoseconds: Double
    private let catchUpNanoseconds: Double
    /// How much more may be caught up, at most, of what another pace held back.
    private let mostHeldNanoseconds: Double
    private let pace: Pace
    /// How much of the pace may be used, in each of its intervals; nil for all of it.
    private(set) var part: Int?
    /// What the spaces are multiplied by while only a part may be used.
    private var widening = 1.0
    /// When the latest push would have left if every push left exactly on time, and the space
    /// behind it at the whole pace. Not rounded, so that the mean does not drift.
    private var latest: (ideal: Double, space: Double)?
    /// What has left lately, where several pushes may leave at one moment: in a second, and in the
    /// pace's own interval if that is longer.
    private var windows: [PaceWindow] = []
    private let rampNanoseconds: Double
    /// When the ramp began; nil until the next push begins one.
    private var rampBegan: Double?

    /// - Parameters:
    ///   - unit: whether what is taken at one moment may count for more than 1.
    ///   - spare: how many fewer leave in a second than the pace allows.
    init(_ pace: Pace, counting unit: Batching.PaceUnit = .requests, spare: Int = 0, rampSeconds: Double = 0) {
        self.pace = pace
        rampNanoseconds = max(0, rampSeconds) * 1e9
        let seconds = max(1, pace.intervalSeconds)
        spacingNanoseconds = Double(seconds) * 1e9 * Self.spacingFactor / Double(max(1, pace.pushes - spare * seconds))
        // A share of a second, never of a minute, so that 300000/min is also smooth to the second.
        catchUpNanoseconds = Self.catchUpShare * 1e9
        mostHeldNanoseconds = Self.catchUpShare * Double(seconds - 1) * 1e9
        guard unit == .targets else { return }
        let spans = seconds == 1 ? [1] : [1, seconds]
        windows = spans.map { span in
            PaceWindow(
                limit: (pace.pushes * span + seconds - 1) / seconds,
                nanoseconds: Int64(Double(span) * 1e9 * (Self.spacingFactor - Self.catchUpShare)))
        }
    }

    /// When the next push would leave if every push left exactly on time; nil if none has left.
    private var nextIdeal: Double? { latest.map { $0.ideal + $0.space * widening } }

    /// When the next push may leave, in monotonic nanoseconds; nil if at once.
    var nextTime: Int64? { nextTime(for: 1) }

    /// When the next request may leave, in monotonic nanoseconds; nil if at once, `never` if not
    /// with this part of the pace.
    /// - Parameter count: what it counts for.
    func nextTime(for count: Int) -> Int64? {
        guard fits(count) else { return Self.never }
        guard let nextIdeal else { return nil }
        let even = Int64((nextIdeal - catchUpNanoseconds).rounded(.up))
        return windows.reduce(even) { max($0, $1.nextTime(for: count)) }
    }

    /// Returns whether a request may leave now.
    func mayTake(_ count: Int = 1, at nanoseconds: Int64) -> Bool {
        nextTime(for: count).map { $0 <= nanoseconds } ?? true
    }

    /// Returns whether a request may leave now, and counts it if so.
    /// - Parameters:
    ///   - count: what the request counts for: 1, or the number of its targets.
    ///   - heldNanoseconds: how long another pace has held it back.
    mutating func take(_ count: Int = 1, at nanoseconds: Int64, heldNanoseconds: Int64 = 0) -> Bool {
        let now = Double(nanoseconds)
        // The first push must not have catching up left over, which would allow a burst.
        let ideal = nextIdeal ?? now + catchUpNanoseconds
        guard fits(count), now >= ideal - catchUpNanoseconds,
            windows.allSatisfy({ $0.nextTime(for: count) <= nanoseconds })
        else {
            return false
        }
        let behind = windows.isEmpty ? 0 : spacingNanoseconds * widening * Double(count - 1)
        let held = min(Double(heldNanoseconds), mostHeldNanoseconds, spacingNanoseconds * widening)
        latest = (max(ideal, now - behind - held), spacing(restedFor: now - ideal, at: now) * Double(count))
        for index in windows.indices { windows[index].add(count, at: nanoseconds) }
        return true
    }

    /// Lets the ramp begin with the next push.
    mutating func restartRamp() { rampBegan = nil }

    // MARK: Parts

    /// Lets only a part of the pace be used from now on. A smaller one holds for the next push; a
    /// larger one does not make up for what did not leave before.
    /// - Parameter part: pushes in each of the pace's intervals, from 0 (nothing leaves) to the
    ///   pace; nil for all of it.
    mutating func setPart(_ part: Int?) {
        if part != nil, windows.isEmpty { countInterval() }
        self.part = part.map { min(max(0, $0), pace.pushes) }
        widening = self.part.map { Double(pace.pushes) / Double(max(1, $0)) } ?? 1
        let seconds = max(1, pace.intervalSeconds)
        for index in windows.indices {
            let span = index == windows.indices.last ? seconds : 1
            windows[index].limit = max(1, ((self.part ?? pace.pushes) * span + seconds - 1) / seconds)
        }
    }

    /// Begins to count what leaves in the pace's interval. Of what has left before only the time of
    /// the latest is known.
    private mutating func countInterval() {
        let seconds = Double(max(1, pace.intervalSeconds))
        windows = [
            PaceWindow(limit: pace.pushes, nanoseconds: Int64(seconds * 1e9 * (Self.spacingFactor - Self.catchUpShare)))
        ]
        if let latest { windows[0].add(pace.pushes, at: Int64(latest.ideal.rounded(.up))) }
    }

    /// The most that may leave within one of the pace's intervals that ends later than now, as long
    /// as no larger part is given.
    func used(at nanoseconds: Int64) -> Int {
        guard let part else { return pace.pushes }
        return max(part, left(at: nanoseconds))
    }

    /// What has left within the last of the pace's intervals, at most: all of the pace before it
    /// was counted.
    func left(at nanoseconds: Int64) -> Int { windows.last?.total(at: nanoseconds) ?? pace.pushes }

    /// The smallest part of the pace with which a request may leave. Its targets leave at one
    /// moment, and even a second must have room for them: otherwise small parts on many machines
    /// would add up to more than a second's.
    /// - Parameter count: what it counts for.
    func leastPart(for count: Int) -> Int { count <= 1 ? 1 : min(pace.pushes, count * max(1, pace.intervalSeconds)) }

    /// Whether a request may leave at all with the part that is in force.
    func fits(_ count: Int) -> Bool { part.map { $0 >= leastPart(for: count) } ?? true }

    /// The time that a push takes up now, in nanoseconds, at the whole pace.
    private mutating func spacing(restedFor rest: Double, at now: Double) -> Double {
        guard rampNanoseconds > 0 else { return spacingNanoseconds }
        if rest >= rampNanoseconds { rampBegan = nil }
        let began = rampBegan ?? now
        rampBegan = began
        let share = ServicePace.rampStart + (1 - ServicePace.rampStart) * (now - began) / rampNanoseconds
        return spacingNanoseconds / min(1, share)
    }
}

/// Counts what has left in the last while, so that it never becomes more than a limit. Memory does
/// not grow with the limit: what leaves within a two-hundredth of the while is one entry, which
/// counts until the last of it is old enough.
struct PaceWindow {
    private struct Entry {
        var first: Int64
        var last: Int64
        var count: Int
    }

    private static let parts: Int64 = 200

    /// The most that may leave within the while, at least 1.
    var limit: Int
    private let nanoseconds: Int64
    /// Ascending; those before `start` have been forgotten.
    private var entries: [Entry] = []
    private var start = 0
    private var total = 0

    /// - Parameters:
    ///   - limit: the most that may leave within the while, at least 1.
    ///   - nanoseconds: how long the while is.
    init(limit: Int, nanoseconds: Int64) {
        self.limit = max(1, limit)
        self.nanoseconds = nanoseconds
    }

    /// How many have left within the while before a moment.
    func total(at now: Int64) -> Int {
        entries[start...].reduce(0) { $1.last > now - nanoseconds ? $0 + $1.count : $0 }
    }

    /// When this many may leave at once, in monotonic nanoseconds. More than the limit may leave
    /// when nothing else has.
    func nextTime(for count: Int) -> Int64 {
        var excess = total + min(count, limit) - limit
        var time = Int64.min
        for entry in entries[start...] {
            if excess <= 0 { break }
            excess -= entry.count
            time = entry.last + nanoseconds
        }
        return time
    }

    /// Counts what leaves now.
    mutating func add(_ count: Int, at now: Int64) {
        forget(before: now - nanoseconds)
        total += count
        guard let last = entries.indices.last, last >= start, now - entries[last].first < nanoseconds / Self.parts
        else {
            return entries.append(Entry(first: now, last: now, count: count))
        }
        entries[last].last = now
        entries[last].count += count
    }

    private mutating func forget(before end: Int64) {
        while start < entries.count, entries[start].last <= end {
            total -= entries[start].count
            start += 1
        }
        guard start > 2 * Self.parts else { return }
        entries.removeFirst(start)
        start = 0
    }
}
