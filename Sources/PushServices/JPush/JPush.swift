public import Base

/// JPush over its Push API v3: a request carries one text and up to a thousand devices, and its answer is for all of them.
/// Source: docs.jiguang.cn, "Push API v3"; JPush's SDK for Java, jiguang-sdk-java.
public struct JPush: PushService {
    /// `jpush`, in run files and as the key in volley.yaml.
    public let name = "jpush"
    /// The name that people use.
    public let displayName = "JPush"
    /// What people call it as well.
    public let otherNames = ["jiguang", "aurora", "极光", "极光推送"]
    /// The name at its first mention.
    public let introduction = "JPush (极光推送), a push service for Android and iOS in China"
    /// Where JPush documents its codes.
    public let reasonsPage = "JPush's page about return codes"
    /// The column of results that holds the push's id.
    public let idColumn = "jpush_request_id"
    /// The port of JPush's servers.
    public let ports = "443"
    /// JPush publishes names, not addresses.
    public let networks =
        "JPush publishes no addresses; its server is api.jpush.cn, and bjapi.push.jiguang.cn for apps in its Beijing data centre."
    /// JPush's company.
    public let owner = "Jiguang"
    /// The terms of JPush's documentation.
    public let terms = ServiceTerms(
        pushID: idHeader, aPushID: "an \(idHeader)", collapseID: "apns_collapse_id", pushType: "push type")
    /// Source: docs.jiguang.cn, "Push API v3", options: `time_to_live` is at most three days, or ten for apps that pay.
    public let rules = CampaignRules(
        contentKeys: Set(ContentKey.allCases).subtracting([.payload]),
        ownKeys: [
            (JPushPayload.androidKey, "For Android alone: channel, category, icon and color of the notification."),
            (JPushPayload.inAppKey, "What the app gets while it runs, besides the notification: title, body and data."),
            (JPushPayload.optionsKey, "Options of JPush that Volley does not set, such as classification and third_party_channel."),
        ], deliveryLosses: JPush.deliveryLosses, longestStorageDays: 3, usualStorageSeconds: JPushRequestBody.usualSeconds,
        collapseIDBytes: 64, silentPriority: nil, payloadKey: JPushPayload.notificationKey,
        payloadExample: "notification: {alert: Hello}",
        payloadExampleJSON: .object(pairs: [(JPushPayload.notificationKey, .object(pairs: [("alert", .string("Hello"))]))]))

    /// Source: docs.jiguang.cn, "Push API v3", options and android: `time_to_live` does not hold for notifications of iOS, which have no
    /// priority either; Android replaces a push by its number.
    private static let deliveryLosses = [
        DeliveryLoss(
            key: .expires, phones: "iPhones", reason: "JPush lets no push to an iPhone expire",
            effect: "iPhones may get it later than 'expires' allows"),
        DeliveryLoss(
            key: .priority, phones: "iPhones", reason: "JPush has a priority for Android only", effect: "iPhones get the push without it"),
        DeliveryLoss(
            key: .collapse, phones: "Android phones", reason: "JPush passes 'collapse' on to iPhones only",
            effect: "Android phones show the earlier push beside this one",
            substitute: (JPushPayload.optionsKey, "override_msg_id", "Android replaces the push whose number (msg_id) you name")),
    ]

    /// It names a request in the logs of proxies; JPush does not read it.
    static let idHeader = "x-request-id"

    /// Source: docs.jiguang.cn, "Push API v3", audience: a thousand registration ids. "API rate limit": a pace counts calls.
    public let batching = Batching(largestTargets: 1000, hasOwnTexts: false, paceUnit: .requests)

    /// Few requests, and large ones.
    public let wire = Wire.calls(inFlight: 8)

    /// Internal errors pass: ten seconds, doubled each time.
    public let retry = {
        var policy = RetryPolicy()
        (policy.shortestDelaySeconds, policy.firstDelaySeconds) = (10, 20)
        (policy.longestDelaySeconds, policy.maximumTotalSeconds) = (300, 3600)
        return policy
    }()

    /// Source: docs.jiguang.cn, "API rate limit": 600 calls a minute for each app. Nothing says whether calls for cids count: there is one
    /// for every ten, and room is left for them.
    public let usualPace: ServicePace? = ServicePace(Pace(pushes: 540, intervalSeconds: 60), rampSeconds: 0, isLimit: true)

    /// Source: docs.jiguang.cn, "Push API v3", cid: ten at a time, valid for a day. A push with one that was taken before is not sent again,
    /// and gets the answer of the first.
    public let repeatProtection = RepeatProtection.fetched(
        FetchedNames(
            noun: "cid", mostAtATime: 10, lifeSeconds: 86_400, path: { "/v3/push/cid?count=\($0)&type=push" },
            read: { body in
                guard case .array(let cids)? = body["cidlist"] else { return nil }
                return cids.compactMap(\.stringValue)
            }))

    /// The number of a push, by which statistics are asked.
    public let readsAcceptedBodies = true

    /// Source: docs.jiguang.cn, "API rate limit". What the limit itself is called differs between that page and JPush's SDK.
    public let budgetHeaders: BudgetHeaders? = BudgetHeaders(remaining: "x-rate-limit-remaining", reset: "x-rate-limit-reset")

    /// The only JPush there is.
    public init() {}

    /// An app has one key for all systems.
    public func topicSuffix(of type: PushType) -> String { "" }

    /// Bytes of the payload as Volley makes it.
    public func payloadLimit(of type: PushType) -> Int { Self.payloadLimit }

    /// The parts for iPhones, Android and the app have limits of their own (`JPushPayload`), which add up to this.
    static let payloadLimit = JPushPayload.mostIOSBytes + JPushPayload.mostOtherBytes
}
