/// Distinct fingerprints: an open-addressing table of 11 to 21 bytes each.
struct FingerprintSet: ~Copyable {
    /// 0 is free; the fingerprint 0 has its own place.
    private var table: UnsafeMutablePointer<UInt64>
    private var mask = 63
    private var hasZero = false
    private(set) var count = 0

    init() {
        table = .allocate(capacity: mask + 1)
        table.initialize(repeating: 0, count: mask + 1)
    }

    deinit { table.deallocate() }

    @inline(__always) func contains(_ fingerprint: UInt64) -> Bool { place(of: fingerprint) >= 0 }

    /// Where a fingerprint is, which stays the same until the next one is added; -1 for one that is
    /// not in the set.
    @inline(__always) func place(of fingerprint: UInt64) -> Int {
        if fingerprint == 0 { return hasZero ? mask + 1 : -1 }
        var place = Int(truncatingIfNeeded: fingerprint) & mask
        while table[place] != 0 {
            if table[place] == fingerprint { return place }
            place = (place + 1) & mask
        }
        return -1
    }

    mutating func insert(_ fingerprint: UInt64) {
        if contains(fingerprint) { return }
        count += 1
        guard fingerprint != 0 else {
            hasZero = true
            return
        }
        if count * 4 > (mask + 1) * 3 { grow() }
        place(fingerprint)
    }

    private func place(_ fingerprint: UInt64) {
        var place = Int(truncatingIfNeeded: fingerprint) & mask
        while table[place] != 0 { place = (place + 1) & mask }
        table[place] = fingerprint
    }

    private mutating func grow() {
        let (old, oldMask) = (table, mask)
        mask = mask * 2 + 1
        table = .allocate(capacity: mask + 1)
        table.initialize(repeating: 0, count: mask + 1)
        for index in 0...oldMask where old[index] != 0 { place(old[index]) }
        old.deallocate()
    }
}
