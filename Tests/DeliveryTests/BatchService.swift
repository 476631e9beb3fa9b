import Base
import PushServices

/// Speaks as APNs does, with requests of several pushes. The body has a line for each: target,
/// space, payload; before them the request's name, if it has one, after `=`; a generation beyond
/// the first is added to the target after `#`. Answers name bad targets as
/// `{"bad": {"TARGET": "BadDeviceToken"}}`; with status 207 nothing else was wrong. `BadValue`
/// names no target, `BadMessage` refuses a message, `QuotaUsedUp` everything for a while, and
/// `Elsewhere` everything at this server.
struct BatchService: PushService {
    var batching: Batching
    var readsAcceptedBodies = false
    var budgetHeaders: BudgetHeaders?
    var repeatProtection = RepeatProtection.none
    private let apns = APNs()

    init(
        _ largestTargets: Int, hasOwnTexts: Bool = false, paceUnit: Batching.PaceUnit = .requests,
        largestWithOwnTexts: Int? = nil
    ) {
        batching = Batching(
            largestTargets: largestTargets, hasOwnTexts: hasOwnTexts, paceUnit: paceUnit,
            largestWithOwnTexts: largestWithOwnTexts)
    }

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
    func words(about reason: String) -> ReasonWords? { apns.words(about: reason) }
    func advice(status: Int, reason: String) -> String { apns.advice(status: status, reason: reason) }
    func probeMeaning(status: Int, reason: String) -> ProbeMeaning { apns.probeMeaning(status: status, reason: reason) }

    func request(_ options: PushOptions) -> RequestTemplate {
        var template = RequestTemplate(
            pathPrefix: "/push", headers: [.init("topic", value: options.topic)], idHeader: "id"
        ) {
            pushes, _, bytes in
            if let name = pushes.name { bytes += "=\(name)\n".utf8 }
            for push in pushes {
                bytes += push.target
                if push.generation > 0 { bytes += "#\(push.generation)".utf8 }
                bytes.append(UInt8(ascii: " "))
                bytes += push.payload
                bytes.append(UInt8(ascii: "\n"))
            }
        }
        guard batching.keepsTexts else { return template }
        template.pathEnd = { $0.name == nil ? "" : "/list" }
        template.keptTexts = KeptTexts(
            path: "/text", body: { payload, _, bytes in bytes += payload }, usableSeconds: { _ in 100 },
            read: { $0["text"]?.stringValue })
        return template
    }

    func mayHaveForgottenText(_ answer: ServiceAnswer) -> Bool { answer.reason == "BadTarget" && answer.status == 409 }

    func details(of body: JSONValue) -> AnswerDetails {
        var details = apns.details(of: body)
        if case .object(let members)? = body["bad"] {
            for member in members { details.targets[member.name] = member.value.stringValue }
        }
        return details
    }

    func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        switch answer.reason {
        case "BadTarget", "BadValue": .split
        case "BadMessage": .rejectedLikeAll
        case "QuotaUsedUp": .retry(.quota)
        case "DayUsedUp": .usedUp
        case "Elsewhere": .retry(.otherServer)
        default: apns.meaning(of: answer)
        }
    }

    func meanings(of answer: ServiceAnswer, targets: [String]) -> [AnswerMeaning]? {
        func meaning(_ reason: String) -> AnswerMeaning {
            apns.meaning(of: ServiceAnswer(status: reason == "TooManyRequests" ? 429 : 400, reason: reason))
        }
        switch (answer.status, answer.reason) {
        case (207, _): return targets.map { $0.isEmpty ? .accepted : meaning($0) }
        case (400, "BadTarget") where targets.count == 1: return [.invalidTarget(blamesSettings: false)]
        case (400, "BadTarget"): return targets.map { $0.isEmpty ? .split : meaning($0) }
        default: return nil
        }
    }
}
