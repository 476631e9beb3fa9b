/// What clocks in one zone show, at any moment.
///
/// ```swift
/// let shanghai = try ZoneDatabase.system.zone(named: "Asia/Shanghai")
/// let clock = shanghai.localTime(at: now).timeOfDay
/// ```
public struct ZoneRules: Hashable, Sendable {
    /// The name in the tz database: `Europe/Berlin`.
    public let name: String
    private let transitions: [Int64]
    private let offsets: [Int]
    private let firstOffset: Int
    private let footer: PosixZone?

    /// The most seconds by which a zone may differ from UTC, in either direction: RFC 9636, section
    /// 3.2, requires more than -25 and less than 26 hours.
    static let largestOffset = 26 * 3600

    init(name: String, _ file: ZoneFile) {
        self.name = name
        transitions = file.transitions
        offsets = file.offsets
        firstOffset = file.firstOffset
        footer = file.footer
    }

    /// A zone without a file.
    init(name: String, _ rule: PosixZone) {
        self.name = name
        (transitions, offsets) = ([], [])
        firstOffset = rule.standardOffset
        footer = rule
    }

    /// Universal time, which needs no database.
    public static let utc = ZoneRules(name: "UTC", PosixZone(standardOffset: 0))

    /// Seconds east of UTC.
    public func offset(at moment: Timestamp) -> Int { offset(atSecond: moment.epochSeconds) }

    /// What a clock shows at a moment, without seconds.
    public func localTime(at moment: Timestamp) -> LocalTime {
        LocalTime(minutes: LocalTime.quotient(Int(moment.epochSeconds) + offset(at: moment), divisor: 60))
    }

    /// When a clock shows a time: once, never (skipped when clocks go forward), or twice (when they
    /// go back). Ascending.
    public func moments(of local: LocalTime) -> [Timestamp] {
        let wall = Int64(local.minutes) * 60
        var candidates = changes(around: wall).flatMap { [$0.before, $0.after] }
        candidates.append(offset(atSecond: wall))
        return Set(candidates).map { wall - Int64($0) }.filter { $0 + Int64(offset(atSecond: $0)) == wall }.sorted()
            .map { Timestamp(epochSeconds: $0) }
    }

    /// When something planned for a time happens: at the first moment with that time or, if clocks
    /// skip it, at the first moment after the gap.
    public func firstMoment(of local: LocalTime) -> Timestamp {
        if let first = moments(of: local).first { return first }
        let wall = Int64(local.minutes) * 60
        let gap = changes(around: wall).first { $0.at + Int64($0.before) <= wall && wall < $0.at + Int64($0.after) }
        return Timestamp(epochSeconds: gap?.at ?? wall - Int64(offset(atSecond: wall)))
    }

    /// When the clocks change, after `start` and up to `end`.
    public func changes(after start: Timestamp, through end: Timestamp) -> [Timestamp] {
        changes(after: start.epochSeconds, through: end.epochSeconds).map { Timestamp(epochSeconds: $0.at) }
    }

    private func changes(around wall: Int64) -> [(at: Int64, before: Int, after: Int)] {
        let reach = Int64(Self.largestOffset)
        return changes(after: wall - reach - 1, through: wall + reach)
    }

    private func changes(after start: Int64, through end: Int64) -> [(at: Int64, before: Int, after: Int)] {
        guard start < end else { return [] }
        var moments: [Int64] = []
        var index = firstTransition(after: start)
        while index < transitions.count, transitions[index] <= end {
            moments.append(transitions[index])
            index += 1
        }
        if let footer, end > transitions.last ?? .min {
            let years = PosixZone.year(of: max(start, transitions.last ?? start)) - 1...PosixZone.year(of: end) + 1
            moments += footer.changes(inYears: years).map(\.at).filter {
                $0 > max(start, transitions.last ?? .min) && $0 <= end
            }
        }
        return moments.map { ($0, offset(atSecond: $0 - 1), offset(atSecond: $0)) }.filter { $0.1 != $0.2 }
    }

    private func offset(atSecond second: Int64) -> Int {
        let next = firstTransition(after: second)
        if next == transitions.count, let footer { return footer.offset(at: second) }
        return next == 0 ? firstOffset : offsets[next - 1]
    }

    /// Index of the first transition later than a moment.
    private func firstTransition(after second: Int64) -> Int {
        var (low, high) = (0, transitions.count)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle] <= second { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
