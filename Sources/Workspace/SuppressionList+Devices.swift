package import Audience
package import Base
import Runs

extension [SuppressionList] {
    /// All devices on the lists; nil when no device is suppressed.
    /// - Parameters:
    ///   - hash: for the tokens of the scan; nil for any.
    ///   - planning: when a plan applied the lists as they were then; nil if no plan did
    ///     (`SuppressionList.withTokens`).
    package func suppressedDevices(hash: KeyedHash? = nil, since planning: Timestamp? = nil) throws
        -> SuppressedDevices?
    {
        try devices(on: self[...], since: planning, capacity: 0, hash ?? .random()) { _ in }
    }

    /// Opens one list after the other, so that their sizes are known together, then reads them.
    private func devices(
        on rest: ArraySlice<SuppressionList>, since planning: Timestamp?, capacity: Int, _ hash: KeyedHash,
        _ fill: (SuppressedDevices.Insertion) throws -> Void
    ) throws -> SuppressedDevices? {
        guard let list = rest.first else {
            return capacity == 0 ? nil : try SuppressedDevices(capacity: capacity, hash: hash, fill)
        }
        let found = try list.withTokens(since: planning) { count, forEach in
            try devices(on: rest.dropFirst(), since: planning, capacity: capacity + count, hash) { insert in
                try fill(insert)
                try forEach { insert($0, $1, isByPerson: $2) }
            }
        }
        return try found ?? devices(on: rest.dropFirst(), since: planning, capacity: capacity, hash, fill)
    }
}
