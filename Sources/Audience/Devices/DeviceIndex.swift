import CSIMD
import Glibc

/// Finds the number of a device by its fingerprint: an open-addressing table of 32-bit entries.
/// Each holds a number + 1 and, in the bits that numbers do not need yet, part of the fingerprint,
/// so that a search rarely reads a wrong fingerprint. 5 to 7 bytes a device once there are
/// millions.
struct DeviceIndex: ~Copyable {
    private var entries: UnsafeMutablePointer<UInt32>
    private(set) var capacity: Int
    private var count = 0
    /// The bits of an entry that hold a number + 1.
    private var numberMask: UInt32

    /// It grows when more than three quarters full.
    private static let fullness = (numerator: 3, denominator: 4)
    /// How far ahead places are looked for when it grows.
    private static let prefetched = 16
    private static let largePage = 2 << 20
    /// From this capacity on it grows by a quarter: doubling would leave it half empty.
    private static let largeCapacity = 4 << 20

    init() {
        capacity = 64
        entries = Self.entries(capacity)
        numberMask = Self.mask(capacity)
    }

    /// Entries, all free. A lookup is a cache miss: a large table uses large pages to also avoid a
    /// miss of the address translation.
    private static func entries(_ capacity: Int) -> UnsafeMutablePointer<UInt32> {
        let bytes = capacity * MemoryLayout<UInt32>.stride
        let raw = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: bytes >= largePage ? largePage : 16)
        // Without large pages, small ones do.
        if bytes >= largePage { madvise(raw, bytes, MADV_HUGEPAGE) }
        return raw.initializeMemory(as: UInt32.self, repeating: 0, count: capacity)
    }

    deinit { entries.deallocate() }

    private static func mask(_ capacity: Int) -> UInt32 {
        // Numbers + 1 stay below the capacity.
        UInt32(truncatingIfNeeded: UInt64(1) << UInt64(64 - UInt64(capacity).leadingZeroBitCount) - 1)
    }

    /// Where the search for a fingerprint begins. The high bits decide; the low bits distinguish
    /// entries.
    @inline(__always) private func place(of fingerprint: UInt64) -> Int {
        Int(truncatingIfNeeded: fingerprint.multipliedFullWidth(by: UInt64(truncatingIfNeeded: capacity)).high)
    }

    @inline(__always) private func tag(of fingerprint: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: fingerprint) & ~numberMask
    }

    /// Prefetches a fingerprint that will be looked up soon.
    @inline(__always) func prefetch(_ fingerprint: UInt64) { volley_prefetch(entries + place(of: fingerprint)) }

    /// Where a search ended.
    enum Finding {
        case number(Int)
        /// Not found; its entry belongs there.
        case free(place: Int)
    }

    /// Looks for the number of a fingerprint.
    /// - Parameter devices: those of all numbers.
    @inline(__always) func find(_ fingerprint: TokenFingerprint, _ devices: borrowing Blocks<DeviceTable.Entry>)
        -> Finding
    {
        var place = place(of: fingerprint.word)
        let tag = tag(of: fingerprint.word)
        while true {
            let entry = entries[place]
            if entry == 0 { return .free(place: place) }
            if entry & ~numberMask == tag {
                let number = Int(entry & numberMask) - 1
                let device = devices[number]
                if device.word == fingerprint.word, device.rest == fingerprint.rest { return .number(number) }
            }
            place += 1
            if place == capacity { place = 0 }
        }
    }

    /// Adds the newest number. Its fingerprint is the last of all, and not in the table yet.
    /// - Parameter place: where a search for it ended; nil when there was none.
    @inline(__always) mutating func append(_ devices: borrowing Blocks<DeviceTable.Entry>, at place: Int?) {
        count += 1
        if count * Self.fullness.denominator > capacity * Self.fullness.numerator { return grow(devices) }
        let fingerprint = devices[count - 1].word
        guard let place else { return insert(fingerprint, number: count - 1) }
        entries[place] = tag(of: fingerprint) | UInt32(truncatingIfNeeded: count)
    }

    @inline(__always) private func insert(_ fingerprint: UInt64, number: Int) {
        var place = place(of: fingerprint)
        while entries[place] != 0 {
            place += 1
            if place == capacity { place = 0 }
        }
        entries[place] = tag(of: fingerprint) | UInt32(truncatingIfNeeded: number + 1)
    }

    /// Reserves room for this many devices at once.
    mutating func reserve(_ devices: borrowing Blocks<DeviceTable.Entry>, count: Int) {
        let wanted = count * Self.fullness.denominator / Self.fullness.numerator + 1
        if wanted > capacity { resize(to: wanted, devices, count: self.count) }
    }

    private mutating func grow(_ devices: borrowing Blocks<DeviceTable.Entry>) {
        resize(to: capacity < Self.largeCapacity ? capacity * 2 : capacity + capacity / 4, devices, count: count)
    }

    /// The old table is freed before the new one is allocated: fingerprints alone determine where
    /// entries belong.
    private mutating func resize(to newCapacity: Int, _ devices: borrowing Blocks<DeviceTable.Entry>, count: Int) {
        entries.deallocate()
        capacity = newCapacity
        precondition(count < Int(UInt32.max) - 1, "more than four billion devices")
        entries = Self.entries(capacity)
        numberMask = Self.mask(capacity)
        for number in 0..<count {
            if number + Self.prefetched < count { prefetch(devices[number + Self.prefetched].word) }
            insert(devices[number].word, number: number)
        }
    }
}

/// Elements in blocks that never move: growing costs a block, not a copy of everything.
struct Blocks<Element: BitwiseCopyable>: ~Copyable {
    private var blocks: [UnsafeMutablePointer<Element>] = []
    private(set) var count = 0

    /// A few megabytes per block; only pages that were written to take memory.
    private static var shift: Int { 18 }

    deinit { for block in blocks { block.deallocate() } }

    @inline(__always) mutating func append(_ element: Element) {
        if count >> Self.shift == blocks.count { addBlock() }
        blocks[count >> Self.shift][count & (1 << Self.shift - 1)] = element
        count += 1
    }

    /// In small pages, which a machine has at hand: getting a large one may take longer than
    /// everything that is written there. Elements are read in order, or rarely.
    @inline(never) private mutating func addBlock() { blocks.append(.allocate(capacity: 1 << Self.shift)) }

    subscript(index: Int) -> Element {
        @inline(__always) get { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] }
        @inline(__always) set { blocks[index >> Self.shift][index & (1 << Self.shift - 1)] = newValue }
    }
}
