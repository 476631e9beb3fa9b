import Base
import PushServices

/// Compiles templates in any kind of text into steps.
extension PayloadWriter {
    /// Appends nodes to the JSON string that is being written.
    mutating func compile(_ nodes: [TemplateNode]) {
        for node in nodes {
            switch node {
            case .text(let text): escape(text)
            case .output(let output): compile(output)
            case .choice(let branches): compile(branches)
            }
        }
    }

    /// The same for a text that people see. The push is not sent if something missing leaves
    /// punctuation behind or, with `mustShow`, if the text is blank for any reason.
    mutating func compileShown(_ nodes: [TemplateNode], _ text: SourceText, mustShow: Bool) {
        let mayBeBlank = mustShow && nodes.allSatisfy(\.mayBeBlank)
        guard mayBeBlank || nodes.contains(where: \.mayLeaveGap) else { return compile(nodes) }
        marksGaps = true
        defer { marksGaps = false }
        emit(.init(kind: .shownStart))
        compile(nodes)
        emit(.init(kind: .shownEnd, output: Int32(compiled.outputs.count), mustShow: mayBeBlank))
        compiled.outputs.append(.init(column: -1, place: text.position))
    }

    /// The same for a web address. Characters that an address may not contain are percent-encoded.
    /// - Parameters:
    ///   - mustBeSecure: whether only an address that begins with https:// may be sent.
    ///   - parameters: what an address of a web page gets in its query.
    mutating func compileAddress(_ nodes: [TemplateNode], mustBeSecure: Bool, parameters: [String] = []) {
        let isFixed = nodes.allSatisfy { if case .text(let text) = $0 { WebAddress.isClean(text) } else { false } }
        if isFixed {
            let start = compiled.constants.count
            compile(nodes)
            return WebAddress.add(
                Array(parameters.joined(separator: "&").utf8)[...], to: &compiled.constants, from: start)
        }
        emit(.init(kind: .addressStart))
        let first = Int32(compiled.outputs.count)
        compile(nodes)
        emit(
            .init(
                kind: .addressEnd, output: first,
                range: parameters.isEmpty ? .empty : literal(parameters.joined(separator: "&")),
                mustBeSecure: mustBeSecure && compiled.outputs.count > Int(first)))
    }

    /// The JSON of a value, as a text.
    mutating func compileEncoded(_ node: PayloadNode) {
        append(raw: "\"")
        emit(.init(kind: .mark))
        append(node)
        emit(.init(kind: .encode))
        append(raw: "\"")
    }

    /// A value with a limit. If it is always the same, too much of it is a mistake.
    mutating func compileLimited(_ node: PayloadNode, _ limit: PayloadLimit) {
        emit(.init(kind: .mark))
        let (steps, start) = (compiled.steps.count, compiled.constants.count)
        append(node)
        if compiled.steps.count == steps {
            let count = compiled.constants.withUnsafeBufferPointer {
                limit.part.count(in: UnsafeBufferPointer(rebasing: $0[start...]))
            }
            if count > limit.part.most {
                error(limit.part.excess(count), at: limit.place, remedy: remedy(for: limit.part))
            }
        }
        emit(.init(kind: .limit, output: Int32(compiled.outputs.count)))
        compiled.outputs.append(.init(column: -1, place: limit.place, limit: limit))
    }

    private func remedy(for part: PayloadPart) -> String {
        guard let service = oneOfSeveral else { return "Shorten it." }
        let own = part.key?.below(service, "…") ?? "services: {\(service.accountName): {…}}"
        return "Shorten it, or write shorter texts for \(service.displayName) below 'content': \(own)."
    }

    /// Ends the payload: after this nothing may be appended.
    mutating func finish() {
        emit(.init(kind: .end))
    }

    private mutating func emit(_ step: CompiledPayload.Step) {
        var step = step
        step.constants = TextRange(start: UInt32(coveredConstants), end: UInt32(compiled.constants.count))
        coveredConstants = compiled.constants.count
        compiled.steps.append(step)
    }

