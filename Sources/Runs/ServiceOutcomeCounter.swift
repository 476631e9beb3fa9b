import Base

/// Counts the outcomes of a run in id order, those of each service by themselves. Tallies of disjoint ranges of ids add
/// up to that of all.
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
        services = (0..<count).map { OutcomeCounter(claims: count == 1 ? claims : claims.intersection(plan.ids(ofService: $0))) }
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

    /// How many have an outcome that only a push has, but were never claimed: 0 in a run file that was not edited.
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
