public import Base

/// Getui's RestAPI V2. A request carries up to 200 pushes, each with its own text.
/// Source: docs.getui.com, RestAPI V2: "push", "token", "code"; Getui's SDK for Java, getui-pushapi-java-client-v2.
public struct Getui: PushService {
    /// `getui`, in run files and as the key in volley.yaml.
    public let name = "getui"
    /// The name that people use.
    public let displayName = "Getui"
    /// What people call it as well.
    public let otherNames = ["个推", "个推推送", "gexin"]
    /// The name at its first mention.
    public let introduction = "Getui (个推), a push service for Android and iOS in China"
    /// Where Getui documents its codes.
    public let reasonsPage = "Getui's page about return codes"
    /// The column of results that holds the push's id.
    public let idColumn = "getui_request_id"
    /// The port of Getui's servers.
    public let ports = "443"
    /// Getui publishes names, not addresses.
    public let networks = "For Getui those are restapi.getui.com, and cncrestapi.getui.com and nzrestapi.getui.com in its stead."
    /// Getui's owner.
    public let owner = "Getui"
    /// The terms of Getui's documentation.
    public let terms = ServiceTerms(
        pushID: "request_id", aPushID: "a request_id", collapseID: "apns-collapse-id", pushType: "push type")
    /// Source: docs.getui.com, "push": `ttl` is at most three days. There are no priorities. A collapse id reaches iPhones as
    /// `apns-collapse-id`: 64 bytes.
    public let rules = CampaignRules(
        ownKeys: [
            (GetuiPayload.androidKey, "For Android alone: channel, channel_name and logo of the notification."),
            (
                GetuiPayload.inAppKey,
                "What the app gets while it runs, as JSON, instead of a notification on Android: your own keys."
            ),
        ], deliveryKeys: [.expires, .collapse], longestStorageDays: 3, usualStorageSeconds: GetuiMessage.usualSeconds, collapseIDBytes: 64,
        silentPriority: nil,
        payloadKey: GetuiPayload.messageKey, payloadExample: "push_message: {transmission: Hello}",
        payloadExampleJSON: .object(pairs: [
            (GetuiPayload.messageKey, .object(pairs: [("transmission", .string("Hello"))]))
        ]))

    /// It names a request in the logs of proxies; Getui does not read it.
    static let idHeader = "x-request-id"

    /// 200: docs.getui.com, "push", batches of single pushes; 1,000: lists, of DCloud's page about uni-push. A pace counts devices.
    public var batching: Batching {
        usesLists
            ? Batching(largestTargets: 1000, hasOwnTexts: false, paceUnit: .targets, largestWithOwnTexts: 200)
            : Batching(largestTargets: 200, hasOwnTexts: true, paceUnit: .targets)
    }

    /// Whether many devices that share a text get it as a list (`Getui+Lists`).
    let usesLists: Bool

    /// Few requests, and large ones.
    public let wire = Wire.calls(inFlight: 8)

    /// The status of each target is in the body, and some refusals come with the status 200.
    public let readsAcceptedBodies = true

    /// A `request_id` that comes again loses its message. Source: docs.getui.com, "push". Lists have none.
    public var recognizesRepeats: Bool { !usesLists }

    /// Getui does not say how long it knows a `request_id`: an hour is a guess, and as long as a push is tried. Whether it knows those of
    /// messages that it refused, it does not say either, so that they get new ones.
    public let repeatProtection = RepeatProtection.derived(windowSeconds: 3600)

    /// Getui publishes nothing about waits. Its service starts again within seconds, and its limits are those of minutes.
    public let retry = {
        var policy = RetryPolicy()
        (policy.shortestDelaySeconds, policy.firstDelaySeconds) = (10, 20)
        (policy.longestDelaySeconds, policy.maximumTotalSeconds) = (300, 3600)
        return policy
    }()

    /// Getui as apps use it without further ado.
    public init() { self.init(usesLists: false) }

    init(usesLists: Bool) { self.usesLists = usesLists }

    /// The app is named in the path: no suffix.
    public func topicSuffix(of type: PushType) -> String { "" }

    /// Bytes of the payload as Volley makes it.
    public func payloadLimit(of type: PushType) -> Int { Self.payloadLimit }

    /// Getui publishes limits of parts (`GetuiPayload`), and none of the whole.
    static let payloadLimit = 8000
}
