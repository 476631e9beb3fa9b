import Base

/// What the report must know of a device: all properties that are only counted.
struct DeviceClass: Hashable {
    /// A number of `SelectionSets`.
    var selection: Int
    /// A number of `LanguageNames`.
    var language: Int
    /// Of the payload; 0 when it could not be rendered.
    var payloadBytes: Int
    /// The judge's own number.
    var group: Int
    /// The judge's own number of the time at which it gets its push.
    var wave: Int
    /// What reached it lately: `reached(sending:cap:)`.
    var sending: Int
    /// Why it cannot be sent to.
    var reason: SkipReason?

    /// Two numbers in one byte: of the sending that reached a device (`AudienceQuery.reached`), +
    /// 1, and of the first cap of `AudienceQuery.today` that it reaches, + 1; 0 for none.
    static func reached(sending: Int, cap: Int) -> UInt8 {
        UInt8(min(sending, sendings - 1) + min(cap, AudienceQuery.mostCounts) * sendings)
    }

    /// More than the sendings that are looked at (`RecentSendings`).
    private static let sendings = 32

    /// See `reached`.
    var numberOfSending: Int? { sending % Self.sendings > 0 ? sending % Self.sendings - 1 : nil }
    /// See `reached`.
    var numberOfCap: Int? { sending / Self.sendings > 0 ? sending / Self.sendings - 1 : nil }

    /// Whether a user that its row names gets no push of their own: the device gets the push, or is
    /// left out on purpose.
    var standsForUser: Bool { reason?.standsForUser ?? true }

    /// Whether a row of this class is named by `exclude`, even if nothing selects it, or left out
    /// by `where`; known of rows without a date.
    var isNamedByExclude: Bool { group > 0 && [.excluded, .notMatched, .filtered].contains(reason) }

    /// Whether it takes one of an alias's places.
    var takesPlaceInAlias: Bool { reason?.takesPlaceInAlias ?? true }

    /// The key of a class.
    struct Key: Hashable {
        fileprivate var word: UInt64
        /// 8 bits of sending, 16 of wave.
        fileprivate var rest: UInt32
    }

    fileprivate var key: Key {
        Key(word: word, rest: UInt32(truncatingIfNeeded: (sending & 0xFF) << 16 | wave & 0xFFFF))
    }

    /// All but wave and sending in a word: 24 bits of selection (`DeviceTable.classLimit`), 14 of
    /// language (`LanguageNames`), 13 of bytes (no payload that can be sent has more than 5120;
    /// larger ones are all the same), 9 of group (`RecipientCheck.groupLimit`), 4 of reason.
    private var word: UInt64 {
        UInt64(truncatingIfNeeded: selection) << 40 | UInt64(truncatingIfNeeded: language & 0x3FFF) << 26
            | UInt64(truncatingIfNeeded: min(payloadBytes, AudienceResult.measurablePayload)) << 13 | UInt64(
                truncatingIfNeeded: min(group, 0x1FF)) << 4
            | UInt64(truncatingIfNeeded: (reason?.ordinal ?? -1) + 1)
    }

    fileprivate init(key: Key) {
        wave = Int(key.rest & 0xFFFF)
        sending = Int(key.rest >> 16)
        let key = key.word
        selection = Int(key >> 40)
        language = Int(key >> 26 & 0x3FFF)
        payloadBytes = Int(key >> 13 & 0x1FFF)
        group = Int(key >> 4 & 0x1FF)
        reason = key & 0xF == 0 ? nil : SkipReason.allCases[Int(key & 0xF) - 1]
    }

    init(
        selection: Int, language: Int, payloadBytes: Int, group: Int = 0, wave: Int = 0, sending: Int = 0,
        reason: SkipReason?
    ) {
        self.selection = selection
        self.language = language
        self.payloadBytes = payloadBytes
        self.group = group
        self.wave = wave
        self.sending = sending
        self.reason = reason
    }
}

/// The distinct classes of devices, numbered, and how many devices are of each: a device holds a
/// number only, and counting is done when the last row is read.
struct ClassTable: ~Copyable {
    /// The sets that classes name: of selectors, or where the rows of a device are united of
    /// `RowFacts`, until they are concluded.
    var selections = SelectionSets()
    private let facts: RowFacts?
    /// By the number of a class of facts, the class that follows from it; -1 where it was not
    /// requested yet.
    private var conclusions: [Int] = []
    private var keys: [DeviceClass.Key] = []
    private var counts: [Int] = []
    /// Number + 1; 0 is free.
    private var table: UnsafeMutablePointer<UInt32>
    private var mask: Int
    private var lastKey = DeviceClass.Key(word: .max, rest: .max)
    private var lastNumber = 0

    /// - Parameter facts: how the rows of a device are united; nil where the newest row alone
    ///   decides.
    init(uniting facts: RowFacts? = nil) {
        self.facts = facts
        mask = 1023
        table = .allocate(capacity: mask + 1)
        table.initialize(repeating: 0, count: mask + 1)
    }

