import Base

/// The devices that aliases select, kept until the end, when the most recently active ones of each alias are known.
struct AliasMembers {
    private struct Member {
        /// The device.
        var slot: Int
        /// Where its token stands in `tokens`: tokens decide between devices that were active at the same moment.
        var tokenStart: Int
        var tokenCount: UInt32
        var alias: UInt32
    }

    private var members: [Member] = []
    private var tokens: [UInt8] = []

    var isEmpty: Bool { members.isEmpty }

    /// Memory that they take, while they grow.
    var bytes: Int { 2 * (members.count * MemoryLayout<Member>.stride + tokens.count) }

    /// Notes that an alias selects a device; the same pair may come again.
    mutating func add(alias: Int, slot: Int, token: some Collection<UInt8>) {
        members.append(Member(slot: slot, tokenStart: tokens.count, tokenCount: UInt32(token.count), alias: UInt32(alias)))
        tokens.append(contentsOf: token)
    }

    /// The devices that are within the limit of an alias.
    /// - Parameters:
    ///   - moment: when a device was last active.
    ///   - takesPlace: whether a device counts at all; a suppressed one does not.
    mutating func kept(limit: Int, moment: (Int) -> ActivityMoment, takesPlace: (Int) -> Bool) -> BitSet {
        members.sort { $0.alias < $1.alias }
        var kept = BitSet()
        var mostRecent = MostRecent(limit: limit)
        for index in members.indices {
            let member = members[index]
            if takesPlace(member.slot) { mostRecent.add(member.slot, moment(member.slot), token(member)) }
            let isLast = index + 1 == members.count || members[index + 1].alias != member.alias
            if isLast { mostRecent.removeAll { kept.insert($0) } }
        }
        return kept
    }

    /// Every slot that an alias selects, some more than once.
    var slots: some Sequence<Int> { members.lazy.map(\.slot) }

    /// Calls `body` with each alias, a device that it selects, and the device's token.
    func forEach(_ body: (Int, Int, ArraySlice<UInt8>) throws -> Void) rethrows {
        for member in members { try body(Int(member.alias), member.slot, token(member)) }
    }

    private func token(_ member: Member) -> ArraySlice<UInt8> {
        tokens[member.tokenStart..<member.tokenStart + Int(member.tokenCount)]
    }
}
