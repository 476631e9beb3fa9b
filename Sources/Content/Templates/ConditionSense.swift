import Base

/// What a condition says that nobody means: comparisons of one column that no cell satisfies together, or of which each cell satisfies one;
/// `and` beside `or`, which people read in different orders.
enum ConditionSense {
    /// - Parameters:
    ///   - places: of the tests, as indices of scalars.
    ///   - start: where the tag begins.
    static func mistakes(_ condition: TemplateCondition, places: [Int], start: Int) -> [TemplateMistake] {
        // With a mistake in it there are fewer tests than connectors join.
        guard condition.tests.count == condition.connectors.count + 1 else { return [order(condition, start)].compactMap(\.self) }
        for second in condition.tests.indices.dropFirst() {
            for first in 0..<second {
                guard let connector = connector(of: first, second, condition.connectors),
                    let pair = TestPair(condition.tests[first], condition.tests[second])
                else { continue }
                let tests = (condition.tests[first], condition.tests[second])
                if connector == .and, pair.excludesAll { return [impossible(tests, pair, places[second])] }
                if connector == .or, pair.takesAll { return [certain(tests, pair, places[second])] }
            }
        }
        return [order(condition, start)].compactMap(\.self)
    }

    /// What joins two tests, read from the right; nil where one lies in a part that the other alone does not decide.
    private static func connector(
        of first: Int, _ second: Int, _ connectors: [TemplateCondition.Connector]
    ) -> TemplateCondition.Connector? {
        let between = connectors[first..<second]
        let isWhole = between.allSatisfy { $0 == between.first } && (second == connectors.count || connectors[second] == between.first)
        return isWhole ? between.first : nil
    }

    private static func impossible(_ tests: (TemplateTest, TemplateTest), _ pair: TestPair, _ index: Int) -> TemplateMistake {
        TemplateMistake(
            message: "no cell satisfies both: \(tests.0.written) and \(tests.1.written)", index: index,
            remedy: remedy(tests, "or", "one is enough", areOpposites: pair.takesAll))
    }

    private static func certain(_ tests: (TemplateTest, TemplateTest), _ pair: TestPair, _ index: Int) -> TemplateMistake {
        TemplateMistake(
            message: "each cell satisfies one of them: \(tests.0.written) or \(tests.1.written)", index: index,
            remedy: remedy(tests, "and", "both must hold", areOpposites: pair.excludesAll))
    }

    /// - Parameter areOpposites: whether the other word would be as wrong.
    private static func remedy(
        _ tests: (TemplateTest, TemplateTest), _ word: String, _ meaning: String, areOpposites: Bool
    ) -> String {
        if areOpposites { return "Correct one of them, or remove the condition." }
        return tests.0.isRange || tests.1.isRange
            ? "Correct one of them, or write '\(word)' if \(meaning)."
            : "Write '\(word)': \(tests.0.written) \(word) \(tests.1.written)."
    }

    /// Liquid reads from the right, which is not what everybody expects; and where it reads as programmers do, others may not.
    private static func order(_ condition: TemplateCondition, _ start: Int) -> TemplateMistake? {
        guard let and = condition.connectors.firstIndex(of: .and), let or = condition.connectors.lastIndex(of: .or) else { return nil }
        let message =
            and < or
            ? "'and' before 'or' is read from the right: a and b or c means a and (b or c)"
            : "'or' before 'and' is read from the right: a or b and c means a or (b and c)"
        return TemplateMistake(
            message: message, index: start, remedy: "Put one '{% if %}' inside another to make it plain.", warning: .mixedConditions)
    }

    /// The first branch of a choice that is never taken, as what holds for it holds for one before it; only where that is plain: a comparison of
    /// one column before another.
    static func unreachable(_ branches: [TemplateBranch]) -> Diagnostic? {
        for (index, branch) in branches.enumerated() {
            guard let condition = branch.condition, !condition.connectors.contains(.or) else { continue }
            for earlier in branches[..<index] {
                guard let before = earlier.condition, before.tests.count == 1 else { continue }
                for test in condition.tests where TestPair(before.tests[0], test)?.firstTakesSecond ?? false {
                    return .warning(
                        .conditionNeverHolds,
                        "no device gets this part of the text: what satisfies \(test.written) satisfies \(before.tests[0].written), which comes first",
                        at: test.column.position, remedy: "Put the narrower condition first.")
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

    /// Whether it is about more than being equal or not.
    fileprivate var isRange: Bool {
        switch kind {
        case .text(let sign, _), .number(let sign, _): sign != .equal && sign != .notEqual
        default: false
        }
    }
}
