public import Base

/// RongCloud's pushes to users (`/push/user.json`): a request carries one text and up to a hundred
/// users, and its answer is for all of them. Source: RongCloud, "send a push to users", and its
/// server SDKs for Go (`sdk/push.go`) and Java (`models/push`).
///
/// A target is a user of the app, not a device: RongCloud pushes to all devices on which the user
/// was signed in within the last 30 days, and says neither which nor whether there is any. So no
/// answer makes a target invalid.
public struct RongCloud: PushService {
    /// `rongcloud`, in run files and as the key in volley.yaml.
    public let name = "rongcloud"
    /// The name that people use.
    public let displayName = "RongCloud"
    /// Its other names.
    public let otherNames = ["融云", "融云推送", "rongyun", "rong cloud"]
    /// The name at its first mention.
    public let introduction = "RongCloud, a chat and push service for iOS, Android and HarmonyOS"
    /// The column of results that holds the push's id.
    public let idColumn = "rongcloud_request_id"
    /// RongCloud, with the server and the spare server of each region.
    public let owner = ServiceOwner(
        name: "RongCloud", reasonsPage: "RongCloud's page of status codes", ports: "443",
        networks:
            "RongCloud publishes no addresses: for apps in Beijing the servers are api.rong-api.com and api-b.rong-api.com, for others those of "
            + "their region, api.REGION-light-api.com and api-b.REGION-light-api.com.")
    /// The terms of RongCloud's documentation.
    public let terms = ServiceTerms(
        pushID: idHeader, aPushID: "an \(idHeader)", collapseID: "apns-collapse-id", pushType: "push type")
    /// RongCloud has no sound, no subtitle, no expiry and no priority, and every push shows a text.
    public let rules = CampaignRules(
        carried: RongCloudPayload.carried,
        ownKeys: [
            CampaignRules.makers(RongCloudPayload.makers),
            (CampaignRules.harmonyKey, "What phones with HarmonyOS 5 and later need: category (MARKETING for offers)."),
        ], ownForms: CampaignRules.forms(RongCloudPayload.makers), deliveryKeys: [.collapse],
        longestStorageDays: nil, collapseIDBytes: 64, silentPriority: nil, payloadKey: "notification",
        payloadExample: "notification: {pushContent: Hello}",
        payloadExampleJSON: .object(pairs: [("notification", .object(pairs: [("pushContent", .string("Hello"))]))]))

    /// Only for tracing: RongCloud recognizes no repeats.
    static let idHeader = "x-request-id"

    /// An iPhone gets pushes that show something, which may also wake the app.
    public let pushTypes = [PushType.alert]

    /// A hundred users of one text, and the pace counts users.
    public let batching = Batching(largestTargets: 100, hasOwnTexts: false, paceUnit: .targets)

    /// Twenty requests a second at the usual pace, also where an answer takes a second and a half.
    public let wire = Wire.calls(inFlight: 32)

    /// RongCloud's own SDKs take only the code in the body for an answer.
    public let readsAcceptedBodies = true

    /// Internal errors pass: ten seconds, doubled each time. What came too often waits for a
    /// second, doubled each time.
    public let retry = {
        var policy = RetryPolicy()
        (policy.shortestDelaySeconds, policy.firstDelaySeconds) = (10, 20)
        (policy.longestDelaySeconds, policy.maximumTotalSeconds) = (300, 3600)
        policy.firstQuotaSeconds = 1
        return policy
    }()

    /// Source: RongCloud, "send a push to users": 100 a second, where a request to 100 users counts
    /// as 100.
    public let usualPace: ServicePace? = ServicePace(
        Pace(pushes: 100, intervalSeconds: 1), rampSeconds: 0, isLimit: true)

    /// The only RongCloud there is.
    public init() {}

    /// An app has one key for all systems.
    public func topicSuffix(of type: PushType) -> String { "" }

    /// Bytes of the payload as Volley makes it.
    public func payloadLimit(of type: PushType) -> Int { Self.payloadLimit }

