/// A range of bytes in a buffer.
struct TextRange: BitwiseCopyable, Hashable {
    var start: UInt32
    var end: UInt32

    static let empty = TextRange(start: 0, end: 0)
}

extension UnsafeBufferPointer<UInt8> {
    @inline(__always) subscript(range: TextRange) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: self[Int(range.start)..<Int(range.end)])
    }
}

/// Months, weekdays, marks and plural rules of all supported languages: made once from
/// `LanguageData`, then only read, by all threads.
///
/// Taken from CLDR when Volley is built, not from the system: what is sent must be what the plan
/// measured, on any machine.
final class LanguageTables: Sendable {
    /// All languages. Made when the first template needs it, in about a millisecond.
    static let shared = LanguageTables()

    let languages: [LanguageTable]
    /// The names of months and weekdays in all languages, `LanguageTable.nameCount` each.
    let names: [TextRange]
    /// What the tables' `TextRange`s refer to.
    let pool: [UInt8]
    /// The date patterns of all languages.
    let dateParts: [CompiledDatePart]
    /// Sorted by key.
    private let keys: [LanguageKey]
    /// The language of each key.
    private let numbers: [UInt16]
    /// For devices without a language, or with an unknown one.
    let fallback: Int

    private init() {
        var reader = LanguageDataReader()
        reader.read()
        languages = reader.languages
        names = reader.names
        pool = reader.pool
        dateParts = reader.dateParts
        let index = reader.index.sorted { $0.key < $1.key }
        keys = index.map(\.key)
        numbers = index.map { UInt16($0.value) }
        fallback = reader.index[LanguageKey("en")] ?? 0
    }

    /// The table of a language tag, or of the nearest one above it: zh-Hans-CN, then zh-Hans, then
    /// zh. In any case, with `-` or `_`.
    /// - Returns: nil if no part of it is known.
    func find(_ tag: UnsafeBufferPointer<UInt8>) -> Int? {
        var key = LanguageKey()
        var found: Int?
        for byte in tag {
            if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") {
                guard let number = lookUp(key) else { return found }
                found = number
                key.append(UInt8(ascii: "-"))
            } else {
                guard key.count < LanguageKey.capacity else { return found }
                key.append(byte)
            }
        }
        return lookUp(key) ?? found
    }

    /// The number of a known tag.
    private func lookUp(_ key: LanguageKey) -> Int? {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? Int(numbers[low]) : nil
    }

    /// Whether any part of a tag is known.
    func knows(_ tag: String) -> Bool {
        var tag = tag
        return tag.withUTF8 { find($0) } != nil
    }
}

/// A language tag of at most 15 bytes as a number, in lower-case letters.
struct LanguageKey: Hashable, Comparable {
    static let capacity = 15
    private var bits: UInt128 = 0

    init() {}

    init(_ tag: String) {
        for byte in tag.utf8.prefix(Self.capacity) { append(byte) }
    }

    var count: Int { (128 - bits.leadingZeroBitCount + 7) / 8 }

    @inline(__always) mutating func append(_ byte: UInt8) {
        bits = bits << 8 | UInt128(byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte)
    }

    static func < (left: LanguageKey, right: LanguageKey) -> Bool { left.bits < right.bits }
}

/// What rendering needs of a language. Ranges are in the tables' pool.
struct LanguageTable: BitwiseCopyable {
    /// How letters change their case, if this differs from most languages.
    enum Casing: UInt8 { case common, turkic, greek, dutch }

    var casing = Casing.common
    /// A rule of `PluralOperands`.
    var pluralRule = 0
    var decimal = TextRange.empty, group = TextRange.empty, minus = TextRange.empty, era = TextRange.empty
    /// Digits of the last group, and of those before it.
    var primaryGroup = 3, secondaryGroup = 3
    /// How many digits must come before the last group for digits to be grouped.
    var minimumGrouping = 1
    /// The digit 0.
    var zero: UInt32 = 0x30
    var am = TextRange.empty, pm = TextRange.empty
    /// The four named styles, as ranges in the tables' `dateParts`.
    var short = TextRange.empty, medium = TextRange.empty, long = TextRange.empty, full = TextRange.empty

