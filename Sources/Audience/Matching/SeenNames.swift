/// Names of a query that some row has carried, by their numbers.
struct SeenNames: Sendable {
    var tags: [Int] = []
    var aliases: [Int] = []
    var registrationIDs: [Int] = []
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
