import Audience
import Base
import Runs

extension [SuppressionList] {
    /// All devices on the lists; nil when no device is suppressed.
    func suppressedDevices() throws -> SuppressedDevices? { try devices(on: self[...], capacity: 0) { _ in } }

    /// Opens one list after the other, so that their sizes are known together, then reads them.
    private func devices(
        on rest: ArraySlice<SuppressionList>, capacity: Int, _ fill: (SuppressedDevices.Insertion) throws -> Void
    ) throws -> SuppressedDevices? {
        guard let list = rest.first else { return capacity == 0 ? nil : try SuppressedDevices(capacity: capacity, fill) }
        let found = try list.withTokens { count, forEach in
            try devices(on: rest.dropFirst(), capacity: capacity + count) { insert in
                try fill(insert)
                try forEach { insert($0, $1, isByPerson: $2) }
            }
        }
        return try found ?? devices(on: rest.dropFirst(), capacity: capacity, fill)
    }
}
