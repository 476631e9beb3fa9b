import Base
import PushServices

extension ConditionFindings {
    /// Warnings about a condition, at its place in the campaign.
    func warnings(_ condition: ColumnCondition, now: Timestamp, isLanguage: Bool) -> [Diagnostic] {
        guard wasAsked else { return [] }
        let (column, position) = (condition.column.value, condition.column.position)
        let unreadable = unreadableWarning(
            condition, kind: ConditionTest(condition, now: now, isLanguage: isLanguage).kindInWords)
        guard isSatisfied else {
            // If no cell can be compared, that warning says enough.
            if unreadableRows == rows, let unreadable { return [unreadable] }
            let groups = numbers.warnings(condition.column) + cellsOfSeveral(condition, isLanguage: isLanguage)
            let cells = otherCells.isEmpty ? "" : ": its cells are, for example, \(Self.list(otherCells))"
            let remedy =
                otherCells.isEmpty ? "The column is blank in these rows." : "Are its values written as in the export?"
            return [unreadable].compactMap(\.self) + groups + disguises(condition) + [
                .warning(
                    .conditionNeverHolds, message: "no selected device satisfies this condition on '\(column)'\(cells)",
                    at: position,
                    remedy: meant(by: condition, isLanguage: isLanguage) ?? remedy)
            ]
        }
        return [unreadable].compactMap(\.self) + numbers.warnings(condition.column)
            + unseenValues(condition, isLanguage: isLanguage)
            + spellings(condition, isLanguage: isLanguage) + disguises(condition)
            + cellsOfSeveral(condition, isLanguage: isLanguage)
    }

    private func unreadableWarning(_ condition: ColumnCondition, kind: String?) -> Diagnostic? {
        guard unreadableRows > 0, let kind else { return nil }
        if case .olderThan = condition.test, unreadableCells.allSatisfy(Self.saysNever) {
            return neverWarning(condition)
        }
        let isAhead = condition.test.isWithin && unreadableCells.contains { Self.isDate($0) }
        let kindShown = isAhead ? "a date in the past" : kind
        let hold = TextFormat.counted(unreadableRows, one: "row holds", many: "rows hold")
        let answer =
            isNotEqual && kind != "a language" && kind != "true or false"
            ? "which counts as different from it" : "so they cannot meet the condition"
        return .warning(
            .cellsNotCompared,
            message: "in '\(condition.column.value)' \(hold) something other than \(kindShown), \(answer): "
                + Self.list(unreadableCells),
            at: condition.column.position,
            remedy: isAhead
                ? "Dates more than a day in the future are not within a past period. Correct them in the export."
                : Self.remedy(kind, cells: unreadableCells, condition.test))
    }

    private static func saysNever(_ cell: String) -> Bool {
        Array(cell.utf8).withUnsafeBufferPointer(ConditionTest.saysNever)
    }

    /// Dates that mean "no date".
    private func neverWarning(_ condition: ColumnCondition) -> Diagnostic {
        let (column, hold) = (
            condition.column.value, TextFormat.counted(unreadableRows, one: "row holds", many: "rows hold")
        )
        return .warning(
            .cellsNotCompared,
            message:
                "in '\(column)' \(hold) \(Self.list(unreadableCells)), which programs write for 'never', so they do not meet the condition",
            at: condition.column.position,
            remedy:
                "Leave such cells blank in the export. If it is a real date, compare with a date: \(column): \"< 2026-11-30\"."
        )
    }

    // MARK: - Values that no row has

