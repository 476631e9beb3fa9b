import Base
import PushServices

/// The service of a campaign: APNs, or one that speaks as APNs does, but with several pushes in a
/// request.
struct SimulatedService: PushService {
    /// What it says about the targets of a request.
    enum Answering: CaseIterable {
        /// Nothing: one bad target makes it refuse the whole request.
        case together
        /// It also refuses the request, and names bad targets, perhaps not all of them.
        case naming
        /// The result for each target; nothing for those that it accepted.
        case each
    }

    /// The reason of an answer that refuses a request because at least one of its targets is bad.
    static let badTarget = "BadTarget"
    /// The reason of an answer that refuses a message, perhaps as it would refuse all others.
    static let badMessage = "BadMessage"
    /// The reason of an answer that refuses everything for a while.
    static let usedUp = "QuotaUsedUp"
    /// The status of an answer that gives the result for each target.
    static let eachStatus = 207

    var batching = Batching.single
    var answering = Answering.together
    var repeatProtection = RepeatProtection.none
    private let apns = APNs()

    var name: String { apns.name }
    var displayName: String { apns.displayName }
    var introduction: String { apns.introduction }
    var idColumn: String { apns.idColumn }
    var owner: ServiceOwner { apns.owner }
    var account: AccountForm { apns.account }
    var rules: CampaignRules { apns.rules }
    var terms: ServiceTerms { apns.terms }
    var target: TargetForm { apns.target }
    var probe: ProbePush { apns.probe }
    var blamingReasons: Set<String> { apns.blamingReasons }

    func payload(of content: MessageContent) -> PayloadDraft { apns.payload(of: content) }
    func shown(_ payload: JSONValue) -> ShownPush { apns.shown(payload) }
    func payloadLimit(of type: PushType) -> Int { apns.payloadLimit(of: type) }
    func topicSuffix(of type: PushType) -> String { apns.topicSuffix(of: type) }
    func request(_ options: PushOptions) -> RequestTemplate { apns.request(options) }
    func details(of body: JSONValue) -> AnswerDetails { apns.details(of: body) }
    func words(about reason: String) -> ReasonWords? { apns.words(about: reason) }
    func advice(status: Int, reason: String) -> String { apns.advice(status: status, reason: reason) }
    func probeMeaning(status: Int, reason: String) -> ProbeMeaning { apns.probeMeaning(status: status, reason: reason) }

    func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        switch answer.reason {
        case Self.badTarget: .split
        case Self.badMessage: .rejectedLikeAll
        case Self.usedUp: .retry(.quota)
        default: apns.meaning(of: answer)
        }
    }

    func meanings(of answer: ServiceAnswer, targets: [String]) -> [AnswerMeaning]? {
        switch (answer.status, answer.reason) {
        case (Self.eachStatus, _): targets.map { $0.isEmpty ? .accepted : meaning(ofTarget: $0) }
        case (_, Self.badTarget) where answering == .naming: targets.map { $0.isEmpty ? .split : meaning(ofTarget: $0) }
        default: nil
        }
    }

    /// No refusal says that it is about the text.
    func mayHaveForgottenText(_ answer: ServiceAnswer) -> Bool { answer.reason == Self.badTarget }

    private func meaning(ofTarget reason: String) -> AnswerMeaning {
        guard let answer = ServerAnswer.ofTarget(reason) else {
            preconditionFailure("the server says of a target what it never says")
        }
        return apns.meaning(of: ServiceAnswer(status: answer.status, reason: reason))
    }
}

extension ServerAnswer {
    /// Refuses a request because of at least one of its targets.
    static let badTarget = 42
    /// Gives the result for each target.
    static let each = 43
    /// Refuses a message.
    static let likeAll = 44
    /// Refuse everything for a while.
    static let quota = 45..<48

    /// Answers about a single target of several: permanent, and temporary ones.
    static let ofTargets = 16..<20
    static let ofTargetsForNow = [busy, 8]

    static func ofTarget(_ reason: String) -> ServerAnswer? {
        (Array(ofTargets) + ofTargetsForNow).lazy.map { all[$0] }.first { $0.reason == reason }
    }
}
