public import Base

/// Getui's RestAPI V2. A request carries up to 200 pushes, each with its own text.
/// Source: docs.getui.com, RestAPI V2: "push", "token", "code"; Getui's SDK for Java,
/// getui-pushapi-java-client-v2.
public struct Getui: PushService {
    /// `getui`, in run files and as the key in volley.yaml.
    public let name = "getui"
    /// The name that people use.
    public let displayName = "Getui"
    /// Its other names.
    public let otherNames = ["个推", "个推推送", "gexin"]
    /// The name at its first mention.
    public let introduction = "Getui (个推), a push service for Android and iOS in China"
    /// The column of results that holds the push's id.
    public let idColumn = "getui_request_id"
    /// Getui, which publishes names, not addresses.
    public let owner = ServiceOwner(
        name: "Getui", reasonsPage: "Getui's page about return codes", ports: "443",
        networks:
            "For Getui those are restapi.getui.com, and cncrestapi.getui.com and nzrestapi.getui.com in its stead.")
    /// The terms of Getui's documentation.
    public let terms = ServiceTerms(
        pushID: "request_id", aPushID: "a request_id", collapseID: "apns-collapse-id", pushType: "push type")
    /// Source: docs.getui.com, "push": `ttl` is at most three days. There are no priorities. A
    /// collapse id reaches iPhones as `apns-collapse-id`: 64 bytes.
    public let rules = CampaignRules(
        carried: GetuiPayload.carried,
        ownKeys: [
            (
                GetuiPayload.androidKey,
                "For Android alone: \(GetuiPayload.androidKeys.map(\.name).joined(separator: ", ")) of the notification."
            ),
            (
                GetuiPayload.inAppKey,
                "What the app gets while it runs, as JSON, instead of a notification on Android: your own keys."
            ), CampaignRules.makers(GetuiPayload.makers),
            (
                CampaignRules.harmonyKey,
                "What phones with HarmonyOS 5 and later need: category (required; MARKETING for offers), want."
            ),
        ],
        ownForms: CampaignRules.forms(GetuiPayload.makers, harmony: [(key: "want", form: .data)]).merging([
            GetuiPayload.androidKey: .group(GetuiPayload.androidKeys)
        ]) { $1 }, deliveryKeys: [.expires, .collapse],
        longestStorageDays: 3, usualStorageSeconds: GetuiMessage.usualSeconds, collapseIDBytes: 64,
        silentPriority: nil,
        payloadKey: GetuiPayload.messageKey, payloadExample: "push_message: {transmission: Hello}",
        payloadExampleJSON: .object(pairs: [
            (GetuiPayload.messageKey, .object(pairs: [("transmission", .string("Hello"))]))
        ]))

    /// It names a request in the logs of proxies; Getui does not read it.
    static let idHeader = "x-request-id"

    /// 200: docs.getui.com, "push", batches of single pushes; 1,000: lists, of DCloud's page about
    /// uni-push. A pace counts devices.
    public var batching: Batching {
        usesLists
            ? Batching(largestTargets: 1000, hasOwnTexts: false, paceUnit: .targets, largestWithOwnTexts: 200)
            : Batching(largestTargets: 200, hasOwnTexts: true, paceUnit: .targets)
    }

    /// Whether many devices that share a text get it as a list (`GetuiList`).
    let usesLists: Bool

    /// Few requests, and large ones.
    public let wire = Wire.calls(inFlight: 8)

    /// The status of each target is in the body, and some refusals come with the status 200.
    public let readsAcceptedBodies = true

    /// A `request_id` that comes again loses its message. Source: docs.getui.com, "push". Lists
    /// have none.
    public var recognizesRepeats: Bool { !usesLists }

    /// Getui does not document how long it keeps a `request_id`. An hour is a guess, and as long as
    /// a push is tried. It does not document either whether it keeps those of messages that it
    /// refused, so these get new ones.
    public let repeatProtection = RepeatProtection.derived(windowSeconds: 3600)

    /// Getui publishes nothing about waits. Its service starts again within seconds, and its limits
    /// are those of minutes.
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

    /// Getui publishes limits of parts (`GetuiPayload`), and none of the whole. Its own channel and
    /// makers have the texts and the data each, and HarmonyOS the texts.
    static let payloadLimit = 16_000
}

/// The parts of an app's account with Getui. Source: docs.getui.com, RestAPI V2, "token".
extension Getui {
    /// App id, environment, app key, and master secret.
    public var account: AccountForm { Self.account }

    /// The only Getui there is. Source of the spare hosts: the SDK for Java, `Configs`.
    public static let production = ServiceEnvironment(
        name: "production", host: "restapi.getui.com", spareHosts: ["cncrestapi.getui.com", "nzrestapi.getui.com"])

    static let account = AccountForm(
        topic: appID, environments: environments, credentials: [masterSecret], switches: [lists])

    private static let console = "Copy it from Getui's console (dev.getui.com): the app's configuration"

