public import Base

/// Everything that is particular to one push service, as facts and values: nothing here reads a file, opens a connection or knows the time.
///
/// A service is a folder beside this file, and an entry of `PushServices.all`.
public protocol PushService: Sendable {
    /// The word that volley.yaml, run files and JSON use: lower-case letters.
    var name: String { get }
    /// The name in sentences.
    var displayName: String { get }
    /// The name with a word about what it is, for those who never heard of it: no full stop.
    var introduction: String { get }
    /// Where the service's owner explains reasons, as a sentence ends: "Apple's page about …".
    var reasonsPage: String { get }
    /// What CSV and JSON call a push's id at this service.
    var idColumn: String { get }
    /// What people who look after a firewall need to know beside the port that is used: "443 and 2197".
    var ports: String { get }
    /// A whole sentence for those who look after a firewall: where the service's servers are.
    var networks: String { get }
    /// Whose it is.
    var owner: String { get }
    /// What an app says of its account.
    var account: AccountForm { get }
    /// What it takes of a campaign.
    var rules: CampaignRules { get }
    /// What it calls things.
    var terms: ServiceTerms { get }
    /// Warnings that only its rules have.
    var warnings: [WarningName] { get }
    /// What its targets look like.
    var target: TargetForm { get }
    /// A push that reaches no device.
    var probe: ProbePush { get }
    /// How many pushes a request carries.
    var batching: Batching { get }

    /// What a payload becomes of a campaign's content, and what the service's rules say about it.
    func payload(of content: MessageContent) -> PayloadDraft
    /// What is allowed in a payload by hand, and rarely meant.
    func lint(payload: [ContentMember]) -> PayloadLint
    /// What a phone makes of a payload, which is a JSON object.
    func shown(_ payload: JSONValue) -> ShownPush
    /// The topic that a certificate is for, by its subject; blank where that does not say.
    func topic(ofCertificate commonName: String, userID: String) -> String
    /// The largest payload of a push type, in bytes.
    func payloadLimit(of type: PushType) -> Int
    /// What the topic of a push type must end with; blank for nothing.
    func topicSuffix(of type: PushType) -> String
    /// What all requests of a run have in common.
    func request(_ options: PushOptions) -> RequestTemplate
    /// What the body of an answer says that is not "accepted", or that may say something of each target.
    func details(of body: JSONValue) -> AnswerDetails
    /// What an answer means for all pushes of its request, and for the run.
    func meaning(of answer: ServiceAnswer) -> AnswerMeaning
    /// What an answer means for each push of its request, in their order; nil: for all the same. Asked where a request may carry several, also when it
    /// carries one.
    /// - Parameter targets: what the answer says of each (`AnswerDetails.targets`), blank for one that it does not name.
    func meanings(of answer: ServiceAnswer, targets: [String]) -> [AnswerMeaning]?
    /// What the report says of a reason; nil for one that the service does not document.
    func words(about reason: String) -> ReasonWords?
    /// Reasons that wrong settings cause as well as dead targets.
    var blamingReasons: Set<String> { get }
    /// What to check when a push was refused so that all others would be refused, too: a whole sentence.
    func advice(status: Int, reason: String) -> String
    /// What `doctor` learns from the answer to a push to a device that does not exist.
    func probeMeaning(status: Int, reason: String) -> ProbeMeaning
}

extension PushService {
    /// How long a signed credential is good for; nil for a service that takes none.
    public var signedToken: SignedTokenFacts? { account.signedToken }

    /// One push a request, as most services have it.
    public var batching: Batching { .single }

    /// Every answer is for the request as a whole.
    public func meanings(of answer: ServiceAnswer, targets: [String]) -> [AnswerMeaning]? { nil }

    /// None: those of Volley's own do for most services.
    public var warnings: [WarningName] { [] }

    /// Nothing to say.
    public func lint(payload: [ContentMember]) -> PayloadLint { PayloadLint() }

    /// Certificates say nothing of a topic.
    public func topic(ofCertificate commonName: String, userID: String) -> String { "" }

    /// A topic as requests name it: with what the push type needs at its end, unless it has that already.
    public func topic(_ topic: String, for type: PushType) -> String {
        let suffix = topicSuffix(of: type)
        return topic.hasSuffix(suffix) ? topic : topic + suffix
    }
}

/// Of credentials that are signed on this machine (JWT, ES256) and renewed.
public struct SignedTokenFacts: Hashable, Sendable {
    /// The field of the token's header that names the key.
    public let keyIDField: String
    /// The claim that names who signs.
    public let issuerClaim: String
    /// The service takes one that is younger.
    public let lifetimeSeconds: Double
    /// Replaced after as much time: the server's clock may be ahead of this machine's.
    public let renewalSeconds: Double
    /// The service takes another one only after as much time.
    public let shortestRenewalSeconds: Double
}

/// What the report says about a reason.
public struct ReasonWords: Hashable, Sendable {
    /// What it means and what to do, one to three sentences.
    public let explanation: String
    /// The outcome to which it leads as a rule.
    public let meaning: AnswerMeaning
    /// A machine whose clock is wrong gets this reason, too.
    public let mayBeClock: Bool
}

/// What the answer to a push to a device that does not exist says of the way there.
public enum ProbeMeaning: Hashable, Sendable {
    /// The service knows who asks, and takes pushes to the topic.
    case fine
    /// The service knows who asks, and takes no pushes to this topic from them.
    case wrongTopic
    /// The service does not take the credentials.
    case wrongCredentials
    /// The service has trouble, or too much to do.
    case busy
    /// The service would not answer so.
    case notTheService
}