    private func unseenValues(_ condition: ColumnCondition, isLanguage: Bool) -> [Diagnostic] {
        let column = condition.column.value
        func warning(_ value: String, consequence: String) -> Diagnostic {
            .warning(
                .valueNotFound,
                message:
                    "no selected device has '\(TargetRedaction.cell(value, maximumBytes: 60))' in '\(column)'\(consequence)",
                at: condition.column.position,
                remedy: nearest(to: value, in: column, isLanguage: isLanguage) ?? Self.example(otherCells))
        }
        switch condition.test {
        case .oneOf(let values):
            return values.filter { !hasSeen($0, of: values, isLanguage: isLanguage) }.map {
                warning($0, consequence: "")
            }
        case .comparison(.notEqual, let operand):
            // A number that no row has is not a mistake.
            let value = trimmedText(operand)
            if !isSeen[1], Self.midnight(value, column: column, cells: otherCells) != nil {
                return [
                    .warning(
                        .valueNotFound,
                        message:
                            "no selected device has '\(value)' in '\(column)', so the condition leaves no device out",
                        at: condition.column.position,
                        remedy:
                            "A date alone means midnight; cells hold times. For the days before it, write \(column): \"< \(value)\"."
                    )
                ]
            }
            let isText =
                ComparisonValue(value, column: column).kind == .text && !["true", "false"].contains(value.lowercased())
            return isText && !isSeen[1] ? [warning(value, consequence: ", so the condition leaves no device out")] : []
        case .comparison(.lessOrEqual, let operand):
            let value = trimmedText(operand)
            guard Array(value.utf8).withUnsafeBufferPointer(isDayOnly), Self.isDate(value),
                let later = otherCells.first(where: { Self.isDate($0) && $0.count > value.count && $0.hasPrefix(value) }
                )
            else { return [] }
            return [
                .warning(
                    .dayIsMidnight,
                    message:
                        "'\(value)' alone means midnight at the start of that day, so '\(later)' in '\(column)' is left out",
                    at: condition.column.position,
                    remedy:
                        "For all of that day, compare with the next one: \(column): \"< \(Self.dayAfter(value) ?? "2026-11-30")\"."
                )
            ]
        default: return []
        }
    }

    private static func dayAfter(_ day: String) -> String? {
        Array(day.utf8).withUnsafeBufferPointer(dateMilliseconds).map {
            String(Timestamp(epochMilliseconds: $0 + 86_400_000).description.prefix(10))
        }
    }

    /// A value that appears twice counts once, and a language is seen with each of its regions.
    private func hasSeen(_ value: String, of values: [String], isLanguage: Bool) -> Bool {
        zip(values, isSeen).contains { other, isSeen in
            guard isSeen else { return false }
            // Of `yes` and `true`, the first one takes the cells that match either.
            if trimmedText(other) == trimmedText(value) || Self.isTruth(other) && Self.isSameTruth(other, value: value)
            {
                return true
            }
            return isLanguage
                && LanguageTag.normalized(value).map { LanguageTag.fallbacks(of: other).contains($0) } ?? false
        }
    }

    private func meant(by condition: ColumnCondition, isLanguage: Bool) -> String? {
        let column = condition.column.value
        switch condition.test {
        case .oneOf(let values):
            let conditions = values.filter { value in
                ["!=", "==", ">", "<"].contains { trimmedText(value).hasPrefix($0) }
            }
            if !conditions.isEmpty {
                let others = otherCells.filter { cell in !conditions.contains { $0.hasSuffix(cell) } }
                return
                    "A list holds values, not conditions. List the values that you mean: \(column): [\(Self.plain(others))]."
            }
            if values.count == 1,
                let remedy = Self.meaning(of: trimmedText(values[0]), column: column, cells: otherCells)
            {
                return remedy
            }
            if let day = values.lazy.compactMap({ Self.midnight(trimmedText($0), column: column, cells: otherCells) })
                .first
            {
                return day
            }
            let dates =
                otherCells.contains(where: Self.isDate)
                ? values.map { OperandRule.dates(meantBy: trimmedText($0)) } : []
            if dates.contains(where: { !$0.isEmpty }) {
                let list = values.count > 1 && dates.allSatisfy { $0.count == 1 }
                let all = dates.flatMap(\.self)
                return
                    "Write dates with the year first: \(column): \(list ? "[\(all.joined(separator: ", "))]" : all.joined(separator: " or "))."
            }
            let versions = values.compactMap { Self.versionBefore($0, column: column) }
            if let version = versions.first {
                return "For a version and all later ones, write \(column): \">= \(version)\"."
            }
            return values.lazy.compactMap { nearest(to: $0, in: column, isLanguage: isLanguage) }.first
        case .comparison(.equal, let operand):
            return Self.midnight(trimmedText(operand), column: column, cells: otherCells)
                ?? nearest(to: trimmedText(operand), in: column, isLanguage: isLanguage)
        case .comparison(.notEqual, _) where isSeen[1] && unreadableRows == 0:
            return
                "Each of its cells is this value or blank, and a blank cell meets no comparison. For blank cells, write \(column): missing."
        default: return nil
        }
    }