    /// RongCloud documents no limit. This is what a push to an iPhone may have, less room for the
    /// collapse id that a run adds: at most 150 bytes, if each of its 64 characters needs an
    /// escape.
    static let payloadLimit = 4096 - 160
}

/// The parts of an app's account with RongCloud. Source: RongCloud, "API signature" and "data
/// centers"; for the hosts, its SDK for Java (`CenterEnum`).
extension RongCloud {
    /// App key, environment, region, and the app secret.
    public var account: AccountForm { Self.account }

    static let account = AccountForm(topic: appKey, environments: environments, credentials: [appSecret])

    private static let appKey = AccountField(
        "app_key", .name(pattern: "^[a-z0-9]{8,24}$"), description: "The App Key of the app, from RongCloud's console.",
        example: "e0x9wycfx7flq", otherNames: ["appkey", "app_id", "topic", "rongcloud_key"],
        source: "Copy it from RongCloud's console: the app's settings, App Key", whatToAdd: "the App Key of the app",
        flaw: appKeyFlaw)

    /// An app in development has an App Key of its own, and at most 100 users.
    private static let environments = EnvironmentForm(
        choices: [
            server(name: "production"),
            server(
                name: "development", reachesPeople: false,
                purpose: "for an app in development, which has at most 100 users"),
        ],
        remedies: [
            (
                ["sandbox", "develop", "dev", "debug", "staging", "stage", "test", "testing"],
                "RongCloud calls it development: write environment: development, with the App Key of the app in development."
            ),
            (["prod", "live", "release"], "Write environment: production."),
            (regions.map(\.name), "That is a region: write region: NAME, and environment: production."),
        ].reduce(into: [:]) { remedies, entry in
            for word in entry.0 { remedies[word] = entry.1 }
        }, example: "production", serverExample: "https://localhost:8443", regions: regions)

    private static func server(name: String, reachesPeople: Bool = true, purpose: String? = nil) -> ServiceEnvironment {
        ServiceEnvironment(
            name: name, reachesPeople: reachesPeople, purpose: purpose, host: regions[0].host,
            spareHosts: regions[0].spareHosts)
    }

    static let regions = [
        region("beijing", "rong-api.com"), region("singapore", "sg-light-api.com"),
        region("singapore-b", "sg-b-light-api.com"),
        region("north-america", "us-light-api.com"), region("saudi-arabia", "sau-light-api.com"),
    ]

    private static func region(_ name: String, _ domain: String) -> ServiceRegion {
        ServiceRegion(name: name, host: "api.\(domain)", spareHosts: ["api-b.\(domain)"])
    }

    private static let appSecret = CredentialForm(
        key: "app_secret", kind: .signedRequest(signature),
        description: "The App Secret of the app, from RongCloud's console.",
        example: "app_secret: {file: keys/rongcloud-secret.txt}",
        shortExample: "app_secret: {file: keys/rongcloud-secret.txt}",
        origin: "from RongCloud's console",
        fields: [
            AccountField(
                "file", .file, description: "A file that holds the App Secret and nothing else.",
                example: "keys/rongcloud-secret.txt"),
            AccountField(
                "env", .variable,
                description: "The environment variable that holds the App Secret, instead of the file.",
                example: "RONGCLOUD_SECRET"),
        ], alternatives: ["file", "env"], otherNames: ["secret", "appsecret", "master_secret", "rongcloud_secret"])

    /// The number has at most 18 characters. RongCloud's page specifies milliseconds, and its own
    /// SDKs send seconds.
    static let signature = RequestSignature(
        account: "app-key", nonce: "nonce", nonceDigits: 16, timestamp: "timestamp", signature: "signature")

