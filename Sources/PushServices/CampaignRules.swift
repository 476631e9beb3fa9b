public import Base

/// A key of `delivery` that the service carries out. A service need not have all of them.
public enum DeliveryKey: String, CaseIterable, Sendable {
    case expires, priority, collapse
}

/// A key of `delivery` that the service carries out on some phones only.
public struct DeliveryLoss: Sendable {
    /// The key.
    public let key: DeliveryKey
    /// The phones that do without it, in the plural: "iPhones".
    public let phones: String
    /// What happens there: a sentence without its full stop.
    public let reason: String
    /// What follows, for a sentence: "iPhones get the push without it".
    public let effect: String
    /// The service's own key that makes up for it, with its group and a sentence about it; nil without one.
    public var substitute: (group: String, key: String, remedy: String)?
}

/// What a key that only one service has may hold, for editors: the service itself checks it.
public indirect enum OwnForm: Sendable {
    case text, truth
    /// One of a few words.
    case words([String])
    /// Keys of any name, or a text.
    case data
    /// Keys with their forms, at least one.
    case group([(key: String, form: OwnForm)], required: [String] = [])
}

/// What a service accepts of a campaign, as far as this is known before a payload is made.
public struct CampaignRules: Sendable {
    /// What a push may consist of.
    public var contentKeys = Set(ContentKey.allCases)
    /// What only this service has, below its name in `content.services`: keys of groups, with descriptions for editors. The service checks
    /// them itself (`MessageContent.own`).
    public var ownKeys: [(key: String, description: String)] = []
    /// What these groups may hold, for editors, as far as they can know it.
    public var ownForms: [String: OwnForm] = [:]
    /// What a campaign may ask of the service.
    public var deliveryKeys = Set(DeliveryKey.allCases)
    /// What of these does not reach every phone.
    public var deliveryLosses: [DeliveryLoss] = []
    /// The longest time, in days, that a push waits for a device that is off; nil if the service does not say it.
    public let longestStorageDays: Int?
    /// How long a push waits, in seconds, if its campaign does not say when it expires; nil for `longestStorageDays`.
    public var usualStorageSeconds: Int64?
    /// The most bytes that a collapse id may have; 0 for a service that has none.
    public let collapseIDBytes: Int
    /// The only priority that silent pushes may have; nil if any may be used.
    public let silentPriority: PushPriority?
    /// The member of a payload that the service reads; own keys are next to it.
    public let payloadKey: String
    /// A small hand-written payload, as YAML.
    public let payloadExample: String
    /// The same in JSON.
    public let payloadExampleJSON: JSONValue

    /// How long a push waits for a device that is off, in seconds, if its campaign does not say when it expires; nil if the service does not
    /// say it.
    public var storageSeconds: Int64? { usualStorageSeconds ?? longestStorageDays.map { Int64($0) * 86_400 } }
}

/// The service's own terms, as in its documentation.
public struct ServiceTerms: Sendable {
    /// The id of a push.
    public let pushID: String
    /// The same with its article.
    public let aPushID: String
    /// The id by which a push replaces an earlier one.
    public let collapseID: String
    /// The kind of a push.
    public let pushType: String
}

/// What the service's rules say about a hand-written payload that is allowed but rarely meant.
public struct PayloadLint: Sendable {
    /// Warnings, each at its place.
    public var findings: [Diagnostic] = []
    /// Texts that people see, by the keys of `content`; `alert` for a text without a title.
    public var texts: [(key: String, text: SourceText)] = []
    /// Whether an app can show media with the push; nil if the push shows no text, and so nothing that media could accompany.
    public var showsMedia: Bool?
    /// What to write to make this possible: a whole sentence.
    public var mediaRemedy = ""

    /// Nothing found.
    public init() {}
}
