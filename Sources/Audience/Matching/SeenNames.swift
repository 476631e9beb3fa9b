/// Names of a query that some row has carried, by their numbers.
struct SeenNames: Sendable {
    var tags: [Int] = []
    var aliases: [Int] = []
    var registrationIDs: [Int] = []
    /// The same for `SeveralInOne.table`.
    var tagParts: [Int] = []
    var aliasParts: [Int] = []
    var registrationIDParts: [Int] = []
}

/// A text that the campaign names as one, and that is most likely several: `user1 user2`, `reg1;reg2`.
struct SeveralInOne {
    var parts: [String]
    /// Whether a name rarely holds what separates the parts.
    var isCertain: Bool

    /// A program wrote any longer list of names.
    private static let mostNames = 1_000

    /// nil for a name without a separator.
    init?(_ name: String) {
        let certain = [",", "，", "、", ";", "；", "|"]
        for mark in certain + [" and ", " und ", " or ", " oder ", "/", "&", "+", " "] {
            let parts = name.split(separator: mark).map { trimmedText(String($0)) }.filter { !$0.isEmpty }
            guard parts.count > 1 else { continue }
            (self.parts, isCertain) = (parts, certain.contains(mark))
            return
        }
        return nil
    }

    /// The parts of the names of a table, which a scan looks for as well.
    static func table(_ names: NameTable) -> NameTable {
        NameTable(names.names.count > mostNames ? [] : names.names.compactMap { SeveralInOne($0)?.parts })
    }
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
    private(set) var tagParts: Set<String> = []
    private(set) var aliasParts: Set<String> = []
    private(set) var registrationIDParts: Set<String> = []
    private let compiled: CompiledSelectors

    init(_ compiled: CompiledSelectors) {
        self.compiled = compiled
        tags = Array(repeating: false, count: compiled.tags.names.count)
        aliases = Array(repeating: false, count: compiled.aliases.names.count)
        registrationIDs = Array(repeating: false, count: compiled.registrationIDs.names.count)
    }

    mutating func add(_ names: SeenNames) {
        for number in names.tags { tags[number] = true }
        for number in names.aliases { aliases[number] = true }
        for number in names.registrationIDs { registrationIDs[number] = true }
        for number in names.tagParts { tagParts.insert(compiled.tagParts.names[number]) }
        for number in names.aliasParts { aliasParts.insert(compiled.aliasParts.names[number]) }
        for number in names.registrationIDParts { registrationIDParts.insert(compiled.registrationIDParts.names[number]) }
    }
}
