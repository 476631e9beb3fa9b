/// The devices of an alias that were active most recently, ties ordered by token. Never holds many
/// more than are wanted, however many the alias has.
struct MostRecentDevices {
    private var found: [(device: Int, moment: ActivityMoment, token: ArraySlice<UInt8>)] = []
    private let limit: Int

    /// - Parameter limit: how many are wanted.
    init(limit: Int) { self.limit = limit }

    /// Adds a device, which must not have been added before.
    mutating func add(_ device: Int, _ moment: ActivityMoment, _ token: ArraySlice<UInt8>) {
        found.append((device, moment, token))
        if found.count >= 2 * limit + 32 { prune() }
    }

    private mutating func prune() {
        found.sort { left, right in
            left.moment != right.moment ? left.moment > right.moment : left.token.lexicographicallyPrecedes(right.token)
        }
        found.removeLast(max(0, found.count - limit))
    }

    /// Calls `body` with each device that is wanted, and forgets all.
    mutating func removeAll(_ body: (Int) -> Void) {
        prune()
        for entry in found { body(entry.device) }
        found.removeAll(keepingCapacity: true)
    }
}
