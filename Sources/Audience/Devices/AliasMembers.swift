/// The devices that aliases select, kept until the end, when the most recently active ones of each alias are known.
struct AliasMembers {
    private struct Member {
        var alias: UInt32
        var slot: UInt32
        /// Where its token stands in `tokens`: tokens decide between devices that were active at the same moment.
        var tokenStart: Int
        var tokenCount: Int
    }

    private var members: [Member] = []
    private var tokens: [UInt8] = []

    var isEmpty: Bool { members.isEmpty }

    /// Notes that an alias selects a device; the same pair may come again.
    mutating func add(alias: Int, slot: Int, token: UnsafeBufferPointer<UInt8>) {
        members.append(Member(alias: UInt32(alias), slot: UInt32(slot), tokenStart: tokens.count, tokenCount: token.count))
        tokens.append(contentsOf: token)
    }

    /// The devices that are within the limit of an alias.
    /// - Parameter takesPlace: whether a device counts at all; a suppressed one does not.
    mutating func kept(limit: Int, in devices: borrowing DeviceTable, takesPlace: (Int) -> Bool) -> Set<Int> {
        sort(by: devices)
        var kept: Set<Int> = []
        var (rank, last) = (0, -1)
        for index in members.indices {
            let slot = Int(members[index].slot)
            if index == 0 || members[index - 1].alias != members[index].alias { (rank, last) = (0, -1) }
            // The same pair stands side by side.
            if slot == last || !takesPlace(slot) { continue }
            last = slot
            if rank < limit { kept.insert(slot) }
            rank += 1
        }
        return kept
    }

    /// Every slot that an alias selects, some more than once.
    var slots: some Sequence<Int> { members.lazy.map { Int($0.slot) } }

    private mutating func sort(by devices: borrowing DeviceTable) {
        let activity = members.map { devices.moment(of: Int($0.slot)) }
        let order = members.indices.sorted { left, right in
            let (a, b) = (members[left], members[right])
            if a.alias != b.alias { return a.alias < b.alias }
            if activity[left] != activity[right] { return activity[left] > activity[right] }
            if a.slot == b.slot { return false }
            return token(a).lexicographicallyPrecedes(token(b))
        }
        members = order.map { members[$0] }
    }

    private func token(_ member: Member) -> ArraySlice<UInt8> { tokens[member.tokenStart..<member.tokenStart + member.tokenCount] }
}
