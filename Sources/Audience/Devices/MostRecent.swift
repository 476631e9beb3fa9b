/// The devices of an alias that were active most recently, ties ordered by token; each once. Never holds many more than are wanted,
/// however many the alias has.
struct MostRecent {
    private var found: [(device: Int, moment: ActivityMoment, token: ArraySlice<UInt8>)] = []
    private let limit: Int

    /// - Parameter limit: how many are wanted.
    init(limit: Int) { self.limit = limit }

    /// Adds a device, which may have been added before.
    mutating func add(_ device: Int, _ moment: ActivityMoment, _ token: ArraySlice<UInt8>) {
        found.append((device, moment, token))
        if found.count >= 2 * limit + 32 { prune() }
    }

    private mutating func prune() {
        found.sort { left, right in
            left.moment != right.moment ? left.moment > right.moment : left.token.lexicographicallyPrecedes(right.token)
        }
        // The same device, added again, is next to itself.
        var kept = found[..<0]
        for entry in found where kept.count < limit && kept.last?.device != entry.device { kept.append(entry) }
        found = Array(kept)
    }

    /// Calls `body` with each device that is wanted, and forgets all.
    mutating func removeAll(_ body: (Int) -> Void) {
        prune()
        for entry in found { body(entry.device) }
        found.removeAll(keepingCapacity: true)
    }
}
