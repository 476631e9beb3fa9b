import Audience
import Runs

extension SuppressionList {
    /// All that are on the list; nil when nobody is suppressed.
    func suppressedDevices() throws -> SuppressedDevices? {
        try withTokens { count, forEach in
            try SuppressedDevices(capacity: count) { insert in try forEach(insert) }
        }
    }
}
