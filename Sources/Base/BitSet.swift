/// A set of numbers from 0 on, one bit for each.
///
/// ```swift
/// let seen: BitSet = [3, 70_000]
/// let isNew = !seen.contains(4)
/// ```
public struct BitSet: Sendable, Hashable {
    private var words: [UInt64] = []
    /// The number of elements.
    public private(set) var count = 0

    /// The empty set.
    public init() {}

    /// Whether the set is empty.
    public var isEmpty: Bool { count == 0 }

    /// Adds a number; one that is already in the set has no effect.
    public mutating func insert(_ number: Int) {
        precondition(number >= 0, "a number below 0")
        let (word, bit) = (number >> 6, UInt64(1) << UInt64(number & 63))
        if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
        if words[word] & bit == 0 { count += 1 }
        words[word] |= bit
    }

    /// Whether a number is in it.
    public func contains(_ number: Int) -> Bool {
        number >= 0 && number >> 6 < words.count && words[number >> 6] >> UInt64(number & 63) & 1 == 1
    }

    /// Calls `body` with each number, ascending.
    public func forEach(_ body: (Int) throws -> Void) rethrows {
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                try body(index << 6 | rest.trailingZeroBitCount)
                rest &= rest - 1
            }
        }
    }

    /// Counts the numbers of the set that are below a number.
    public struct Ranks {
        private let words: [UInt64]
        /// How many numbers are below the first of each group of words.
        private var starts: [Int] = []
        private static let wordsPerGroup = 16

        fileprivate init(_ words: [UInt64]) {
            self.words = words
            var count = 0
            for (index, word) in words.enumerated() {
                if index % Self.wordsPerGroup == 0 { starts.append(count) }
                count += word.nonzeroBitCount
            }
        }

        /// How many numbers of the set are below `number`, which is in it.
        public subscript(number: Int) -> Int {
            let (word, group) = (number >> 6, number >> 6 / Self.wordsPerGroup)
            let before = words[group * Self.wordsPerGroup..<word].reduce(starts[group]) { $0 + $1.nonzeroBitCount }
            return before + (words[word] & (1 << UInt64(number & 63) - 1)).nonzeroBitCount
        }
    }

    /// The ranks of all its numbers.
    public var ranks: Ranks { Ranks(words) }
}

extension BitSet: ExpressibleByArrayLiteral {
    /// The set of these numbers.
    public init(arrayLiteral elements: Int...) { self.init(elements) }

    /// The set of these numbers.
    public init(_ numbers: some Sequence<Int>) {
        for number in numbers { insert(number) }
    }
}
