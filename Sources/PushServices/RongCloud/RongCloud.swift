public import Base

/// RongCloud's pushes to users (`/push/user.json`): a request carries one text and up to a hundred users, and its answer is for all of
/// them. Source: RongCloud, "send a push to users", and its server SDKs for Go (`sdk/push.go`) and Java (`models/push`).
///
/// A target is a user of the app, not a device: RongCloud pushes to all devices on which the user was signed in within the last 30 days,
/// and says neither which nor whether there is any. So no answer makes a target invalid.
public struct RongCloud: PushService {
    /// `rongcloud`, in run files and as the key in volley.yaml.
    public let name = "rongcloud"
    /// The name that people use.
    public let displayName = "RongCloud"
    /// What people call it as well.
    public let otherNames = ["融云", "融云推送", "rongyun", "rong cloud"]
    /// The name at its first mention.
    public let introduction = "RongCloud, a chat and push service for iOS, Android and HarmonyOS"
    /// Where RongCloud documents its codes.
    public let reasonsPage = "RongCloud's page of status codes"
    /// The column of results that holds the push's id.
    public let idColumn = "rongcloud_request_id"
    /// The port of RongCloud's servers.
    public let ports = "443"
    /// The server and the spare server of each region.
    public let networks =
        "RongCloud publishes no addresses: for apps in Beijing the servers are api.rong-api.com and api-b.rong-api.com, for others those of "
        + "their region, api.REGION-light-api.com and api-b.REGION-light-api.com."
    /// RongCloud.
    public let owner = "RongCloud"
    /// The terms of RongCloud's documentation.
    public let terms = ServiceTerms(pushID: idHeader, aPushID: "an \(idHeader)", collapseID: "apns-collapse-id", pushType: "push type")
    /// RongCloud has no sound, no subtitle, no expiry and no priority, and every push shows a text.
    public let rules = CampaignRules(
        contentKeys: [.title, .body, .badge, .category, .thread, .image, .link, .data, .wakeApp], deliveryKeys: [.collapse],
        longestStorageDays: nil, collapseIDBytes: 64, silentPriority: nil, payloadKey: "notification",
        payloadExample: "notification: {pushContent: Hello}",
        payloadExampleJSON: .object(pairs: [("notification", .object(pairs: [("pushContent", .string("Hello"))]))]))

    /// Only for tracing: RongCloud recognizes no repeats.
    static let idHeader = "x-request-id"

    /// An iPhone gets pushes that show something, which may wake the app as well.
    public let pushTypes = [PushType.alert]

    /// A hundred users of one text, and the pace counts users.
    public let batching = Batching(largestTargets: 100, hasOwnTexts: false, paceUnit: .targets)

    /// Twenty requests a second at the usual pace, also where an answer takes a second and a half.
    public let wire = Wire.calls(inFlight: 32)

    /// RongCloud's own SDKs take only the code in the body for an answer.
    public let readsAcceptedBodies = true

    /// Internal errors pass: ten seconds, doubled each time. What came too often waits for a second, doubled each time.
    public let retry = {
        var policy = RetryPolicy()
        (policy.shortestDelaySeconds, policy.firstDelaySeconds) = (10, 20)
        (policy.longestDelaySeconds, policy.maximumTotalSeconds) = (300, 3600)
        policy.firstQuotaSeconds = 1
        return policy
    }()

    /// Source: RongCloud, "send a push to users": 100 a second, where a request to 100 users counts as 100.
    public let usualPace: ServicePace? = ServicePace(Pace(pushes: 100, intervalSeconds: 1), rampSeconds: 0, isLimit: true)

    /// The only RongCloud there is.
    public init() {}

    /// An app has one key for all systems.
    public func topicSuffix(of type: PushType) -> String { "" }

    /// Bytes of the payload as Volley makes it.
    public func payloadLimit(of type: PushType) -> Int { Self.payloadLimit }

    /// RongCloud documents no limit. This is what a push to an iPhone may have, less room for the collapse id that a run adds: at most 150
    /// bytes, if each of its 64 characters needs an escape.
    static let payloadLimit = 4096 - 160
}
