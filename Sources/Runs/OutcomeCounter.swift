import Base

/// Counts outcomes in id order, in memory that depends on how much latencies and seconds vary, not
/// on the number of recipients. Tallies of disjoint ranges of ids add up to that of all.
struct OutcomeCounter {
    private var claims: ArraySlice<Range<Int>>
    private let claimed: Int
    private var settledInClaims = 0
    /// How many have an outcome that only a push has, but were never claimed: 0 in a run file that
    /// was not edited.
    private(set) var sentUnclaimed = 0
    private var outcomes = [Int](repeating: 0, count: Outcome.allCases.count)
    private var reasons: [Int: Int] = [:]
    private var attempts = 0
    private var attempted = 0
    private var perSecond = Counter()
    private var attemptCounts = Counter()
    /// By outcome; recipients that were never sent to have no place in time.
    private var settledPerSecond = [Counter](repeating: Counter(), count: Outcome.unsent.rawValue)
    private var latencies = Counter()

    init(claims: ClaimSet) { (self.claims, claimed) = (claims.ranges[...], claims.count) }

    /// Counts an outcome.
    mutating func add(_ recipient: Int, _ slot: OutcomeSlot, _ outcome: Outcome) {
        while let claim = claims.first, claim.upperBound <= recipient { claims.removeFirst() }
        if claims.first?.contains(recipient) ?? false {
            settledInClaims += 1
        } else if outcome != .unsent {
            sentUnclaimed += 1
        }
        outcomes[outcome.rawValue] += 1
        if slot.reason != 0 { reasons[slot.reason, default: 0] += 1 }
        let latency = slot.latencyMilliseconds
        if outcome != .unsent { settledPerSecond[outcome.rawValue].add(Int(slot.settledAt.epochSeconds)) }
        if slot.attempts > 0 {
            attempts += slot.attempts
            attempted += 1
            attemptCounts.add(slot.attempts)
            // When it was sent, not when it was answered: a server that stalls must not look like a
            // pace that was exceeded.
            perSecond.add(
                Int(Timestamp(epochMilliseconds: slot.settledAt.epochMilliseconds - Int64(latency)).epochSeconds))
        }
        if slot.status > 0 { latencies.add(latency) }
    }

    /// Counts what another tally counted, of other recipients of the same run.
    mutating func add(_ other: OutcomeCounter) {
        settledInClaims += other.settledInClaims
        sentUnclaimed += other.sentUnclaimed
        for outcome in outcomes.indices { outcomes[outcome] += other.outcomes[outcome] }
        for (reason, count) in other.reasons { reasons[reason, default: 0] += count }
        attempts += other.attempts
        attempted += other.attempted
        perSecond.add(other.perSecond)
        attemptCounts.add(other.attemptCounts)
        for outcome in settledPerSecond.indices { settledPerSecond[outcome].add(other.settledPerSecond[outcome]) }
        latencies.add(other.latencies)
    }

    /// - Parameter reason: returns the reason of a number.
    func figures(audience: Int, reason: (Int) throws -> String) rethrows -> RunFigures {
        var figures = RunFigures()
        for outcome in Outcome.allCases { figures.outcomes[outcome] = outcomes[outcome.rawValue] }
        let lost = claimed - settledInClaims
        figures.unrecorded.claimed = lost
        figures.unrecorded.unclaimed = audience - outcomes.reduce(0, +) - lost
        figures.outcomes[.unknown, default: 0] += figures.unrecorded.claimed
        figures.outcomes[.unsent, default: 0] += figures.unrecorded.unclaimed
        for (number, count) in reasons { figures.reasons[try reason(number)] = count }
        figures.attempts = attempts
        figures.attempted = attempted
        figures.peakPerSecond = perSecond.counts.values.max() ?? 0
        figures.latency = latencyFigures()
        figures.latencyHistogram = latencyHistogram()
        figures.attemptCounts = attemptCounts.counts
        figures.timeline = RunTimeline(seconds: settledPerSecond.map(\.counts))
        return figures
    }

    private func latencyHistogram() -> [Int] {
        var histogram = [Int](repeating: 0, count: LatencyFigures.steps.count + 1)
        for (latency, count) in latencies.counts {
            histogram[LatencyFigures.steps.firstIndex { latency <= $0 } ?? LatencyFigures.steps.count] += count
        }
        return histogram
    }

    /// Nearest rank: the smallest latency that at least the given percentage of the answers did not
    /// exceed.
    private func latencyFigures() -> LatencyFigures? {
        let ordered = latencies.counts.sorted { $0.key < $1.key }
        guard let slowest = ordered.last?.key else { return nil }
        let answers = ordered.reduce(0) { $0 + $1.value }
        func percentile(_ percent: Int) -> Int {
            let rank = (answers * percent + 99) / 100
            var seen = 0
            for (latency, count) in ordered {
                seen += count
                if seen >= rank { return latency }
            }
            return slowest
        }
        return LatencyFigures(p50: percentile(50), p90: percentile(90), p99: percentile(99), max: slowest)
    }
}

/// Counts numbers whose neighbours are usually equal: the dictionary is consulted only when the
/// number changes.
private struct Counter {
    private var past: [Int: Int] = [:]
    private var number = 0
    private var run = 0

    mutating func add(_ next: Int) {
        if next == number {
            run += 1
        } else {
            if run > 0 { past[number, default: 0] += run }
            (number, run) = (next, 1)
        }
    }

    mutating func add(_ other: Counter) {
        for (number, count) in other.counts { past[number, default: 0] += count }
    }

    var counts: [Int: Int] {
        var counts = past
        if run > 0 { counts[number, default: 0] += run }
        return counts
    }
}

/// Counts the outcomes of a run in id order, those of each service by themselves. Tallies of
/// disjoint ranges of ids add up to that of all.
struct ServiceOutcomeCounter {
    private let plan: RunPlan
    private let claims: ClaimSet
    private var cursor: ServiceCursor
    /// By the numbers of services.
    private var services: [OutcomeCounter]

    /// - Parameter claims: of the whole run.
    init(_ plan: RunPlan, _ claims: ClaimSet) {
        self.plan = plan
        self.claims = claims
        cursor = ServiceCursor(plan)
        let count = plan.serviceCount
        services = (0..<count).map {
            OutcomeCounter(claims: count == 1 ? claims : claims.intersection(plan.ids(ofService: $0)))
        }
    }

    /// Counts an outcome.
    @inline(__always) mutating func add(_ recipient: Int, _ slot: OutcomeSlot, _ outcome: Outcome) {
        cursor.move(to: recipient)
        services[cursor.service].add(recipient, slot, outcome)
    }

    /// Counts what another tally counted, of other recipients of the same run.
    mutating func add(_ other: ServiceOutcomeCounter) {
        for number in services.indices { services[number].add(other.services[number]) }
    }

    /// How many have an outcome that only a push has, but were never claimed: 0 in a run file that
    /// was not edited.
    var sentUnclaimed: Int { services.reduce(0) { $0 + $1.sentUnclaimed } }

    /// The figures of the run, and of each service if there are several.
    /// - Parameter reason: returns the reason of a number.
    func figures(reason: (Int) throws -> String) rethrows -> RunFigures {
        guard services.count > 1 else { return try services[0].figures(audience: plan.audience, reason: reason) }
        var whole = OutcomeCounter(claims: claims)
        for service in services { whole.add(service) }
        var figures = try whole.figures(audience: plan.audience, reason: reason)
        figures.services = try services.enumerated().map { number, tally in
            try tally.figures(audience: plan.ids(ofService: number).count, reason: reason)
        }
        return figures
    }
}
