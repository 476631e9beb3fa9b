import Base

@testable import Content

/// Templates filled in slowly and obviously, with strings, for comparison with rendering on bytes.
/// It uses the parser's result, and the names and marks of the language tables.
struct ReferenceTemplate {
    enum Failure: Error, Equatable { case blank(String), notADate(String), notANumber(String) }

    let cells: [String: String]
    let language: String

    /// The text of a device.
    func text(_ nodes: [TemplateNode]) throws(Failure) -> String {
        var text = ""
        for node in nodes {
            switch node {
            case .text(let constant): text += constant
            case .output(let output): text += try self.text(output)
            case .choice(let branches):
                for branch in branches where branch.condition.map(holds) ?? true {
                    text += try self.text(branch.body)
                    break
                }
            }
        }
        return text
    }

    private func cell(_ column: SourceText) -> String { cells[column.value] ?? "" }

    private func isMissing(_ text: String) -> Bool {
        let isSign = [
            "-", "--", "---", "–", "—", "\\N", "N/A", "n/a", "#N/A", "NULL", "null", "(null)", "(NULL)", "[null]",
            "[NULL]", "<null>",
            "<NULL>",
            "NaN", "nan", "None", "undefined", "#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!",
            "#NV", "#N/D", "#N/V", "#YOK", "#WERT!", "#BEZUG!", "#ZAHL!", "#VALEUR!", "#NOMBRE!", "#NOM?", "#VALORE!",
            "#RIF!", "#NOME?",
            "#VALOR!",
            "#¡VALOR!", "#¡NUM!", "#¡REF!", "#¿NOMBRE?",
        ].contains(trimmed(text))
        return isSign || text.unicodeScalars.allSatisfy(Blank.isInvisible)
    }

    private func text(_ output: TemplateOutput) throws(Failure) -> String {
        let column = output.column.value
        var text: String? = isMissing(cell(output.column)) ? nil : cell(output.column)
        for filter in output.filters {
            guard let old = text else {
                if case .fallback(let fallback) = filter { text = fallback }
                continue
            }
            if old.isEmpty { continue }
            switch filter {
            case .fallback: break
            case .upcase: text = upper(old)
            case .downcase: text = lower(old, old.startIndex)
            case .capitalize: text = capitalized(old)
            case .strip: text = stripped(old)
            case .truncate(let length, let ellipsis):
                if old.count > length { text = String(old.prefix(length - ellipsis.count)) + ellipsis }
            case .date(let style):
                guard let moment = moment(old) else { throw .notADate(column) }
                text = date(moment, style)
            case .number(let decimals):
                guard let number = ReferenceNumber(old) else { throw .notANumber(column) }
                text = write(number, decimals)
            case .pluralizePair(let one, let other):
                guard let number = ReferenceNumber(old) else { throw .notANumber(column) }
                text = number.whole == "1" && number.fraction.isEmpty ? one : other
            case .pluralize(let forms):
                guard let number = ReferenceNumber(old) else { throw .notANumber(column) }
                text = forms[form(number, forms)] ?? forms[.other]
            }
        }
        guard let text else { throw .blank(column) }
        return text
    }

    // MARK: - Conditions

    private func holds(_ condition: TemplateCondition) -> Bool {
        guard let connector = condition.connectors.first else { return holds(condition.tests[0]) }
        let rest = TemplateCondition(
            tests: Array(condition.tests.dropFirst()), connectors: Array(condition.connectors.dropFirst()))
        return connector == .and ? holds(condition.tests[0]) && holds(rest) : holds(condition.tests[0]) || holds(rest)
    }

