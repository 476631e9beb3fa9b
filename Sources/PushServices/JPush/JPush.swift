public import Base

/// JPush over its Push API v3: a request carries one text and up to a thousand devices, and its
/// answer is for all of them.
/// Source: docs.jiguang.cn, "Push API v3"; JPush's SDK for Java, jiguang-sdk-java.
public struct JPush: PushService {
    /// `jpush`, in run files and as the key in volley.yaml.
    public let name = "jpush"
    /// The name that people use.
    public let displayName = "JPush"
    /// Its other names.
    public let otherNames = ["jiguang", "aurora", "极光", "极光推送"]
    /// The name at its first mention.
    public let introduction = "JPush (极光推送), a push service for Android and iOS in China"
    /// The column of results that holds the push's id.
    public let idColumn = "jpush_request_id"
    /// JPush's company, which publishes names, not addresses.
    public let owner = ServiceOwner(
        name: "Jiguang", reasonsPage: "JPush's page about return codes", ports: "443",
        networks:
            "JPush publishes no addresses; its server is api.jpush.cn, and bjapi.push.jiguang.cn for apps in its Beijing data centre."
    )
    /// The terms of JPush's documentation.
    public let terms = ServiceTerms(
        pushID: idHeader, aPushID: "an \(idHeader)", collapseID: "apns_collapse_id", pushType: "push type")
    /// Source: docs.jiguang.cn, "Push API v3", options: `time_to_live` is at most three days, or
    /// ten for apps that pay.
    public let rules = CampaignRules(
        carried: JPushPayload.carried,
        ownKeys: [
            (
                JPushPayload.androidKey,
                "For Android alone: \(JPushPayload.androidKeys.map(\.name).joined(separator: ", ")) of the notification."
            ),
            (JPushPayload.inAppKey, "What the app gets while it runs, besides the notification: title, body and data."),
            (
                JPushPayload.optionsKey,
                "Options of JPush that Volley does not set, such as classification and third_party_channel."
            ),
            CampaignRules.makers(JPushPayload.makers),
            (
                CampaignRules.harmonyKey,
                "What phones with HarmonyOS 5 and later need: category (required; MARKETING for offers), intent, icon, sound, test."
            ),
        ],
        ownForms: CampaignRules.forms(JPushPayload.makers, harmony: JPushPayload.harmonyForms).merging([
            JPushPayload.androidKey: .group(JPushPayload.androidKeys)
        ]) { $1 },
        classesByHand: ClassesByHand(
            options: JPushPayload.optionsKey, channels: JPushPayload.channelsKey, forms: JPushPayload.makers),
        activities: .byDevice, deliveryLosses: JPush.deliveryLosses,
        longestStorageDays: 3, usualStorageSeconds: JPushRequestBody.usualSeconds,
        collapseIDBytes: 64, silentPriority: nil, payloadKey: JPushPayload.notificationKey,
        payloadExample: "notification: {alert: Hello}",
        payloadExampleJSON: .object(pairs: [
            (JPushPayload.notificationKey, .object(pairs: [("alert", .string("Hello"))]))
        ]))

    /// Source: docs.jiguang.cn, "Push API v3", options and android: `time_to_live` does not hold
    /// for notifications of iOS, which have no priority either; Android replaces a push by its
    /// number.
    private static let deliveryLosses = [
        DeliveryLoss(
            key: .expires, phones: "iPhones", reason: "JPush lets no push to an iPhone expire",
            effect: "iPhones may get it later than 'expires' allows"),
        DeliveryLoss(
            key: .priority, phones: "iPhones", reason: "JPush has a priority for Android only",
            effect: "iPhones get the push without it"),
        DeliveryLoss(
            key: .collapse, phones: "Android phones", reason: "JPush passes 'collapse' on to iPhones only",
            effect: "Android phones show the earlier push beside this one",
            substitute: (
                JPushPayload.optionsKey, "override_msg_id", "Android replaces the push whose number (msg_id) you name"
            )),
    ]

    /// It names a request in the logs of proxies; JPush does not read it.
    static let idHeader = "x-request-id"

    /// Source: docs.jiguang.cn, "Push API v3", audience: a thousand registration ids. "API rate
    /// limit": a pace counts calls.
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

