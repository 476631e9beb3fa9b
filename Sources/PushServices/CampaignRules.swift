public import Base

/// What a service takes of a campaign, as far as it shows before a payload is made.
public struct CampaignRules: Sendable {
    /// How long a push waits at most for a device that is off, in days.
    public let longestStorageDays: Int
    /// Bytes of a collapse id at most.
    public let collapseIDBytes: Int
    /// The only priority that silent pushes may have; nil if any may be used.
    public let silentPriority: PushPriority?
    /// The member of a payload that the service reads; own keys stand beside it.
    public let payloadKey: String
    /// A small payload by hand, as YAML.
    public let payloadExample: String
    /// The same in JSON.
    public let payloadExampleJSON: JSONValue
}

/// What a service calls things that people read of in its documentation.
public struct ServiceTerms: Sendable {
    /// The id of a push.
    public let pushID: String
    /// The same with its article.
    public let aPushID: String
    /// By which a push replaces one before it.
    public let collapseID: String
    /// What kind of push it is.
    public let pushType: String
}

/// What the service's rules say of a payload by hand that is allowed and rarely meant.
public struct PayloadLint: Sendable {
    /// Warnings, each at its place.
    public var findings: [Diagnostic] = []
    /// Texts that people see, by the keys of `content`; `alert` for one without a title.
    public var texts: [(key: String, text: SourceText)] = []
    /// Whether an app can show media in it; nil where it shows no text, so that there is nothing to show them beside.
    public var showsMedia: Bool?
    /// What to write so that it can: a whole sentence.
    public var mediaRemedy = ""

    /// Nothing found.
    public init() {}
}
