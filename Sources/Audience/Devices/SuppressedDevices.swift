public import Base
import CSIMD

/// The devices with tokens that are known to be invalid, and since when: an open-addressing table
/// of 21 bytes an entry and, in front of it, two bytes of filter bits that rule out most other
/// devices at once.
///
/// `@unchecked Sendable`: nothing changes after init.
public final class SuppressedDevices: @unchecked Sendable {
    private struct Entry: BitwiseCopyable {
        /// 0 is free.
        var fingerprint: UInt64 = 0
        /// Milliseconds since 1970, times two; the lowest bit says whether a person put the device
        /// on a list.
        var mark: Int64 = 0

        var invalidSince: Int64 { mark >> 1 }
        var isByPerson: Bool { mark & 1 == 1 }
    }

    /// Takes a suppressed device.
    public struct Insertion {
        fileprivate let body: (UnsafeBufferPointer<UInt8>, Timestamp, Bool) -> Void

        /// Takes a device.
        /// - Parameters:
        ///   - token: in the form in which it is kept.
        ///   - isByPerson: whether a person put it on the list, such as for a complaint, and not an
        ///     answer of the service.
        public func callAsFunction(
            _ token: UnsafeBufferPointer<UInt8>, _ invalidSince: Timestamp, isByPerson: Bool = false
        ) {
            body(token, invalidSince, isByPerson)
        }
    }

    /// How far ahead the places of entries are looked for, while they are filled in.
    private static let prefetched = 16

    /// The hash for the tokens of a scan.
    package let hash: KeyedHash
    private let entries: UnsafeMutableBufferPointer<Entry>
    private let filter: UnsafeMutableBufferPointer<UInt64>
    /// Different devices.
    public private(set) var count = 0

    /// - Parameters:
    ///   - capacity: how many devices there are at most.
    ///   - fill: is called once, with what takes a device: its token, and since when it is invalid.
    ///     For a token that comes again, the later moment counts. It must not be used afterwards.
    public convenience init(capacity: Int, _ fill: (_ insert: Insertion) throws -> Void) rethrows {
        try self.init(capacity: capacity, hash: .random(), fill)
    }

    /// - Parameter hash: for the tokens of a scan.
    package init(capacity: Int, hash: KeyedHash, _ fill: (_ insert: Insertion) throws -> Void) rethrows {
        self.hash = hash
        // Filled to three quarters.
        entries = .allocate(capacity: capacity + capacity / 3 + 8)
        entries.initialize(repeating: Entry())
        filter = .allocate(capacity: capacity / 4 + 1)
        filter.initialize(repeating: 0)
        var waiting = [Entry](repeating: Entry(), count: Self.prefetched)
        var next = 0
        try fill(
            Insertion { token, invalidSince, isByPerson in
                let mark = invalidSince.epochMilliseconds << 1 | (isByPerson ? 1 : 0)
                let entry = Entry(fingerprint: Self.used(self.hash.token(token)), mark: mark)
                self.prefetch(entry.fingerprint)
                volley_prefetch(self.entries.baseAddress.map { $0 + self.place(of: entry.fingerprint) })
                self.insert(waiting[next])
                waiting[next] = entry
                next = (next + 1) % Self.prefetched
            })
        for entry in waiting { insert(entry) }
    }

    deinit {
        entries.deallocate()
        filter.deallocate()
    }

    /// Memory that they take.
    public var bytes: Int {
        entries.count * MemoryLayout<Entry>.stride + filter.count * MemoryLayout<UInt64>.stride
    }

    private func insert(_ entry: Entry) {
        if entry.fingerprint == 0 { return }
        filter[word(of: entry.fingerprint)] |= Self.bits(of: entry.fingerprint)
        var place = place(of: entry.fingerprint)
        while entries[place].fingerprint != 0, entries[place].fingerprint != entry.fingerprint { place = next(place) }
        if entries[place].fingerprint == entry.fingerprint {
            let known = entries[place].mark
            entries[place].mark = max(known, entry.mark) | (known | entry.mark) & 1
            return
        }
        precondition(count + 1 < entries.count, "more devices than were said")
        count += 1
        entries[place] = entry
    }

