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

/// The devices of an alias that were active most recently, ties ordered by token. Never holds many
/// more than are wanted, however many the alias has.
struct MostRecentDevices {
    private var found: [(device: Int, moment: ActivityMoment, token: ArraySlice<UInt8>)] = []
    private let limit: Int

    /// - Parameter limit: how many are wanted.
    init(limit: Int) { self.limit = limit }

    /// Adds a device, which must not have been added before.
    mutating func add(_ device: Int, _ moment: ActivityMoment, _ token: ArraySlice<UInt8>) {
        found.append((device, moment, token))
        if found.count >= 2 * limit + 32 { prune() }
    }

    private mutating func prune() {
        found.sort { left, right in
            left.moment != right.moment ? left.moment > right.moment : left.token.lexicographicallyPrecedes(right.token)
        }
        found.removeLast(max(0, found.count - limit))
    }

    /// Calls `body` with each device that is wanted, and forgets all.
    mutating func removeAll(_ body: (Int) -> Void) {
        prune()
        for entry in found { body(entry.device) }
        found.removeAll(keepingCapacity: true)
    }
}

/// The devices that aliases select, on disk: first with the devices of their partition, then, when
/// the result of those is known, with the others of their alias.
struct SpilledAliases: ~Copyable {
    /// A token of `tokenCount` digits follows.
    private struct Hit: BitwiseCopyable {
        var fingerprint: TokenFingerprint
        /// When the row says that the device was active.
        var moment: ActivityMoment
        var alias: Int
        var tokenCount: Int
    }

    /// The result of a device.
    struct Device: BitwiseCopyable {
        var place: Int
        var moment: ActivityMoment
        /// A number of `ClassTable`.
        var classNumber: Int
    }

    /// A token of `tokenCount` digits follows.
    private struct Member: BitwiseCopyable {
        var alias: Int
        var device: Device
        /// Whether no other selector names it.
        var isAlone: Bool
        var tokenCount: Int
    }

    private var hits = PartitionedFile()
    private var members = PartitionedFile()

    /// Notes that an alias selects a row of a device; the same may come again.
    mutating func add(
        alias: Int, _ fingerprint: TokenFingerprint, _ moment: ActivityMoment, _ token: some Collection<UInt8>
    ) throws {
        let partition = PartitionedFile.of(fingerprint)
        try hits.append(
            Hit(fingerprint: fingerprint, moment: moment, alias: alias, tokenCount: token.count), to: partition)
        try Self.append(token, to: &hits, partition: partition)
    }

    private static func append(_ token: some Collection<UInt8>, to file: inout PartitionedFile, partition: Int) throws {
        try Array(token).withUnsafeBytes { try file.append($0, to: partition) }
    }

    /// Notes the result of those devices of a partition that aliases select by their newest rows.
    /// - Parameters:
    ///   - count: devices of the partition.
    ///   - device: the number and result of the device with a fingerprint.
    mutating func resolve(
        _ partition: Int, _ classes: borrowing ClassTable, selector: UInt32, devices count: Int,
        device: (TokenFingerprint) -> (number: Int, Device)
    ) throws {
        // For each device, the last of its hits that is as new as its newest row: if an alias
        // selects that row, this is it.
        var newest = [Int32](repeating: -1, count: count)
        var number: Int32 = 0
        var earlier = hits.contents(of: partition)
        while let hit = try earlier.next(Hit.self) {
            try earlier.skip(hit.tokenCount)
            let (place, device) = device(hit.fingerprint)
            if hit.moment == device.moment { newest[place] = number }
            number += 1
        }
        number = 0
        var contents = hits.contents(of: partition)
        while let hit = try contents.next(Hit.self) {
            let token = try contents.next(hit.tokenCount)
            defer { number += 1 }
            let (place, device) = device(hit.fingerprint)
            let deviceClass = classes[device.classNumber]
            let selection = classes.selections[deviceClass.selection]
            guard newest[place] == number, deviceClass.takesPlaceInAlias, selection.contains(selector) else { continue }
            let target = hit.alias % PartitionedFile.partitions
            try members.append(
                Member(alias: hit.alias, device: device, isAlone: selection == [selector], tokenCount: token.count),
                to: target)
            try Self.append(token, to: &members, partition: target)
        }
    }

    /// Drops the devices that are beyond the limit of their alias, and selected by nothing else.
    /// - Parameter settle: called with the place of each device that only aliases select: with its
    ///   class when it is a recipient, without when it is dropped.
    func drop(
        beyond limit: Int, _ classes: inout ClassTable, _ tick: () throws -> Void, _ settle: (Int, DeviceClass?) -> Void
    ) throws {
        var kept = BitSet()
        var settled = BitSet()
        for partition in 0..<PartitionedFile.partitions {
            try tick()
            var best: [Int: MostRecentDevices] = [:]
            var contents = members.contents(of: partition)
            while let member = try contents.next(Member.self) {
                let token = try contents.next(member.tokenCount)
                best[member.alias, default: MostRecentDevices(limit: limit)].add(
                    member.device.place, member.device.moment, token[...])
            }
            for var devices in best.values { devices.removeAll { kept.insert($0) } }
        }
        for partition in 0..<PartitionedFile.partitions {
            try tick()
            var contents = members.contents(of: partition)
            while let member = try contents.next(Member.self) {
                try contents.skip(member.tokenCount)
                guard member.isAlone, !settled.contains(member.device.place) else { continue }
                settled.insert(member.device.place)
                guard !kept.contains(member.device.place) else {
                    let deviceClass = classes[member.device.classNumber]
                    if deviceClass.reason == nil { settle(member.device.place, deviceClass) }
                    continue
                }
                _ = try classes.drop(member.device.classNumber, .aliasLimit)
                settle(member.device.place, nil)
            }
        }
    }
}
