public import Base
import CSIMD

/// How many pushes devices have got lately, and so which of them may get no more: an open-addressing table of 11 to 21 bytes a device.
///
/// `@unchecked Sendable`: nothing changes after init.
public final class CappedDevices: @unchecked Sendable {
    /// What the tokens of a scan must be hashed with.
    let hash: KeyedHash
    /// Of each place its device's fingerprint; 0 is free.
    private var fingerprints: UnsafeMutableBufferPointer<UInt64>
    /// Of each place and each cap the pushes that count.
    private var counts: UnsafeMutableBufferPointer<UInt8>
    private let limits: [UInt8]
    /// Devices that have got any.
    private var count = 0

    /// - Parameters:
    ///   - caps: of which each counts pushes of its own; the device is capped when any of them is reached.
    ///   - suppressed: those of the same scan.
    ///   - fill: is called once, with what takes a push: its device's token (lower-case hex digits) and which of the caps, by number, it
    ///     counts for. It must not be called afterwards.
    public init(
        _ caps: [FrequencyCap], beside suppressed: SuppressedDevices?,
        _ fill: (_ add: @escaping (UnsafeBufferPointer<UInt8>, _ countsFor: (Int) -> Bool) -> Void) throws -> Void
    ) rethrows {
        hash = suppressed?.hash ?? .random()
        limits = caps.map { UInt8(clamping: $0.pushes) }
        fingerprints = .allocate(capacity: 64)
        fingerprints.initialize(repeating: 0)
        counts = .allocate(capacity: 64 * caps.count)
        counts.initialize(repeating: 0)
        try fill { token, countsFor in self.add(max(self.hash.token(token), 1), countsFor) }
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

    /// Says that a device will be looked for soon.
    @inline(__always) func prefetch(_ fingerprint: UInt64) {
        volley_prefetch(fingerprints.baseAddress.map { $0 + Int(truncatingIfNeeded: max(fingerprint, 1)) & (fingerprints.count - 1) })
    }

    private func isCapped(_ place: Int) -> Bool {
        limits.indices.contains { counts[place * limits.count + $0] >= limits[$0] }
    }

    /// Where a device stands, or would.
    @inline(__always) private func place(of fingerprint: UInt64) -> Int {
        var place = Int(truncatingIfNeeded: fingerprint) & (fingerprints.count - 1)
        while fingerprints[place] != 0, fingerprints[place] != fingerprint { place = (place + 1) & (fingerprints.count - 1) }
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
