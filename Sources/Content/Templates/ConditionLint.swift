import Base

/// Finds conditions that cannot be intended: two comparisons of one column when a cell can never
/// satisfy both, or always satisfies one; and `and` next to `or`, which people read in different
/// orders.
enum ConditionLint {
    /// - Parameters:
    ///   - places: of the tests, as indices of scalars.
    ///   - start: where the tag begins.
    static func mistakes(_ condition: TemplateCondition, places: [Int], start: Int) -> [TemplateMistake] {
        // If the condition has a mistake, there are fewer tests than its connectors need.
        guard condition.tests.count == condition.connectors.count + 1 else {
            return [order(condition, start: start)].compactMap(\.self)
        }
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

    /// The connector between two tests, read from the right; nil if one test is in a part that the
    /// two alone do not decide.
    private static func connector(
        of first: Int, second: Int, _ connectors: [TemplateCondition.Connector]
    ) -> TemplateCondition.Connector? {
        let between = connectors[first..<second]
        let isWhole =
            between.allSatisfy { $0 == between.first }
            && (second == connectors.count || connectors[second] == between.first)
        return isWhole ? between.first : nil
    }

    private static func impossible(_ tests: (TemplateTest, TemplateTest), _ pair: TestPair, index: Int)
        -> TemplateMistake
    {
        TemplateMistake(
            message: "no cell satisfies both: \(tests.0.written) and \(tests.1.written)", index: index,
            remedy: versions(tests, word: "and") { !$0.excludesAll }
                ?? remedy(
                    tests, word: "or", meaning: "one is enough", areOpposites: pair.takesAll || isOneLanguage(tests)))
    }

    /// Whether one language is a form of the other: `language == 'de-AT' and language != 'de'`.
    private static func isOneLanguage(_ tests: (TemplateTest, TemplateTest)) -> Bool {
        guard case .language(let first, let tag)? = tests.0.comparison?.kind,
            case .language(let second, let other)? = tests.1.comparison?.kind
        else { return false }
        return first != second && tag != other
    }

    private static func certain(_ tests: (TemplateTest, TemplateTest), _ pair: TestPair, index: Int) -> TemplateMistake
    {
        TemplateMistake(
            message: "every cell satisfies one of them: \(tests.0.written) or \(tests.1.written)", index: index,
            remedy: versions(tests, word: "or") { !$0.takesAll }
                ?? remedy(tests, word: "and", meaning: "both must hold", areOpposites: pair.excludesAll))
    }

    /// What to write if `3.9` and `3.10` were compared as numbers and make sense as versions; nil
    /// if they do not.
    /// - Parameter makesSense: whether nothing is odd about the two once they are versions.
    private static func versions(
        _ tests: (TemplateTest, TemplateTest), word: String, makesSense: (TestPair) -> Bool
    ) -> String? {
        guard let first = tests.0.asVersion, let second = tests.1.asVersion, let pair = TestPair(first, second),
            makesSense(pair)
        else {
            return nil
        }
        return
            "As numbers 3.10 is 3.1; for versions write all three numbers: \(first.written) \(word) \(second.written)."
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

    /// Liquid evaluates from the right, which not everybody expects; and where that matches
    /// programming languages, people may still read it differently.
    private static func order(_ condition: TemplateCondition, start: Int) -> TemplateMistake? {
        guard let and = condition.connectors.firstIndex(of: .and), let or = condition.connectors.lastIndex(of: .or)
        else { return nil }
        let message =
            and < or
            ? "'and' before 'or' is read from the right: a and b or c means a and (b or c)"
            : "'or' before 'and' is read from the right: a or b and c means a or (b and c)"
        return TemplateMistake(
            message: message, index: start, remedy: "Put one '{% if %}' inside another to make it clear.",
            warning: .mixedConditions)
    }

    /// The first branch of a choice that is never taken because every cell that satisfies it
    /// satisfies an earlier one. Only the plain case: an earlier branch with a single comparison,
    /// of the same column.
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
            guard !ComparisonValue.isVersion(column: column.value),
                number.wholeMatch(of: /[0-9]{1,2}\.[0-9]{1,2}/) != nil
            else {
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

/// Two comparisons of one column, tested with everything that a cell may be. Each kind of cell that
/// can tell them apart is one probe.
struct TestPair {
    /// A cell, as far as it matters: its order relative to the value of each comparison (below
    /// zero, zero, above zero), nil if it has no order.
    private struct Probe {
        var toFirst: Int?
        var toSecond: Int?
        var isBlank = false
    }

    /// The results of the two for each probe.
    private let answers: [(first: Bool, second: Bool)]

    /// Nil if neither says anything about the other: they compare different columns, or a part and
    /// a whole.
    init?(_ first: TemplateTest, _ second: TemplateTest) {
        guard first.column.value == second.column.value, let probes = Self.probes(first, second) else { return nil }
        answers = probes.map {
            (Self.holds(first.kind, $0, order: $0.toFirst), Self.holds(second.kind, $0, order: $0.toSecond))
        }
    }

    /// Whether no cell satisfies both.
    var excludesAll: Bool { !answers.contains { $0.first && $0.second } }

    /// Whether each cell satisfies at least one of them.
    var takesAll: Bool { answers.allSatisfy { $0.first || $0.second } }

    /// Whether each cell that satisfies the second also satisfies the first.
    var firstTakesSecond: Bool { !answers.contains { $0.second && !$0.first } }

    private static func probes(_ first: TemplateTest, _ second: TemplateTest) -> [Probe]? {
        let blank = Probe(isBlank: true)
        return switch (isAboutBlanks(first), isAboutBlanks(second)) {
        case (true, true): [blank, Probe()]
        case (true, false): values(second, second).map { [blank] + $0 }
        case (false, true): values(first, first).map { [blank] + $0 }
        case (false, false): values(first, second)
        }
    }

    private static func isAboutBlanks(_ test: TemplateTest) -> Bool { test.kind == .blank || test.kind == .present }

    private static func values(_ first: TemplateTest, _ second: TemplateTest) -> [Probe]? {
        switch (first.comparison?.kind, second.comparison?.kind) {
        case (.order(_, let value)?, .order(_, let other)?): orders(value, other, column: first.column.value)
        case (.text(_, let text)?, .text(_, let other)?): equals(areEqual(text, other, column: first.column.value))
        case (.truth(_, let isTrue)?, .truth(_, let other)?): equals(isTrue == other)
        case (.language(_, let tag)?, .language(_, let other)?): languages(tag, other)
        default: nil
        }
    }

    /// Whether two values are the same for cells: `3.10` and `3.10.0` are one version.
    private static func areEqual(_ value: String, _ other: String, column: String) -> Bool {
        Array(other.utf8).withUnsafeBufferPointer(ComparisonValue(value, column: column).isEqual)
    }

    /// Cells with the first value, with the second, and with neither.
    private static func equals(_ areEqual: Bool) -> [Probe] {
        let other: Int? = areEqual ? 0 : nil
        return [Probe(toFirst: 0, toSecond: other), Probe(toFirst: other, toSecond: 0), Probe()]
    }

    /// `de` holds for `de-AT`, too: if one tag is a form of the other, some cells are both, and
    /// some are only the wider one. Two names of one language say nothing about each other.
    private static func languages(_ tag: String, _ other: String) -> [Probe]? {
        guard let first = LanguageTag.normalized(tag), let second = LanguageTag.normalized(other) else { return nil }
        if first == second { return equals(true) }
        return
            switch (LanguageTag.fallbacks(of: other).contains(first), LanguageTag.fallbacks(of: tag).contains(second))
        {
        case (false, false): equals(false)
        case (true, false): [Probe(toFirst: 0, toSecond: nil), Probe(toFirst: 0, toSecond: 0), Probe()]
        case (false, true): [Probe(toFirst: nil, toSecond: 0), Probe(toFirst: 0, toSecond: 0), Probe()]
        case (true, true): nil
        }
    }

    /// Cells below, at, between and above the two values.
    private static func orders(_ value: String, _ other: String, column: String) -> [Probe]? {
        let (first, second) = (ComparisonValue(value, column: column), ComparisonValue(other, column: column))
        guard first.kind == second.kind, first.kind != .text,
            let order = Array(other.utf8).withUnsafeBufferPointer({ first.order(of: $0) })
        else { return nil }
        let ends = [Probe(toFirst: -1, toSecond: -1), Probe(toFirst: 1, toSecond: 1)]
        if order == 0 { return ends + [Probe(toFirst: 0, toSecond: 0)] }
        // The second value and a cell between the two have the same order relative to the first.
        return ends + [
            Probe(toFirst: 0, toSecond: -order), Probe(toFirst: order, toSecond: -order),
            Probe(toFirst: order, toSecond: 0),
        ]
    }

    private static func holds(_ kind: TemplateTest.Kind, _ probe: Probe, order: Int?) -> Bool {
        switch kind {
        case .blank: probe.isBlank
        case .present: !probe.isBlank
        case .text(let sign, _), .number(let sign, _), .truth(let sign, _): sign.holds(order)
        case .truthy, .contains: false
        }
    }
}