    /// A truth value in another word than the cells use, a day, or a condition in words.
    private static func meaning(of value: String, column: String, cells: [String]) -> String? {
        let truth = Array(value.utf8).withUnsafeBufferPointer(truthValue)
        if let truth, cells.contains(where: { $0.first?.isLetter == true && isSameTruth($0, value: value) }) {
            return "For all cells that mean this, write \(column): \(truth)."
        }
        if let day = midnight(value, column: column, cells: cells) { return day }
        guard versionBefore(value, column: column) == nil, OperandRule.dates(meantBy: value).isEmpty else { return nil }
        return WordedCondition.remedy(value, column: column, cells: cells)
    }

    /// A date alone where cells hold times.
    private static func midnight(_ value: String, column: String, cells: [String]) -> String? {
        guard isDate(value), Array(value.utf8).withUnsafeBufferPointer(isDayOnly),
            cells.contains(where: { isDate($0) && !Array($0.utf8).withUnsafeBufferPointer(isDayOnly) })
        else { return nil }
        return
            "A date alone means midnight; cells hold times. For that day and later, write \(column): \">= \(value)\"."
    }

    /// `3` of `3.x`, and versions as they are, in a column of versions.
    private static func versionBefore(_ value: String, column: String) -> String? {
        let text = trimmedText(value)
        guard ComparisonValue.isVersion(column: column) || ComparisonValue(text, column: column).kind == .version else {
            return nil
        }
        var digits = text.drop { "vV".contains($0) }.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        while digits.last == "." { digits = digits.dropLast() }
        return digits.isEmpty ? nil : String(digits)
    }

    private func nearest(to value: String, in column: String, isLanguage: Bool) -> String? {
        let value = trimmedText(value)
        if isLanguage { return nearestLanguage(to: value) }
        if let grouped = otherCells.first(where: { Self.isGrouped($0, name: value) }) {
            return "A cell holds '\(grouped)'. Write numbers in the export as 1234.5, without groups."
        }
        // The nearest to 1 would be 0.
        if Array(value.utf8).withUnsafeBufferPointer(truthValue) != nil { return nil }
        guard let name = nearestCell(to: value, in: column, among: otherCells), !name.utf8.elementsEqual(value.utf8)
        else { return nil }
        guard Spelling.folded(name) == Spelling.folded(value), name == value || Spelling.hasInvisible(name) else {
            return "Did you mean '\(name)'?"
        }
        return "A cell looks the same \(Spelling.difference(of: name, from: value)). Write both the same way."
    }

    /// Language tags have no near spellings: `cn` is not a typo for `en`, nor `de-DE` for `de-AT`.
    private func nearestLanguage(to value: String) -> String? {
        guard let tag = LanguageTag.normalized(value) else {
            return LanguageTag.named(value).map { "Write the tag '\($0)'." }
        }
        if let meant = LanguageTag.meant(by: value) { return "Did you mean '\(meant)'?" }
        // Chinese in one script does not replace the other.
        guard let general = tag.split(separator: "-").first.map(String.init), general != tag, general != "zh" else {
            return nil
        }
        let held = otherCells.filter { LanguageTag.fallbacks(of: $0).contains(general) }
        return held.isEmpty ? nil : "Did you mean '\(general)'? It includes \(Self.list(held))."
    }

    private static func example(_ cells: [String]) -> String? {
        cells.isEmpty ? nil : "Other cells are, for example, \(list(cells))."
    }

    private static func plain(_ cells: [String]) -> String {
        (cells.prefix(2).map { TargetRedaction.cell($0, maximumBytes: 40) } + ["…"]).joined(separator: ", ")
    }

    // MARK: - Values in other spellings

