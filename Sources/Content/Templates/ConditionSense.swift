import Base

/// Finds conditions that cannot be intended: two comparisons of one column of which a cell can never satisfy both, or always satisfies one;
/// and `and` next to `or`, which people read in different orders.
enum ConditionSense {
    /// - Parameters:
    ///   - places: of the tests, as indices of scalars.
    ///   - start: where the tag begins.
    static func mistakes(_ condition: TemplateCondition, places: [Int], start: Int) -> [TemplateMistake] {
        // If the condition has a mistake, there are fewer tests than its connectors need.
        guard condition.tests.count == condition.connectors.count + 1 else { return [order(condition, start: start)].compactMap(\.self) }
        for second in condition.tests.indices.dropFirst() {
            for first in 0..<second {
                guard let connector = connector(of: first, second: second, condition.connectors),
                    let pair = TestPair(condition.tests[first], condition.tests[second])
                else { continue }
                let tests = (condition.tests[first], condition.tests[second])
                if connector == .and, pair.excludesAll { return [impossible(tests, pair, index: places[second])] }
                if connector == .or, pair.takesAll { return [certain(tests, pair, index: places[second])] }
            }
        }
        return [order(condition, start: start)].compactMap(\.self)
    }

    /// The connector between two tests, read from the right; nil if one test is in a part that the two alone do not decide.
    private static func connector(
        of first: Int, second: Int, _ connectors: [TemplateCondition.Connector]
    ) -> TemplateCondition.Connector? {
        let between = connectors[first..<second]
        let isWhole = between.allSatisfy { $0 == between.first } && (second == connectors.count || connectors[second] == between.first)
        return isWhole ? between.first : nil
    }

    private static func impossible(_ tests: (TemplateTest, TemplateTest), _ pair: TestPair, index: Int) -> TemplateMistake {
        TemplateMistake(
            message: "no cell satisfies both: \(tests.0.written) and \(tests.1.written)", index: index,
            remedy: versions(tests, word: "and") { !$0.excludesAll }
                ?? remedy(tests, word: "or", meaning: "one is enough", areOpposites: pair.takesAll || isOneLanguage(tests)))
    }

    /// Whether one language is a form of the other: `language == 'de-AT' and language != 'de'`.
    private static func isOneLanguage(_ tests: (TemplateTest, TemplateTest)) -> Bool {
        guard case .language(let first, let tag)? = tests.0.comparison?.kind,
            case .language(let second, let other)? = tests.1.comparison?.kind
        else { return false }
        return first != second && tag != other
    }

    private static func certain(_ tests: (TemplateTest, TemplateTest), _ pair: TestPair, index: Int) -> TemplateMistake {
        TemplateMistake(
            message: "every cell satisfies one of them: \(tests.0.written) or \(tests.1.written)", index: index,
            remedy: versions(tests, word: "or") { !$0.takesAll }
                ?? remedy(tests, word: "and", meaning: "both must hold", areOpposites: pair.excludesAll))
    }

    /// What to write if `3.9` and `3.10` were compared as numbers and make sense as versions; nil if they do not.
    /// - Parameter makesSense: whether nothing is odd about the two once they are versions.
    private static func versions(
        _ tests: (TemplateTest, TemplateTest), word: String, makesSense: (TestPair) -> Bool
    ) -> String? {
        guard let first = tests.0.asVersion, let second = tests.1.asVersion, let pair = TestPair(first, second), makesSense(pair) else {
            return nil
        }
        return "As numbers 3.10 is 3.1; for versions write all three numbers: \(first.written) \(word) \(second.written)."
    }

    /// - Parameter areOpposites: whether the other word would be wrong, too.
    private static func remedy(
        _ tests: (TemplateTest, TemplateTest), word: String, meaning: String, areOpposites: Bool
    ) -> String {
        if areOpposites { return "Correct one of them, or remove the condition." }
        return tests.0.isRange || tests.1.isRange
            ? "Correct one of them, or write '\(word)' if \(meaning)."
            : "Write '\(word)': \(tests.0.written) \(word) \(tests.1.written)."
    }

    /// Liquid evaluates from the right, which not everybody expects; and where that matches programming languages, people may still read it
    /// differently.
    private static func order(_ condition: TemplateCondition, start: Int) -> TemplateMistake? {
        guard let and = condition.connectors.firstIndex(of: .and), let or = condition.connectors.lastIndex(of: .or) else { return nil }
        let message =
            and < or
            ? "'and' before 'or' is read from the right: a and b or c means a and (b or c)"
            : "'or' before 'and' is read from the right: a or b and c means a or (b and c)"
        return TemplateMistake(
            message: message, index: start, remedy: "Put one '{% if %}' inside another to make it clear.", warning: .mixedConditions)
    }

    /// The first branch of a choice that is never taken because every cell that satisfies it satisfies an earlier one. Only the plain case:
    /// an earlier branch with a single comparison, of the same column.
    static func unreachable(_ branches: [TemplateBranch]) -> Diagnostic? {
        for (index, branch) in branches.enumerated() {
            guard let condition = branch.condition, !condition.connectors.contains(.or) else { continue }
            for earlier in branches[..<index] {
                guard let before = earlier.condition, before.tests.count == 1 else { continue }
                for test in condition.tests where TestPair(before.tests[0], test)?.firstTakesSecond ?? false {
                    let remedy = versions((before.tests[0], test), word: "…") { !$0.firstTakesSecond }
                    return .warning(
                        .conditionNeverHolds,
                        message:
                            "no device gets this part of the text: whatever satisfies \(test.written) satisfies \(before.tests[0].written), which comes first",
                        at: test.column.position, remedy: remedy ?? "Put the narrower condition first.")
                }
            }
        }
        return nil
    }
}

extension TemplateTest {
    /// As a template writes it: `city != 'Lyon'`.
    var written: String {
        switch kind {
        case .blank: "\(column.value) == blank"
        case .present: "\(column.value) != blank"
        default: comparison?.description ?? column.value
        }
    }

    /// The same with `3.10.0` for `3.10`; nil if it does not compare with a number of two parts.
    fileprivate var asVersion: TemplateTest? {
        switch kind {
        case .text(let sign, let number), .number(let sign, let number):
            guard !ComparisonValue.isVersion(column: column.value), number.wholeMatch(of: /[0-9]{1,2}\.[0-9]{1,2}/) != nil else {
                return nil
            }
            return TemplateTest(column: column, kind: .text(sign, "\(number).0"))
        default: return nil
        }
    }

    /// Whether it is an order, not just equal or unequal.
    fileprivate var isRange: Bool {
        switch kind {
        case .text(let sign, _), .number(let sign, _): sign != .equal && sign != .notEqual
        default: false
        }
    }
}