    /// Twelve months in four ways, seven weekdays in four.
    static let nameCount = 76

    /// The parts of a named style.
    func style(_ style: NamedDateStyle) -> TextRange {
        switch style {
        case .short: short
        case .medium: medium
        case .long: long
        case .full: full
        }
    }
}

/// Kinds of names of months and weekdays; the raw value is where each kind begins among a
/// language's names.
enum LanguageNames: UInt8 {
    case months, monthsAlone, shortMonths, shortMonthsAlone, weekdays, weekdaysAlone, shortWeekdays, shortWeekdaysAlone

    var start: Int { rawValue < 4 ? Int(rawValue) * 12 : 48 + (Int(rawValue) - 4) * 7 }
    var count: Int { rawValue < 4 ? 12 : 7 }
}

/// Makes tables from `LanguageData`. The data is Volley's own, so a mistake in it is a crash in the
/// first test.
struct LanguageDataReader {
    private(set) var languages: [LanguageTable] = []
    private(set) var names: [TextRange] = []
    private(set) var pool: [UInt8]
    private(set) var dateParts: [CompiledDatePart] = []
    private(set) var index: [LanguageKey: Int] = [:]
    /// The lines of each language, by its number.
    private var lines: [[TextRange]] = []

    private static let linesOfLanguage = 11

    init() {
        pool =
            LanguageData.text.withUTF8Buffer { Array($0) } + [UInt8(ascii: "\n")]
            + LanguageData.variants.withUTF8Buffer { Array($0) }
    }

