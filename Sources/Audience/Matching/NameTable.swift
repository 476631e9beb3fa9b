/// The names that a query looks for in one column, compiled once: finds a cell's text among them. A
/// few names get a table without collisions; a million are found with one look more.
///
/// `@unchecked Sendable`: nothing changes after init.
final class NameTable: @unchecked Sendable {
    /// Distinct and not blank, in the order given.
    let names: [String]
    private let entries: UnsafeMutablePointer<Entry>
    /// All names, one after the other.
    private let texts: UnsafeMutablePointer<UInt8>
    /// Number + 1; 0 is free.
    private let table: UnsafeMutablePointer<UInt32>
    private let mask: Int
    private let multiplier: UInt64
    /// How many steps finding every name takes beyond the first.
    let collisions: Int
    /// Bit n: a name begins with a byte that has n in its lower six bits. With few names, this
    /// single check rules out most texts.
    private let firstBytes: UInt64

    /// A name's first and last eight bytes (of a shorter name: all of it, and 0), its length, and
    /// its place in `texts`.
    private struct Entry {
        var first: UInt64
        var last: UInt64
        var count: Int
        var start: Int
    }

    /// Bytes that must be readable after a text that is looked up.
    static let slack = 8
    /// Up to `perfectCount` names get a table without collisions, if one is found within `tries`
    /// attempts.
    private static let perfectCount = 512, tries = 200

    init(_ lists: [[String]]) {
        // By bytes: two strings that look the same to Swift may be two names of an export.
        var seen: Set<[UInt8]> = []
        names = lists.joined().map(trimmedText).filter { !$0.isEmpty && seen.insert(Array($0.utf8)).inserted }
        let bytes = names.reduce(0) { $0 + $1.utf8.count }
        texts = .allocate(capacity: bytes + Self.slack)
        entries = .allocate(capacity: max(names.count, 1))
        var start = 0
        for (number, name) in names.enumerated() {
            let count = name.utf8.count
            _ = UnsafeMutableBufferPointer(start: texts + start, count: count).initialize(from: name.utf8)
            let (first, last) = Self.words(UnsafeBufferPointer(start: texts + start, count: count))
            (entries + number).initialize(to: Entry(first: first, last: last, count: count, start: start))
            start += count
        }
        var capacity = 16
        while capacity < names.count * (names.count <= Self.perfectCount ? 8 : 2) { capacity *= 2 }
        mask = capacity - 1
        table = .allocate(capacity: capacity)
        firstBytes = names.reduce(0) { $0 | 1 << UInt64(($1.utf8.first ?? 0) & 0x3F) }
        let filling = Filling(table: table, mask: mask, entries: entries, texts: texts, count: names.count)
        var best = (multiplier: UInt64(0), collisions: Int.max)
        for _ in 0..<(names.count <= Self.perfectCount ? Self.tries : 1) where best.collisions > 0 {
            let multiplier = UInt64.random(in: .min ... .max) | 1
            let collisions = filling.fill(multiplier: multiplier)
            if collisions < best.collisions { best = (multiplier, collisions) }
        }
        multiplier = best.multiplier
        collisions = best.collisions
        if best.collisions > 0 { _ = filling.fill(multiplier: multiplier) }
    }

    deinit {
        texts.deallocate()
        entries.deallocate()
        table.deallocate()
    }

    var isEmpty: Bool { names.isEmpty }

    /// The numbers of the lists' names; blank names have none.
    func numbers(of names: [String]) -> [Int] {
        names.compactMap { name in
            let text = Array(trimmedText(name).utf8) + [UInt8](repeating: 0, count: Self.slack)
            let number = text.withUnsafeBufferPointer { find(UnsafeBufferPointer(rebasing: $0.dropLast(Self.slack))) }
            return number < 0 ? nil : number
        }
    }

    /// The number of the name that a cell holds; -1 if it holds no name of the table.
    /// - Parameter text: `slack` bytes after it are readable.
    @inline(__always) func find(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        guard text.count > 0, firstBytes >> UInt64(text[0] & 0x3F) & 1 != 0 else { return -1 }
        let (first, last) = Self.words(text)
        var place = Self.place(text, first: first, last: last, multiplier: multiplier, mask: mask)
        while true {
            let number = Int(table[place]) - 1
            if number < 0 { return -1 }
            let entry = entries[number]
            if entry.first == first, entry.last == last, entry.count == text.count,
                text.count <= 16
                    || UnsafeBufferPointer(start: texts + entry.start, count: text.count).elementsEqual(text)
            {
                return number
            }
            place = (place + 1) & mask
        }
    }

    @inline(__always) private static func words(_ text: UnsafeBufferPointer<UInt8>) -> (first: UInt64, last: UInt64) {
        let raw = UnsafeRawBufferPointer(text)
        guard let base = raw.baseAddress else { return (0, 0) }
        let first = UInt64(littleEndian: base.loadUnaligned(as: UInt64.self))
        if text.count < 8 { return (first & (1 &<< UInt64(truncatingIfNeeded: 8 * text.count) &- 1), 0) }
        return (first, UInt64(littleEndian: base.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self)))
    }

    @inline(__always)
    private static func place(
        _ text: UnsafeBufferPointer<UInt8>, first: UInt64, last: UInt64, multiplier: UInt64, mask: Int
    ) -> Int {
        var word = first ^ (last << 31 | last >> 33) &+ UInt64(truncatingIfNeeded: text.count)
        // Names that begin and end alike, such as addresses, differ in between.
        var place = 8
        while place < text.count - 8 {
            let middle = UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: place, as: UInt64.self)
            word = (word ^ UInt64(littleEndian: middle)) &* 0x9E37_79B9_7F4A_7C15
            word ^= word >> 32
            place += 8
        }
        let product = (word ^ word >> 29).multipliedFullWidth(by: multiplier)
        return Int(truncatingIfNeeded: product.high ^ product.low) & mask
    }

    /// The table that is made, and the names that it is made of.
    private struct Filling {
        let table: UnsafeMutablePointer<UInt32>
        let mask: Int
        let entries: UnsafeMutablePointer<Entry>
        let texts: UnsafeMutablePointer<UInt8>
        let count: Int

        /// - Returns: how many steps finding every name takes beyond the first.
        func fill(multiplier: UInt64) -> Int {
            table.initialize(repeating: 0, count: mask + 1)
            var collisions = 0
            for number in 0..<count {
                let entry = entries[number]
                let text = UnsafeBufferPointer(start: texts + entry.start, count: entry.count)
                var place = NameTable.place(
                    text, first: entry.first, last: entry.last, multiplier: multiplier, mask: mask)
                while table[place] != 0 {
                    place = (place + 1) & mask
                    collisions += 1
                }
                table[place] = UInt32(number + 1)
            }
            return collisions
        }
    }
}