    /// Cells, of those that were checked, that hold a value of the condition among others:
    /// `sport;music`.
    private func cellsOfSeveral(_ condition: ColumnCondition, isLanguage: Bool) -> [Diagnostic] {
        guard !isLanguage else { return [] }
        let column = condition.column.value
        // 0,0 is a number, not two values.
        let values = condition.test.texts
        return values.filter { ComparisonValue($0, column: column).kind == .text }.compactMap { value in
            let cells = MultiValueCells.cells(holding: value, among: otherCells, leavesOut: isNotEqual).filter {
                !values.contains($0)
            }
            guard !cells.isEmpty else { return nil }
            return .warning(
                .tagSpelling,
                message:
                    "cells of '\(column)' hold \(Self.list(cells)), in which '\(TargetRedaction.cell(value, maximumBytes: 60))' is one of several: "
                    + (isNotEqual ? "they meet the condition" : "they do not meet the condition"),
                at: condition.column.position,
                remedy: isNotEqual
                    ? "'where' compares whole cells: list the cells that you mean, \(column): [one, two], or export such values as tags."
                    : "'where' compares whole cells: list the cells that you mean, or export such values as tags.")
        }
    }

    /// Cells, of those that were checked, that most likely mean a value of the condition but are
    /// spelt differently.
    private func spellings(_ condition: ColumnCondition, isLanguage: Bool) -> [Diagnostic] {
        let values: [String] =
            switch condition.test {
            case .oneOf(let values): zip(values, isSeen).filter(\.1).map(\.0)
            case .comparison(.equal, let operand): [operand]
            case .comparison(.notEqual, let operand): isSeen[1] ? [operand] : []
            default: []
            }
        let all = condition.test.texts
        // Those have a warning of their own, with the number of rows.
        let counted = Set(disguised(all).flatMap(\.cells).map(\.text))
        return values.compactMap { value in
            let name = trimmedText(value)
            let isTruth = Self.isTruth(name)
            let others = otherCells.filter { cell in
                !all.contains { $0.utf8.elementsEqual(cell.utf8) } && !counted.contains(cell)
                    && (Self.isSame(cell, name: name, isTruth: isTruth, isLanguage: isLanguage)
                        || isNotEqual && !isLanguage && isTypo(cell, for: name))
            }
            guard !others.isEmpty else { return nil }
            return .warning(
                .tagSpelling,
                message:
                    "cells of '\(condition.column.value)' hold \(Self.list(others)), which \(TextFormat.plural(others.count, one: "does", many: "do")) not count as '\(name)'",
                at: condition.column.position, remedy: remedy(condition, name: name, others: others))
        }
    }

    /// By number of the value: cells of any row that it is taken for, apart from those that
    /// `spellings` has.
    private func disguised(_ values: [String]) -> [(value: String, cells: [(text: String, rows: Int)])] {
        spellings.byName.sorted { $0.key < $1.key }.compactMap { number, cells in
            let value = values[number]
            let cells = cells.filter {
                !otherCells.contains($0.text) || $0.text != value && Spelling.looksTheSame($0.text, value)
            }
            return cells.isEmpty ? nil : (value, cells)
        }
    }

    /// Cells of any row that look like a value of the condition, or nearly, and are not it.
    func disguises(_ condition: ColumnCondition) -> [Diagnostic] {
        disguised(condition.test.texts).map { value, cells in
            let text = cells[0].text
            let has = ScanFindings.rows(cells, one: "row has", many: "rows have")
            let shown = TargetRedaction.cell(value, maximumBytes: 60)
            let left =
                isNotEqual
                ? ": the condition does not leave \(TextFormat.plural(cells[0].rows, one: "it", many: "them")) out" : ""
            let looksTheSame = Spelling.looksTheSame(text, value) || Spelling.hasInvisible(value)
            return .warning(
                .tagSpelling,
                message:
                    "\(has) in '\(condition.column.value)', which is '\(shown)' \(Spelling.difference(of: text, from: value)) "
                    + "but does not count as it\(left)",
                at: condition.column.position,
                remedy: looksTheSame
                    ? ScanFindings.remedy(forDisguised: text, as: value)
                    : remedy(condition, name: value, others: cells.map(\.text)))
        }
    }

    /// Whether `!=` lets rows pass only because of quotes around the cell, or around the value.
    func missesEnclosed(_ condition: ColumnCondition) -> Bool {
        isNotEqual
            && disguised(condition.test.texts).contains { value, cells in
                cells.contains { Spelling.isEnclosed($0.text) != Spelling.isEnclosed(value) }
            }
    }

    static func isSame(_ cell: String, name: String, isTruth: Bool, isLanguage: Bool) -> Bool {
        if isTruth { return false }
        if isLanguage { return isSameScript(cell, name: name) }
        return Spelling.folded(cell) == Spelling.folded(name) || isSameTruth(cell, value: name)
            || isGrouped(cell, name: name)
    }

