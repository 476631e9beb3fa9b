public import Base

/// A run in figures. The sum of `outcomes` equals the plan's audience: claimed recipients without outcome count as unknown, unclaimed ones as unsent.
public struct RunFigures: Hashable, Sendable {
    /// Recipients by outcome; every outcome is present.
    public var outcomes: [Outcome: Int] = [:]
    /// Recipients by reason, for those that have one.
    public var reasons: [String: Int] = [:]
    /// Pushes handed to the wire.
    public var attempts = 0
    /// Settled recipients that were handed to the wire at least once.
    public var attempted = 0
    /// Settled recipients in the busiest second of the clock, of those that were handed to the wire.
    public var peakPerSecond = 0
    /// Answers' latency in milliseconds; nil without answers.
    public var latency: LatencyFigures?

    /// No figures.
    public init() {}
}

/// Latency in milliseconds.
public struct LatencyFigures: Hashable, Sendable {
    /// Percentiles (nearest rank) and the maximum.
    public var p50: Int, p90: Int, p99: Int, max: Int

    /// Latency figures.
    public init(p50: Int, p90: Int, p99: Int, max: Int) {
        self.p50 = p50
        self.p90 = p90
        self.p99 = p99
        self.max = max
    }
}

extension RunFigures {
    /// As the run file keeps them, once nothing changes any more.
    var json: JSONValue {
        var pairs: [(String, JSONValue)] = [
            ("outcomes", .object(pairs: Outcome.allCases.map { ($0.name, .integer(Int64(outcomes[$0, default: 0]))) })),
            ("reasons", .object(pairs: reasons.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })),
            ("attempts", .integer(Int64(attempts))),
            ("attempted", .integer(Int64(attempted))),
            ("peak_per_second", .integer(Int64(peakPerSecond))),
        ]
        if let latency {
            pairs.append(("latency_ms", .array([latency.p50, latency.p90, latency.p99, latency.max].map { .integer(Int64($0)) })))
        }
        return .object(pairs: pairs)
    }

    /// nil when the JSON is not what `json` writes.
    init?(json: JSONValue) {
        guard let attempts = json["attempts"]?.integerValue, let attempted = json["attempted"]?.integerValue,
            let peak = json["peak_per_second"]?.integerValue, case .object(let reasons)? = json["reasons"]
        else { return nil }
        for outcome in Outcome.allCases {
            guard let count = json["outcomes"]?[outcome.name]?.integerValue else { return nil }
            outcomes[outcome] = Int(count)
        }
        for member in reasons {
            guard let count = member.value.integerValue else { return nil }
            self.reasons[member.name] = Int(count)
        }
        self.attempts = Int(attempts)
        self.attempted = Int(attempted)
        peakPerSecond = Int(peak)
        if case .array(let values)? = json["latency_ms"] {
            let numbers = values.compactMap(\.integerValue).map { Int($0) }
            guard numbers.count == 4 else { return nil }
            latency = LatencyFigures(p50: numbers[0], p90: numbers[1], p99: numbers[2], max: numbers[3])
        }
    }
}