    /// Prefetches a device that will be looked up soon.
    @inline(__always) func prefetch(_ fingerprint: UInt64) {
        volley_prefetch(filter.baseAddress.map { $0 + word(of: Self.used(fingerprint)) })
    }

    /// Milliseconds since 1970; nil for a device that is not among them.
    /// - Parameter fingerprint: of its token, by `hash`.
    @inline(__always) func invalidSince(_ fingerprint: UInt64) -> Int64? {
        let fingerprint = Self.used(fingerprint)
        let bits = Self.bits(of: fingerprint)
        return filter[word(of: fingerprint)] & bits == bits ? find(fingerprint)?.invalidSince : nil
    }

    /// Whether a device is among them, whenever it registered.
    package func contains(_ token: Target) -> Bool {
        var text = token.text
        return text.withUTF8 { invalidSince(hash.token($0)) != nil }
    }

    /// The same, and whether a person put the device on a list.
    func entry(_ fingerprint: UInt64) -> (invalidSince: Int64, isByPerson: Bool)? {
        find(Self.used(fingerprint)).map { ($0.invalidSince, $0.isByPerson) }
    }

    private func find(_ fingerprint: UInt64) -> Entry? {
        var place = place(of: fingerprint)
        while entries[place].fingerprint != fingerprint {
            if entries[place].fingerprint == 0 { return nil }
            place = next(place)
        }
        return entries[place]
    }

    /// 0 means a free entry.
    @inline(__always) private static func used(_ fingerprint: UInt64) -> UInt64 { max(fingerprint, 1) }

    /// The high bits decide.
    @inline(__always) private func place(of fingerprint: UInt64) -> Int {
        Int(truncatingIfNeeded: fingerprint.multipliedFullWidth(by: UInt64(truncatingIfNeeded: entries.count)).high)
    }

    @inline(__always) private func next(_ place: Int) -> Int { place + 1 == entries.count ? 0 : place + 1 }

    /// The filter word of a device. The low bits decide; the high ones already determine `place`.
    @inline(__always) private func word(of fingerprint: UInt64) -> Int {
        let turned = fingerprint << 32 | fingerprint >> 32
        return Int(truncatingIfNeeded: turned.multipliedFullWidth(by: UInt64(truncatingIfNeeded: filter.count)).high)
    }

    /// The bits of that word: three; for one in a hundred absent devices all of them are set.
    @inline(__always) private static func bits(of fingerprint: UInt64) -> UInt64 {
        1 << (fingerprint >> 32 & 63) | 1 << (fingerprint >> 38 & 63) | 1 << (fingerprint >> 44 & 63)
    }
}

/// How many pushes devices got lately, and so which devices may get no more: an open-addressing
/// table of 11 to 21 bytes a device.
///
/// `@unchecked Sendable`: nothing changes after init.
public final class CappedDevices: @unchecked Sendable {
    /// The hash for the tokens of a scan.
    package let hash: KeyedHash
    /// The device's fingerprint of each place; 0 is free.
    private var fingerprints: UnsafeMutableBufferPointer<UInt64>
    /// The pushes that count, for each place and each cap.
    private var counts: UnsafeMutableBufferPointer<UInt8>
    private let limits: [UInt8]
    /// Devices that have got any.
    private var count = 0

    /// - Parameters:
    ///   - caps: each counts its own pushes; the device is capped when it reaches any of them.
    ///   - suppressed: those of the same scan.
    ///   - fill: is called once, with a closure that takes a push: its device's token (lower-case
    ///     hex digits) and the numbers of the caps that it counts for. The closure must not be
    ///     called afterwards.
    public convenience init(
        _ caps: [FrequencyCap], beside suppressed: SuppressedDevices?,
        _ fill: (_ add: @escaping (UnsafeBufferPointer<UInt8>, _ countsFor: (Int) -> Bool) -> Void) throws -> Void
    ) rethrows {
        try self.init(caps, hash: suppressed?.hash ?? .random()) { insertion in try fill { insertion($0, $1) } }
    }

