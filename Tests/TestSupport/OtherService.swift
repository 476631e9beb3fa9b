package import Base
package import PushServices

/// A service whose facts a test chooses; everything else is as with APNs. Without a choice phones
/// of several makers show its pushes.
package struct OtherService: PushService {
    private let apns = APNs()
    package var name = "other"
    package var displayName = "Otherpush"
    package var account = APNs().account
    package var rules = APNs().rules
    package var target = APNs().target
    package var system: PhoneSystem?
    package var hasSimulator = true
    package var repeatProtection = RepeatProtection.none

    /// - Parameter change: chooses facts.
    package init(_ change: (inout OtherService) -> Void = { _ in }) { change(&self) }

    /// UUIDs in lower case, 36 characters.
    package static let installationIDs = TargetForm(
        .text(ASCIISet("0123456789abcdef-"), length: 36...36), tellingLength: 36, noun: "installation id",
        example: "3f2a…9c01", writing: "as a UUID in lower case",
        rule: "An installation id is a UUID in lower case, 36 characters",
        remedy: "Copy the whole installation id; it has 36 characters.",
        foreignShapes: [.uuid: "it has capital letters, and Otherpush's installation ids have none"])

    package var introduction: String { apns.introduction }
    package var idColumn: String { apns.idColumn }
    package var owner: ServiceOwner { apns.owner }
    package var terms: ServiceTerms { apns.terms }
    package var probe: ProbePush { apns.probe }
    package var blamingReasons: Set<String> { apns.blamingReasons }

    package func payload(of content: MessageContent) -> PayloadDraft { apns.payload(of: content) }
    package func shown(_ payload: JSONValue) -> ShownPush { apns.shown(payload) }
    package func payloadLimit(of type: PushType) -> Int { apns.payloadLimit(of: type) }
    package func topicSuffix(of type: PushType) -> String { apns.topicSuffix(of: type) }
    package func request(_ options: PushOptions) -> RequestTemplate { apns.request(options) }
    package func details(of body: JSONValue) -> AnswerDetails { apns.details(of: body) }
    package func meaning(of answer: ServiceAnswer) -> AnswerMeaning { apns.meaning(of: answer) }
    package func words(about reason: String) -> ReasonWords? { apns.words(about: reason) }
    package func advice(status: Int, reason: String) -> String { apns.advice(status: status, reason: reason) }
    package func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        apns.probeMeaning(status: status, reason: reason)
    }
}
