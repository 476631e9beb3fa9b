public import Base

/// Firebase Cloud Messaging over its HTTP v1 API. Every device gets a request of its own.
/// Source: Google, "FCM: REST resource projects.messages", "FCM error codes", "Best practices when sending FCM messages at scale".
public struct FCM: PushService {
    /// `fcm`, in run files and as the key in volley.yaml.
    public let name = "fcm"
    /// The name that people use.
    public let displayName = "FCM"
    /// What people call it as well.
    public let otherNames = ["firebase", "google", "gcm", "firebase cloud messaging"]
    /// The name at its first mention.
    public let introduction = "FCM, Google's push service for Android, iOS and the web"
    /// Where Google documents the reasons.
    public let reasonsPage = "Google's \"FCM error codes\""
    /// The column of results that holds the push's id.
    public let idColumn = "fcm_request_id"
    /// The port of Google's servers.
    public let ports = "443"
    /// Google publishes its address blocks as a file, which changes.
    public let networks =
        "For Google those are fcm.googleapis.com and oauth2.googleapis.com; the addresses are in https://www.gstatic.com/ipranges/goog.json."
    /// Google.
    public let owner = "Google"
    /// The terms of Google's documentation. FCM has no id that a sender chooses.
    public let terms = ServiceTerms(
        pushID: idHeader, aPushID: "an \(idHeader)", collapseID: "collapse_key", pushType: "apns-push-type")
    /// Source: Google, "AndroidConfig": `ttl` is at most four weeks. A collapse id reaches iPhones as `apns-collapse-id`: 64 bytes; silent
    /// pushes to them have the priority 5.
    public let rules = CampaignRules(
        ownKeys: [(FCMPayload.androidKey, "For Android alone: channel, color, icon and tag of the notification.")],
        longestStorageDays: 28, collapseIDBytes: 64, silentPriority: .normal, payloadKey: "message",
        payloadExample: "message: {notification: {title: Hello}}",
        payloadExampleJSON: .object(pairs: [
            ("message", .object(pairs: [("notification", .object(pairs: [("title", .string("Hello"))]))]))
        ]))

    /// Answers do not repeat it; Google's support asks for nothing else, either. It tells pushes apart in the logs of proxies.
    static let idHeader = "x-request-id"

    /// Source: Google, "Best practices when sending FCM messages at scale": wait at least 10 seconds before a retry, with exponential
    /// back-off and jitter, and give up after 60 minutes.
    public let retry = {
        var policy = RetryPolicy()
        (policy.shortestDelaySeconds, policy.firstDelaySeconds) = (10, 20)
        (policy.longestDelaySeconds, policy.maximumTotalSeconds) = (300, 3600)
        return policy
    }()

    /// Source: Google, "Best practices when sending FCM messages at scale": a project may send 600,000 messages a minute, and a sender begins
    /// with none and takes at least 60 seconds to reach its rate. A project may have bought more, which a pace with FCM's own keys says.
    public let usualPace: ServicePace? = ServicePace(Pace(pushes: 600_000, intervalSeconds: 60), rampSeconds: 60, isLimit: true)

    /// FCM names each message that it takes, and refuses with other statuses.
    public let readsAcceptedBodies = true

    /// The only FCM there is.
    public init() {}

    /// Pushes to iPhones are of two kinds, and the project is named in the path: no suffix.
    public func topicSuffix(of type: PushType) -> String { "" }

    /// Bytes of the payload as Volley makes it.
    public func payloadLimit(of type: PushType) -> Int { Self.payloadLimit }

    /// FCM takes 4,096 bytes. What a run adds to a payload (`FCMRequestBody`) counts as part of it, in case FCM counts it too: at most 287
    /// bytes, with a collapse id of 64 bytes, which is there twice. The target does not count.
    /// Source: Google, "About FCM messages": "maximum payload is 4096 bytes".
    static let payloadLimit = 4096 - 300
}
