import CSIMD

/// Finds the slot of a fingerprint: an open-addressing table of 32-bit entries. Each holds a slot + 1 and, in the bits that slots do not need
/// yet, some of the fingerprint, so that a search hardly ever looks at a fingerprint that is another one. 5 to 7 bytes a device once there
/// are millions.
struct SlotIndex: ~Copyable {
    private var entries: UnsafeMutablePointer<UInt32>
    private(set) var capacity: Int
    private var count = 0
    /// The bits of an entry that hold a slot + 1.
    private var slotMask: UInt32

    /// Filled beyond three quarters it grows.
    private static let fullness = (numerator: 3, denominator: 4)
    /// From this capacity on it grows by a quarter: doubling would leave it half empty.
    private static let largeCapacity = 4 << 20

    init() {
        capacity = 64
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: 0, count: capacity)
        slotMask = Self.mask(capacity)
    }

    deinit { entries.deallocate() }

    private static func mask(_ capacity: Int) -> UInt32 {
        // Slots + 1 stay below the capacity.
        UInt32(truncatingIfNeeded: UInt64(1) << UInt64(64 - UInt64(capacity).leadingZeroBitCount) - 1)
    }

    /// Where the search for a fingerprint begins. Its high bits decide; the low ones tell entries apart.
    @inline(__always) private func place(of fingerprint: UInt64) -> Int {
        Int(truncatingIfNeeded: fingerprint.multipliedFullWidth(by: UInt64(truncatingIfNeeded: capacity)).high)
    }

    @inline(__always) private func tag(of fingerprint: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: fingerprint) & ~slotMask }

    /// Says that a fingerprint will be looked for soon.
    @inline(__always) func prefetch(_ fingerprint: UInt64) { volley_prefetch(entries + place(of: fingerprint)) }

    /// The slot of a fingerprint; -1 for none.
    /// - Parameter fingerprints: those of all slots.
    @inline(__always) func find(_ fingerprint: UInt64, _ fingerprints: borrowing Blocks<UInt64>) -> Int {
        var place = place(of: fingerprint)
        let tag = tag(of: fingerprint)
        while true {
            let entry = entries[place]
            if entry == 0 { return -1 }
            if entry & ~slotMask == tag {
                let slot = Int(entry & slotMask) - 1
                if fingerprints[slot] == fingerprint { return slot }
            }
            place += 1
            if place == capacity { place = 0 }
        }
    }

    /// Adds the newest slot, whose fingerprint is the last of all and not in the table yet.
    @inline(__always) mutating func append(_ fingerprints: borrowing Blocks<UInt64>) {
        count += 1
        if count * Self.fullness.denominator > capacity * Self.fullness.numerator { return grow(fingerprints) }
        insert(fingerprints[count - 1], slot: count - 1)
    }

    @inline(__always) private func insert(_ fingerprint: UInt64, slot: Int) {
        var place = place(of: fingerprint)
        while entries[place] != 0 {
            place += 1
            if place == capacity { place = 0 }
        }
        entries[place] = tag(of: fingerprint) | UInt32(truncatingIfNeeded: slot + 1)
    }

    /// The old table goes before the new one comes: fingerprints alone tell where entries belong.
    private mutating func grow(_ fingerprints: borrowing Blocks<UInt64>) {
        entries.deallocate()
        capacity = capacity < Self.largeCapacity ? capacity * 2 : capacity + capacity / 4
        precondition(count < Int(UInt32.max) - 1, "more than four billion devices")
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: 0, count: capacity)
        slotMask = Self.mask(capacity)
        for slot in 0..<count { insert(fingerprints[slot], slot: slot) }
    }
}
