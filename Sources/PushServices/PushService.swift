public import Base

/// Everything that is specific to one push service, as facts and values. Nothing here opens a
/// connection, or reads a file or a clock.
///
/// A service is a folder next to this file, and an entry of `PushServices.all`.
public protocol PushService: Sendable {
    /// The name in volley.yaml, run files and JSON: lower-case letters.
    var name: String { get }
    /// The name in sentences.
    var displayName: String { get }
    /// Other names by which people and tools call it, in small letters. Only for remedies: files
    /// name it by `name`.
    var otherNames: [String] { get }
    /// The name with a few words about what it is, for people that have never heard of it; without
    /// a full stop.
    var introduction: String { get }
    /// The column for a push's id at this service, in CSV and JSON.
    var idColumn: String { get }
    /// The service's owner, and what it publishes.
    var owner: ServiceOwner { get }
    /// The keys that describe an app's account.
    var account: AccountForm { get }
    /// What the service accepts of a campaign.
    var rules: CampaignRules { get }
    /// The service's terms.
    var terms: ServiceTerms { get }
    /// Warnings that only its rules have.
    var warnings: [WarningName] { get }
    /// What its targets look like.
    var target: TargetForm { get }
    /// A push that reaches no device.
    var probe: ProbePush { get }
    /// The kinds of pushes that it takes.
    var pushTypes: [PushType] { get }
    /// How many pushes a request carries.
    var batching: Batching { get }
    /// What carries its requests.
    var wire: Wire { get }
    /// Whether the body of an answer with status 200 says something about the pushes, too: an error
    /// behind a good status, or a receipt.
    var readsAcceptedBodies: Bool { get }
    /// Whether the body of an answer with status 200 is, byte for byte, one by which the service
    /// says that it took the pushes, and nothing else. Nearly all answers of a run are like this,
    /// so the check is quick; any other body goes to `details(of:)`.
    func plainlyAccepts(_ body: [UInt8]) -> Bool
    /// When and how often a push is tried again.
    var retry: RetryPolicy { get }
    /// The pace of runs for which neither the app nor the campaign sets one; nil for as fast as the
    /// service answers.
    var usualPace: ServicePace? { get }
    /// The headers in which it says how much more it takes; nil for a service that does not say it.
    var budgetHeaders: BudgetHeaders? { get }
    /// Whether a target stands for several people. Then an answer that ends the run leaves it
    /// unsent, as it does the targets that share a request, so that a resumption reaches them;
    /// otherwise the one push that got it is rejected.
    var isForMany: Bool { get }
    /// What it says of pushes some time after it took them; nil if it has no statistics.
    var statistics: StatisticsFacts? { get }
    /// Whether each answer carries the id of its request, so that an answer without it comes from
    /// something else.
    var answersCarryID: Bool { get }
    /// Whether the service may recognize a push that it gets a second time, as it carries the same
    /// id, and then delivers it once.
    var recognizesRepeats: Bool { get }
    /// By what it recognizes a request or a push that it gets again, if it can be relied on to do
    /// nothing then.
    var repeatProtection: RepeatProtection { get }
    /// The audiences that it keeps itself, to which campaigns may go; nil if it keeps none.
    var ownAudience: OwnAudience? { get }
    /// The name of the service that has the account in volley.yaml that it uses: its own, but for a
    /// service that sends to audiences of another one.
    var accountName: String { get }
    /// What a recipient of a run is: a device, or a call after which the service chooses devices.
    var recipientNoun: String { get }
    /// The system that shows the pushes; nil if there are several.
    var system: PhoneSystem? { get }
    /// Whether `Simulators` has a stand-in for it.
    var hasSimulator: Bool { get }
    /// The switches of `AccountForm.switches` that the app has on.
    var switchedOn: Set<String> { get }

