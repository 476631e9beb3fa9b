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
    /// The service's own key that makes up for it, with its group and a sentence about it; nil
    /// without one.
    public var substitute: (group: String, key: String, remedy: String)?
}

/// What a key that only one service has may hold, for editors: the service itself checks it.
public indirect enum OwnForm: Sendable {
    case text, truth
    /// A text of this form.
    case pattern(String)
    /// A whole number, within these.
    case number(ClosedRange<Int64>)
    /// Any of these.
    case either([OwnForm])
    /// One of a few words.
    case words([String])
    /// Keys of any name, or a text.
    case data
    /// Keys with their forms, at least one.
    case group([(key: String, form: OwnForm)], required: [String] = [])
}

/// A key of a group that only one service has: what payloads call it, and what it may hold.
struct OwnKey: Sendable {
    enum Form: Sendable {
        case text
        /// A text that people see, with the most characters that it may have.
        case limitedText(Int)
        /// `#FF8800`
        case color
        /// One of these words, with what the payload has instead.
        case words([(word: String, value: JSONValue)])
        case number(ClosedRange<Int64>)
        /// `"+1"`: a number that is added to one of the phone's.
        case added(ClosedRange<Int64>)
        /// A number from 0 to 99; or one to add, which payloads call otherwise.
        case badge(added: String)

        /// What it must be, and an example.
        var expectation: (what: String, example: String) {
            switch self {
            case .text, .limitedText: ("a text", "\"…\"")
            case .color: ("a colour like #FF8800", "\"#FF8800\"")
            case .words(let words): ("one of \(words.map(\.word).joined(separator: ", "))", words[0].word)
            case .number(let range): ("a whole number from \(range.lowerBound) to \(range.upperBound)", "1")
            case .badge: ("a whole number from 0 to 99, or a text from \"+1\" to \"+99\"", "\"+1\"")
            case .added(let range): ("a text from \"+\(range.lowerBound)\" to \"+\(range.upperBound)\"", "\"+1\"")
            }
        }

        /// The word that was probably meant.
        func nearest(_ value: ContentNode) -> String? {
            guard case .words(let words) = self, case .text(let text) = value, text.value.utf8.count <= 64 else {
                return nil
            }
            return nearestName(to: text.value.lowercased(), among: words.map(\.word))
        }

        private static let additions = "^\\+[0-9]+$"

        fileprivate var ownForm: OwnForm {
            switch self {
            case .text, .limitedText: .text
            case .color: .pattern("^#[0-9A-Fa-f]{6}$")
            case .words(let words): .words(words.map(\.word))
            case .number(let range): .number(range)
            case .added: .pattern(Self.additions)
            case .badge: .either([.number(0...99), .pattern(Self.additions)])
            }
        }
    }

    let name: String
    let payload: String
    let form: Form

    /// A value of a payload as a campaign has it.
    func shown(_ value: JSONValue) -> String {
        switch form {
        case .words(let words): words.first { $0.value == value }?.word ?? ShownPush.plain(value)
        case .added: "+" + ShownPush.plain(value)
        default: ShownPush.plain(value)
        }
    }

    init(_ name: String, _ payload: String, _ form: Form = .text) {
        (self.name, self.payload, self.form) = (name, payload, form)
    }
}

extension OwnForm {
    /// A group of such keys.
    static func group(_ keys: [OwnKey]) -> OwnForm { .group(keys.map { (key: $0.name, form: $0.form.ownForm) }) }
}

/// How a service is told of a Live Activity.
public enum ActivityForm: Sendable {
    /// Its token is the target, instead of the device's.
    case target
    /// Its token is in the payload, next to the device's, which is the target.
    case inPayload
    /// The device is the target, and the service has the tokens of its activities.
    case byDevice

    /// Whether exports have a column of tokens for it.
    public var needsToken: Bool { self != .byDevice }
}

/// What a service accepts of a campaign, as far as this is known before a payload is made.
public struct CampaignRules: Sendable {
    /// What a push may consist of, with what becomes of it in the service's own words: a cell of
    /// the table in docs/services.md.
    public var carried: [ContentKey: String]
    /// What a push may consist of.
    public var contentKeys: Set<ContentKey> { Set(carried.keys) }
    /// What only this service has, below its name in `content.services`: keys of groups, with
    /// descriptions for editors. The service checks them itself (`MessageContent.own`).
    public var ownKeys: [(key: String, description: String)] = []
    /// What these groups may hold, for editors, as far as they can know it.
    public var ownForms: [String: OwnForm] = [:]
    /// Where content may hold classes of makers in the service's own words; nil where only `makers`
    /// holds them.
    var classesByHand: ClassesByHand?
    /// How it starts, updates and ends Live Activities; nil if it does not.
    public var activities: ActivityForm?
    /// Keys of a hand-written payload that hold a target next to that of the push.
    public var payloadTargets: Set<String> = []
    /// What a campaign may ask of the service.
    public var deliveryKeys = Set(DeliveryKey.allCases)
    /// What of these does not reach every phone.
    public var deliveryLosses: [DeliveryLoss] = []
    /// The longest time, in days, that a push waits for a device that is off; nil if the service
    /// does not say it.
    public let longestStorageDays: Int?
    /// How long a push waits, in seconds, if its campaign does not say when it expires; nil for
    /// `longestStorageDays`.
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

    /// How long a push waits for a device that is off, in seconds, if its campaign does not say
    /// when it expires; nil if the service does not say it.
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
    /// Whether an app can show media with the push; nil if the push shows no text, and so nothing
    /// that media could accompany.
    public var showsMedia: Bool?
    /// What to write to make this possible: a whole sentence.
    public var mediaRemedy = ""

    /// Nothing found.
    public init() {}
}
