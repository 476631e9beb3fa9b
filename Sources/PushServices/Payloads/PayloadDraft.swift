public import Base

/// A payload before its templates are compiled: its structure, and the texts that have rules of
/// their own.
public indirect enum PayloadNode: Sendable {
    /// Always the same.
    case constant(JSONValue)
    /// As written in a campaign's `data` or `payload`: every text in it is a template.
    case content(ContentNode)
    /// A text that may contain templates.
    case text(SourceText)
    /// A text that people see. `mustShow`: a push in which this text is blank is not sent.
    /// `isStrict`: what looks like a tag must be one.
    case shown(SourceText, mustShow: Bool, isStrict: Bool = true)
    /// A web address with templates. `mustBeSecure`: it begins with https://.
    case address(SourceText, mustBeSecure: Bool = false)
    /// Members in the order in which they are written.
    case object([(name: String, value: PayloadNode)])
    /// Values in their order.
    case list([PayloadNode])
    /// The id of the push, or of the request that carries it with others: a text of
    /// `PushID.textCount` characters.
    case pushID
    /// The JSON of a value as a text, for services that carry an app's own data in one.
    case encoded(PayloadNode)
    /// A value that the service limits. A device that exceeds the limit gets no push.
    case limited(PayloadNode, PayloadLimit)
}

/// A part of a payload that a service limits.
public struct PayloadPart: Hashable, Sendable {
    /// What is counted.
    public enum Unit: String, Hashable, Sendable {
        /// Characters of a text, in units of UTF-16, as most vendors' software counts them.
        case characters
        /// Bytes of the JSON of any value.
        case bytes
    }

    /// The most that the service takes.
    public let most: Int
    /// What is counted.
    public let unit: Unit
    /// What the part is called in sentences: "title".
    public let noun: String
    /// The key of `content` that holds the part, and nothing else; nil without one.
    public let key: ContentKey?
    /// The service's name in sentences.
    public let service: String

    /// `50 characters`
    public var amount: String { "\(TextFormat.count(most)) \(unit.rawValue)" }

    /// `the title has 51 characters, and Getui takes at most 50`
    public func excess(_ count: Int) -> String {
        "the \(noun) has \(TextFormat.count(count)) \(unit.rawValue), and \(service) takes at most \(TextFormat.count(most))"
    }
}

/// The most that a service takes of a part of a payload, with the part's place.
public struct PayloadLimit: Hashable, Sendable {
    /// What is limited, wherever it comes from.
    public let part: PayloadPart
    /// Where it comes from in the campaign.
    public let place: SourcePosition

    /// A limit.
    public init(
        _ most: Int, _ unit: PayloadPart.Unit, of noun: String, key: ContentKey? = nil, service: String,
        at place: SourcePosition
    ) {
        part = PayloadPart(most: most, unit: unit, noun: noun, key: key, service: service)
        self.place = place
    }
}

/// A part of the content that a service has, and leaves out of this payload: a mistake where no
/// other service takes the campaign's pushes, and a warning in a campaign with several services.
public struct ContentLoss: Sendable {
    /// The key of `content`.
    public let key: ContentKey
    /// Why it is left out: a sentence without its full stop.
    public let reason: String
    /// What follows, for a sentence: "iPhones get the push without it".
    public let effect: String
    /// Where it is.
    public let place: SourcePosition
    /// What to do to have it: a sentence without its full stop.
    public let remedy: String
    /// Whether devices of another system get it from the same service. Then it is a warning
    /// wherever it is, which can only be allowed.
    public var isPartial = false
}

/// What a service makes of a campaign's content.
public struct PayloadDraft: Sendable {
    /// The whole payload.
    public var root: PayloadNode
    /// What kind of push it is.
    public var pushType: PushType
    /// The largest payload that the service takes, in bytes. What a request's body has around the
    /// payload does not count.
    public var byteLimit: Int
    /// Mistakes and warnings by the service's own rules, each at its place in the campaign.
    public var findings: [Diagnostic]
    /// What it leaves out of the content.
    public var losses: [ContentLoss] = []

    /// A draft.
    public init(root: PayloadNode, pushType: PushType, byteLimit: Int, findings: [Diagnostic]) {
        self.root = root
        self.pushType = pushType
        self.byteLimit = byteLimit
        self.findings = findings
    }
}