    private static let appID = AccountField(
        "app_id", .name(pattern: "^[A-Za-z0-9]{8,64}$"), description: "The app's AppID at Getui.",
        example: "Jz1kA9xW2pQ7vB4nL5sT8y",
        otherNames: ["appid", "getui_app_id", "topic", "package", "package_name"], source: "\(console), AppID",
        whatToAdd: "the app's AppID at Getui", flaw: flaw("app id", in: "AppID"))

    private static let environments = EnvironmentForm(
        choices: [production],
        remedies: [
            (
                ["sandbox", "development", "develop", "dev", "debug", "staging", "stage", "test", "testing"],
                "Getui has only one: write environment: production. An app of its own at Getui keeps test devices apart."
            ),
            (["prod", "live", "release"], "Write environment: production."),
        ].reduce(into: [:]) { remedies, entry in
            for word in entry.0 { remedies[word] = entry.1 }
        }, example: "production", serverExample: "https://localhost:8443")

    static let appKeyName = "app_key"

    private static let masterSecret = CredentialForm(
        key: "master_secret", kind: .fetchedToken(tokens), description: "The master secret that Getui gave the app.",
        example: "master_secret: {file: keys/getui.txt}", shortExample: "master_secret: {file: keys/getui.txt}",
        origin: "from Getui's console",
        fields: [
            AccountField(
                appKeyName, .name(pattern: "^[A-Za-z0-9]{8,64}$"), description: "The app's AppKey at Getui.",
                example: "K8sdW0qPz16JbcXy2mV5t4", otherNames: ["appkey", "getui_app_key"],
                source: "\(console), AppKey",
                whatToAdd: "the app's AppKey at Getui", isBeside: true, flaw: flaw("app key", in: "AppKey")),
            AccountField(
                "file", .file, description: "A file that holds the master secret, and nothing else.",
                example: "keys/getui.txt"),
            AccountField(
                "env", .variable, description: "The environment variable that holds the master secret.",
                example: "GETUI_MASTER_SECRET"),
        ], alternatives: ["file", "env"], otherNames: ["mastersecret", "secret", "app_secret", "key", "certificate"])

    /// Source: docs.getui.com, "token": a token is valid for a day, and an app may ask 100 times a
    /// minute. The SDK for Java renews it an hour early.
    static let tokens = TokenExchange(
        noun: "token", proof: .digest(proof), header: "token", prefix: "", renewEarlySeconds: 3600,
        shortestRenewalSeconds: 5)

    private static let proof = DigestFacts(
        path: { "/v2/\($0)/auth" },
        text: { parts, secret in "\(parts.names[appKeyName] ?? "")\(parts.milliseconds)\(secret)" },
        body: { parts, digest in
            .object(pairs: [
                ("sign", .string(digest)), ("timestamp", .string(String(parts.milliseconds))),
                ("appkey", .string(parts.names[appKeyName] ?? "")),
            ])
        }, read: reading)

    /// Codes with which Getui refuses a token for now.
    private static let passingCodes: Set<Int64> = [2, 301, 10003, 10005, 30019]

    @Sendable private static func reading(status: Int, answer: JSONValue) -> DigestFacts.Reading {
        guard let code = answer["code"]?.integerValue else { return .unreadable }
        guard code == 0 else {
            let words = answer["msg"]?.stringValue ?? ""
            return .refused(
                words.isEmpty ? String(code) : "\(code), \(words)",
                mayPass: passingCodes.contains(code) || status >= 500)
        }
        // The documentation writes the end as a text; a number says the same.
        let expiry = answer["data"]?["expire_time"]
        guard let token = answer["data"]?["token"]?.stringValue,
            let end = expiry?.integerValue ?? expiry?.stringValue.flatMap({ Int64($0) })
        else { return .unreadable }
        return .token(token, until: end)
    }

    /// What is wrong with a name that Getui gave an app. It publishes no form; all of its examples
    /// are letters and digits.
    private static func flaw(_ noun: String, in place: String)
        -> @Sendable (_ text: String, _ shown: String) -> Mistake?
    {
        { text, shown in
            if (8...64).contains(text.utf8.count), text.utf8.allSatisfy(ASCIISet.lettersAndDigits.contains) {
                return nil
            }
            let isBundle =
                text.contains(".")
                && text.utf8.allSatisfy { ASCIISet.lettersAndDigits.contains($0) || "._-".utf8.contains($0) }
            return Mistake(
                isBundle
                    ? "the \(noun) \(shown) is an app's package or bundle id, and Getui gave the app one of its own"
                    : "the \(noun) \(shown) is not one of Getui's; those are 8 to 64 letters and digits",
                remedy: "\(console), \(place).")
        }
    }
}

/// Things in a hand-written message that are allowed but rarely meant.
extension Getui {
    /// Finds the texts that people see, so that they are checked as those of `content` are.
    public func lint(payload members: [ContentMember]) -> PayloadLint {
        var lint = PayloadLint()
        let alert = members.members(of: "push_channel").members(of: "ios").members(of: "aps").members(of: "alert")
        for part in [members.members(of: GetuiPayload.messageKey).members(of: "notification"), alert] {
            for member in part where ["title", "subtitle", "body"].contains(member.name.value) {
                if case .text(let text) = member.value { lint.texts.append((member.name.value, text)) }
            }
        }
        return lint
    }
}