    /// Source: docs.jiguang.cn, "API rate limit": 600 calls a minute for each app. Nothing says
    /// whether calls for cids count: there is one for every ten, and room is left for them.
    public let usualPace: ServicePace? = ServicePace(
        Pace(pushes: 540, intervalSeconds: 60), rampSeconds: 0, isLimit: true)

    /// Source: docs.jiguang.cn, "Push API v3", cid: ten at a time, valid for a day. A push with one
    /// that was taken before is not sent again, and gets the answer of the first.
    public let repeatProtection = RepeatProtection.fetched(
        FetchedNames(
            noun: "cid", mostAtATime: 10, lifetimeSeconds: 86_400, path: { "/v3/push/cid?count=\($0)&type=push" },
            read: { body in
                guard case .array(let cids)? = body["cidlist"] else { return nil }
                return cids.compactMap(\.stringValue)
            }))

    /// The number of a push is needed for its statistics.
    public let readsAcceptedBodies = true

    /// Source: docs.jiguang.cn, "API rate limit". What the limit itself is called differs between
    /// that page and JPush's SDK.
    public let budgetHeaders: BudgetHeaders? = BudgetHeaders(
        remaining: "x-rate-limit-remaining", reset: "x-rate-limit-reset")

    /// The only JPush there is.
    public init() {}

    /// An app has one key for all systems.
    public func topicSuffix(of type: PushType) -> String { "" }

    /// Bytes of the payload as Volley makes it.
    public func payloadLimit(of type: PushType) -> Int {
        type == .liveactivity ? JPushPayload.mostActivityBytes + JPushRequestBody.aroundActivity : Self.payloadLimit
    }

    /// The parts for iPhones, HarmonyOS, Android and the app have limits of their own
    /// (`JPushPayload`), which add up to this.
    static let payloadLimit = JPushPayload.mostIOSBytes + JPushPayload.mostHarmonyBytes + JPushPayload.mostOtherBytes
}

/// The parts of an app's account with JPush. Source: docs.jiguang.cn, "REST API overview",
/// authentication; for the data centre in Beijing, JPush's SDK for Java.
extension JPush {
    /// App key, environment, region, and the master secret.
    public var account: AccountForm { Self.account }

    static let account = AccountForm(topic: appKey, environments: environments, credentials: [masterSecret])

    private static let console = "Copy it from JPush's console: the app's settings"

    private static let appKey = AccountField(
        "app_key", .name(pattern: "^[0-9a-f]{24}$"), description: "The AppKey of the app at JPush.",
        example: "7d431e42dfa6a6d693ac2d04",
        otherNames: ["appkey", "jpush_app_key", "app_id", "topic", "package", "package_name"],
        source: "\(console), AppKey",
        whatToAdd: "the app's AppKey at JPush", flaw: appKeyFlaw)

    /// For iPhones: which of Apple's servers their tokens belong to.
    private static let environments = EnvironmentForm(
        choices: [
            ServiceEnvironment(name: "production", host: regions[0].host),
            ServiceEnvironment(
                name: "development", reachesPeople: false, purpose: "for development builds of the app on iPhones",
                host: regions[0].host),
        ],
        remedies: [
            (
                ["sandbox", "develop", "dev", "debug", "staging", "stage", "test", "testing"],
                "JPush calls it development: write environment: development. It is for iPhones with development builds."
            ),
            (["prod", "live", "release"], "Write environment: production."),
            (["default", beijing.name], "That is a region: write region: beijing, and environment: production."),
        ].reduce(into: [:]) { remedies, entry in
            for word in entry.0 { remedies[word] = entry.1 }
        }, example: "production", serverExample: "https://localhost:8443", regions: regions)

    static let regions = [ServiceRegion(name: "default", host: "api.jpush.cn"), beijing]

    static let beijing = ServiceRegion(name: "beijing", host: "bjapi.push.jiguang.cn")

    private static let masterSecret = CredentialForm(
        key: "master_secret", kind: .basic, description: "The Master Secret of the app at JPush.",
        example: "master_secret: {file: keys/jpush.txt}", shortExample: "master_secret: {file: keys/jpush.txt}",
        origin: "from JPush's console",
        fields: [
            AccountField(
                "file", .file, description: "A file that holds the master secret, and nothing else.",
                example: "keys/jpush.txt"),
            AccountField(
                "env", .variable, description: "The environment variable that holds the master secret.",
                example: "JPUSH_MASTER_SECRET"),
        ], alternatives: ["file", "env"], otherNames: ["mastersecret", "secret", "app_secret", "key", "certificate"])

