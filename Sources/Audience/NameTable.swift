/// The names that a query looks for in one column: finds a cell's text among them, and remembers which were seen.
struct NameTable: ~Copyable {
    /// Distinct and not blank, in the order given.
    let names: [String]
    private(set) var wasSeen: [Bool]
    private var index: HashIndex
    private let hash: KeyedHash
    /// A bit for each mixture of length, first and last byte that occurs: most cells need no hash.
    private let filter: [UInt64]

    init(_ lists: [[String]], hash: KeyedHash) {
        var index = HashIndex(minimumCapacity: lists.reduce(0) { $0 + $1.count })
        var filter = [UInt64](repeating: 0, count: 64)
        var distinct: [String] = []
        for name in lists.joined() {
            var text = name
            text.withUTF8 { bytes in
                let bytes = trimmed(bytes)
                guard !bytes.isEmpty, index.insert(hash(bytes)).isNew else { return }
                let bit = Self.filterBit(bytes)
                filter[bit >> 6] |= 1 << UInt64(bit & 63)
                distinct.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        self.index = index
        self.filter = filter
        self.hash = hash
        names = distinct
        wasSeen = Array(repeating: false, count: distinct.count)
    }

    var isEmpty: Bool { names.isEmpty }

    /// The numbers of names of the lists; blank ones have none.
    func numbers(of names: [String]) -> [Int] {
        var numbers: [Int] = []
        for name in names {
            var text = name
            if let number = text.withUTF8({ index.find(hash(trimmed($0))) }) { numbers.append(number) }
        }
        return numbers
    }

    /// The number of the name that a cell holds; nil when it is none of them.
    @inline(__always) mutating func look(up bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard !bytes.isEmpty else { return nil }
        let bit = Self.filterBit(bytes)
        guard filter[bit >> 6] & 1 << UInt64(bit & 63) != 0, let number = index.find(hash(bytes)) else { return nil }
        wasSeen[number] = true
        return number
    }

    @inline(__always) private static func filterBit(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        (bytes.count &* 173 &+ Int(bytes[0]) &* 31 &+ Int(bytes[bytes.count - 1]) &* 7) & 4095
    }
}