    /// The payload of a campaign's content, and what the service's rules say about it.
    func payload(of content: MessageContent) -> PayloadDraft
    /// What is allowed in a hand-written payload but rarely meant.
    func lint(payload: [ContentMember]) -> PayloadLint
    /// What a phone shows of a payload, which is a JSON object.
    func shown(_ payload: JSONValue) -> ShownPush
    /// The service as an app uses it that has these switches on, and no others.
    func switched(on names: Set<String>) -> any PushService
    /// Whether the refusal of a request that named a kept text (`KeptTexts`) may mean that the
    /// service keeps the text no longer.
    func mayHaveForgottenText(_ answer: ServiceAnswer) -> Bool
    /// The topic of a certificate, by its subject; blank if the subject does not say.
    func topic(ofCertificate commonName: String, userID: String) -> String
    /// The largest payload of a push type, in bytes.
    func payloadLimit(of type: PushType) -> Int
    /// The required end of the topic for a push type; blank for none.
    func topicSuffix(of type: PushType) -> String
    /// What all requests of a run have in common.
    func request(_ options: PushOptions) -> RequestTemplate
    /// The request with which `doctor` tries whether the service recognizes the sender.
    func probeRequest(_ options: PushOptions) -> RequestTemplate
    /// What the body of an answer says. Called for every answer except "accepted", and for those
    /// that may say something about each target.
    func details(of body: JSONValue) -> AnswerDetails
    /// What an answer means for all pushes of its request, and for the run.
    func meaning(of answer: ServiceAnswer) -> AnswerMeaning
    /// What an answer means for each push of its request, in their order; nil if it means the same
    /// for all. Called for services that take several pushes in a request, even if the request
    /// carries one.
    /// - Parameter targets: what the answer says about each (`AnswerDetails.targets`), blank for
    ///   one that it does not name.
    func meanings(of answer: ServiceAnswer, targets: [String]) -> [AnswerMeaning]?
    /// What the report says about a reason; nil for one that the service does not document. `push`
    /// prints it too, and tries nothing again: it says nothing about retries.
    func words(about reason: String) -> ReasonWords?
    /// Reasons that only dead targets cause, in the order in which the report names them.
    var goneReasons: [String] { get }
    /// Reasons that can come from wrong settings or from dead targets.
    var blamingReasons: Set<String> { get }
    /// What to check if a push was refused and all others would be refused, too; what to do now for
    /// a reason that makes `doctor` find the service busy: whole sentences.
    func advice(status: Int, reason: String) -> String
    /// Whether an answer that stopped a run is about its message, which a run keeps: resuming it
    /// would not help.
    func blamesMessage(status: Int, reason: String) -> Bool
    /// What `doctor` learns from the answer to a push to a nonexistent device.
    func probeMeaning(status: Int, reason: String) -> ProbeMeaning
}

extension PushService {
    /// No other name.
    public var otherNames: [String] { [] }

    /// The lifetime of a signed credential; nil for a service that takes none.
    public var signedToken: SignedTokenFacts? { account.signedToken }

    /// What a phone shows, and what only wakes an app.
    public var pushTypes: [PushType] { [.alert, .background] }

    /// One push per request, as with most services.
    public var batching: Batching { .single }

    /// Many small requests.
    public var wire: Wire { .http2 }

    /// The status is enough.
    public var readsAcceptedBodies: Bool { false }

    /// All bodies are read.
    public func plainlyAccepts(_ body: [UInt8]) -> Bool { false }

    /// The usual waits.
    public var retry: RetryPolicy { RetryPolicy() }

    /// As fast as the service answers.
    public var usualPace: ServicePace? { nil }

    /// It says nothing before it refuses.
    public var budgetHeaders: BudgetHeaders? { nil }

    /// A push like any other.
    public func probeRequest(_ options: PushOptions) -> RequestTemplate { request(options) }

    /// A device, or a user.
    public var isForMany: Bool { false }

    /// The service has no statistics.
    public var statistics: StatisticsFacts? { nil }

    /// Not promised.
    public var answersCarryID: Bool { false }

    /// Not promised.
    public var recognizesRepeats: Bool { false }

    /// None.
    public var repeatProtection: RepeatProtection { .none }

    /// It keeps none.
    public var ownAudience: OwnAudience? { nil }

    /// Its own.
    public var accountName: String { name }

    /// One app on one device, as with most services.
    public var recipientNoun: String { "device" }

    /// Whether it chooses the devices itself, so that recipients are calls.
    public var choosesDevices: Bool { recipientNoun != "device" }

    /// `3 devices`, `3 calls`
    public func recipients(_ count: Int) -> String { TextFormat.counted(count, one: recipientNoun) }

    /// An answer that every push of the campaign would get.
    public func blamesMessage(status: Int, reason: String) -> Bool {
        meaning(of: ServiceAnswer(status: status, reason: reason)) == .rejectedLikeAll
    }

    /// None: every refusal may be due to wrong settings.
    public var goneReasons: [String] { [] }

    /// Phones of several makers show the pushes.
    public var system: PhoneSystem? { nil }

    /// A service comes with its simulator.
    public var hasSimulator: Bool { true }

    /// None.
    public var switchedOn: Set<String> { [] }

    /// Itself: most services have no switches.
    public func switched(on names: Set<String>) -> any PushService { self }

    /// It keeps no texts.
    public func mayHaveForgottenText(_ answer: ServiceAnswer) -> Bool { false }

    /// Another server as an app names it, with its authority.
    public var serverExample: String {
        "\(EnvironmentForm.key): {url: \"\(account.environments.serverExample)\", ca: ca.pem}"
    }

    /// An app that goes to a simulator which does not exist.
    public var noSimulator: Diagnostic {
        Diagnostic(
            "\(displayName) has no simulator", remedy: "Name a server in volley.yaml, for example: \(serverExample).")
    }

    /// A test device's name: "Anna's iPhone".
    public var phoneExample: String { "Anna's \(system?.phone ?? "phone")" }