    /// Takes a push, by its device's token or by a hash of that.
    package struct Insertion {
        fileprivate let hash: KeyedHash
        fileprivate let body: (UInt64, _ countsFor: (Int) -> Bool) -> Void

        package func callAsFunction(_ token: UnsafeBufferPointer<UInt8>, _ countsFor: (Int) -> Bool) {
            body(hash.token(token), countsFor)
        }

        package func callAsFunction(hash: UInt64, _ countsFor: (Int) -> Bool) { body(hash, countsFor) }
    }

    /// - Parameter hash: for the tokens of a scan; that of the suppressed devices of the same scan,
    ///   if there are any.
    package init(_ caps: [FrequencyCap], hash: KeyedHash, _ fill: (_ add: Insertion) throws -> Void) rethrows {
        self.hash = hash
        limits = caps.map { UInt8(clamping: $0.pushes) }
        fingerprints = .allocate(capacity: 64)
        fingerprints.initialize(repeating: 0)
        counts = .allocate(capacity: 64 * caps.count)
        counts.initialize(repeating: 0)
        try fill(Insertion(hash: hash) { hash, countsFor in self.add(max(hash, 1), countsFor) })
    }

    deinit {
        fingerprints.deallocate()
        counts.deallocate()
    }

    /// Memory that they take.
    public var bytes: Int { fingerprints.count * 8 + counts.count }

    /// Whether a device may get no more.
    /// - Parameter token: lower-case hex digits.
    public func contains(token: UnsafeBufferPointer<UInt8>) -> Bool { contains(hash.token(token)) }

    /// Whether a device may get no more.
    /// - Parameter fingerprint: of its token, by `hash`.
    @inline(__always) func contains(_ fingerprint: UInt64) -> Bool {
        let place = place(of: max(fingerprint, 1))
        return fingerprints[place] != 0 && isCapped(place)
    }

    /// The first cap that a device reaches; nil when it reaches none.
    /// - Parameter fingerprint: of its token, by `hash`.
    @inline(__always) func firstCap(of fingerprint: UInt64) -> Int? {
        let place = place(of: max(fingerprint, 1))
        return fingerprints[place] == 0 ? nil : limits.indices.first { counts[place * limits.count + $0] >= limits[$0] }
    }

    /// Prefetches a device that will be looked up soon.
    @inline(__always) func prefetch(_ fingerprint: UInt64) {
        volley_prefetch(
            fingerprints.baseAddress.map {
                $0 + Int(truncatingIfNeeded: max(fingerprint, 1)) & (fingerprints.count - 1)
            })
    }

    private func isCapped(_ place: Int) -> Bool {
        limits.indices.contains { counts[place * limits.count + $0] >= limits[$0] }
    }

    /// The place of a device, or where it would be.
    @inline(__always) private func place(of fingerprint: UInt64) -> Int {
        var place = Int(truncatingIfNeeded: fingerprint) & (fingerprints.count - 1)
        while fingerprints[place] != 0, fingerprints[place] != fingerprint {
            place = (place + 1) & (fingerprints.count - 1)
        }
        return place
    }

    private func add(_ fingerprint: UInt64, _ countsFor: (Int) -> Bool) {
        var place = place(of: fingerprint)
        if fingerprints[place] == 0 {
            count += 1
            if count * 4 > fingerprints.count * 3 {
                grow()
                place = self.place(of: fingerprint)
            }
            fingerprints[place] = fingerprint
        }
        for cap in limits.indices where countsFor(cap) {
            let index = place * limits.count + cap
            if counts[index] < limits[cap] { counts[index] += 1 }
        }
    }

    private func grow() {
        let (old, oldCounts) = (fingerprints, counts)
        fingerprints = .allocate(capacity: old.count * 2)
        fingerprints.initialize(repeating: 0)
        counts = .allocate(capacity: oldCounts.count * 2)
        counts.initialize(repeating: 0)
        for index in old.indices where old[index] != 0 {
            let place = place(of: old[index])
            fingerprints[place] = old[index]
            for cap in limits.indices { counts[place * limits.count + cap] = oldCounts[index * limits.count + cap] }
        }
        old.deallocate()
        oldCounts.deallocate()
    }
}
