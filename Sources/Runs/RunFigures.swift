public import Base
public import PushServices

/// A run in figures. The sum of `outcomes` equals the plan's audience: claimed recipients without
/// outcome count as unknown, unclaimed ones as unsent.
///
/// ```swift
/// let figures = try run.figures()
/// print(figures.outcomes[.accepted, default: 0], figures.count(.frequencyCap))
/// ```
public struct RunFigures: Hashable, Sendable {
    /// Recipients by outcome; every outcome is present.
    public var outcomes: [Outcome: Int] = [:]
    /// Recipients by reason, for those that have one.
    public var reasons: [String: Int] = [:]
    /// Recipients that have no reason because nothing is recorded for them.
    public var unrecorded = UnrecordedRecipients()
    /// Pushes handed to the wire.
    public var attempts = 0
    /// Settled recipients that were handed to the wire at least once.
    public var attempted = 0
    /// Settled recipients in the busiest second of the clock, of those that were handed to the
    /// wire.
    public var peakPerSecond = 0
    /// Answers' latency in milliseconds; nil without answers.
    public var latency: LatencyFigures?
    /// How many answers took how long, by the steps of `LatencyFigures.steps`; one number more than
    /// there are steps, for what took longer.
    public var latencyHistogram: [Int] = []
    /// Recipients by how often they were handed to the wire, without those that never were.
    public var attemptCounts: [Int: Int] = [:]
    /// When outcomes became known; nil before the first.
    public var timeline: RunTimeline?
    /// Outcomes by language and variant; nil when they were not requested.
    public var groups: [RunGroup]?
    /// The figures of each service's recipients, by the services' numbers; empty when one service
    /// takes all.
    public var services: [RunFigures] = []

    /// No figures.
    public init() {}

    /// Recipients whose outcome has this reason.
    public func count(_ reason: OwnReason) -> Int { reasons[reason.rawValue, default: 0] }

    /// The figures of a service's recipients.
    /// - Parameter service: its number.
    public func figures(ofService service: Int) -> RunFigures { services.isEmpty ? self : services[service] }

    /// What the answers of a service say of tokens and settings.
    /// - Parameter service: its number in the plan of the run.
    public func tokenEvidence(ofService service: Int, in plan: RunPlan) -> TokenEvidence {
        figures(ofService: service).tokenEvidence(of: plan.services[service])
    }

    /// What the answers say of tokens and settings, if they are all of one service.
    public func tokenEvidence(of service: any PushService) -> TokenEvidence {
        TokenEvidence(outcomes: outcomes, reasons: reasons, blaming: service.blamingReasons)
    }
}

/// Recipients without a recorded outcome.
public struct UnrecordedRecipients: Hashable, Sendable {
    /// Those that were claimed, whose push may have been sent: they count as unknown.
    public var claimed = 0
    /// Those that were not: they count as unsent.
    public var unclaimed = 0

    /// None.
    public init() {}
}