    /// What is wrong with an app key. All that JPush shows are 24 hex digits.
    @Sendable private static func appKeyFlaw(_ key: String, shown: String) -> Mistake? {
        if key.utf8.count == 24, key.utf8.allSatisfy(ASCIISet.lowercaseHex.contains) { return nil }
        let isBundle =
            key.contains(".")
            && key.utf8.allSatisfy { ASCIISet.lettersAndDigits.contains($0) || "._-".utf8.contains($0) }
        if isBundle {
            return Mistake(
                "the app key \(shown) is an app's package or bundle id, and JPush gave the app a key of its own",
                remedy: "\(console), AppKey.")
        }
        let isShouting = key.lowercased() != key && appKeyFlaw(key.lowercased(), shown: "") == nil
        return Mistake(
            "the app key \(shown) is not an AppKey of JPush; those have 24 digits and letters from a to f, in lower case",
            remedy: isShouting ? "Write its letters in lower case." : "\(console), AppKey.")
    }
}

/// What phones show of a notification: the card of an Android phone, and what only iPhones show.
extension JPush {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        var push = ShownPush()
        if let activity = payload[JPushPayload.activityKey]?["ios"] {
            push.readAlert(activity["alert"])
            push.readMarks(ofIPhone: activity)
            push.readActivity(activity)
            return push
        }
        guard let notification = payload[JPushPayload.notificationKey] else { return push }
        let android = notification["android"], ios = notification["ios"], alert = ios?["alert"]
        func text(_ value: JSONValue?) -> String { value?.stringValue ?? "" }
        push.readAlert(alert)
        push.image = text(android?["big_pic_path"])
        push.isSilent =
            text(android?["alert"]).isEmpty && ios?["badge"] == nil && ios?["sound"] == nil && push.texts.isEmpty
        push.readMarks(ofIPhone: ios)
        push.readMarks(ofAndroid: android)
        push.readClasses(payload["options"]?[JPushPayload.channelsKey], JPushPayload.makers)
        push.readMarks(ofHarmony: notification[JPushPayload.harmonyName])
        if let message = payload["message"] { push.marks.append(("in the app", text(message["msg_content"]))) }
        guard case .object(let extras)? = android?["extras"] ?? ios?["extras"] else { return push }
        push.ownKeys = extras.map { ($0.name, $0.value.stringValue ?? $0.value.text) }
        return push
    }
}

extension ShownPush {
    fileprivate mutating func readMarks(ofIPhone ios: JSONValue?) {
        guard case .object(let members)? = ios else { return }
        for member in members {
            switch (member.name, member.value) {
            case ("alert", _), ("extras", _), ("mutable-content", _), ("event", _), ("apns-priority", _): break
            case ("content-available", _): if !isSilent { marks.append(("wakes the app", "")) }
            case ("badge", .string("0")): marks.append(("badge", "removed"))
            case ("thread-id", .string(let text)): marks.append(("thread", text))
            case ("sound", .object): readSound(member.value)
            case (let name, .string(let text)): marks.append((name, text))
            case (let name, let value): marks.append((name, value.text))
            }
        }
    }

    /// What is said of HarmonyOS alone.
    fileprivate mutating func readMarks(ofHarmony hmos: JSONValue?) {
        let phone = "HarmonyOS"
        readClass(hmos, [("category", "category")], of: phone)
        readClass(hmos?["intent"], [("url", "opens")], of: phone)
        readClass(hmos, [("large_icon", "icon"), ("sound", "sound"), ("test_message", "test")], of: phone)
    }

    /// What is said of Android alone. Its sound is that of iPhones without an ending.
    fileprivate mutating func readMarks(ofAndroid android: JSONValue?) {
        guard case .object(let members)? = android else { return }
        for member in members
        where !["alert", "title", "extras", "style", "big_pic_path", "sound", "intent"].contains(member.name) {
            marks.append(("\(member.name) (Android)", member.value.stringValue ?? member.value.text))
        }
    }
}

