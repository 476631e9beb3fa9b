import Base

/// Rows of recipients in which a column that texts print shows signs of a faulty export.
struct CellFlaws: Sendable {
    private var rows: [CellFlaw: Int] = [:]
    private var cells: [CellFlaw: [String]] = [:]
    /// Where the first of them is; in a block, lines count from its beginning, and the file is not
    /// named.
    private var first: [CellFlaw: (file: String, line: Int)] = [:]
    /// Whether a flaw lacks its line.
    private(set) var wantsLine = false

    /// Cells in columns of people's names that are not names, from the rows that were checked.
    private var noNames: [String] = []
    /// How many more rows are checked for them.
    private(set) var namesToSample = 200

    mutating func note(name cell: @autoclosure () -> String, isNone: Bool) {
        namesToSample -= 1
        if isNone { keep(noName: cell()) }
    }

    private mutating func keep(noName cell: String) {
        if noNames.count < ConditionCount.mostCells, !noNames.contains(cell) { noNames.append(cell) }
    }

    mutating func note(_ flaw: CellFlaw, cell: String) {
        rows[flaw, default: 0] += 1
        if first[flaw] == nil { wantsLine = true }
        if cells[flaw, default: []].count < ConditionCount.mostCells, !cells[flaw, default: []].contains(cell) {
            cells[flaw, default: []].append(cell)
        }
    }

    /// Says in which line of the block the flaws are that were noted last.
    mutating func note(line: Int) {
        wantsLine = false
        for flaw in rows.keys where first[flaw] == nil { first[flaw] = ("", line) }
    }

    /// Adds those of a block that begins at a line of a file.
    mutating func add(_ other: CellFlaws, in file: String, from line: Int) {
        for (flaw, place) in other.first where first[flaw] == nil { first[flaw] = (file, line + place.line - 1) }
        for cell in other.noNames { keep(noName: cell) }
        for (flaw, count) in other.rows { rows[flaw, default: 0] += count }
        for (flaw, others) in other.cells {
            for cell in others
            where cells[flaw, default: []].count < ConditionCount.mostCells && !cells[flaw, default: []].contains(cell)
            {
                cells[flaw, default: []].append(cell)
            }
        }
    }

    /// - Parameter column: with the place where a text names it first.
    func warnings(_ column: SourceText) -> [Diagnostic] {
        noName(column)
            + CellFlaw.allCases.compactMap { flaw -> Diagnostic? in
                guard let count = rows[flaw] else { return nil }
                let hold = "in '\(column.value)' \(TextFormat.counted(count, one: "row holds", many: "rows hold"))"
                let list = ConditionFindings.list(cells[flaw] ?? [])
                var warning: Diagnostic
                switch flaw {
                case .garbled:
                    warning = .warning(
                        .textNotReady, message: "\(hold) letters that were read in the wrong encoding: \(list)",
                        at: column.position,
                        remedy: "Save the export as UTF-8 again; otherwise people read these.")
                case .entity:
                    warning = .warning(
                        .textNotReady, message: "\(hold) HTML, which people would read unchanged: \(list)",
                        at: column.position,
                        remedy: "Export the text itself.")
                case .quoted:
                    warning = .warning(
                        .textNotReady, message: "\(hold) a text in quotes, which people would read with it: \(list)",
                        at: column.position,
                        remedy:
                            "Export the text without them; in a CSV file, a quote (\") belongs right after the separator."
                    )
                case .unmatched:
                    warning = .warning(
                        .textNotReady,
                        message: "\(hold) a quote without its other half, which people would read with it: \(list)",
                        at: column.position,
                        remedy:
                            "Export the text without it: Excel writes an apostrophe (') in front of a cell that it should take for text."
                    )
                case .code:
                    warning = .warning(
                        .textNotReady,
                        message: "\(hold) what a program wrote for itself, and people would read it: \(list)",
                        at: column.position,
                        remedy:
                            "Export the text that people should read: the result of a formula, one value of an object, a quote without a backslash before it, all digits of a number."
                    )
                }
                if [.quoted, .unmatched, .code].contains(flaw), let (file, line) = first[flaw] {
                    warning.plainMessage =
                        "\(warning.message); the first is \(SourcePosition.plainWords(file: file, line: line))"
                    warning.message += "; the first is \(file):\(line)"
                }
                return warning
            }
    }

    private func noName(_ column: SourceText) -> [Diagnostic] {
        guard !noNames.isEmpty else { return [] }
        return [
            .warning(
                .textNotReady,
                message:
                    "cells of '\(column.value)' are not names, and people would read them unchanged: \(ConditionFindings.list(noNames))",
                at: column.position, remedy: "Leave them empty in the export, so that 'default' replaces them.")
        ]
    }
}

