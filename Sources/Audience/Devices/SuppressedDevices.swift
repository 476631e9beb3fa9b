public import Base

/// The devices whose tokens are known to be invalid, and since when: an open-addressing table of 21 bytes an entry and, in front of it, two
/// bytes of bits that say of most other devices at once that they are not in it.
///
/// `@unchecked Sendable`: nothing changes after init.
public final class SuppressedDevices: @unchecked Sendable {
    private struct Entry: BitwiseCopyable {
        /// 0 is free.
        var fingerprint: UInt64 = 0
        /// Milliseconds since 1970.
        var invalidSince: Int64 = 0
    }

    /// What the tokens of a scan must be hashed with.
    let hash = KeyedHash.random()
    private let entries: UnsafeMutableBufferPointer<Entry>
    private let filter: UnsafeMutableBufferPointer<UInt64>
    /// Different devices.
    public private(set) var count = 0

    /// - Parameters:
    ///   - capacity: how many devices there are at most.
    ///   - fill: is called once, with what takes a device: its token (lower-case hex digits), and since when it is invalid. Of a token that
    ///     comes again the later moment counts. It must not be called afterwards.
    public init(capacity: Int, _ fill: (_ insert: @escaping (UnsafeBufferPointer<UInt8>, Timestamp) -> Void) throws -> Void) rethrows {
        // Filled to three quarters.
        entries = .allocate(capacity: capacity + capacity / 3 + 8)
        entries.initialize(repeating: Entry())
        filter = .allocate(capacity: capacity / 4 + 1)
        filter.initialize(repeating: 0)
        try fill { self.insert($0, $1) }
    }

    deinit {
        entries.deallocate()
        filter.deallocate()
    }

    /// Memory that they take.
    public var bytes: Int {
        entries.count * MemoryLayout<Entry>.stride + filter.count * MemoryLayout<UInt64>.stride
    }

    private func insert(_ token: UnsafeBufferPointer<UInt8>, _ invalidSince: Timestamp) {
        let fingerprint = Self.used(hash.token(token))
        let bit = bit(of: fingerprint)
        filter[bit >> 6] |= 1 << UInt64(bit & 63)
        var place = place(of: fingerprint)
        while entries[place].fingerprint != 0, entries[place].fingerprint != fingerprint { place = next(place) }
        if entries[place].fingerprint == fingerprint {
            entries[place].invalidSince = max(entries[place].invalidSince, invalidSince.epochMilliseconds)
            return
        }
        precondition(count + 1 < entries.count, "more devices than were said")
        count += 1
        entries[place] = Entry(fingerprint: fingerprint, invalidSince: invalidSince.epochMilliseconds)
    }

    /// Milliseconds since 1970; nil for a device that is not among them.
    /// - Parameter fingerprint: of its token, by `hash`.
    @inline(__always) func invalidSince(_ fingerprint: UInt64) -> Int64? {
        let fingerprint = Self.used(fingerprint)
        let bit = bit(of: fingerprint)
        return filter[bit >> 6] >> UInt64(bit & 63) & 1 == 0 ? nil : find(fingerprint)
    }

    private func find(_ fingerprint: UInt64) -> Int64? {
        var place = place(of: fingerprint)
        while entries[place].fingerprint != fingerprint {
            if entries[place].fingerprint == 0 { return nil }
            place = next(place)
        }
        return entries[place].invalidSince
    }

    /// 0 stands for a free entry.
    @inline(__always) private static func used(_ fingerprint: UInt64) -> UInt64 { max(fingerprint, 1) }

    /// The high bits decide.
    @inline(__always) private func place(of fingerprint: UInt64) -> Int {
        Int(truncatingIfNeeded: fingerprint.multipliedFullWidth(by: UInt64(truncatingIfNeeded: entries.count)).high)
    }

    @inline(__always) private func next(_ place: Int) -> Int { place + 1 == entries.count ? 0 : place + 1 }

    /// The low bits decide, as the high ones would be the same question as `place`.
    @inline(__always) private func bit(of fingerprint: UInt64) -> Int {
        let turned = fingerprint << 32 | fingerprint >> 32
        return Int(truncatingIfNeeded: turned.multipliedFullWidth(by: UInt64(truncatingIfNeeded: filter.count << 6)).high)
    }
}
