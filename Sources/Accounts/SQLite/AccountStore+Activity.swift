public import Base

/// The list of what was done. What concerns accounts is noted by the calls that do it.
extension AccountStore {
    /// Notes what a person did to a campaign or a run.
    /// - Parameters:
    ///   - app: the app of volley.yaml that it concerns; nil for none.
    ///   - subject: the file of the campaign, or the id of the run; of long ones the first 1,000 bytes are kept.
    public func note(_ kind: ActivityKind, app: String?, subject: String?, by actor: Actor, at now: Timestamp) throws {
        try write { try ActivityRecords.add(kind, about: (app, subject), by: actor, at: now, $0) }
    }

    /// Reads a page, the newest first.
    /// - Parameters:
    ///   - before: `next` of the page before; nil for the first one.
    ///   - count: 1 to 500.
    public func activities(_ filter: ActivityFilter = ActivityFilter(), before: Int64? = nil, count: Int = 50) throws -> ActivityPage {
        precondition((1...500).contains(count), "a page has 1 to 500 activities")
        return try read { try ActivityRecords.page(filter, before: before, count: count, $0) }
    }
}