/// Cells that are compared as numbers and may mean something else: `1.000`, as spreadsheet programs
/// write a thousand where a comma separates decimals, and `3.10`, a version that is newer than 3.9.
/// They count as written, 1 and 3.1; the rest of the column shows whether that is meant.
struct NumberForms: Sendable {
    private var rows = 0
    /// The first different ones.
    private var cells: [String] = []
    /// Whether some cell is a whole number below a thousand, which has no point in a column of
    /// groups, and has one in a column of three decimals.
    private var hasSmall = false
    /// Whether some cell shows that points separate decimals here, or that thousands are written
    /// without one.
    private var hasOther = false
    /// Of cells that may be versions, by the number before the point: one with a single digit
    /// behind it, and one with two that end in a zero.
    private var short: [String: String] = [:]
    private var padded: [String: String] = [:]
    /// Whether some cell is not a version: `9.99`, `3.05`.
    private var hasDecimal = false
    /// How many more cells without such a point are checked.
    private var cellsToSample = 100

    /// Notes a cell; for nearly all cells a single byte is enough.
    @inline(__always) mutating func note(_ cell: UnsafeBufferPointer<UInt8>) {
        if cell.count > 4, cell[cell.count - 4] == UInt8(ascii: ".") { return note(grouped: cell) }
        if cellsToSample > 0 { sample(cell) }
    }

    @inline(never) private mutating func note(grouped cell: UnsafeBufferPointer<UInt8>) {
        guard Self.isGrouped(cell) else {
            hasOther = true
            return
        }
        rows += 1
        if cells.count < ConditionCount.mostCells { keep(String(decoding: cell, as: UTF8.self)) }
    }

    private mutating func sample(_ cell: UnsafeBufferPointer<UInt8>) {
        // Where points separate decimals there is nothing more to learn.
        cellsToSample = hasOther && hasDecimal ? 0 : cellsToSample - 1
        guard let number = DecimalText(cell) else { return }
        guard let point = cell.firstIndex(of: UInt8(ascii: ".")) else {
            if number.whole.count < 4 { hasSmall = true } else { hasOther = true }
            return
        }
        hasOther = true
        noteVersion(
            String(decoding: cell[..<point], as: UTF8.self),
            minor: String(decoding: cell[(point + 1)...], as: UTF8.self))
    }

    /// Beyond fifty there are few versions of a program, and many prices.
    private mutating func noteVersion(_ major: String, minor: String) {
        guard (1...2).contains(major.utf8.count), minor.utf8.count <= 2,
            minor.utf8.count == 1 || ("10"..<"50").contains(minor)
        else {
            hasDecimal = true
            return
        }
        if minor.utf8.count == 1 {
            short[major] = "\(major).\(minor)"
        } else if minor.last == "0" {
            padded[major] = "\(major).\(minor)"
        }
    }

    private mutating func keep(_ cell: String) {
        if cells.count < ConditionCount.mostCells, !cells.contains(cell) { cells.append(cell) }
    }

    mutating func add(_ other: NumberForms) {
        rows += other.rows
        for cell in other.cells { keep(cell) }
        hasSmall = hasSmall || other.hasSmall
        hasOther = hasOther || other.hasOther
        short.merge(other.short) { first, _ in first }
        padded.merge(other.padded) { first, _ in first }
        hasDecimal = hasDecimal || other.hasDecimal
    }

    /// One to three digits without a leading zero, a point, three digits.
    private static func isGrouped(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        let digits = cell.first == UInt8(ascii: "-") ? cell.dropFirst() : cell[...]
        guard (5...7).contains(digits.count), digits.first != UInt8(ascii: "0") else { return false }
        return digits.enumerated().allSatisfy { $0.offset == digits.count - 4 || $0.element &- UInt8(ascii: "0") <= 9 }
    }

    /// - Parameter column: as the campaign names it, with its place.
    func warnings(_ column: SourceText) -> [Diagnostic] { versions(column) + thousands(column) }

    private func versions(_ column: SourceText) -> [Diagnostic] {
        guard !hasDecimal, let major = short.keys.filter({ padded[$0] != nil }).min(), let short = short[major],
            let padded = padded[major]
        else {
            return []
        }
        return [
            .warning(
                .cellsNotCompared,
                message:
                    "in '\(column.value)' cells such as '\(short)' and '\(padded)' look like versions but are compared as numbers, so \(padded) is \(Self.decimal(padded))",
                at: column.position, remedy: "For versions, compare with three numbers, such as \(short).0.")
        ]
    }

    /// Cells that may be thousands, of a column that is compared as numbers or written as such.
    func thousands(_ column: SourceText) -> [Diagnostic] {
        guard rows > 0, hasSmall, !hasOther else { return [] }
        let hold = TextFormat.counted(rows, one: "row holds", many: "rows hold")
        let whole = cells.map { $0.filter { $0 != "." } }
        return [
            .warning(
                .cellsNotCompared,
                message:
                    "in '\(column.value)' \(hold) a point before three digits, which counts as a decimal point, so '\(cells[0])' is "
                    + "\(Self.decimal(cells[0])) and not \(whole[0]): \(ConditionFindings.list(cells))",
                at: column.position,
                remedy:
                    "If you mean thousands, write them in the export without separators: \(whole.joined(separator: ", "))."
            )
        ]
    }

    /// `1` of `1.000`, `2.5` of `2.500`.
    private static func decimal(_ cell: String) -> String {
        var text = cell[...]
        while text.last == "0" { text = text.dropLast() }
        return String(text.last == "." ? text.dropLast() : text)
    }
}
