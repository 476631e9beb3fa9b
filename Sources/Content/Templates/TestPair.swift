import Base

/// Two comparisons of one column, tested with everything that a cell may be. Each kind of cell that can tell them apart is one probe.
struct TestPair {
    /// A cell, as far as it matters: its order relative to the value of each comparison (below zero, zero, above zero), nil if it has no
    /// order.
    private struct Probe {
        var toFirst: Int?
        var toSecond: Int?
        var isBlank = false
    }

    /// The results of the two for each probe.
    private let answers: [(first: Bool, second: Bool)]

    /// Nil if neither says anything about the other: they compare different columns, or a part and a whole.
    init?(_ first: TemplateTest, _ second: TemplateTest) {
        guard first.column.value == second.column.value, let probes = Self.probes(first, second) else { return nil }
        answers = probes.map { (Self.holds(first.kind, $0, order: $0.toFirst), Self.holds(second.kind, $0, order: $0.toSecond)) }
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

    /// `de` holds for `de-AT`, too: if one tag is a form of the other, some cells are both, and some are only the wider one. Two names of
    /// one language say nothing about each other.
    private static func languages(_ tag: String, _ other: String) -> [Probe]? {
        guard let first = LanguageTag.normalized(tag), let second = LanguageTag.normalized(other) else { return nil }
        if first == second { return equals(true) }
        return switch (LanguageTag.fallbacks(of: other).contains(first), LanguageTag.fallbacks(of: tag).contains(second)) {
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
        return ends + [Probe(toFirst: 0, toSecond: -order), Probe(toFirst: order, toSecond: -order), Probe(toFirst: order, toSecond: 0)]
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
