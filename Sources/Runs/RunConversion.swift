/// How far the conversion of an older run file is. It takes seconds for each million recipients.
public struct RunConversion: Hashable, Sendable {
    /// Where the run is, for messages.
    public var place: String
    /// Recipients that are converted, and of how many, at least 1.
    public var done: Int, total: Int

    /// Whether all are.
    public var isOver: Bool { done >= total }

    /// So often it is said, in recipients.
    static let stride = 20_000
}