    private mutating func escape(_ text: String) {
        var text = text
        text.withUTF8 { JSONWriter.appendEscaped($0, to: &compiled.constants) }
    }

    private mutating func literal(_ text: String) -> TextRange {
        let start = UInt32(compiled.literals.count)
        compiled.literals += text.utf8
        return TextRange(start: start, end: UInt32(compiled.literals.count))
    }

    // MARK: - Outputs

    private mutating func compile(_ output: TemplateOutput) {
        let column = index(of: output.column)
        var step = CompiledPayload.Step(kind: .cell, column: Int32(column), output: Int32(compiled.outputs.count))
        compiled.outputs.append(.init(column: column, place: output.column.position))
        if output.filters.contains(where: { if case .number = $0 { true } else { false } }) {
            watch(TemplateComparison(column: output.column, kind: .number))
        }
        switch (output.filters.first, output.filters.count) {
        case (nil, _): break
        case (.fallback(let text), 1):
            step.hasFallback = true
            var escaped: [UInt8] = []
            var text = text
            text.withUTF8 { JSONWriter.appendEscaped($0, to: &escaped) }
            step.range = TextRange(
                start: UInt32(compiled.literals.count), end: UInt32(compiled.literals.count + escaped.count))
            step.leavesGap = marksGaps && escaped.withUnsafeBufferPointer { Blank.isText(escaped: $0) }
            compiled.literals += escaped
        default:
            step.kind = .filtered
            step.leavesGap = marksGaps && TemplateNode.output(output).mayBeBlank
            let filters = output.filters.map { compile($0) }
            step.range = TextRange(
                start: UInt32(compiled.filters.count), end: UInt32(compiled.filters.count + filters.count))
            compiled.filters += filters
        }
        emit(step)
    }

    private mutating func compile(_ filter: TemplateFilter) -> CompiledFilter {
        switch filter {
        case .fallback(let text): return CompiledFilter(kind: .fallback, text: literal(text))
        case .upcase: return CompiledFilter(kind: .upcase)
        case .downcase: return CompiledFilter(kind: .downcase)
        case .capitalize: return CompiledFilter(kind: .capitalize)
        case .strip: return CompiledFilter(kind: .strip)
        case .truncate(let length, let ellipsis):
            return CompiledFilter(
                kind: .truncate, text: literal(ellipsis), number: Int32(length), other: Int32(ellipsis.count))
        case .number(let decimals): return CompiledFilter(kind: .number, number: Int32(decimals ?? -1))
        case .date(.named(let style)): return CompiledFilter(kind: .namedDate, number: Int32(style.rawValue))
        case .date(.directives(let parts)): return compile(parts)
        case .pluralizePair(let one, let other): return compile([.one: one, .other: other], isPair: true)
        case .pluralize(let forms): return compile(forms, isPair: false)
        }
    }

    private mutating func compile(_ parts: [DatePart]) -> CompiledFilter {
        let hasDay = parts.contains { if case .day = $0 { true } else { false } }
        let compiledParts = parts.map { part in CompiledDatePart(part, hasDay: hasDay) { literal($0) } }
        let start = UInt32(compiled.dateParts.count)
        compiled.dateParts += compiledParts
        return CompiledFilter(kind: .date, text: TextRange(start: start, end: UInt32(compiled.dateParts.count)))
    }

    private mutating func compile(_ forms: [PluralForm: String], isPair: Bool) -> CompiledFilter {
        let words = PluralForm.allCases.map { literal(forms[$0] ?? forms[.other] ?? "") }
        compiled.plurals.append(CompiledPlural(words: words, written: PluralOperands.bits(forms.keys), isPair: isPair))
        return CompiledFilter(kind: .pluralize, number: Int32(compiled.plurals.count - 1))
    }

    // MARK: - Choices

