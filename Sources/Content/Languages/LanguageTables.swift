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
