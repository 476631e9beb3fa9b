/// The devices found so far, one per token, numbered ("slots") in the order of their first row. 17 bytes each and, once there are millions,
/// the 5 to 7 of the index: at most 24. Tokens themselves are not kept.
struct DeviceTable: ~Copyable {
    private var index = SlotIndex()
    private var fingerprints = Blocks<UInt64>()
    /// Above the class's low 16 bits the moment of the newest row, compressed.
    private var moments = Blocks<UInt64>()
    /// The class's high 8 bits.
    private var classes = Blocks<UInt8>()

    /// Older than any date.
    static let never = Int64.min
    /// A device's class is below this.
    static let classLimit = 1 << 24

    var count: Int { fingerprints.count }

    /// Says that a fingerprint will be looked for soon.
    @inline(__always) func prefetch(_ fingerprint: UInt64) { index.prefetch(fingerprint) }

    /// The slot of a token that was seen before; -1 for none.
    @inline(__always) func find(_ fingerprint: UInt64) -> Int { index.find(fingerprint, fingerprints) }

    /// Adds a device that was not seen before, in the next slot.
    @inline(__always) mutating func append(_ fingerprint: UInt64, lastActive: Int64, class number: Int) {
        fingerprints.append(fingerprint)
        moments.append(Self.packed(lastActive, number))
        classes.append(UInt8(truncatingIfNeeded: number >> 16))
        index.append(fingerprints)
    }

    /// Whether a row is newer than the newest of its device so far.
    @inline(__always) func isNewer(_ lastActive: Int64, than slot: Int) -> Bool { Self.compressed(lastActive) > moments[slot] >> 16 }

    /// Whether a row is at least as new as the newest of its device.
    @inline(__always) func isAtLeastAsNew(_ lastActive: Int64, as slot: Int) -> Bool { Self.compressed(lastActive) >= moments[slot] >> 16 }

    /// A number that orders devices by their newest row.
    func moment(of slot: Int) -> UInt64 { moments[slot] >> 16 }

    /// What is known of a device: a number of `ClassTable`.
    @inline(__always) func classNumber(of slot: Int) -> Int { Int(moments[slot] & 0xFFFF) | Int(classes[slot]) << 16 }

    mutating func setClass(_ number: Int, of slot: Int) {
        moments[slot] = moments[slot] & ~0xFFFF | UInt64(truncatingIfNeeded: number & 0xFFFF)
        classes[slot] = UInt8(truncatingIfNeeded: number >> 16)
    }

    mutating func setNewest(_ lastActive: Int64, of slot: Int) {
        moments[slot] = Self.compressed(lastActive) << 16 | moments[slot] & 0xFFFF
    }

    @inline(__always) private static func packed(_ lastActive: Int64, _ number: Int) -> UInt64 {
        compressed(lastActive) << 16 | UInt64(truncatingIfNeeded: number & 0xFFFF)
    }

    /// Milliseconds since 1970 in 48 bits, in the same order: to the millisecond within 2,000 years of 1970, to 4 seconds beyond.
    @inline(__always) static func compressed(_ milliseconds: Int64) -> UInt64 {
        if milliseconds == never { return 0 }
        let exact: Int64 = 1 << 46
        let clamped = min(max(milliseconds, -(exact << 11)), exact << 11)
        let bent: Int64 =
            clamped >= exact ? exact + (clamped - exact) >> 12 : clamped < -exact ? -exact + (clamped + exact) >> 12 : clamped
        return UInt64(bitPattern: bent &+ (exact << 1)) & 0xFFFF_FFFF_FFFF
    }
}