    mutating func read() {
        let end = UInt32(LanguageData.text.utf8CodeUnitCount)
        let all = split(TextRange(start: 0, end: end), at: UInt8(ascii: "\n"))
        precondition(all.count % Self.linesOfLanguage == 0, "a line of a language is missing")
        for first in stride(from: 0, to: all.count, by: Self.linesOfLanguage) {
            readLanguage(Array(all[first..<first + Self.linesOfLanguage]))
        }
        readVariants(TextRange(start: end + 1, end: UInt32(pool.count)))
        for alias in text(LanguageData.aliases).split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            let pair = alias.split(separator: "=")
            guard let language = index[LanguageKey(String(pair[1]))] else {
                preconditionFailure("\(alias) leads nowhere")
            }
            index[LanguageKey(String(pair[0]))] = language
        }
    }

    /// Each begins with a head, `es-AR<es-419|…`, and has the lines of the language after `<`,
    /// except those listed below it: `10:a.m.|p.m.`.
    private mutating func readVariants(_ range: TextRange) {
        var variant: [TextRange] = []
        for line in split(range, at: UInt8(ascii: "\n")) {
            let head = text(split(line, at: UInt8(ascii: "|"))[0]).split(separator: "<")
            if head.count == 2 {
                if !variant.isEmpty { readLanguage(variant) }
                guard let base = index[LanguageKey(String(head[1]))] else {
                    preconditionFailure("\(head) leads nowhere")
                }
                variant = [line] + lines[base].dropFirst()
            } else {
                let colon = pool[Int(line.start)...].firstIndex(of: UInt8(ascii: ":")) ?? 0
                variant[number(TextRange(start: line.start, end: UInt32(colon)))] = TextRange(
                    start: UInt32(colon) + 1, end: line.end)
            }
        }
        readLanguage(variant)
    }

    private mutating func readLanguage(_ lines: [TextRange]) {
        let fields = split(lines[0], at: UInt8(ascii: "|"))
        let tag = String(text(fields[0]).prefix { $0 != "<" })
        var table = LanguageTable()
        table.pluralRule = number(fields[1])
        (table.decimal, table.group, table.minus) = (fields[2], fields[3], fields[4])
        (table.primaryGroup, table.secondaryGroup, table.minimumGrouping) = (
            number(fields[5]), number(fields[6]), number(fields[7])
        )
        table.zero = text(fields[8]).unicodeScalars.first?.value ?? 0x30
        table.era = fields[9]
        let styles = split(lines[1], at: UInt8(ascii: "|")).map { readPattern($0) }
        (table.short, table.medium, table.long, table.full) = (styles[0], styles[1], styles[2], styles[3])
        for line in stride(from: 2, to: 10, by: 2) {
            let written = split(lines[line], at: UInt8(ascii: "|"))
            let alone =
                lines[line + 1].start == lines[line + 1].end ? written : split(lines[line + 1], at: UInt8(ascii: "|"))
            names += written + alone
        }
        let periods = split(lines[10], at: UInt8(ascii: "|"))
        (table.am, table.pm) = (periods[0], periods[1])
        table.casing =
            switch tag.prefix(2) {
            case "tr", "az": .turkic
            case "el": .greek
            case "nl": .dutch
            default: .common
            }
        index[LanguageKey(tag)] = languages.count
        languages.append(table)
        self.lines.append(lines)
        precondition(names.count == languages.count * LanguageTable.nameCount, "\(tag) lacks a name")
    }

    /// Reads a pattern such as `d. MMMM y`. Source: UTS #35 part 4, "Date Format Patterns".
    private mutating func readPattern(_ range: TextRange) -> TextRange {
        let start = UInt32(dateParts.count)
        var index = range.start
        var isQuoted = false
        while index < range.end {
            let byte = pool[Int(index)]
            var end = index + 1
            if byte == UInt8(ascii: "'") {
                isQuoted.toggle()
            } else if !isQuoted, byte | 0x20 >= UInt8(ascii: "a"), byte | 0x20 <= UInt8(ascii: "z") {
                while end < range.end, pool[Int(end)] == byte { end += 1 }
                dateParts.append(CompiledDatePart(letter: byte, count: Int(end - index)))
            } else {
                dateParts.append(CompiledDatePart(.pooled, TextRange(start: index, end: end)))
                mergeTexts()
            }
            index = end
        }
        return TextRange(start: start, end: UInt32(dateParts.count))
    }

    private mutating func mergeTexts() {
        guard dateParts.count > 1 else { return }
        let (left, right) = (dateParts[dateParts.count - 2], dateParts[dateParts.count - 1])
        guard left.kind == .pooled, left.text.end == right.text.start, left.text.end > left.text.start else { return }
        dateParts.removeLast(2)
        dateParts.append(CompiledDatePart(.pooled, TextRange(start: left.text.start, end: right.text.end)))
    }

    // MARK: - Text

    private func split(_ range: TextRange, at separator: UInt8) -> [TextRange] {
        var (parts, start): ([TextRange], UInt32) = ([], range.start)
        for index in range.start..<range.end where pool[Int(index)] == separator {
            parts.append(TextRange(start: start, end: index))
            start = index + 1
        }
        return parts + [TextRange(start: start, end: range.end)]
    }

    private func text(_ range: TextRange) -> String {
        String(decoding: pool[Int(range.start)..<Int(range.end)], as: UTF8.self)
    }

    private func text(_ text: StaticString) -> String { text.withUTF8Buffer { String(decoding: $0, as: UTF8.self) } }

    private func number(_ range: TextRange) -> Int { Int(text(range)) ?? 0 }
}

/// How numbers are written in a place.
public enum NumberMarks {
    /// Whether the decimal mark is a comma; false if the language is not known. Source: CLDR, as in
    /// `LanguageData`.
    /// - Parameter tag: a language tag, `de-DE` or `de_DE`.
    public static func hasDecimalComma(_ tag: String) -> Bool {
        let tables = LanguageTables.shared
        var tag = tag
        guard let number = tag.withUTF8({ tables.find($0) }) else { return false }
        let mark = tables.languages[number].decimal
        return tables.pool[Int(mark.start)..<Int(mark.end)].elementsEqual(",".utf8)
    }
}
