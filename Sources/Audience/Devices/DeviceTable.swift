import Base
import CSIMD
import Glibc

/// Every device of the exports so far, one per token, numbered in the order of their first rows.
/// What a device's newest row says counts, whether or not that row is selected: devices that
/// nothing selects are here too, so that they are not reached through an older row. 25 bytes each
/// and, once there are millions, the 5 to 7 of the index: at most 32. Tokens themselves are not
/// kept.
struct DeviceTable: ~Copyable {
    /// What is known of a device. Not private: Swift 6.3.1 cannot compile `Blocks` of a private
    /// type.
    struct Entry: BitwiseCopyable {
        var word: UInt64
        /// Above the class's low 16 bits the moment of the newest row.
        var momentAndClass: UInt64
        var rest: UInt32
        /// The slot at the sink + 1; 0 for none.
        var slot: UInt32
    }

    private var index = DeviceIndex()
    private var entries = Blocks<Entry>()
    /// The class's high 8 bits.
    private var classes = Blocks<UInt8>()
    /// Devices that have a slot: some row of them was selected.
    private(set) var slots = 0
    /// Devices with a row that `exclude` names and that has no date and is not the newest.
    private var undatedExclusions = BitSet()

    /// A device's class is below this.
    static let classLimit = 1 << 24
    /// Memory that a device takes at most, once there are millions.
    static let bytesPerDevice = 32

    var count: Int { entries.count }

    /// Reserves room for this many devices at once.
    mutating func reserve(_ count: Int) { index.reserve(entries, count: count) }

    /// Prefetches a fingerprint that will be looked up soon.
    @inline(__always) func prefetch(_ fingerprint: TokenFingerprint) { index.prefetch(fingerprint.word) }

    /// The number of a device that was seen before; -1 for none.
    @inline(__always) func find(_ fingerprint: TokenFingerprint) -> Int {
        switch index.find(fingerprint, entries) {
        case .number(let device): device
        case .free: -1
        }
    }

    /// Adds a row to its device. Of rows of the same moment the one that was added last is the
    /// newest.
    /// - Parameter number: the row's class, of `table`.
    /// - Returns: the device's number, and whether this row is its newest so far.
    @inline(__always) mutating func add(
        _ fingerprint: TokenFingerprint, _ moment: ActivityMoment, class number: Int, _ table: inout ClassTable
    ) throws -> (device: Int, isNewest: Bool) {
        switch index.find(fingerprint, entries) {
        case .number(let device): return (device, try renew(device, moment, class: number, &table))
        case .free(let place):
            table.add(number)
            append(fingerprint, moment, class: number, at: place)
            return (count - 1, true)
        }
    }

    /// Adds a device that was not seen before.
    /// - Parameter place: of the index, where a search for it ended.
    @inline(__always)
    mutating func append(
        _ fingerprint: TokenFingerprint, _ moment: ActivityMoment, class number: Int, at place: Int? = nil
    ) {
        entries.append(
            Entry(
                word: fingerprint.word, momentAndClass: moment.bits << 16 | UInt64(truncatingIfNeeded: number & 0xFFFF),
                rest: fingerprint.rest, slot: 0))
        classes.append(UInt8(truncatingIfNeeded: number >> 16))
        index.append(entries, at: place)
    }

    private mutating func renew(
        _ device: Int, _ moment: ActivityMoment, class number: Int, _ table: inout ClassTable
    ) throws -> Bool {
        let before = self.moment(of: device)
        if before.isNever || moment.isNever {
            // Of two rows without a date, the earlier one is not the newest.
            let older = before.isNever ? classNumber(of: device) : number
            if table.isNamedByExclude(older) { undatedExclusions.insert(device) }
        }
        let isNewer = renew(device, moment)
        setClass(of: device, number: try table.merge(number, into: classNumber(of: device), isNewer: isNewer))
        return isNewer
    }

    /// Remembers when a device was last active. Returns whether that is its newest row.
    mutating func renew(_ device: Int, _ moment: ActivityMoment) -> Bool {
        guard moment >= self.moment(of: device) else { return false }
        entries[device].momentAndClass = moment.bits << 16 | entries[device].momentAndClass & 0xFFFF
        return true
    }

    private mutating func setClass(of device: Int, number: Int) {
        entries[device].momentAndClass =
            entries[device].momentAndClass & ~0xFFFF | UInt64(truncatingIfNeeded: number & 0xFFFF)
        classes[device] = UInt8(truncatingIfNeeded: number >> 16)
    }

    /// Gives a device the next slot at the sink.
    mutating func takeSlot(_ device: Int) {
        slots += 1
        entries[device].slot = UInt32(slots)
    }

    /// Marks a device as not a recipient.
    mutating func drop(_ device: Int, _ reason: SkipReason, _ table: inout ClassTable) throws {
        setClass(of: device, number: try table.drop(classNumber(of: device), reason))
    }

    /// Marks a user as not a recipient because a device stands for them; does nothing if the user
    /// is not a recipient anyway.
    mutating func drop(user: TokenFingerprint, _ table: inout ClassTable) throws {
        let device = find(user)
        guard device >= 0, table[classNumber(of: device)].reason == nil else { return }
        let number = try table.drop(classNumber(of: device), .duplicateToken, group: AudienceResult.groupOfUsers)
        setClass(of: device, number: number)
    }

    /// Marks a device as not a recipient because a newer row has what its push goes to; does
    /// nothing if it is not one anyway.
    mutating func drop(outdated device: Int, _ table: inout ClassTable) throws {
        guard table[classNumber(of: device)].reason == nil else { return }
        setClass(of: device, number: try table.drop(classNumber(of: device), .duplicateToken, group: 0))
    }

    /// Replaces the facts of a device's rows with the class that follows from them.
    mutating func conclude(_ device: Int, _ table: inout ClassTable) throws {
        setClass(of: device, number: try table.conclude(classNumber(of: device)))
    }

    /// Whether `exclude` names a row of the device that has no date and is not the newest.
    func hasUndatedExclusion(_ device: Int) -> Bool { undatedExclusions.contains(device) }

    /// Takes over what `hasUndatedExclusion` said of the device in another table.
    mutating func noteUndatedExclusion(of device: Int) { undatedExclusions.insert(device) }

    /// Recipients that have such a row.
    func recipientsWithUndatedExclusion(_ table: borrowing ClassTable) -> Int {
        var count = 0
        undatedExclusions.forEach { device in
            if table[classNumber(of: device)].reason == nil { count += 1 }
        }
        return count
    }

    /// Whether any row has a date.
    var hasDates: Bool { (0..<count).contains { !moment(of: $0).isNever } }

    func fingerprint(of device: Int) -> TokenFingerprint {
        TokenFingerprint(word: entries[device].word, rest: entries[device].rest)
    }

    /// When the newest row of a device says that it was active.
    @inline(__always) func moment(of device: Int) -> ActivityMoment {
        ActivityMoment(bits: entries[device].momentAndClass >> 16)
    }

    /// What is known of a device: a number of `ClassTable`.
    @inline(__always) func classNumber(of device: Int) -> Int {
        Int(entries[device].momentAndClass & 0xFFFF) | Int(classes[device]) << 16
    }

    /// The slot of a device at the sink; -1 for none.
    @inline(__always) func slot(of device: Int) -> Int { Int(entries[device].slot) - 1 }
}

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