/// What phones show of a message: the card of an Android phone, and what only iPhones show.
extension Getui {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        var push = ShownPush()
        let (message, ios) = (payload[GetuiPayload.messageKey], payload["push_channel"]?["ios"])
        let (notification, aps) = (message?["notification"], ios?["aps"])
        push.readAlert(aps?["alert"])
        push.readTexts(notification)
        if let address = (notification?["big_image"] ?? ios?["multimedia"]?.first?["url"])?.stringValue {
            push.image = address
        }
        push.isSilent = notification == nil && aps?["alert"] == nil && aps?["sound"] == nil && ios?["auto_badge"] == nil
        push.readMarks(of: ios, notification)
        let transmission = message?["transmission"]?.stringValue
        let isInApp = transmission != nil && !push.isSilent
        let channel = payload["push_channel"], ups = channel?["android"]?["ups"],
            harmony = channel?["harmony"]?["notification"]
        if isInApp {
            push.marks.append(
                ("shown by the app itself on Android\(ups?["notification"] == nil ? "" : ", while it runs")", ""))
        }
        push.readClasses(ups?["options"], GetuiPayload.makers)
        push.readClass(harmony, [("category", "category"), ("want", "opens")], of: "HarmonyOS")
        // The app gets the same data on both systems.
        for text in [
            ios?["payload"]?.stringValue ?? notification?["payload"]?.stringValue, isInApp ? transmission : nil,
        ] {
            push.readOwnKeys(text)
        }
        if push.isSilent, ios?["payload"] == nil { push.readOwnKeys(transmission) }
        return push
    }
}

extension ShownPush {
    fileprivate mutating func readTexts(_ texts: JSONValue?) {
        if let text = texts?["title"]?.stringValue { title = text }
        if let text = texts?["body"]?.stringValue { body = text }
    }

    /// Properties other than texts.
    fileprivate mutating func readMarks(of ios: JSONValue?, _ notification: JSONValue?) {
        let aps = ios?["aps"]
        if let sound = aps?["sound"]?.stringValue, sound != GetuiPayload.silence { marks.append(("sound", sound)) }
        switch ios?["auto_badge"]?.stringValue {
        case nil: break
        case "0"?: marks.append(("badge", "removed"))
        case let badge?: marks.append(("badge", badge))
        }
        if let category = aps?["category"]?.stringValue { marks.append(("category", category)) }
        if let thread = aps?["thread-id"]?.stringValue { marks.append(("thread", thread)) }
        if !isSilent, aps?["content-available"] != nil { marks.append(("wakes the app", "")) }
        for key in ["url", "intent"] {
            if let link = notification?[key]?.stringValue { marks.append(("link (Android)", link)) }
        }
        for key in GetuiPayload.androidKeys {
            if let value = notification?[key.payload] { marks.append(("\(key.name) (Android)", key.shown(value))) }
        }
    }

    /// The keys of a text that is JSON; a text that is not is shown as it is.
    fileprivate mutating func readOwnKeys(_ text: String?) {
        guard let text else { return }
        guard case .object(let members)? = try? JSONValue(parsing: text) else {
            ownKeys.append(("text", text))
            return
        }
        for member in members { ownKeys.append((member.name, member.value.stringValue ?? member.value.text)) }
    }
}

extension JSONValue {
    fileprivate var first: JSONValue? { if case .array(let values) = self { values.first } else { nil } }
}

/// What Getui counts of pushes. Source: docs.getui.com, RestAPI V2, "report"; the shape of the
/// answer from Getui's SDK for Java, `StatisticApi`. Reports of tasks are kept for 90 days; for
/// those of groups the documentation does not say.
extension Getui {
    /// By the run's label, which is the `group_name` of its pushes: Getui has no report of single
    /// ones.
    public var statistics: StatisticsFacts? { Self.statistics }

    private static let counted: [StatisticsFacts.Count] = [
        .init("target_num", "passed on to phones"), .init("receive_num", "received by phones"),
        .init("display_num", "shown"),
        .init("click_num", "tapped"),
    ]

    private static let statistics = StatisticsFacts(
        subject: .label, days: 90, counts: counted,
        question: { app, labels, _ in
            StatisticsFacts.Question(path: "/v2/\(app)/report/push/task_group/\(labels.joined(separator: ","))")
        },
        read: counts)

    /// `{"code": 0, "data": {"GROUP": {"total": {"target_num": 5, "receive_num": 4}, "gt": {…}}}}`:
    /// the total is that of all channels.
    @Sendable private static func counts(in answer: JSONValue, of labels: [String]) -> [String: [String: Int]]? {
        guard answer["code"] == .integer(0), case .object(let groups)? = answer["data"] else { return nil }
        var counts: [String: [String: Int]] = [:]
        for group in groups where labels.contains(group.name) {
            guard case .object(let members)? = group.value["total"] else { continue }
            guard counts[group.name] == nil, let own = StatisticsFacts.counts(members, Set(counted.map(\.key))) else {
                return nil
            }
            counts[group.name] = own
        }
        return counts
    }
}
