public import Base

/// The approval of a plan, with the name of the approver.
public struct RunApproval: Hashable, Sendable {
    /// As given, one line.
    public var name: String
    /// When.
    public var approvedAt: Timestamp

    /// An approval.
    public init(name: String, approvedAt: Timestamp) {
        self.name = name
        self.approvedAt = approvedAt
    }
}
