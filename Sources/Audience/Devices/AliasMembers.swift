import Base

/// The devices that aliases select, kept until the end, when the most recently active ones of each
/// alias are known.
struct AliasMembers {
    private struct Member {
        var device: Int
        /// When the row says that it was active: a device belongs to the alias in its newest row.
        var moment: ActivityMoment
        /// The place of its token in `tokens`: tokens decide between devices that were active at
        /// the same moment.
        var tokenStart: Int
        var tokenCount: UInt32
        var alias: UInt32
    }

    private var members: [Member] = []
    private var tokens: [UInt8] = []

    var isEmpty: Bool { members.isEmpty }

    /// Memory that they take, while they grow.
    var bytes: Int { 2 * (members.count * MemoryLayout<Member>.stride + tokens.count) }

    /// Notes that an alias selects a row of a device; the same may come again.
    mutating func add(alias: Int, device: Int, _ moment: ActivityMoment, token: some Collection<UInt8>) {
        members.append(
            Member(
                device: device, moment: moment, tokenStart: tokens.count, tokenCount: UInt32(token.count),
                alias: UInt32(alias)))
        tokens.append(contentsOf: token)
    }

    /// Keeps only the newest row of each device.
    /// - Parameters:
    ///   - moment: when the newest row of a device says that it was active.
    ///   - isMember: whether an alias selects a device's newest row, and the device takes one of
    ///     its places; a suppressed one does not.
    mutating func keepNewest(moment: (Int) -> ActivityMoment, isMember: (Int) -> Bool) {
        members.sort { ($0.device, $0.tokenStart) < ($1.device, $1.tokenStart) }
        var newest: [Member] = []
        for member in members where member.moment == moment(member.device) && isMember(member.device) {
            // Of rows of the same moment the last one counts.
            if newest.last?.device == member.device { newest.removeLast() }
            newest.append(member)
        }
        members = newest
    }

    /// Of the remaining devices, those within the limit of their alias.
    mutating func kept(limit: Int) -> BitSet {
        members.sort { $0.alias < $1.alias }
        var kept = BitSet()
        var mostRecent = MostRecentDevices(limit: limit)
        for index in members.indices {
            let member = members[index]
            mostRecent.add(member.device, member.moment, token(member))
            let isLast = index + 1 == members.count || members[index + 1].alias != member.alias
            if isLast { mostRecent.removeAll { kept.insert($0) } }
        }
        return kept
    }

    /// Of the remaining devices, every one that an alias selects.
    var devices: some Sequence<Int> { members.lazy.map(\.device) }

    /// Calls `body` with each alias, a device with a row that the alias selects, when that row says
    /// the device was active, and the device's token.
    func forEach(_ body: (Int, Int, ActivityMoment, ArraySlice<UInt8>) throws -> Void) rethrows {
        for member in members { try body(Int(member.alias), member.device, member.moment, token(member)) }
    }

    private func token(_ member: Member) -> ArraySlice<UInt8> {
        tokens[member.tokenStart..<member.tokenStart + Int(member.tokenCount)]
    }
}