    /// Test devices as an app names them.
    public var testDevicesExample: String {
        "test_devices: [{name: \(phoneExample), token: \(target.exampleStart), language: de}]"
    }

    /// What shows the pushes, with what it does: "iOS refuses", "phones refuse".
    /// - Parameter verb: in the plural.
    public func showing(_ verb: String) -> String { system.map { "\($0.name) \(verb)s" } ?? "phones \(verb)" }

    /// Every answer is for the request as a whole.
    public func meanings(of answer: ServiceAnswer, targets: [String]) -> [AnswerMeaning]? { nil }

    /// None: Volley's own warnings are enough for most services.
    public var warnings: [WarningName] { [] }

    /// No findings.
    public func lint(payload: [ContentMember]) -> PayloadLint { PayloadLint() }

    /// Blank: certificates do not name a topic.
    public func topic(ofCertificate commonName: String, userID: String) -> String { "" }

    /// A topic as requests name it: with the suffix that the push type needs, added if it is
    /// missing.
    public func topic(_ topic: String, for type: PushType) -> String {
        let suffix = topicSuffix(of: type)
        return topic.hasSuffix(suffix) ? topic : topic + suffix
    }
}

/// The owner of a service, and what it publishes of its servers and answers.
public struct ServiceOwner: Sendable {
    /// Its name.
    public let name: String
    /// Where it explains its reasons, as the end of a sentence: "Apple's page about …".
    public let reasonsPage: String
    /// The ports that a firewall must leave open: "443 and 2197".
    public let ports: String
    /// Where its servers are, for people that run a firewall: a whole sentence.
    public let networks: String
}

/// What carries a service's requests.
public enum Wire: Hashable, Sendable {
    /// Many small requests at a time, on a few connections of HTTP/2.
    case http2
    /// Few large requests, over HTTP/2 or HTTP/1.1, whichever the server speaks. `inFlight`: the
    /// most at a time, at least 1.
    case calls(inFlight: Int)
}

/// The system of the only phones that show a service's pushes, as far as it decides what a push may
/// hold.
public struct PhoneSystem: Hashable, Sendable {
    /// Its name in sentences.
    public let name: String
    /// What people call a phone that has it.
    public let phone: String
    /// The same in the plural.
    public var phones: String { phone + "s" }
    /// The ends of sound files that it plays.
    public let soundEndings: [String]
}

/// Facts about credentials that are signed on this machine (JWT, ES256) and renewed.
public struct SignedTokenFacts: Hashable, Sendable {
    /// What the service calls such a credential: "provider token".
    public let noun: String
    /// The field of the token's header that names the key.
    public let keyIDField: String
    /// The claim that names the signer.
    public let issuerClaim: String
    /// The service accepts tokens younger than this.
    public let lifetimeSeconds: Double
    /// The token is replaced after this time, before it expires: the server's clock may be ahead of
    /// this machine's.
    public let renewalSeconds: Double
    /// The service accepts a different token only after this time.
    public let shortestRenewalSeconds: Double
}

/// What the report says about a reason.
public struct ReasonWords: Hashable, Sendable {
    /// What it means and what to do, one to three sentences.
    public let explanation: String
    /// The outcome that it usually leads to.
    public let meaning: AnswerMeaning
    /// Whether a machine with a wrong clock gets this reason, too.
    public let mayBeClock: Bool
}

/// What the answer to a push to a nonexistent device says about the connection and the settings.
public enum ProbeMeaning: Hashable, Sendable {
    /// The service recognizes the sender, and accepts pushes to the topic.
    case fine
    /// The service recognizes the sender, but does not accept pushes to this topic from it.
    case wrongTopic
    /// The service does not accept the credentials.
    case wrongCredentials
    /// The service has trouble or is overloaded.
    case busy
    /// The service would not answer like this.
    case notTheService
}

/// When and how often a push is tried again after a temporary refusal.
public struct RetryPolicy: Hashable, Sendable {
    /// The most attempts in all, at least 1.
    public var maximumAttempts = 6
    /// No wait is shorter.
    public var shortestDelaySeconds = 0.0
    /// The longest wait after the first refusal, doubled after each further one; the wait is a
    /// random part of it.
    public var firstDelaySeconds = 0.5
    /// The longest wait, unless the server's retry-after is longer.
    public var longestDelaySeconds = 60.0
    /// How long nothing leaves after a refusal because of a used-up quota, unless the server says
    /// it; doubled with each one in a row.
    public var firstQuotaSeconds = 60.0
    /// How long after its first attempt a push is given up.
    public var maximumTotalSeconds = 900.0

    /// The usual policy, for services without one of their own.
    public init() {}
}

/// The headers in which a service says how much more it takes, in lower-case letters.
public struct BudgetHeaders: Hashable, Sendable {
    /// How many requests are left.
    public let remaining: String
    /// In how many seconds there are new ones.
    public let reset: String

    /// The names.
    public init(remaining: String, reset: String) {
        self.remaining = remaining
        self.reset = reset
    }
}