    deinit { table.deallocate() }

    subscript(number: Int) -> DeviceClass { DeviceClass(key: keys[number]) }

    /// Whether `exclude` names the row of a class, or where rows are united the newest row.
    func isNamedByExclude(_ number: Int) -> Bool {
        facts == nil
            ? self[number].isNamedByExclude
            : selections[self[number].selection].contains(RowFacts.NewestRowFacts.excluded.rawValue)
    }

    /// The number of a class.
    /// - Throws: `Diagnostics` when there are too many (including classes that no longer have
    ///   devices).
    @inline(__always) mutating func number(of deviceClass: DeviceClass) throws -> Int {
        let key = deviceClass.key
        return key == lastKey ? lastNumber : try find(key, deviceClass)
    }

    private mutating func find(_ key: DeviceClass.Key, _ deviceClass: DeviceClass) throws -> Int {
        var place = start(key)
        while table[place] != 0 {
            let number = Int(table[place]) - 1
            if keys[number] == key {
                (lastKey, lastNumber) = (key, number)
                return number
            }
            place = (place + 1) & mask
        }
        guard keys.count < DeviceTable.classLimit, deviceClass.selection < DeviceTable.classLimit else {
            throw Diagnostics(
                Diagnostic(
                    "the audience falls into more than \(DeviceTable.classLimit >> 20) million groups of tags, language and payload size",
                    remedy: "Name fewer tags in one campaign."))
        }
        keys.append(key)
        counts.append(0)
        table[place] = UInt32(keys.count)
        if keys.count * 2 > mask { grow() }
        (lastKey, lastNumber) = (key, keys.count - 1)
        return lastNumber
    }

    /// Both halves of the product: the lower one alone does not depend on a key's high bits.
    private func start(_ key: DeviceClass.Key) -> Int {
        let product = (key.word ^ UInt64(key.rest)).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return Int(truncatingIfNeeded: product.high ^ product.low >> 32) & mask
    }

    private mutating func grow() {
        table.deallocate()
        mask = mask * 2 + 1
        table = .allocate(capacity: mask + 1)
        table.initialize(repeating: 0, count: mask + 1)
        for (number, key) in keys.enumerated() {
            var place = start(key)
            while table[place] != 0 { place = (place + 1) & mask }
            table[place] = UInt32(number + 1)
        }
    }

    /// How many steps finding every class takes beyond the first.
    var collisions: Int {
        (0...mask).reduce(0) { steps, place in
            table[place] == 0 ? steps : steps + ((place - start(keys[Int(table[place]) - 1])) & mask)
        }
    }

    /// Another row, of class `row`, of a device of class `number`.
    /// - Returns: the device's class now.
    mutating func merge(_ row: Int, into number: Int, isNewer: Bool) throws -> Int {
        guard let facts else { return isNewer ? move(number, to: row) : number }
        if row == number { return number }
        var merged = self[isNewer ? row : number]
        let older = self[isNewer ? number : row]
        merged.selection = selections.number(
            of: facts.united(selections[merged.selection], withTagsOf: selections[older.selection]))
        return try move(number, to: merged)
    }

    /// A device of class `number` has no more rows.
    /// - Returns: the device's class now.
    mutating func conclude(_ number: Int) throws -> Int {
        guard let facts else { return number }
        while conclusions.count <= number { conclusions.append(-1) }
        if conclusions[number] >= 0 { return move(number, to: conclusions[number]) }
        var concluded = self[number]
        let (selected, reason, exclusions) = facts.conclusion(selections[concluded.selection])
        concluded.selection = selections.number(of: selected)
        concluded.reason = reason ?? concluded.reason
        if reason == .excluded { concluded.group = exclusions.rawValue }
        conclusions[number] = try self.number(of: concluded)
        return move(number, to: conclusions[number])
    }

    /// A device of class `number` is not a recipient.
    /// - Parameter group: what it is counted under from now on; nil for no change.
    /// - Returns: the device's class now.
    mutating func drop(_ number: Int, _ reason: SkipReason, group: Int? = nil) throws -> Int {
        var dropped = self[number]
        dropped.reason = reason
        if let group { dropped.group = group }
        return try move(number, to: dropped)
    }

    private mutating func move(_ old: Int, to deviceClass: DeviceClass) throws -> Int {
        move(old, to: try number(of: deviceClass))
    }

    private mutating func move(_ old: Int, to new: Int) -> Int {
        guard old != new else { return old }
        counts[old] -= 1
        counts[new] += 1
        return new
    }

    /// Adds a device to a class.
    @inline(__always) mutating func add(_ number: Int) { counts[number] += 1 }

    /// Removes all devices from their classes; numbers remain.
    mutating func forgetCounts() { for number in counts.indices { counts[number] = 0 } }

    /// Calls `body` with each class and the number of its devices.
    func forEach(_ body: (DeviceClass, Int) -> Void) {
        for number in keys.indices where counts[number] > 0 { body(DeviceClass(key: keys[number]), counts[number]) }
    }
}