    /// What is wrong with an App Key. RongCloud documents no form; all that are known are
    /// lower-case letters and digits.
    @Sendable private static func appKeyFlaw(_ key: String, shown: String) -> Mistake? {
        let isKey = !key.isEmpty && key.utf8.allSatisfy(ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789").contains)
        if isKey, (8...24).contains(key.utf8.count) { return nil }
        return Mistake(
            "the app key \(shown) is not an App Key of RongCloud; those have about 13 lower-case letters and digits",
            remedy:
                "Copy it from RongCloud's console: the app's settings, App Key. The App Secret, which has capitals, belongs to app_secret."
        )
    }
}

/// What phones show of a notification.
extension RongCloud {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        guard let notification = payload["notification"] else { return ShownPush() }
        func text(_ name: String) -> String { notification[name]?.stringValue ?? "" }
        var push = ShownPush(title: text("title"), body: text("pushContent"))
        if case .object(let members)? = notification["ios"] { push.readMarks(members) }
        push.readClasses(notification["android"], RongCloudPayload.makers)
        push.readClass(notification["harmonyOS"]?["ohos"], [("category", "category")], of: "HarmonyOS")
        return push
    }
}

extension ShownPush {
    /// What iPhones show.
    fileprivate mutating func readMarks(_ members: [JSONMember]) {
        for member in members {
            switch (member.name, member.value) {
            case ("richMediaUri", .string(let address)): image = address
            case ("contentAvailable", _): marks.append(("wakes the app", ""))
            case ("badge", .integer(0)): marks.append(("badge", "removed"))
            case ("thread-id", .string(let text)): marks.append(("thread", text))
            case ("extras", .object(let extras)):
                ownKeys = extras.map { ($0.name, $0.value.stringValue ?? $0.value.text) }
            case (let name, .string(let text)): marks.append((name, text))
            case (let name, let value): marks.append((name, value.text))
            }
        }
    }
}

/// Requests to RongCloud. Source: RongCloud, "send a push to users".
extension RongCloud {
    /// A POST that names the users. The signature comes from the credential.
    public func request(_ options: PushOptions) -> RequestTemplate {
        let body = RongCloudRequestBody(options)
        return RequestTemplate(
            pathPrefix: "/push/user.json", headers: [.init("content-type", value: "application/json")],
            idHeader: Self.idHeader
        ) { call, _, bytes in body.append(call, to: &bytes) }
    }

    /// A notification with the campaign's own data in it.
    public func payload(of content: MessageContent) -> PayloadDraft { RongCloudPayload.draft(of: content) }

    /// RongCloud has no request that only checks. It accepts a push to a user that does not exist,
    /// and no app has such a user.
    public var probe: ProbePush {
        ProbePush(
            target: "volley-doctor=nobody", payload: RongCloudRequestBody.opening + #"},"pushContent":"Volley"}}"#)
    }
}

/// Puts users, and what all pushes of a run have in common, around a payload.
///
/// Payloads have a fixed beginning (`RongCloudPayload`), so that it needs no search:
/// `{"userIds":[…],"notification":{"ios":{` collapse id `…},…}}`.
struct RongCloudRequestBody: Sendable {
    static let opening = "{\"notification\":{\"ios\":{"

    /// A member of `ios` as JSON, with nothing around it; empty for none.
    private let collapse: [UInt8]

    init(_ options: PushOptions) {
        var bytes: [UInt8] = []
        if let collapseID = options.collapseID {
            JSONValue.object(pairs: [("apns-collapse-id", .string(collapseID))]).append(to: &bytes)
        }
        collapse = Array(bytes.dropFirst().dropLast())
    }

    /// - Parameter pushes: at least one, all with the same payload.
    func append(_ pushes: RequestCall, to bytes: inout [UInt8]) {
        guard let payload = pushes.first?.payload else { return }
        precondition(payload.starts(with: Self.opening.utf8), "payloads begin as RongCloudPayload has them written")
        bytes += "{\"userIds\":[".utf8
        for (index, push) in pushes.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            bytes += push.target
            bytes.append(UInt8(ascii: "\""))
        }
        bytes += "],".utf8
        bytes += Self.opening.utf8.dropFirst()
        let rest = payload.dropFirst(Self.opening.utf8.count)
        bytes += collapse
        if !collapse.isEmpty, rest.first != UInt8(ascii: "}") { bytes.append(UInt8(ascii: ",")) }
        bytes += rest
    }
}
