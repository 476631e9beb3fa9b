import Base
@testable import PushServices

/// A service whose account, targets, reasons and facts are not those of APNs, for tests of words.
struct Toypush: PushService {
    let name = "toy", displayName = "Toypush", introduction = "Toypush, a toy of a push service", idColumn = "toy_id"
    let owner = ServiceOwner(
        name: "Toymakers", reasonsPage: "Toypush's page of errors", ports: "443",
        networks: "Toypush is at 192.0.2.0/24.")
    let terms = ServiceTerms(
        pushID: "x-request-id", aPushID: "an x-request-id", collapseID: "collapse", pushType: "type")
    let blamingReasons: Set = ["unknown_device"]
    private let apns = APNs()

    var rules: CampaignRules {
        var rules = apns.rules
        rules.carried[.subtitle] = nil
        rules.deliveryKeys.remove(.priority)
        return rules
    }
    var probe: ProbePush { ProbePush(target: "00000000-0000-4000-8000-000000000000", payload: "{}") }

    let account = AccountForm(
        topic: AccountField("app_code", .name(pattern: "[a-z_]+"), description: "The app's code.", example: "shop_app"),
        environments: EnvironmentForm(
            choices: [
                ServiceEnvironment(name: "live", host: "send.toypush.example"),
                ServiceEnvironment(name: "trial", reachesPeople: false, host: "trial.toypush.example"),
            ], remedies: [:], example: "live", serverExample: "https://localhost:8443"),
        credentials: [
            CredentialForm(
                key: "signing_key",
                kind: .signingKey(
                    SignedTokenFacts(
                        noun: "send token", keyIDField: "kid", issuerClaim: "iss", lifetimeSeconds: 7200,
                        renewalSeconds: 3000,
                        shortestRenewalSeconds: 60)), description: "The key.", example: "signing_key: {…}",
                shortExample: "signing_key: {…}",
                origin: "from Toypush's console",
                fields: [
                    AccountField("file", .file, description: "The .p8 file.", example: "keys/toy-ABC123.p8"),
                    AccountField(
                        "number", .keyID(length: 6), description: "The key's number.", example: "ABC123",
                        whatToAdd: "the six characters that Toypush shows next to it"),
                    AccountField("account", .issuer(length: 8), description: "The account.", example: "TOYACCT1"),
                ], otherNames: [],
                file: KeyFileFacts(
                    description: "the .p8 file that Toypush's console gives out", namePrefix: "toy-", nameSuffix: ".p8",
                    idLength: 6))
        ])

    var target: TargetForm {
        TargetForm(
            .text(ASCIISet("0123456789abcdef-"), length: 36...36), tellingLength: 36, noun: "installation id",
            writing: "as a UUID",
            rule: "An installation id is a UUID", remedy: "Copy the whole installation id.")
    }

    func payload(of content: MessageContent) -> PayloadDraft { apns.payload(of: content) }
    func shown(_ payload: JSONValue) -> ShownPush { ShownPush(title: "", body: "") }
    func payloadLimit(of type: PushType) -> Int { 2000 }
    func topicSuffix(of type: PushType) -> String { "" }
    func request(_ options: PushOptions) -> RequestTemplate {
        RequestTemplate(pathPrefix: "/send", headers: [], idHeader: "x-request-id")
    }
    func details(of body: JSONValue) -> AnswerDetails { AnswerDetails() }
    func advice(status: Int, reason: String) -> String {
        status == 503 ? "Try again later." : "Check signing_key and app_code."
    }

    func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        switch answer.status {
        case 200: .accepted
        case 404: .invalidTarget(blamesSettings: true)
        case 401: .stop
        default: .retry(.serviceBusy)
        }
    }

    func words(about reason: String) -> ReasonWords? {
        switch reason {
        case "unknown_device":
            ReasonWords(
                explanation: "Toypush does not know them.", meaning: .invalidTarget(blamesSettings: true),
                mayBeClock: false)
        case "busy":
            ReasonWords(
                explanation: "Toypush had too much to do until the retries ran out.", meaning: .retry(.serviceBusy),
                mayBeClock: false)
        case "bad_key":
            ReasonWords(explanation: "Toypush did not accept the signature.", meaning: .stop, mayBeClock: true)
        default: nil
        }
    }

    func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        switch status {
        case 404: .fine
        case 403: .wrongTopic
        case 401: .wrongCredentials
        default: .busy
        }
    }
}
