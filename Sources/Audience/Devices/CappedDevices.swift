public import Base
import CSIMD

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
