import Base

/// A condition of `where`, prepared for evaluating every row.
struct ConditionTest {
    /// The result of a condition for a cell.
    enum Answer {
        case yes, no
        /// The cell cannot be what the condition compares.
        case unreadable
        /// The same for `!=`, which is then true.
        case unlike

        /// Whether the condition is met.
        var holds: Bool { self == .yes || self == .unlike }
    }

    private let test: ColumnTest
    /// The right sides of `oneOf`, and the right side of `==` and `!=` where it is a language or
    /// true or false.
    private let values: [Value]
    /// The right side of a comparison.
    private let compared: ComparisonValue?
    private let now: Int64
    /// Languages include the tags of their regions and scripts.
    private let isLanguage: Bool
    private let speaks: LanguageAnswers
    /// Whether cells are compared as numbers.
    let comparesNumbers: Bool

    /// A value that a cell may have.
    private struct Value {
        var bytes: [UInt8]
        /// The truth value; nil for other values.
        var truth: Bool?
        /// A number, version or date, which cells may write differently; nil for other values.
        var comparable: ComparisonValue?
    }

    /// - Parameter isLanguage: whether the column holds the devices' languages.
    init(_ condition: ColumnCondition, now: Timestamp, isLanguage: Bool) {
        test = condition.test
        self.now = now.epochMilliseconds
        var texts: [String] = []
        switch test {
        case .oneOf(let list): texts = list.map(trimmedText)
        case .comparison(.equal, let text), .comparison(.notEqual, let text):
            texts = isLanguage || Self.isTruth(trimmedText(text)) ? [trimmedText(text)] : []
        default: break
        }
        let column = condition.column.value
        values = texts.map { text in
            let bytes = Array(text.utf8)
            let truth = Self.isTruth(text) ? bytes.withUnsafeBufferPointer(truthValue) : nil
            return Value(
                bytes: bytes, truth: truth,
                comparable: truth == nil && !isLanguage ? Self.comparable(text, column: column) : nil)
        }
        self.isLanguage = isLanguage && !texts.isEmpty
        speaks = LanguageAnswers(texts)
        if case .comparison(_, let text) = test {
            compared = ComparisonValue(trimmedText(text), column: column)
        } else {
            compared = nil
        }
        comparesNumbers = compared?.kind == .number || values.contains { $0.comparable?.kind == .number }
    }

    private static func isTruth(_ text: String) -> Bool { ["true", "false"].contains(text.lowercased()) }

    /// A plain value that cells may write differently.
    private static func comparable(_ text: String, column: String) -> ComparisonValue? {
        let value = ComparisonValue(text, column: column)
        return value.hasOtherForms ? value : nil
    }

    /// The condition's result for a cell. A blank cell satisfies only `missing`.
    /// - Parameter value: set to the number of the list's value that matches, and to 1 where the
    ///   cell is what `!=` compares with.
    func answer(_ cell: UnsafeBufferPointer<UInt8>, value: inout Int) -> Answer {
        if Blank.isCell(cell) { return test == .missing ? .yes : .no }
        switch test {
        case .present: return .yes
        case .missing: return .no
        case .within(let seconds):
            guard let age = age(cell), age >= -ActivityMoment.grace else { return .unreadable }
            return age <= Int64(seconds) * 1000 ? .yes : .no
        case .olderThan(let seconds):
            guard let age = age(cell), !Self.saysNever(cell) else { return .unreadable }
            return age > Int64(seconds) * 1000 ? .yes : .no
        case .oneOf: return find(cell, value: &value)
        case .comparison(let comparison, _):
            if !values.isEmpty {
                let answer = find(cell, value: &value)
                guard comparison == .notEqual, answer != .unreadable else { return answer }
                value = answer == .yes ? 1 : 0
                return answer == .yes ? .no : .yes
            }
            guard let order = compared?.order(of: cell) else { return comparison == .notEqual ? .unlike : .unreadable }
            if comparison == .notEqual, order == 0 { value = 1 }
            return comparison.holds(order) ? .yes : .no
        }
    }

    private func find(_ cell: UnsafeBufferPointer<UInt8>, value: inout Int) -> Answer {
        if isLanguage { return speaks.answer(cell, value: &value) }
        var isUnreadable = false
        for (number, wanted) in values.enumerated() {
            if let truth = wanted.truth {
                let said = truthValue(of: cell)
                if said == nil { isUnreadable = true }
                guard said == truth else { continue }
            } else if wanted.bytes.count != cell.count || !wanted.bytes.elementsEqual(cell) {
                guard let comparable = wanted.comparable, comparable.isEqual(to: cell) else { continue }
            }
            value = number
            return .yes
        }
        return isUnreadable ? .unreadable : .no
    }

    /// What cells must be to be compared, for people; nil where every cell can be.
    var kindInWords: String? {
        switch test {
        case .within, .olderThan: "a date"
        case .comparison where isLanguage: "a language"
        case .comparison where !values.isEmpty: "true or false"
        case .comparison:
            switch compared?.kind {
            case .number: "a number"
            case .version: "a version"
            case .date: "a date"
            case .text, nil: nil
            }
        case .oneOf: isLanguage ? "a language" : values.contains { $0.truth != nil } ? "true or false" : nil
        case .present, .missing: nil
        }
    }

    /// Whether a date is one that programs write where they have none: the beginning of their
    /// calendars.
    static func saysNever(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let moment = dateMilliseconds(cell) else { return false }
        return neverDates.contains(moment)
    }

    /// 1970-01-01, 1900-01-01 and 0001-01-01.
    private static let neverDates: [Int64] = [0, -2_208_988_800_000, -62_135_596_800_000]

    /// Milliseconds since the cell's moment; nil when it is not a date. A date without a time
    /// counts in whole days: what is exactly 30 days back is within 30 days until midnight.
    private func age(_ cell: UnsafeBufferPointer<UInt8>) -> Int64? {
        let day: Int64 = 86_400_000
        return dateMilliseconds(cell).map { (isDayOnly(cell) ? now / day * day : now) - $0 }
    }
}

/// Which of some languages a device's tag matches, by the rules for texts: `en` for `en-US` and
/// `en_GB`. One for each thread.
private final class LanguageAnswers {
    /// By number; a text that is not a tag counts as written.
    private let languages: [String]
    /// For the tags seen so far, as in the cells: the number of the language, -1 for no match, -2
    /// for a text that is not a tag.
    private var numbers: [(tag: [UInt8], number: Int)] = []

    /// A column that holds something else entirely must not make it slow.
    private static let mostTags = 64

    init(_ texts: [String]) { languages = texts.map { LanguageTag.normalized($0) ?? $0.lowercased() } }

    func answer(_ cell: UnsafeBufferPointer<UInt8>, value: inout Int) -> ConditionTest.Answer {
        let number = number(of: cell)
        if number >= 0 { value = number }
        return number >= 0 ? .yes : number == -1 ? .no : .unreadable
    }

    private func number(of cell: UnsafeBufferPointer<UInt8>) -> Int {
        for known in numbers where known.tag.count == cell.count && known.tag.elementsEqual(cell) {
            return known.number
        }
        let text = String(decoding: cell, as: UTF8.self)
        let chain = LanguageTag.fallbacks(of: text)
        let number =
            (chain.isEmpty ? [text.lowercased()] : chain).lazy.compactMap { self.languages.firstIndex(of: $0) }.first
            ?? (chain.isEmpty ? -2 : -1)
        if numbers.count < Self.mostTags { numbers.append((Array(cell), number)) }
        return number
    }
}
