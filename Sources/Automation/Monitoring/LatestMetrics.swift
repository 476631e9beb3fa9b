import Synchronization

/// The metrics as they were last written, for those who fetch them from another thread.
public final class LatestMetrics: Sendable {
    /// Without this they need not be made.
    let isWanted: Bool
    private let latest = Mutex("")

    /// - Parameter isWanted: whether anybody fetches them.
    public init(isWanted: Bool = false) { self.isWanted = isWanted }

    /// The text, in Prometheus' format; blank before the first.
    public var text: String { latest.withLock { $0 } }

    func set(_ text: String) { latest.withLock { $0 = text } }
}
