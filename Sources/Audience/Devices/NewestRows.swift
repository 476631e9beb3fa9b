/// What the newest row of each device says in addition, by device.
///
/// For one, the user that it names in addition to the target that is used. A service that addresses
/// users reaches all devices of each, so such a user would get a push twice on the device: once
/// through the device's target, and once through the user's ID, if another row has only that.
struct NewestRows<Value> {
    private var values: [Value] = []

    subscript(device: Int) -> Value { values[device] }

    /// Memory that they take.
    var bytes: Int { values.count * MemoryLayout<Value>.stride }

    /// How many devices there are of which the newest row says something.
    func count(where isCounted: (Value) -> Bool) -> Int { values.count(where: isCounted) }

    /// Notes what a row of a device says. Called for every row, and for devices in the order of
    /// their numbers.
    mutating func note(_ value: Value, of device: Int, isNewest: Bool) {
        if device == values.count {
            values.append(value)
        } else if isNewest {
            values[device] = value
        }
    }
}

/// What the rows of a block say in addition, row by row.
struct RowNotes<Value> {
    private var notes: ArraySlice<BlockResult.Note<Value>>

    init(_ notes: [BlockResult.Note<Value>]) { self.notes = notes[...] }

    /// What a row says; nil for nothing. Called for rows in order.
    /// - Parameter row: its place among the block's devices.
    mutating func next(ofRow row: Int) -> Value? {
        guard let note = notes.first, note.row == row else { return nil }
        notes.removeFirst()
        return note.value
    }
}

extension TokenFingerprint {
    /// No user. A fingerprint is this one by chance with a probability of 2⁻⁹⁶.
    static let nobody = TokenFingerprint(word: 0, rest: 0)
}

/// What a row says of a Live Activity whose token is the target. The row counts for the activity
/// and for the registration id that it has, as it does for its device: the device may have had
/// another token before, or none, and would get the push twice.
struct ActivityLinks: BitwiseCopyable {
    /// The device of the row, where the row is noted for what it has in addition; otherwise
    /// `nobody`.
    private var owner = TokenFingerprint.nobody
    /// What it has in addition to what identifies its device; `nobody` for nothing.
    private var activity = TokenFingerprint.nobody, registrationID = TokenFingerprint.nobody

    static let none = ActivityLinks(owner: .nobody)

    init(owner: TokenFingerprint) { self.owner = owner }

    /// nil where the row has nothing in addition.
    init?(_ reading: TargetReading, of device: TokenFingerprint, _ hash: KeyedHash) {
        guard reading.owner != nil else { return nil }
        if let activity = reading.activity.map(hash.fingerprint), activity != device { self.activity = activity }
        if let id = reading.registrationID.map(hash.fingerprint), id != device { registrationID = id }
        if activity == .nobody, registrationID == .nobody { return nil }
    }

    /// A device has something in addition.
    struct Claim: BitwiseCopyable {
        var key: TokenFingerprint
        var device: TokenFingerprint
        var isActivity: Bool
    }

    /// Whether the row is one of another device.
    var isOfAnother: Bool { owner != .nobody }

    /// What the row of a device claims.
    func claims(of device: TokenFingerprint) -> [Claim] {
        var claims: [Claim] = []
        if activity != .nobody { claims.append(Claim(key: activity, device: device, isActivity: true)) }
        if registrationID != .nobody { claims.append(Claim(key: registrationID, device: device, isActivity: false)) }
        return claims
    }

    /// Whether a claim is of no use, as these are those of the newest row that has its key. An
    /// activity runs on one device. A registration id decides only as far as a row has nothing else
    /// that identifies its device.
    func outdates(_ claim: Claim) -> Bool { claim.isActivity ? owner != claim.device : !isOfAnother }

    /// Whether the row makes this claim.
    func makes(_ claim: Claim) -> Bool { claim.key == (claim.isActivity ? activity : registrationID) }
}

/// When a device was last active, in 48 bits that keep the order of moments: to the millisecond
/// within 2,000 years of 1970, to 4 seconds beyond.
struct ActivityMoment: BitwiseCopyable, Comparable {
    /// Below 2^48; 0 for never.
    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    /// - Parameter milliseconds: since 1970; `never` when there is no date.
    @inline(__always) init(_ milliseconds: Int64) {
        guard milliseconds != Self.never else {
            bits = 0
            return
        }
        let exact: Int64 = 1 << 46
        let clamped = min(max(milliseconds, -(exact << 11)), exact << 11)
        let bent: Int64 =
            clamped >= exact
            ? exact + (clamped - exact) >> 12 : clamped < -exact ? -exact + (clamped + exact) >> 12 : clamped
        bits = UInt64(bitPattern: bent &+ (exact << 1)) & 0xFFFF_FFFF_FFFF
    }

    /// Milliseconds that mean no date: older than any.
    static let never = Int64.min

    /// Whether there is no date.
    @inline(__always) var isNever: Bool { bits == 0 }

    /// A moment this far ahead cannot be in the past, even if the clock that wrote it was wrong.
    /// Milliseconds.
    static let grace: Int64 = 86_400_000

    @inline(__always) static func < (left: Self, right: Self) -> Bool { left.bits < right.bits }
}