/// What JPush counts of pushes. Source: docs.jiguang.cn, "Report API v3", received/detail: a
/// hundred numbers of pushes at a time, for a month.
extension JPush {
    /// By the numbers that answers gave.
    public var statistics: StatisticsFacts? { Self.statistics }

    private static let counted: [StatisticsFacts.Count] = [
        .init("jpush_received", "received over JPush's own channel"),
        .init("android_pns_sent", "passed on to makers of phones"),
        .init("android_pns_received", "received over those"), .init("ios_apns_sent", "passed on to Apple"),
        .init("ios_apns_received", "received on iPhones"),
        .init("ios_msg_received", "messages received in the app on iPhones"),
    ]

    private static let statistics = StatisticsFacts(
        subject: .receipts(atMost: 100), days: 30, counts: counted,
        question: { _, receipts, environment in
            let query = "received/detail?msg_ids=\(receipts.joined(separator: ","))"
            guard let environment else { return StatisticsFacts.Question(path: "/v3/\(query)") }
            // In Beijing the server that takes the pushes has the reports, too.
            return environment.region == beijing.name
                ? StatisticsFacts.Question(path: "/v3/report/\(query)")
                : StatisticsFacts.Question(host: "report.jpush.cn", path: "/v3/\(query)")
        }, read: counts)

    /// `[{"msg_id": "1828256757", "jpush_received": 5, "ios_apns_sent": null}]`: null is for what
    /// the push has no part of.
    @Sendable private static func counts(in answer: JSONValue, of numbers: [String]) -> [String: [String: Int]]? {
        guard case .array(let pushes) = answer else { return nil }
        var counts: [String: [String: Int]] = [:]
        for push in pushes {
            guard case .object(let members) = push, let number = number(of: push["msg_id"]) else { return nil }
            guard numbers.contains(number) else { continue }
            guard counts[number] == nil, let own = StatisticsFacts.counts(members, Set(counted.map(\.key))) else {
                return nil
            }
            counts[number] = own
        }
        return counts
    }
}

/// The audiences that JPush keeps: tags and aliases that apps gave their devices with its SDK.
/// Source: docs.jiguang.cn, "Push API v3", audience: twenty tags, a thousand aliases, a thousand
/// registration ids.
extension JPush {
    /// Everyone, tags, aliases and registration ids.
    public var ownAudience: OwnAudience? { Self.audiences }

    private static let audiences: OwnAudience = {
        let service = JPush()
        return OwnAudience(
            of: service,
            names: [
                OwnAudience.Names(.tags, mostOfCall: 20, isOnlyOne: false, rule: rule("tag"), normalize: name),
                OwnAudience.Names(.aliases, mostOfCall: 1000, isOnlyOne: true, rule: rule("alias"), normalize: name),
                OwnAudience.Names(
                    .registrationIDs, mostOfCall: 1000, isOnlyOne: true, rule: targets.rule,
                    normalize: { targets.target($0)?.text }),
            ],
            answers: AudienceAnswers(words: [
                "1011":
                    "JPush has no device under these names: no app gave them to a device, or its devices have not been online for a year. Check the names, and app_key and region in volley.yaml.",
                badDevice:
                    "JPush did not accept a name of the audience, or a value of the push. Check the names, and the campaign's content.",
            ]), request: { service.audienceRequest("/v3/push", $0) },
            check: { service.audienceRequest("/v3/push/validate", $0) })
    }()

    private static let mostNameBytes = 40

    private static func rule(_ noun: String) -> String {
        "\(TextFormat.capitalized(TextFormat.withArticle(noun))) of JPush has at most \(mostNameBytes) bytes (a Chinese character has 3): "
            + "letters, digits, Chinese characters, _ and @!#$&*+=.|￥"
    }

    /// Source: docs.jiguang.cn, "Push API v3", audience, tag and alias.
    @Sendable private static func name(_ name: String) -> String? {
        let isName =
            (1...mostNameBytes).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy { scalar in
                guard scalar.isASCII else { return scalar == "￥" || scalar.properties.isIdeographic }
                let byte = UInt8(truncatingIfNeeded: scalar.value)
                return ASCIISet.lettersAndDigits.contains(byte) || "_@!#$&*+=.|".utf8.contains(byte)
            }
        return isName ? name : nil
    }
}