/// Latency in milliseconds.
public struct LatencyFigures: Hashable, Sendable {
    /// Upper ends of the steps of a histogram, in milliseconds.
    public static let steps = [
        1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10_000,
        30_000,
    ]

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
    /// As the run file keeps them once nothing changes anymore.
    var json: JSONValue {
        var pairs: [(String, JSONValue)] = [
            ("outcomes", .object(pairs: Outcome.allCases.map { ($0.name, .integer(Int64(outcomes[$0, default: 0]))) })),
            ("reasons", .object(pairs: reasons.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })),
            ("attempts", .integer(Int64(attempts))),
            // Always there: files of older versions are known by its absence.
            ("unrecorded", Self.array([unrecorded.claimed, unrecorded.unclaimed])),
            ("attempted", .integer(Int64(attempted))),
            ("peak_per_second", .integer(Int64(peakPerSecond))),
        ]
        if let latency {
            pairs.append(
                (
                    "latency_ms",
                    .array([latency.p50, latency.p90, latency.p99, latency.max].map { .integer(Int64($0)) })
                ))
        }
        pairs.append(("latency_histogram", Self.array(latencyHistogram)))
        pairs.append(
            (
                "attempts_by_count",
                .array(attemptCounts.sorted { $0.key < $1.key }.map { Self.array([$0.key, $0.value]) })
            ))
        if let timeline { pairs.append(("timeline", timeline.json)) }
        if let groups { pairs.append(("groups", .array(groups.map(\.json)))) }
        if !services.isEmpty { pairs.append(("services", .array(services.map(\.json)))) }
        return .object(pairs: pairs)
    }

    /// Recipients that were not accepted and have no reason: in figures that an older version kept,
    /// those with nothing recorded. They were never claimed, up to the number of unsent ones.
    private var withoutReason: UnrecordedRecipients {
        let rest =
            outcomes.reduce(0) { $0 + ($1.key == .accepted ? 0 : $1.value) } - reasons.reduce(0) { $0 + $1.value }
        var unrecorded = UnrecordedRecipients()
        unrecorded.unclaimed = max(0, min(rest, outcomes[.unsent, default: 0]))
        unrecorded.claimed = max(0, min(rest - unrecorded.unclaimed, outcomes[.unknown, default: 0]))
        return unrecorded
    }

    private static func array(_ numbers: [Int]) -> JSONValue { .array(numbers.map { .integer(Int64($0)) }) }

    /// nil when the JSON was not written by `json`.
    init?(json: JSONValue) {
        guard let attempts = json["attempts"]?.count, let attempted = json["attempted"]?.count,
            let peak = json["peak_per_second"]?.count, case .object(let reasons)? = json["reasons"]
        else { return nil }
        for outcome in Outcome.allCases {
            guard let count = json["outcomes"]?[outcome.name]?.count else { return nil }
            outcomes[outcome] = count
        }
        for member in reasons {
            guard let count = member.value.count else { return nil }
            self.reasons[member.name] = count
        }
        unrecorded = json["unrecorded"].flatMap(UnrecordedRecipients.init) ?? withoutReason
        (self.attempts, self.attempted, peakPerSecond) = (attempts, attempted, peak)
        if let latency = json["latency_ms"] {
            guard let numbers = latency.numbers, numbers.count == 4 else { return nil }
            self.latency = LatencyFigures(p50: numbers[0], p90: numbers[1], p99: numbers[2], max: numbers[3])
        }
        // Files of older versions lack the following: they are counted again.
        guard let histogram = json["latency_histogram"]?.numbers,
            case .array(let attemptPairs)? = json["attempts_by_count"]
        else {
            return nil
        }
        guard [0, LatencyFigures.steps.count + 1].contains(histogram.count) else { return nil }
        latencyHistogram = histogram
        for pair in attemptPairs {
            guard let numbers = pair.numbers, numbers.count == 2 else { return nil }
            attemptCounts[numbers[0]] = numbers[1]
        }
        if let timeline = json["timeline"] {
            guard let timeline = RunTimeline(json: timeline) else { return nil }
            self.timeline = timeline
        }
        if case .array(let groups)? = json["groups"] {
            let read = groups.compactMap { RunGroup(json: $0) }
            guard read.count == groups.count else { return nil }
            self.groups = read
        }
        if case .array(let services)? = json["services"] {
            self.services = services.compactMap { RunFigures(json: $0) }
            guard self.services.count == services.count else { return nil }
        }
    }
}

extension UnrecordedRecipients {
    fileprivate init?(_ json: JSONValue) {
        guard let numbers = json.numbers, numbers.count == 2 else { return nil }
        (claimed, unclaimed) = (numbers[0], numbers[1])
    }
}

extension JSONValue {
    /// How many of something; nil for anything else: numbers below 0 come from a damaged file.
    fileprivate var count: Int? { integerValue.flatMap { $0 >= 0 ? Int($0) : nil } }

    /// The counts of an array; nil when it holds anything else.
    fileprivate var numbers: [Int]? {
        guard case .array(let values) = self else { return nil }
        let numbers = values.compactMap(\.count)
        return numbers.count == values.count ? numbers : nil
    }
}

/// How outcomes became known over time, in at most `maximumSteps` steps of equal length. Recipients
/// that were never sent to are left out.
public struct RunTimeline: Hashable, Sendable {
    /// The most steps, so that a page can draw them.
    static let maximumSteps = 120

    /// The first step's begin.
    public var start: Timestamp
    /// Length of a step; a round number of seconds.
    public var secondsPerStep: Int
    /// Recipients of each step by `Outcome.rawValue`, without `unsent`.
    public var steps: [[Int]]

