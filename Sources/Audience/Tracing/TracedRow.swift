public import Base

/// How planning treats one row, step by step.
public struct TracedRow: Sendable {
    /// Its place.
    public var position: SourcePosition
    /// nil when the cell is blank, or holds something else.
    public var token: Target?
    /// The number of its service among the app's: of the token, or of the flawed cell.
    public var service = 0
    /// Whether a service of the app reaches the device, as far as this row says.
    public var isReached = true
    /// The cell of the column that says which service reaches the device; blank without such a column.
    public var serviceCell = ""
    /// Why its cell in the column of tokens is not one, with the cell, shortened; nil for a token, and for a blank cell.
    public var tokenFlaw: (shown: String, clause: String)?
    /// As the export has them.
    public var registrationID: String, alias: String, tags: String, language: String, lastActive: String
    /// Names of the selectors that name it, in the query's order.
    public var selectors: [String]
    /// Conditions of `where` that are not met, each with what the row has instead.
    public var failedConditions: [(condition: ColumnCondition, cell: String)]
    /// The parts of `exclude` that name it: `tag:NAME`, `alias:NAME`, `registration_id:ID`, or `list` for a file of devices.
    public var exclusions: [String]
    /// Since when its token is known to be invalid, when that counts.
    public var suppressedSince: Timestamp?
    /// Whether the export calls its device invalid.
    public var isInvalid = false
    /// Whether its device lately got as many pushes as it may.
    public var isCapped = false
    /// The check's result; nil when it did not get that far.
    public var recipientCheck: RecipientCheck?
    /// With the cells that templates need; nil when it did not get that far.
    public var recipient: Recipient?

    /// Why it does not become a recipient, or nil when it does.
    public var verdict: SkipReason?
    /// The row that counts instead of this one (`duplicateToken`), or that excludes the device though this one does not (`excluded`).
    public var decidedBy: SourcePosition?
    /// For `duplicateToken`: whether the row that counts has a past date in `last_active` and this one has none.
    public var lacksDate = false
    /// For `duplicateToken` of a user's ID: the row of a device that stands for the user, and the number of the device's service.
    public var stoodForBy: (position: SourcePosition, service: Int)?
    /// For `aliasLimit`: the devices that have the alias's places, the most recently active first.
    public var chosenInstead: [ChosenDevice]

    /// What earlier runs show about its device, as a reason.
    var earlierReason: SkipReason? { suppressedSince != nil || isInvalid ? .suppressed : isCapped ? .frequency : nil }

    /// A device within an alias's limit.
    public struct ChosenDevice: Hashable, Sendable {
        /// Its token.
        public var token: Target
        /// As its newest row has it; blank without one.
        public var lastActive: String
    }
}

/// How planning treats everything that a subject names.
public struct AudienceTrace: Sendable {
    /// All rows of the devices that the subject names, and rows that it names themselves, in reading order.
    public var rows: [TracedRow]
    /// Rows that cannot be read, which may hide a device.
    public var badRows: Int
}
