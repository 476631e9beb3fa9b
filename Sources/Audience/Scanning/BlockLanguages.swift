import Base

/// The languages of a block, numbered.
struct BlockLanguages: ~Copyable {
    /// For languages of up to eight bytes, the bytes themselves and the number; -1 for those
    /// without a number.
    private let words: UnsafeMutablePointer<UInt64>
    private let numbers: UnsafeMutablePointer<Int32>
    private var longOnes: [String: Int32] = [:]
    private var count = 0

    private static let mask = 255

    init() {
        words = .allocate(capacity: Self.mask + 1)
        numbers = .allocate(capacity: Self.mask + 1)
        words.initialize(repeating: 0, count: Self.mask + 1)
        numbers.initialize(repeating: -1, count: Self.mask + 1)
    }

    deinit {
        words.deallocate()
        numbers.deallocate()
    }

    mutating func clear() {
        numbers.update(repeating: -1, count: Self.mask + 1)
        longOnes.removeAll(keepingCapacity: true)
        count = 0
    }

    @inline(__always) mutating func number(of language: UnsafeBufferPointer<UInt8>, names: inout [String]) -> Int32 {
        guard language.count <= 8, count < Self.mask / 2 else { return numberOfLong(language, names: &names) }
        var word: UInt64 = 0
        for byte in language { word = word << 8 | UInt64(byte) }
        var place = Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 50) & Self.mask
        while numbers[place] >= 0 {
            if words[place] == word { return numbers[place] }
            place = (place + 1) & Self.mask
        }
        (words[place], numbers[place]) = (word, Int32(names.count))
        count += 1
        names.append(Blank.isCell(language) ? "" : String(decoding: language, as: UTF8.self))
        return numbers[place]
    }

    private mutating func numberOfLong(_ language: UnsafeBufferPointer<UInt8>, names: inout [String]) -> Int32 {
        // The column holds something else.
        let name =
            language.count > LanguageTag.longestTag ? LanguageNames.other : String(decoding: language, as: UTF8.self)
        if let number = longOnes[name] { return number }
        longOnes[name] = Int32(names.count)
        names.append(name)
        return Int32(names.count - 1)
    }
}

/// Distinct languages, numbered.
struct LanguageNames {
    private var numbers: [String: Int] = [:]
    private(set) var names: [String] = []

    /// A column that holds something else entirely must not fill the memory.
    private static let limit = 10_000
    /// The name for languages beyond the limit, and for cells that are not a language.
    static let other = "other"

    /// The number of a language.
    mutating func number(of language: String) -> Int {
        if let number = numbers[language] { return number }
        guard names.count < Self.limit else {
            if names.count == Self.limit { names.append(Self.other) }
            return Self.limit
        }
        numbers[language] = names.count
        names.append(language)
        return names.count - 1
    }
}
