public import Runs

/// Says whether the person who ordered something may still have it done; nil if so. The sender asks before it does an order, on any of its threads: a
/// right that was taken away after the order was placed counts.
public typealias OrderRights = @Sendable (Order) -> OrderRefusal?

/// Four eyes: whoever wrote a campaign, or asked for its approval, does not approve it, administrators included (docs/plans/console.md, A3).
public enum FourEyes {
    /// Why a person may not approve; nil if they may.
    /// - Parameters:
    ///   - writer: the account that saved the version which was planned; nil if it is unknown, because the file was changed outside the console. Then
    ///     only who asked counts.
    ///   - asker: the account that asked for the approval; nil if nobody did, as for a time of a schedule.
    ///   - approver: the account that wants to approve. Names are compared without regard to capitals.
    public static func refusal(writer: String?, asker: String?, approver: String) -> OrderRefusal? {
        func isApprover(_ name: String?) -> Bool { name.map { $0.lowercased() == approver.lowercased() } ?? false }
        if isApprover(writer) { return .wroteIt }
        if isApprover(asker) { return .askedForIt }
        return nil
    }
}
