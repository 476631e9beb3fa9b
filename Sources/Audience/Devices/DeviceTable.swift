import Base

/// The devices found so far, one per token, numbered ("slots") in the order of their first row. 17 bytes each and, once there are millions,
/// the 5 to 7 of the index: at most 24. Tokens themselves are not kept.
struct DeviceTable: ~Copyable {
    private var index = SlotIndex()
    private var fingerprints = Blocks<UInt64>()
    /// Above the class's low 16 bits the moment of the newest row.
    private var moments = Blocks<UInt64>()
    /// The class's high 8 bits.
    private var classes = Blocks<UInt8>()

    /// A device's class is below this.
    static let classLimit = 1 << 24
    /// Memory that a device takes at most, once there are millions.
    static let bytesPerDevice = 24

    var count: Int { fingerprints.count }

    /// Says that a fingerprint will be looked for soon.
    @inline(__always) func prefetch(_ fingerprint: UInt64) { index.prefetch(fingerprint) }

    /// The slot of a token that was seen before; -1 for none.
    @inline(__always) func find(_ fingerprint: UInt64) -> Int { index.find(fingerprint, fingerprints) }

    /// Adds a row to its device: what the newest row says counts, and the selectors of all rows.
    /// - Returns: the device's slot, and whether this row is its newest so far.
    @inline(__always) mutating func add(
        _ fingerprint: UInt64, _ moment: ActivityMoment, _ deviceClass: DeviceClass, _ table: inout ClassTable
    ) throws -> (slot: Int, isNewest: Bool) {
        let slot = find(fingerprint)
        guard slot < 0 else { return (slot, try renew(slot, moment, deviceClass, &table)) }
        let number = try table.number(of: deviceClass)
        table.add(number)
        append(fingerprint, moment, class: number)
        return (count - 1, true)
    }

    /// Adds a device that was not seen before, in the next slot.
    @inline(__always) mutating func append(_ fingerprint: UInt64, _ moment: ActivityMoment, class number: Int) {
        fingerprints.append(fingerprint)
        moments.append(moment.bits << 16 | UInt64(truncatingIfNeeded: number & 0xFFFF))
        classes.append(UInt8(truncatingIfNeeded: number >> 16))
        index.append(fingerprints)
    }

    private mutating func renew(
        _ slot: Int, _ moment: ActivityMoment, _ deviceClass: DeviceClass, _ table: inout ClassTable
    ) throws -> Bool {
        let isNewer = renew(slot, moment)
        setClass(of: slot, try table.merge(deviceClass, into: classNumber(of: slot), isNewer: isNewer))
        return isNewer
    }

    /// Remembers when a device was last active. Says whether that is news.
    mutating func renew(_ slot: Int, _ moment: ActivityMoment) -> Bool {
        guard moment > self.moment(of: slot) else { return false }
        moments[slot] = moment.bits << 16 | moments[slot] & 0xFFFF
        return true
    }

    private mutating func setClass(of slot: Int, _ number: Int) {
        moments[slot] = moments[slot] & ~0xFFFF | UInt64(truncatingIfNeeded: number & 0xFFFF)
        classes[slot] = UInt8(truncatingIfNeeded: number >> 16)
    }

    /// Says that a device is no recipient.
    mutating func drop(_ slot: Int, _ reason: SkipReason, _ table: inout ClassTable) throws {
        setClass(of: slot, try table.drop(classNumber(of: slot), reason))
    }

    /// A device whose newest row is excluded is excluded, also when an older row of it is not.
    mutating func exclude(_ mark: ExclusionMarks.Mark, _ table: inout ClassTable) throws {
        let slot = find(mark.fingerprint)
        if slot >= 0, mark.moment >= moment(of: slot) { try drop(slot, .excluded, &table) }
    }

    func fingerprint(of slot: Int) -> UInt64 { fingerprints[slot] }

    /// When the newest row of a device says that it was active.
    @inline(__always) func moment(of slot: Int) -> ActivityMoment { ActivityMoment(bits: moments[slot] >> 16) }

    /// What is known of a device: a number of `ClassTable`.
    @inline(__always) func classNumber(of slot: Int) -> Int { Int(moments[slot] & 0xFFFF) | Int(classes[slot]) << 16 }
}
