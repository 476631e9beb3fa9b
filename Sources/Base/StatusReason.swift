/// The reason for an answer that gives none: its HTTP status, as in `HTTP503`.
public enum StatusReason {
    private static let prefix = "HTTP"

    /// The reason for an answer with this status.
    public static func text(_ status: Int) -> String { prefix + String(status) }

    /// The status in a reason; nil if it is a different reason.
    public static func status(in reason: String) -> Int? {
        guard reason.hasPrefix(prefix), reason.utf8.count == prefix.utf8.count + 3,
            let status = Int(reason.dropFirst(prefix.count)), (100...999).contains(status)
        else { return nil }
        return status
    }
}