    private func holds(_ test: TemplateTest) -> Bool {
        let cell = trimmed(cell(test.column))
        if isMissing(self.cell(test.column)) {
            switch test.kind {
            case .blank: return true
            case .truthy, .present, .contains: return false
            case .text(let comparison, _), .number(let comparison, _), .truth(let comparison, _):
                return comparison == .notEqual
            }
        }
        switch test.kind {
        case .blank: return false
        case .present: return true
        case .truthy:
            return !(cell.hasPrefix("0") && cell.allSatisfy { "0.,".contains($0) }) && cell.lowercased() != "false"
        case .contains(let part): return Array(cell.utf8).contains(Array(part.utf8))
        case .text(let comparison, let text)
        where test.column.value == "language" && (comparison == .equal || comparison == .notEqual)
            && LanguageTag.normalized(trimmedAll(text)) != nil:
            let tag = String(cell.lowercased().map { $0 == "_" ? "-" : $0 }),
                language = LanguageTag.normalized(trimmedAll(text)) ?? ""
            return (tag == language || ["-", ".", "@"].contains { tag.hasPrefix(language + $0) })
                == (comparison == .equal)
        case .text(.equal, let text): return isSame(cell, trimmedAll(text), test.column.value)
        case .text(.notEqual, let text): return !isSame(cell, trimmedAll(text), test.column.value)
        case .text(let comparison, let text):
            let value = ComparisonValue(trimmedAll(text), column: test.column.value)
            return comparison.holds(Array(cell.utf8).withUnsafeBufferPointer { value.order(of: $0) })
        case .number(let comparison, let text) where test.column.value.lowercased().contains("version"):
            let value = ComparisonValue(text, column: test.column.value)
            return comparison.holds(Array(cell.utf8).withUnsafeBufferPointer { value.order(of: $0) })
        case .number(let comparison, let text):
            guard let left = ReferenceNumber(cell), let right = ReferenceNumber(text) else {
                return comparison == .notEqual
            }
            return comparison.holds(left.compare(right))
        case .truth(let comparison, let truth):
            let words = truth ? ["true", "1", "yes", "y", "t", "on"] : ["false", "0", "no", "n", "f", "off"]
            return words.contains { Array($0.utf8) == Array(cell.utf8).map { $0 | 0x20 } } == (comparison == .equal)
        }
    }

    /// Numbers, versions and dates may be written in other ways, except codes and telephone
    /// numbers.
    private func isSame(_ cell: String, _ text: String, _ column: String) -> Bool {
        if Array(cell.utf8) == Array(text.utf8) { return true }
        let value = ComparisonValue(text, column: column)
        func isCode(_ text: String) -> Bool {
            text.hasPrefix("+") || text.hasPrefix("0") && !text.hasPrefix("0.") && text.utf8.count > 1
        }
        if value.kind == .text || value.kind == .number && (isCode(text) || isCode(cell)) { return false }
        return Array(cell.utf8).withUnsafeBufferPointer { value.order(of: $0) } == 0
    }

