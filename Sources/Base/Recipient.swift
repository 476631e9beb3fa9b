/// A device that a campaign goes to, with what its push needs.
public struct Recipient: Hashable, Sendable {
    /// The token, normalised.
    public var token: Target
    /// Blank if the export has none.
    public var registrationID: String
    /// Blank if the export has none.
    public var alias: String
    /// Blank if the export has none.
    public var language: String
    /// The variant that the device gets; blank if the campaign has none.
    public var variant: String
    /// The cells that templates need, in the order of the plan's columns; blank when absent.
    public var fields: [String]

    /// A recipient.
    public init(
        token: Target, registrationID: String = "", alias: String = "", language: String = "", variant: String = "",
        fields: [String] = []
    ) {
        self.token = token
        self.registrationID = registrationID
        self.alias = alias
        self.language = language
        self.variant = variant
        self.fields = fields
    }
}
