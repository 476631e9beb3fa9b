import Audience
import Runs

extension SuppressionList {
    /// All devices on the list; nil when no device is suppressed.
    func suppressedDevices() throws -> SuppressedDevices? {
        try withTokens { count, forEach in
            try SuppressedDevices(capacity: count) { insert in try forEach(insert) }
        }
    }
}