    /// `zh-CN` and the script that it is written in, which devices may name alone or with the
    /// region.
    private static func isSameScript(_ cell: String, name: String) -> Bool {
        guard let tag = LanguageTag.normalized(cell), let wanted = LanguageTag.normalized(name), tag.hasPrefix("zh-"),
            wanted.hasPrefix("zh-")
        else { return false }
        let script = LanguageTag.fallbacks(of: wanted).first {
            $0.split(separator: "-").count == 2 && $0.utf8.count == 7
        }
        return script.map { tag == $0 || tag == $0 + wanted.dropFirst(2) } ?? false
    }

    private static func isTruth(_ text: String) -> Bool { ["true", "false"].contains(trimmedText(text).lowercased()) }

    private static func isSameTruth(_ cell: String, value: String) -> Bool {
        func truth(_ text: String) -> Bool? { Array(text.utf8).withUnsafeBufferPointer(truthValue) }
        return truth(value).map { $0 == truth(cell) } ?? false
    }

    /// `1,000` and `1.000` for 1000.
    private static func isGrouped(_ cell: String, name: String) -> Bool {
        guard name.utf8.count > 3, name.allSatisfy({ $0.isASCII && $0.isNumber }) else { return false }
        let parts = cell.split(omittingEmptySubsequences: false) { ",.' \u{A0}\u{202F}’".contains($0) }
        return parts.count > 1 && parts.joined() == name && parts.dropFirst().allSatisfy { $0.count == 3 }
    }

    private func remedy(_ condition: ColumnCondition, name: String, others: [String]) -> String {
        let column = condition.column.value
        if others.contains(where: { $0 == name || Spelling.hasInvisible($0) }) {
            return
                "It looks the same \(Spelling.difference(of: others[0], from: name)). Write it the same way in the export."
        }
        if Self.isGrouped(others[0], name: name) { return "Write numbers in the export as 1234.5, without groups." }
        let shown = others.prefix(3).map { TargetRedaction.cell($0, maximumBytes: 40) }.joined(separator: ", ")
        let isTruth = others.contains {
            Self.isSameTruth($0, value: name) && Spelling.folded($0) != Spelling.folded(name)
        }
        if isTruth || isNotEqual, let truth = Array(name.utf8).withUnsafeBufferPointer(truthValue) {
            return "For all cells that mean this, write \(column): \(isNotEqual ? "\"!= \(truth)\"" : "\(truth)")."
        }
        if isNotEqual {
            return
                "If it means the same, spell it so in the export: \(TextFormat.plural(others.count, one: "this cell passes", many: "these cells pass"))."
        }
        let list = condition.test.isList ? "[\(name), \(shown)]" : "\(column): [\(name), \(shown)]"
        return "If it means the same, name it too: \(list)."
    }

    // MARK: - Cells that cannot be compared

    private static func remedy(_ kind: String, cells: [String], _ test: ColumnTest) -> String {
        let parts = cells.first?.split(separator: ".").count ?? 0
        if kind == "a number", parts > 2 { return "For versions, write all three numbers: \">= 3.2.0\"." }
        if kind == "a number", case .comparison(let comparison, let operand) = test, cells.contains(where: isDate) {
            let year = operand.count == 4 ? operand : "2026"
            return "If you mean dates, write a full date: \"\(comparison.rawValue) \(year)-01-01\"."
        }
        return switch kind {
        case "a number": "Write numbers in the export as 1234.5, without units or groups."
        case "a date": "Write dates in the export as 2026-11-30 or 2026-11-30T09:00:00Z."
        case "a version": "Write versions in the export as 3.2.0."
        case "a language": "Write tags in the export such as de, pt-BR or zh-Hans."
        default: "Write true or false in the export (or yes and no, 1 and 0)."
        }
    }

    private static func isDate(_ cell: String) -> Bool {
        Array(cell.utf8).withUnsafeBufferPointer(dateMilliseconds) != nil
    }
}

extension ColumnTest {
    fileprivate var isWithin: Bool { if case .within = self { true } else { false } }
    fileprivate var isList: Bool { if case .oneOf = self { true } else { false } }
}