    private func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars.drop { $0.value <= 0x20 }.reversed().drop { $0.value <= 0x20 }.reversed()
        return String(String.UnicodeScalarView(scalars))
    }

    private func trimmedAll(_ text: String) -> String {
        String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    // MARK: - Letters

    private var tag: String { language.lowercased() }
    private var languagePart: String { String(tag.prefix { $0 != "-" && $0 != "_" }) }
    private var isTurkic: Bool { languagePart == "tr" || languagePart == "az" }

    private func upper(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if isTurkic, scalar == "i" {
                result += "İ"
            } else if languagePart == "el", scalar == "\u{301}" {
                continue
            } else if languagePart == "el", let index = Array("άέήίόύώΐΰΆΈΉΊΌΎΏ".unicodeScalars).firstIndex(of: scalar)
            {
                result.unicodeScalars.append(Array("ΑΕΗΙΟΥΩΪΫΑΕΗΙΟΥΩ".unicodeScalars)[index])
            } else {
                result += scalar.properties.uppercaseMapping
            }
        }
        return result
    }

    /// The text before `start` is examined but left out.
    private func lower(_ text: String, _ start: String.Index) -> String {
        let scalars = Array(text.unicodeScalars)
        let first = text.unicodeScalars.distance(from: text.startIndex, to: start)
        var result = ""
        var index = first
        while index < scalars.count {
            let scalar = scalars[index]
            if scalar == "Σ" {
                let before = scalars[..<index].last { !isPassedOver($0) }.map(\.properties.isCased) ?? false
                let after = scalars[(index + 1)...].first { !isPassedOver($0) }.map(\.properties.isCased) ?? false
                result += before && !after ? "ς" : "σ"
            } else if isTurkic, scalar == "I" {
                let isDotted = index + 1 < scalars.count && scalars[index + 1] == "\u{307}"
                result += isDotted ? "i" : "ı"
                if isDotted { index += 1 }
            } else if isTurkic, scalar == "İ" {
                result += "i"
            } else {
                result += scalar.properties.lowercaseMapping
            }
            index += 1
        }
        return result
    }

    /// Marks between letters, unless they are letters themselves.
    private func isPassedOver(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isCased && scalar.properties.isCaseIgnorable
    }

    private func capitalized(_ text: String) -> String {
        guard let first = text.unicodeScalars.first else { return "" }
        var rest = text.unicodeScalars.index(after: text.startIndex)
        if languagePart == "nl", first == "i" || first == "I", rest < text.endIndex,
            "jJ".unicodeScalars.contains(text.unicodeScalars[rest])
        {
            rest = text.unicodeScalars.index(after: rest)
            return "IJ" + lower(text, rest)
        }
        if isTurkic, first == "i" { return "İ" + lower(text, rest) }
        return first.properties.titlecaseMapping + lower(text, rest)
    }

    private func stripped(_ text: String) -> String {
        func isSpace(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value <= 0x20 || scalar.value == 0x7F || scalar.value == 0x200B || scalar.value == 0xFEFF
                || !scalar.isASCII && scalar.properties.isWhitespace
        }
        let scalars = text.unicodeScalars.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(String.UnicodeScalarView(scalars))
    }

    // MARK: - Languages

    private var tables: LanguageTables { LanguageTables.shared }

    /// The index of the longest known beginning of the tag, otherwise English.
    private var table: Int {
        var tag = language
        return tag.withUTF8 { tables.find($0) } ?? tables.fallback
    }

    private func string(_ range: TextRange) -> String {
        String(decoding: tables.pool[Int(range.start)..<Int(range.end)], as: UTF8.self)
    }

    private func form(_ number: ReferenceNumber, _ forms: [PluralForm: String]) -> PluralForm {
        let written = Set(forms.keys)
        let rule = tables.languages[table].pluralRule
        let isOfLanguage =
            written.isSubset(of: PluralOperands.allForms[rule])
            && (!written.isSubset(of: [.one, .other]) || Set(PluralOperands.usualForms[rule]).isSubset(of: written))
        return number.operands.form(isOfLanguage ? rule : tables.languages[tables.fallback].pluralRule)
    }

    private func digits(_ text: String) -> String {
        let zero = tables.languages[table].zero
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { ("0"..."9").contains($0) ? Unicode.Scalar(zero + $0.value - 0x30) ?? $0 : $0 }
            ))
    }

    private func write(_ number: ReferenceNumber, _ decimals: Int?) -> String {
        let language = tables.languages[table]
        let rounded = number.rounded(to: decimals ?? min(3, number.fraction.count))
        var fraction = rounded.fraction
        if decimals == nil { while fraction.last == "0" { fraction.removeLast() } }
        var groups: [String] = []
        var rest = rounded.whole
        if rest.count >= language.primaryGroup + language.minimumGrouping {
            groups = [String(rest.suffix(language.primaryGroup))]
            rest = String(rest.dropLast(language.primaryGroup))
            while rest.count > language.secondaryGroup {
                groups.insert(String(rest.suffix(language.secondaryGroup)), at: 0)
                rest = String(rest.dropLast(language.secondaryGroup))
            }
        }
        var text = ([rest] + groups).map(digits).joined(separator: string(language.group))
        if !fraction.isEmpty { text += string(language.decimal) + digits(fraction) }
        let isZero = (rounded.whole + fraction).allSatisfy { $0 == "0" }
        return number.isNegative && !isZero ? string(language.minus) + text : text
    }

    // MARK: - Dates

    private func moment(_ text: String) -> (date: Timestamp, second: Int)? {
        let trimmed = trimmed(text)
        guard Timestamp(trimmed) != nil else { return nil }
        // The time as written: without the offset it is the same in UTC.
        let scalars = Array(trimmed.unicodeScalars)
        guard scalars.count > 10, scalars[4] == "-" else {
            return Timestamp(trimmed).map { ($0, Int($0.epochSeconds % 60 + 60) % 60) }
        }
        let isLong = scalars.count > 16 && scalars[16] == ":"
        let time = String(String.UnicodeScalarView(scalars[..<(isLong ? 19 : 16)]))
        return Timestamp(time.replacing(" ", with: "T")).map { ($0, isLong ? Int(time.suffix(2)) ?? 0 : 0) }
    }

    private func date(_ moment: (date: Timestamp, second: Int), _ style: DateStyle) -> String {
        let language = tables.languages[table]
        // A leap second is written unchanged.
        let text = (moment.second == 60 ? moment.date.adding(seconds: -1) : moment.date).description
        func number(_ start: Int, _ count: Int) -> Int { Int(text.dropFirst(start).prefix(count)) ?? 0 }
        let (year, month, day, hour, minute) = (number(0, 4), number(5, 2), number(8, 2), number(11, 2), number(14, 2))
        let weekday = ((daysFromCivil(year: year, month: month, day: day) + 4) % 7 + 7) % 7
        let dayOfYear =
            daysFromCivil(year: year, month: month, day: day) - daysFromCivil(year: year, month: 1, day: 1) + 1
        func name(_ kind: LanguageNames, _ index: Int) -> String {
            string(tables.names[table * LanguageTable.nameCount + kind.start + index])
        }
        func padded(_ number: Int, _ padding: DatePart.Padding, _ width: Int = 2) -> String {
            let digits = String(number)
            let missing = padding == .none ? 0 : max(0, (padding == .space ? 2 : width) - digits.count)
            return String(repeating: padding == .space ? " " : "0", count: missing) + digits
        }
        switch style {
        case .named(let named):
            let range = language.style(named)
            return tables.dateParts[Int(range.start)..<Int(range.end)].map { part in
                switch part.kind {
                case .pooled: string(part.text)
                case .year: digits(padded(year, part.padding, 4))
                case .shortYear: digits(padded(year % 100, .zero))
                case .month: digits(padded(month, part.padding))
                case .day: digits(padded(day, part.padding))
                case .monthName: name(part.names, month - 1)
                case .weekdayName: name(part.names, weekday)
                case .era: string(language.era)
                default: "?"
                }
            }.joined()
        case .directives(let parts):
            let hasDay = parts.contains { if case .day = $0 { true } else { false } }
            var isCapital = false
            return parts.map { part in
                defer { if part != .capitals, part.isName { isCapital = false } }
                func named(_ text: String) -> String { isCapital ? upper(text) : text }
                switch part {
                case .text(let text): return text
                case .year: return padded(year, .none)
                case .shortYear: return padded(year % 100, .zero)
                case .month(let padding): return padded(month, padding)
                case .day(let padding): return padded(day, padding)
                case .hour(let padding): return padded(hour, padding)
                case .hour12(let padding): return padded(hour % 12 == 0 ? 12 : hour % 12, padding)
                case .minute(let padding): return padded(minute, padding)
                case .second(let padding): return padded(moment.second, padding)
                case .dayOfYear(let padding): return padding == .zero ? padded(dayOfYear, .zero, 3) : String(dayOfYear)
                case .monthName: return named(name(hasDay ? .months : .monthsAlone, month - 1))
                case .shortMonthName: return named(name(hasDay ? .shortMonths : .shortMonthsAlone, month - 1))
                case .weekday: return named(name(hasDay ? .weekdays : .weekdaysAlone, weekday))
                case .shortWeekday: return named(name(hasDay ? .shortWeekdays : .shortWeekdaysAlone, weekday))
                case .dayPeriod: return named(string(hour < 12 ? language.am : language.pm))
                case .capitals:
                    isCapital = true
                    return ""
                }
            }.joined()
        }
    }
}

