public import Base

/// How answers to calls differ from answers to pushes to devices.
struct AudienceAnswers: Sendable {
    /// What the report says about reasons that mean something else than with devices, by reason, or
    /// by the code with which it begins.
    var words: [String: String] = [:]
    /// Whether an answer refuses nothing but the names of its call, so that other calls may be
    /// taken.
    var isAboutNames: @Sendable (ServiceAnswer) -> Bool = { _ in false }
    /// What the body of an answer says; nil if that is the same as with devices.
    var details: (@Sendable (_ body: JSONValue) -> AnswerDetails)?
    /// What to check when an answer stopped a run, by its reason, where that differs from devices.
    var advice: [String: String] = [:]
    /// Reasons that are about what a run keeps of its campaign, so that only a new plan helps.
    var aboutCampaign: Set<String> = []
}

/// A service as it is used for audiences that it keeps itself: a target is a call, and what an
/// answer says concerns the call, never a device. Everything else is as with the service.
struct AudienceService: PushService {
    typealias MakeRequest = @Sendable (PushOptions) -> RequestTemplate

    let base: any PushService
    private let makeRequest: MakeRequest
    private let answers: AudienceAnswers
    private let broadcasts: BroadcastRules?
    let repeatProtection: RepeatProtection

    init(
        base: any PushService, makeRequest: @escaping MakeRequest, answers: AudienceAnswers,
        repeatProtection: RepeatProtection? = nil,
        broadcasts: BroadcastRules? = nil
    ) {
        self.base = base
        self.makeRequest = makeRequest
        self.answers = answers
        self.broadcasts = broadcasts
        self.repeatProtection = repeatProtection ?? base.repeatProtection
    }

    // MARK: - What differs

    var name: String { "\(base.name)-audience" }
    var accountName: String { base.name }
    var recipientNoun: String { "call" }
    var target: TargetForm { AudienceCall.form }
    var batching: Batching { Batching(largestTargets: 1, hasOwnTexts: true, paceUnit: base.batching.paceUnit) }
    /// A call reaches all devices that have its names.
    var isForMany: Bool { true }
    var goneReasons: [String] { [] }
    var blamingReasons: Set<String> { [] }

    /// The id of a broadcast is for logs alone.
    var recognizesRepeats: Bool { broadcasts == nil && base.recognizesRepeats }

    func payload(of content: MessageContent) -> PayloadDraft {
        var draft = base.payload(of: content)
        if let broadcasts { draft.byteLimit = broadcasts.payloadBytes }
        return draft
    }

    func payloadLimit(of type: PushType) -> Int { broadcasts?.payloadBytes ?? base.payloadLimit(of: type) }

    func request(_ options: PushOptions) -> RequestTemplate { makeRequest(options) }

    func details(of body: JSONValue) -> AnswerDetails { answers.details?(body) ?? base.details(of: body) }

