/// Names of a query that some row has carried, by their numbers.
struct SeenNames: Sendable {
    var tags: [Int] = []
    var aliases: [Int] = []
    var registrationIDs: [Int] = []
}

/// Notices names of a table for the first time in each block.
struct NameSightings {
    /// Those of the current block.
    private(set) var numbers: [Int] = []
    private var block: UInt32 = 1
    /// The last block in which a name was seen.
    private var lastBlock: [UInt32]

    init(_ table: NameTable) { lastBlock = Array(repeating: 0, count: table.names.count) }

    /// Another block begins.
    mutating func begin() {
        block &+= 1
        numbers = []
    }

    @inline(__always) mutating func note(_ number: Int) {
        guard lastBlock[number] != block else { return }
        lastBlock[number] = block
        numbers.append(number)
    }
}

/// Which names of a query some row has carried.
struct SeenFlags {
    private(set) var tags: [Bool]
    private(set) var aliases: [Bool]
    private(set) var registrationIDs: [Bool]

    init(_ compiled: CompiledSelectors) {
        tags = Array(repeating: false, count: compiled.tags.names.count)
        aliases = Array(repeating: false, count: compiled.aliases.names.count)
        registrationIDs = Array(repeating: false, count: compiled.registrationIDs.names.count)
    }

    mutating func add(_ names: SeenNames) {
        for number in names.tags { tags[number] = true }
        for number in names.aliases { aliases[number] = true }
        for number in names.registrationIDs { registrationIDs[number] = true }
    }
}
