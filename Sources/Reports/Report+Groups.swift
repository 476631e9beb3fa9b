import Base
import Runs

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

    /// By the device's language, the largest first; empty when the export knows none, or they were not counted.
    var languages: [ReportGroup] {
        guard let groups = figures.groups, groups.contains(where: { !$0.language.isEmpty }) else { return [] }
        return Self.sums(groups, by: Self.language)
    }

    /// By variant, the largest first; empty when there are none, or they were not counted.
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

    /// As it may be shown: a column of languages may hold anything.
    private static func language(_ group: RunGroup) -> String {
        group.language.isEmpty ? unknownLanguage : SecretText.withoutTokens(group.language)
    }

    private static func sums(_ groups: [RunGroup], by name: (RunGroup) -> String) -> [ReportGroup] {
        var sums: [String: [Int]] = [:]
        for group in groups {
            for (outcome, count) in group.outcomes.enumerated() {
                sums[name(group), default: [Int](repeating: 0, count: group.outcomes.count)][outcome] += count
            }
        }
        return sums.map { ReportGroup(name: $0.key, outcomes: $0.value) }.sorted { ($1.audience, $0.name) < ($0.audience, $1.name) }
    }
}