    func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        let isRefusalOfNames = answers.isAboutNames(answer) && !answer.isCutOff
        return isRefusalOfNames ? .rejected : Self.meaning(base.meaning(of: answer))
    }

    /// No answer says that a device is gone. What would divide a request among devices is about the
    /// names of the call or about the text.
    private static func meaning(_ meaning: AnswerMeaning) -> AnswerMeaning {
        switch meaning {
        case .invalidTarget: .rejected
        case .split: .rejectedLikeAll
        default: meaning
        }
    }

    func words(about reason: String) -> ReasonWords? {
        let (own, words) = (Self.entry(of: reason, in: answers.words), base.words(about: reason))
        guard let explanation = own ?? words?.explanation else { return nil }
        return ReasonWords(
            explanation: explanation, meaning: words.map { Self.meaning($0.meaning) } ?? .rejected,
            mayBeClock: words?.mayBeClock ?? false)
    }

    /// What a table says of a reason, or of its code, which may be followed by a text.
    private static func entry(of reason: String, in table: [String: String]) -> String? {
        table[reason] ?? table[String(reason.prefix { $0 != " " })]
    }

    func advice(status: Int, reason: String) -> String {
        Self.entry(of: reason, in: answers.advice) ?? base.advice(status: status, reason: reason)
    }

    func blamesMessage(status: Int, reason: String) -> Bool {
        answers.aboutCampaign.contains(reason) || base.blamesMessage(status: status, reason: reason)
            || meaning(of: ServiceAnswer(status: status, reason: reason)) == .rejectedLikeAll
    }

    // MARK: - What is the same

    var displayName: String { base.displayName }
    var introduction: String { base.introduction }
    var idColumn: String { base.idColumn }
    var owner: ServiceOwner { base.owner }
    var account: AccountForm { base.account }
    var rules: CampaignRules { base.rules }
    var terms: ServiceTerms { base.terms }
    var warnings: [WarningName] { base.warnings }
    var pushTypes: [PushType] { base.pushTypes }
    var wire: Wire { base.wire }
    var readsAcceptedBodies: Bool { base.readsAcceptedBodies }
    func plainlyAccepts(_ body: [UInt8]) -> Bool { base.plainlyAccepts(body) }
    var retry: RetryPolicy { base.retry }
    var usualPace: ServicePace? { base.usualPace }
    var budgetHeaders: BudgetHeaders? { base.budgetHeaders }
    var statistics: StatisticsFacts? { base.statistics }
    var answersCarryID: Bool { base.answersCarryID }
    var system: PhoneSystem? { base.system }
    var hasSimulator: Bool { base.hasSimulator }
    /// To a device that does not exist, never to an audience.
    var probe: ProbePush { base.probe }

    func lint(payload: [ContentMember]) -> PayloadLint { base.lint(payload: payload) }
    func shown(_ payload: JSONValue) -> ShownPush { base.shown(payload) }
    func topic(ofCertificate commonName: String, userID: String) -> String {
        base.topic(ofCertificate: commonName, userID: userID)
    }
    func topicSuffix(of type: PushType) -> String { base.topicSuffix(of: type) }
    func probeRequest(_ options: PushOptions) -> RequestTemplate { base.probeRequest(options) }
    func probeMeaning(status: Int, reason: String) -> ProbeMeaning { base.probeMeaning(status: status, reason: reason) }
}

/// What differs where a call is a broadcast to the phones that follow a channel, and how channels
/// are managed.
public struct BroadcastRules: Sendable {
    /// The most bytes of a payload.
    let payloadBytes: Int
    /// The longest time for which a channel keeps a broadcast.
    public let longestStorageSeconds: Int
    /// What may happen to the activities of a channel.
    public let events: [ActivityContent.Event]
    /// An id as the service writes it; nil for a text that cannot be one.
    public let id: @Sendable (String) -> String?
    /// The server that manages the channels of an environment, with its port.
    public let manager: @Sendable (ServiceEnvironment) -> (host: String, port: Int)
    /// The request that does something with the channels of an app.
    /// - Parameter topic: the app's name at the service.
    public let request: @Sendable (_ deed: ChannelDeed, _ topic: String) -> ChannelRequest
    /// The ids in an answer to `list`; nil for another answer.
    public let ids: @Sendable (_ answer: JSONValue) -> [String]?
    /// What a channel keeps, in an answer to `read`; nil for another answer.
    public let storage: @Sendable (_ answer: JSONValue) -> ChannelStorage?
}

/// What a channel keeps for phones that are off, for good.
public enum ChannelStorage: String, CaseIterable, Sendable {
    /// Nothing, which allows more broadcasts.
    case nothing
    /// The newest broadcast, until it expires.
    case newest
}

/// What is done with the channels of an app.
public enum ChannelDeed: Hashable, Sendable {
    /// Makes one; a header of the answer names it (`ChannelRequest.idHeader`).
    case create(ChannelStorage)
    /// Lists the ids of all.
    case list
    /// Reads what one keeps.
    case read(String)
    /// Deletes one for good.
    case delete(String)
}

/// A request to the server that manages channels.
public struct ChannelRequest: Hashable, Sendable {
    /// GET, POST or DELETE.
    public let method: String
    /// The whole path.
    public let path: String
    /// Those that requests have in addition to the credential.
    public var headers: [RequestTemplate.Header] = []
    /// Empty for none.
    public var body: [UInt8] = []
    /// The status of the answer if it was done.
    public let goodStatus: Int
    /// The header of an answer that names a channel.
    public let idHeader: String
}
