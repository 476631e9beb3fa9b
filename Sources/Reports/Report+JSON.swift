public import Base
import PushServices
import Runs

extension Report {
    /// The document of `report --format json`. Values that do not exist yet are null; `rate` and
    /// `latency_ms` always have their members. A run of several services has `services`: those with
    /// devices, each with its own figures and, if it stopped by itself, `stopped_because`. `held`
    /// is there when the run was put back from a backup before it had ended: no command continues
    /// it, `backup_at` is the time of its figures, and `may_have_been_sent` to how many of those
    /// that are unsent in them. `statistics` is there when a service was queried about the pushes.
    /// `stopped_because` is there only when the run stopped early, `approved_by` and `approved_at`
    /// when it was approved, `test` (true) and `test_pushes` when it is a test; a run of a chain
    /// has `retry_of` (null for the first) and `chain`, all its runs in order. `languages`,
    /// `variants`, `languages_of_variants`, `attempts_by_count`, `latency_histogram`, `timeline`
    /// and `earlier_runs` follow in the order in which the other forms show them, each only if it
    /// has content; a summary has none of them.
    public var json: JSONValue {
        // Only if it has content: the document of a run that went well stays short.
        let reason = status.because.map { [("stopped_because", JSONValue.string($0))] } ?? []
        let head: [(String, JSONValue)] = [
            ("run", .string(plan.id)), ("campaign", .string(plan.campaign)), ("app", .string(plan.app)),
            ("state", .string(status.state.rawValue)),
        ]
        let test = plan.isTest ? [("test", JSONValue.bool(true)), ("test_pushes", .array(testPushes.map(\.json)))] : []
        return .object(
            pairs: head + heldMembers + hereOnlyMembers + test + reason + approvalMembers + figuresInJSON
                + serviceMembers
                + afterwardsMembers + chainMembers
                + planMembers
                + detailMembers
        ).withoutTokens
    }

    private var hereOnlyMembers: [(String, JSONValue)] { orderToPassOn == nil ? [] : [("only_here", .bool(true))] }

    private var heldMembers: [(String, JSONValue)] {
        guard let restored, restored.isHeld else { return [] }
        return [
            (
                "held",
                .object(pairs: [
                    ("backup_at", moment(restored.backupAt)), ("may_have_been_sent", number(notKnownSinceBackup)),
                ])
            )
        ]
    }

    private var approvalMembers: [(String, JSONValue)] {
        approval.map { [("approved_by", .string($0.name)), ("approved_at", moment($0.approvedAt))] } ?? []
    }

    private var chainMembers: [(String, JSONValue)] {
        guard !chain.isEmpty else { return [] }
        let links = chain.map { link -> JSONValue in
            let parts = link.services.map { part in
                JSONValue.object(pairs: [
                    ("service", .string(part.name)), ("audience", number(part.audience)),
                    ("accepted", number(part.accepted)),
                ])
            }
            return JSONValue.object(
                pairs: [
                    ("run", .string(link.id)), ("audience", number(link.audience)), ("accepted", number(link.accepted)),
                ]
                    + (parts.isEmpty ? [] : [("services", .array(parts))]))
        }
        return [("retry_of", plan.retryOf.map { .string($0) } ?? .null), ("chain", .array(links))]
    }

    private var figuresInJSON: [(String, JSONValue)] {
        [
            ("audience", number(plan.audience)),
            ("skipped", .object(pairs: skipped.map { ($0.name, number($0.rows)) })),
            ("outcomes", .object(pairs: Outcome.allCases.map { ($0.name, number(count($0))) })),
            ("reasons", .object(pairs: reasons.map { ($0.name, number($0.recipients)) })),
            ("attempts", number(figures.attempts)),
            ("started_at", moment(status.startedAt)),
            ("finished_at", moment(status.finishedAt)),
            (
                "rate",
                .object(pairs: [("mean_per_second", number(meanPerSecond)), ("peak_per_second", number(peakPerSecond))])
            ),
            latency(figures),
        ]
    }

    private func latency(_ figures: RunFigures) -> (String, JSONValue) {
        let latency = figures.latency
        return (
            "latency_ms",
            .object(pairs: [
                ("p50", number(latency?.p50)), ("p90", number(latency?.p90)), ("p99", number(latency?.p99)),
                ("max", number(latency?.max)),
            ])
        )
    }

    /// The services of a run of several.
    private var serviceMembers: [(String, JSONValue)] {
        let services = services.map { service in
            var members: [(String, JSONValue)] = [("service", .string(service.name))]
            if let settings = service.settings {
                members += [("environment", .string(settings.environment.name)), ("topic", .string(settings.topic))]
            }
            members.append(("state", .string(service.state.rawValue)))
            if let cause = service.cause { members.append(("stopped_because", .string(cause.sentence))) }
            members += [
                ("audience", number(service.audience)),
                ("outcomes", .object(pairs: Outcome.allCases.map { ($0.name, number(service.count($0))) })),
                ("reasons", .object(pairs: service.reasons.map { ($0.name, number($0.recipients)) })),
                ("attempts", number(service.figures.attempts)), latency(service.figures),
            ]
            return JSONValue.object(pairs: members)
        }
        return services.isEmpty ? [] : [("services", .array(services))]
    }