    /// Lengths of steps, in seconds: up to a minute, an hour, a day.
    private static let lengths = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    ]

    /// Steps of the shortest length that will do.
    /// - Parameter seconds: recipients by second since 1970, for each outcome.
    init?(seconds: [[Int: Int]]) {
        let known = seconds.flatMap(\.keys)
        guard let first = known.min(), let last = known.max() else { return nil }
        func begin(_ length: Int) -> Int { Int((Double(first) / Double(length)).rounded(.down)) * length }
        func count(_ length: Int) -> Int { (last - begin(length)) / length + 1 }
        let days = 86_400
        let length =
            Self.lengths.first { count($0) <= Self.maximumSteps } ?? (count(days) / Self.maximumSteps + 1) * days
        let start = begin(length)
        var steps = [[Int]](repeating: [Int](repeating: 0, count: seconds.count), count: count(length))
        for (outcome, counts) in seconds.enumerated() {
            for (second, recipients) in counts { steps[(second - start) / length][outcome] += recipients }
        }
        self.start = Timestamp(epochSeconds: Int64(start))
        secondsPerStep = length
        self.steps = steps
    }

    /// When a step begins.
    public func begin(of step: Int) -> Timestamp { start.adding(seconds: Double(step * secondsPerStep)) }

    var json: JSONValue {
        .object(pairs: [
            ("start", .integer(start.epochSeconds)), ("seconds_per_step", .integer(Int64(secondsPerStep))),
            ("steps", .array(steps.map { .array($0.map { .integer(Int64($0)) }) })),
        ])
    }

    init?(json: JSONValue) {
        guard let start = json["start"]?.integerValue, let length = json["seconds_per_step"]?.integerValue, length > 0,
            case .array(let values)? = json["steps"]
        else { return nil }
        steps = values.compactMap(\.numbers)
        guard steps.count == values.count, steps.allSatisfy({ $0.count == Outcome.unsent.rawValue }) else { return nil }
        self.start = Timestamp(epochSeconds: start)
        secondsPerStep = Int(length)
    }
}

/// Recipients of one language and variant, by outcome.
public struct RunGroup: Hashable, Sendable {
    /// The language of the device as the export has it; blank when it has none.
    public var language: String
    /// Blank when the campaign has no variants.
    public var variant: String
    /// By `Outcome.rawValue`.
    public var outcomes: [Int]

    /// Everyone of the group.
    public var audience: Int { outcomes.reduce(0, +) }

    /// Recipients with that outcome.
    public func count(_ outcome: Outcome) -> Int { outcomes[outcome.rawValue] }

    /// A group.
    public init(language: String, variant: String, outcomes: [Int]) {
        self.language = language
        self.variant = variant
        self.outcomes = outcomes
    }

    var json: JSONValue { .array([.string(language), .string(variant)] + outcomes.map { .integer(Int64($0)) }) }

    init?(json: JSONValue) {
        guard case .array(let values) = json, values.count == 2 + Outcome.allCases.count,
            let language = values[0].stringValue,
            let variant = values[1].stringValue
        else { return nil }
        let outcomes = values.dropFirst(2).compactMap(\.count)
        guard outcomes.count == Outcome.allCases.count else { return nil }
        self.init(language: language, variant: variant, outcomes: outcomes)
    }
}

extension RunFigures {
    /// Recipients that were never sent to although they should have been. Those that `frequency`
    /// leaves out are left out on purpose.
    public var missed: Int { max(0, outcomes[.unsent, default: 0] - count(.frequencyCap)) }

    /// How many devices a finished run missed, and why; nil when it missed none.
    public func missedPushes(of audience: Int) -> MissedPushes? {
        missed == 0
            ? nil : MissedPushes(count: missed, audience: audience, expired: count(.expired), tooLate: count(.tooLate))
    }

    /// What a person should know of a run that has finished; nil for one that went well. A few
    /// pushes fail in every campaign.
    public func problem(of audience: Int) -> ScheduleProblem? {
        if let missed = missedPushes(of: audience) { return .missed(missed) }
        let unanswered = outcomes[.unknown, default: 0]
        let count = outcomes[.rejected, default: 0] + outcomes[.failed, default: 0] + unanswered
        // As in the alert rules.
        return count * 5 > audience ? .notAccepted(count, unanswered: unanswered, audience: audience) : nil
    }
}

/// What a service said of a run's pushes after it took them.
public struct ServiceStatistics: Hashable, Sendable {
    /// The service's number.
    public var service: Int
    /// When it answered last.
    public var askedAt: Timestamp
    /// By the service's own names, summed over all that it was asked about. What it never said is
    /// missing.
    public var counts: [String: Int]
    /// When counts were said, as far as it was before `askedAt`, because the service no longer
    /// reports them.
    public var olderCounts: [String: Timestamp]

    /// Statistics.
    public init(service: Int, askedAt: Timestamp, counts: [String: Int], olderCounts: [String: Timestamp] = [:]) {
        self.service = service
        self.askedAt = askedAt
        self.counts = counts
        self.olderCounts = olderCounts
    }
}
