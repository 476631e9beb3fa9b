import Base

/// The devices that aliases select, on disk: first with the devices of their partition, then, when it is known what became of those, with
/// the others of their alias.
struct SpilledAliases: ~Copyable {
    /// A token of `tokenCount` digits follows.
    private struct Hit: BitwiseCopyable {
        var fingerprint: UInt64
        var alias: Int
        var tokenCount: Int
    }

    /// What became of a device.
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

    /// Notes that an alias selects a device; the same pair may come again.
    mutating func add(alias: Int, _ fingerprint: UInt64, _ token: some Collection<UInt8>) throws {
        let partition = PartitionedFile.of(fingerprint)
        try hits.append(Hit(fingerprint: fingerprint, alias: alias, tokenCount: token.count), to: partition)
        try Self.append(token, to: &hits, partition)
    }

    private static func append(_ token: some Collection<UInt8>, to file: inout PartitionedFile, _ partition: Int) throws {
        try Array(token).withUnsafeBytes { try file.append($0, to: partition) }
    }

    /// Notes what became of the devices of a partition that aliases select.
    /// - Parameter device: what became of the device with a fingerprint.
    mutating func resolve(_ partition: Int, _ classes: borrowing ClassTable, _ selector: UInt32, device: (UInt64) -> Device) throws {
        var contents = hits.contents(of: partition)
        while let hit = try contents.next(Hit.self) {
            let token = try contents.next(hit.tokenCount)
            let device = device(hit.fingerprint)
            let deviceClass = classes[device.classNumber]
            guard deviceClass.takesPlaceInAlias else { continue }
            let isAlone = classes.selections[deviceClass.selection] == [selector]
            let target = hit.alias % PartitionedFile.partitions
            try members.append(Member(alias: hit.alias, device: device, isAlone: isAlone, tokenCount: token.count), to: target)
            try Self.append(token, to: &members, target)
        }
    }

    /// Drops the devices that are beyond the limits of all their aliases, and selected by nothing else.
    /// - Parameter settle: called with the place of each device that only aliases select: with its class when it is a recipient, without when
    ///   it is dropped.
    func drop(beyond limit: Int, _ classes: inout ClassTable, _ tick: () throws -> Void, _ settle: (Int, DeviceClass?) -> Void) throws {
        var kept = BitSet()
        var settled = BitSet()
        for partition in 0..<PartitionedFile.partitions {
            try tick()
            var best: [Int: MostRecent] = [:]
            var contents = members.contents(of: partition)
            while let member = try contents.next(Member.self) {
                let token = try contents.next(member.tokenCount)
                best[member.alias, default: MostRecent(limit: limit)].add(member.device.place, member.device.moment, token[...])
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