    private var planMembers: [(String, JSONValue)] {
        [("planned_at", moment(plan.plannedAt)), ("rows", number(plan.rows))]
            + (prunedAt.map { [("pruned_at", moment($0))] } ?? [])
    }

    private var detailMembers: [(String, JSONValue)] {
        guard figures.groups != nil else { return [] }
        var members: [(String, JSONValue)] = []
        if !languages.isEmpty { members.append(("languages", json(languages))) }
        if !variants.isEmpty { members.append(("variants", json(variants))) }
        if !languagesOfVariants.isEmpty {
            members.append(
                ("languages_of_variants", .object(pairs: languagesOfVariants.map { ($0.variant, json($0.languages)) })))
        }
        if !figures.attemptCounts.isEmpty {
            members.append(
                ("attempts_by_count", .object(pairs: attemptCounts.map { ("\($0.attempts)", number($0.recipients)) })))
        }
        if figures.latency != nil {
            members.append(("latency_histogram", .object(pairs: latencySteps.map { ($0.name, number($0.answers)) })))
        }
        if let timeline = figures.timeline { members.append(("timeline", json(timeline))) }
        if !earlier.isEmpty {
            let runs = earlier.map { run in
                (
                    run.id,
                    JSONValue.object(pairs: [
                        ("planned_at", moment(run.plannedAt)), ("audience", number(run.audience)),
                        ("accepted", number(run.accepted)),
                        ("invalid_token", number(run.invalidToken)),
                    ])
                )
            }
            members.append(("earlier_runs", .object(pairs: runs)))
        }
        return members
    }

    private func json(_ groups: [ReportGroup]) -> JSONValue {
        .object(
            pairs: groups.map { ($0.name, .object(pairs: [("audience", number($0.audience))] + counts($0.outcomes))) })
    }

    /// Steps without outcomes are left out.
    private func json(_ timeline: RunTimeline) -> JSONValue {
        let steps = timeline.steps.enumerated().filter { $0.element.contains { $0 > 0 } }.map { place, step in
            (timeline.begin(of: place).description, JSONValue.object(pairs: counts(step)))
        }
        return .object(pairs: [("seconds_per_step", number(timeline.secondsPerStep)), ("steps", .object(pairs: steps))])
    }

    private func counts(_ outcomes: [Int]) -> [(String, JSONValue)] {
        zip(Outcome.allCases, outcomes).map { ($0.name, number($1)) }
    }

    private func number(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }

    private func moment(_ value: Timestamp?) -> JSONValue { value.map { .string($0.description) } ?? .null }
}

/// Recipients that have something in common, by outcome.
struct ReportGroup: Sendable {
    var name: String
    /// By `Outcome.rawValue`.
    var outcomes: [Int]

    var audience: Int { outcomes.reduce(0, +) }

    func count(_ outcome: Outcome) -> Int { outcomes[outcome.rawValue] }

    /// Of the audience; 0 when it is empty.
    func share(_ outcome: Outcome) -> Double { audience == 0 ? 0 : Double(count(outcome)) / Double(audience) }
}

extension Report {
    /// What devices without a language are called.
    static let unknownLanguage = "unknown"

    /// By the device's language, the largest first; empty when the export has none, or they were
    /// not counted.
    var languages: [ReportGroup] {
        guard let groups = figures.groups, groups.contains(where: { !$0.language.isEmpty }) else { return [] }
        return Self.sums(groups, by: Self.language)
    }

    /// By variant, the largest first; empty when the campaign has none, or they were not counted.
    var variants: [ReportGroup] {
        guard let groups = figures.groups, groups.contains(where: { !$0.variant.isEmpty }) else { return [] }
        return Self.sums(groups, by: \.variant)
    }

    /// Variants, and in each of them languages; empty when there is only one of either.
    var languagesOfVariants: [(variant: String, languages: [ReportGroup])] {
        guard variants.count > 1, languages.count > 1, let groups = figures.groups else { return [] }
        return variants.map { variant in
            (
                variant.name,
                Self.sums(groups.filter { $0.variant == variant.name }, by: Self.language)
            )
        }
    }

    /// Devices that were kept back for comparison; nil when the campaign keeps none.
    var holdout: Int? { plan.skipped[.holdout].flatMap { $0 > 0 ? $0 : nil } }

    /// Made safe to show: a column of languages may hold anything.
    private static func language(_ group: RunGroup) -> String {
        group.language.isEmpty ? unknownLanguage : TargetRedaction.withoutTargets(group.language)
    }

    private static func sums(_ groups: [RunGroup], by name: (RunGroup) -> String) -> [ReportGroup] {
        var sums: [String: [Int]] = [:]
        for group in groups {
            for (outcome, count) in group.outcomes.enumerated() {
                sums[name(group), default: [Int](repeating: 0, count: group.outcomes.count)][outcome] += count
            }
        }
        return sums.map { ReportGroup(name: $0.key, outcomes: $0.value) }.sorted {
            ($1.audience, $0.name) < ($0.audience, $1.name)
        }
    }
}