    private mutating func compile(_ branches: [TemplateBranch]) {
        var jumps: [Int] = []
        var sizes: [Int] = []
        for branch in branches {
            var test: Int?
            if let condition = branch.condition {
                let range = compile(condition)
                test = compiled.steps.count
                emit(.init(kind: .branch, range: range))
            }
            let (before, optional) = (compiled.constants.count, optionalBytes)
            compile(branch.body)
            if branch.body.allSatisfy(\.isBlankText) { emitGap(of: branches) }
            jumps.append(compiled.steps.count)
            emit(.init(kind: .jump))
            sizes.append(compiled.constants.count - before - (optionalBytes - optional))
            if let test { compiled.steps[test].target = Int32(compiled.steps.count) }
        }
        if branches.last?.condition != nil { emitGap(of: branches) }
        for jump in jumps { compiled.steps[jump].target = Int32(compiled.steps.count) }
        let least = branches.last?.condition == nil ? sizes.min() ?? 0 : 0
        optionalBytes += sizes.reduce(0, +) - least
    }

    /// Marks where a condition in a text that people see prints nothing.
    private mutating func emitGap(of branches: [TemplateBranch]) {
        guard marksGaps, let column = branches.first?.condition?.tests.first?.column else { return }
        emit(.init(kind: .gap, output: Int32(compiled.outputs.count)))
        compiled.outputs.append(.init(column: index(of: column), place: column.position))
    }

    private mutating func compile(_ condition: TemplateCondition) -> TextRange {
        let start = UInt32(compiled.tests.count)
        for (index, test) in condition.tests.enumerated() {
            var compiledTest = compile(test)
            if var comparison = test.comparison {
                comparison.isEntangled = condition.connectors.contains(test.isNegative ? .or : .and)
                watch(comparison)
            }
            compiledTest.isAnd = index < condition.connectors.count && condition.connectors[index] == .and
            compiled.tests.append(compiledTest)
        }
        return TextRange(start: start, end: UInt32(compiled.tests.count))
    }

    private mutating func watch(_ comparison: TemplateComparison) {
        if !comparisons.contains(comparison) { comparisons.append(comparison) }
    }

    private mutating func compile(_ test: TemplateTest) -> CompiledTest {
        let column = Int32(index(of: test.column))
        switch test.kind {
        case .truthy: return CompiledTest(kind: .truthy, column: column)
        case .present: return CompiledTest(kind: .present, column: column)
        case .blank: return CompiledTest(kind: .blank, column: column)
        case .text(let comparison, let text):
            let trimmed = trimmedSpaces(text)
            if comparison == .equal || comparison == .notEqual {
                if test.column.value == ExportColumns.Standard.language.rawValue,
                    let tag = LanguageTag.normalized(trimmed)
                {
                    return CompiledTest(kind: .language, column: column, comparison: comparison, literal: literal(tag))
                }
                let value = ComparisonValue(trimmed, column: test.column.value)
                if value.hasOtherForms { return compared(.value, comparison, value, column: column) }
                return CompiledTest(kind: .text, column: column, comparison: comparison, literal: literal(trimmed))
            }
            return compared(.order, comparison, ComparisonValue(trimmed, column: test.column.value), column: column)
        case .number(let comparison, let number):
            if ComparisonValue.isVersion(column: test.column.value) {
                return compared(.order, comparison, ComparisonValue(number, column: test.column.value), column: column)
            }
            return CompiledTest(kind: .number, column: column, comparison: comparison, literal: literal(number))
        case .truth(let comparison, let isTrue):
            return CompiledTest(kind: .truth, column: column, comparison: comparison, literal: literal("\(isTrue)"))
        case .contains(let text): return CompiledTest(kind: .contains, column: column, literal: literal(text))
        }
    }

    private mutating func compared(
        _ kind: CompiledTest.Kind, _ comparison: ComparisonOperator, _ value: ComparisonValue, column: Int32
    ) -> CompiledTest {
        compiled.values.append(value)
        return CompiledTest(kind: kind, column: column, comparison: comparison, value: Int32(compiled.values.count - 1))
    }
}
