import Base

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
