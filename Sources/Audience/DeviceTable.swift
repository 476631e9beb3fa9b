import Base

/// The devices found so far, one per token, numbered ("slots") in the order of their first row. 28 bytes each, and the 11 to 21 of the
/// table that finds them; tokens themselves are not kept.
struct DeviceTable: ~Copyable {
    /// What must be known of a device until the end of the scan.
    struct Device {
        /// Milliseconds since 1970 of its newest row; `DeviceTable.never` when blank or no date.
        var lastActive: Int64
        /// A number of `SelectionSets`: the selectors of all its rows.
        var selection: UInt32
        /// A number of `LanguageCounts`.
        var language: UInt16
        /// The place of the sink's verdict in `SkipReason.allCases`, + 1; 0 for none.
        var verdict: UInt8
        /// Among the most recently active devices of an alias.
        var isKeptByAlias = false
    }

    /// Older than any date.
    static let never = Int64.min

    private var index = HashIndex()
    private var devices = Blocks<Device>()

    var count: Int { devices.count }

    subscript(slot: Int) -> Device {
        @inline(__always) get { devices[slot] }
        @inline(__always) set { devices[slot] = newValue }
    }

    /// The slot of a token that was seen before.
    func find(_ token: Hash128) -> Int? { index.find(token) }

    /// The slot of a token, a new one if it was not seen before.
    mutating func slot(of token: Hash128) -> (slot: Int, isNew: Bool) {
        let (slot, isNew) = index.insert(token)
        if isNew { devices.append(Device(lastActive: Self.never, selection: 0, language: 0, verdict: 0)) }
        return (slot, isNew)
    }
}

/// Distinct sets of selectors, numbered, so that a device holds a number only.
struct SelectionSets: ~Copyable {
    private var index = HashIndex()
    private var starts = [0]
    private var members: [UInt32] = []
    private let hash: KeyedHash
    /// Most rows are selected by the same as the one before.
    private var last: UInt32?

    init(hash: KeyedHash) { self.hash = hash }

    /// The selectors of a set, ascending.
    subscript(number: UInt32) -> ArraySlice<UInt32> { members[starts[Int(number)]..<starts[Int(number) + 1]] }

    /// The number of a set.
    mutating func number(of set: [UInt32]) -> UInt32 {
        if let last, self[last].elementsEqual(set) { return last }
        let key = set.withUnsafeBytes { hash($0.bindMemory(to: UInt8.self)) }
        let (number, isNew) = index.insert(key)
        if isNew {
            members += set
            starts.append(members.count)
        }
        last = UInt32(number)
        return UInt32(number)
    }

    /// The number of the union of a set and another one.
    mutating func union(_ number: UInt32, _ set: [UInt32]) -> UInt32 {
        let present = self[number]
        if set.allSatisfy(present.contains) { return number }
        return self.number(of: Array(Set(present).union(set)).sorted())
    }
}

/// Distinct languages, numbered.
struct LanguageNames: ~Copyable {
    private var index = HashIndex()
    private(set) var names: [String] = []
    private let hash: KeyedHash

    /// A column that holds something else altogether must not fill the memory.
    private static let limit = 10_000
    private static let beyondLimit = "other"

    init(hash: KeyedHash) { self.hash = hash }

    mutating func number(of language: UnsafeBufferPointer<UInt8>) -> UInt16 {
        let hash = hash(language)
        if let number = index.find(hash) { return UInt16(min(number, Self.limit)) }
        guard names.count < Self.limit else {
            if names.count == Self.limit { names.append(Self.beyondLimit) }
            return UInt16(Self.limit)
        }
        names.append(String(decoding: language, as: UTF8.self))
        return UInt16(index.insert(hash).number)
    }
}