extension DatePart {
    fileprivate var isName: Bool {
        switch self {
        case .monthName, .shortMonthName, .weekday, .shortWeekday, .dayPeriod: true
        default: false
        }
    }
}

/// A number as strings of digits.
struct ReferenceNumber {
    var isNegative: Bool
    /// Without zeros at the beginning; `0` for none.
    var whole: String
    /// Without zeros at the end.
    var fraction: String

    init?(_ text: String) {
        var rest = text[...]
        while let first = rest.unicodeScalars.first, first.value == 0x20 || (0x09...0x0D).contains(first.value) {
            rest = Substring(rest.unicodeScalars.dropFirst())
        }
        while let last = rest.unicodeScalars.last, last.value == 0x20 || (0x09...0x0D).contains(last.value) {
            rest = Substring(rest.unicodeScalars.dropLast())
        }
        let isMinus = rest.unicodeScalars.first == "-"
        if isMinus || rest.unicodeScalars.first == "+" { rest = Substring(rest.unicodeScalars.dropFirst()) }
        let parts = rest.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { ("0"..."9").contains($0) } }) else {
            return nil
        }
        whole = String(String(parts[0]).drop { $0 == "0" })
        if whole.isEmpty { whole = "0" }
        fraction = parts.count > 1 ? String(parts[1]) : ""
        while fraction.last == "0" { fraction.removeLast() }
        isNegative = isMinus && !(whole == "0" && fraction.isEmpty)
    }

    func compare(_ other: ReferenceNumber) -> Int {
        if isNegative != other.isNegative { return isNegative ? -1 : 1 }
        let (left, right) = (aligned(with: other), other.aligned(with: self))
        let order = left == right ? 0 : left < right ? -1 : 1
        return isNegative ? -order : order
    }

    /// The digits of both, padded with zeros to the same length, so that text order is their order.
    private func aligned(with other: ReferenceNumber) -> String {
        String(repeating: "0", count: max(0, other.whole.count - whole.count)) + whole + "." + fraction
            + String(repeating: "0", count: max(0, other.fraction.count - fraction.count))
    }

    /// Half up, away from zero.
    func rounded(to decimals: Int) -> (whole: String, fraction: String) {
        let padded = fraction + String(repeating: "0", count: max(0, decimals + 1 - fraction.count))
        var digits = (whole + padded.prefix(decimals)).map { Int(String($0)) ?? 0 }
        if let next = padded.dropFirst(decimals).first, next >= "5" {
            var index = digits.count - 1
            while index >= 0, digits[index] == 9 {
                digits[index] = 0
                index -= 1
            }
            if index >= 0 { digits[index] += 1 } else { digits.insert(1, at: 0) }
        }
        let text = digits.map(String.init).joined()
        return (String(text.dropLast(decimals)), String(text.suffix(decimals)))
    }

    var operands: PluralOperands {
        let tail = UInt64(String(whole.suffix(18))) ?? 0
        return PluralOperands(
            i: whole.count > 18 ? tail + 1_000_000_000_000_000_000 : tail, f: UInt64(fraction.prefix(18)) ?? 0,
            v: min(18, fraction.count))
    }
}
