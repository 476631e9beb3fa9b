public import Base

/// Apple Push Notification service.
/// Source: Apple, "Sending notification requests to APNs", "Handling notification responses from
/// APNs", "Establishing a token-based connection to APNs".
public struct APNs: PushService {
    /// `apns`, in run files and as the key in volley.yaml.
    public let name = "apns"
    /// The name that people use.
    public let displayName = "APNs"
    /// Its other names.
    public let otherNames = ["apple", "apple push", "apple push notification service"]
    /// The name at its first mention.
    public let introduction = "APNs, Apple's push service"
    /// The column of results that holds the push's id.
    public let idColumn = "apns_id"
    /// Apple, which has address blocks of its own.
    public let owner = ServiceOwner(
        name: "Apple", reasonsPage: "Apple's \"Handling notification responses from APNs\"", ports: "443 and 2197",
        networks: "For Apple that is 17.0.0.0/8 and 2620:149::/32.")
    /// The terms of Apple's documentation.
    public let terms = ServiceTerms(
        pushID: idHeader, aPushID: "an apns-id", collapseID: collapseHeader, pushType: pushTypeHeader)
    /// Source: Apple, "Sending notification requests to APNs": a notification is stored for at most
    /// 30 days, a collapse id has at most 64 bytes, and background pushes with priority 10 are an
    /// error.
    public let rules = CampaignRules(
        carried: APNsPayload.carried, activities: .target, longestStorageDays: 30, collapseIDBytes: 64,
        silentPriority: .normal,
        payloadKey: "aps",
        payloadExample: "aps: {alert: Hello}",
        payloadExampleJSON: .object(pairs: [("aps", .object(pairs: [("alert", .string("Hello"))]))]))
    /// Source: Apple, "Preparing custom alert sounds".
    public let system: PhoneSystem? = PhoneSystem(
        name: "iOS", phone: "iPhone", soundEndings: ["aiff", "aif", "wav", "caf"])
    /// All types: the list is Apple's.
    public let pushTypes = PushType.allCases
    /// For keys that are next to `aps`.
    public let warnings = [WarningName.outsideAPS]
    /// Source: Apple, "Handling notification responses from APNs": apns-id is among the headers of
    /// every response.
    public let answersCarryID = true
    /// A repeated push keeps its apns-id. Apple does not promise that APNs drops it.
    public let recognizesRepeats = true

    static let idHeader = "apns-id", collapseHeader = "apns-collapse-id", pushTypeHeader = "apns-push-type"

    /// APNs answers TooManyProviderTokenUpdates to tokens younger than 20 minutes, and
    /// ExpiredProviderToken to those older than 60.
    static let tokens = SignedTokenFacts(
        noun: "provider token", keyIDField: "kid", issuerClaim: "iss", lifetimeSeconds: 3600, renewalSeconds: 3000,
        shortestRenewalSeconds: 1200)

    /// The only APNs there is.
    public init() {}

    /// What an answer means for the push, the device and the run.
    public func meaning(of answer: ServiceAnswer) -> AnswerMeaning {
        let row = Self.answers[answer.status, answer.reason], isOwn = answer.id == .own
        switch answer.status {
        // The status is enough.
        case 200: return .accepted
        // 410 is enough, too, if APNs itself says it. Its answers carry the push's apns-id, even
        // those that are cut off: the id comes with the status.
        case 410: return isOwn || row != nil ? .invalidTarget(blamesSettings: false) : .notTheService
        case _ where answer.isCutOff: return answer.undocumentedMeaning
        case _ where row != nil: return row?.meaning ?? .rejected
        case 429: return .retry(.deviceBusy)
        // A proxy or a load balancer may have passed the push on before it answered.
        case 500... where isOwn: return .retry(.serviceBusy)
        // Reasons that Apple adds later: only those of 403, 404 and 405 are about the sender, not
        // the device.
        case 400..<500 where ![401, 403, 404, 405, 407].contains(answer.status) && (isOwn || !answer.reason.isEmpty):
            return .rejected
        default: return answer.undocumentedMeaning
        }
    }

    /// What the report says about a reason that Apple documents; nil for others.
    public func words(about reason: String) -> ReasonWords? {
        Self.answers[reason]?.words
    }

    /// What to check when this answer stopped a run.
    public func advice(status: Int, reason: String) -> String {
        if let advice = Self.answers[status, reason]?.advice { return advice }
        switch status {
        case 429, 500...: return "Try again in a few minutes."
        case 404, 405:
            return "The server does not understand APNs requests: check environment (host and port) in volley.yaml."
        default: return "Check key, team, topic and environment of the app in volley.yaml."
        }
    }

    /// What `doctor` learns from the answer to a push that reaches no device.
    public func probeMeaning(status: Int, reason: String) -> ProbeMeaning {
        switch (status, reason) {
        case (200, _): .fine
        case (400, _), (410, _): Self.answers[status, reason]?.probe ?? .notTheService
        case (403, _): .wrongCredentials
        case (429, _), (500..., _): .busy
        default: .notTheService
        }
    }
}

/// The parts of an app's account with Apple. Source: Apple, "Establishing a token-based connection
/// to APNs", "Establishing a certificate-based connection to APNs".
extension APNs {
    /// Topic, environment, and a key or a certificate.
    public var account: AccountForm { Self.account }

    /// For apps from TestFlight and the App Store.
    public static let production = ServiceEnvironment(name: "production", host: "api.push.apple.com")
    /// For builds signed for development.
    public static let sandbox = ServiceEnvironment(
        name: "sandbox", reachesPeople: false, purpose: "for development builds of the app", note: "builds from Xcode",
        host: "api.sandbox.push.apple.com",
        otherHosts: ["api.development.push.apple.com"])

    static let account = AccountForm(topic: topic, environments: environments, credentials: [key, certificate])

    private static let topic = AccountField(
        "topic", .name(pattern: "^[A-Za-z0-9.-]+$"),
        description: "The app's bundle id; suffixes that a push type needs are added.",
        example: "com.example.shop", otherNames: ["bundle_id", "bundle", "bundle_identifier", "app_id", "package"],
        whatToAdd: "the app's bundle id", flaw: topicFlaw)

    private static let environments = EnvironmentForm(
        choices: [production, sandbox],
        remedies: [
            (
                ["development", "develop", "dev", "debug", "staging", "stage", "test", "testing", "xcode"],
                "Apple calls it sandbox: write environment: sandbox. Apps from TestFlight and the App Store are in production."
            ),
            (["prod", "live", "release", "testflight", "appstore"], "Write environment: production."),
        ].reduce(into: [:]) { remedies, entry in
            for word in entry.0 { remedies[word] = entry.1 }
        }, example: "sandbox", serverExample: "https://localhost:2197")

    private static let keyFile = KeyFileFacts(
        description: "the .p8 file that Apple gives out under Certificates, Identifiers & Profiles, Keys",
        namePrefix: "AuthKey_",
        nameSuffix: ".p8", idLength: 10)

    private static let key = CredentialForm(
        key: "key", kind: .signingKey(tokens),
        description: "The key that signs for the app, from Apple's developer pages.",
        example: "key: {file: keys/AuthKey_ABC123DEFG.p8, id: ABC123DEFG, team: DEF123GHIJ}",
        shortExample: "key: {file: keys/AuthKey.p8, id: ABC123DEFG, team: DEF123GHIJ}",
        origin: "from Apple's developer pages",
        fields: [
            AccountField("file", .file, description: "The .p8 file.", example: "keys/AuthKey_ABC123DEFG.p8"),
            AccountField(
                "id", .keyID(length: 10), description: "The key's id, ten capital letters and digits.",
                example: "ABC123DEFG",
                source: developerSite,
                whatToAdd: "the ten characters that Apple shows next to it"),
            AccountField(
                "team", .issuer(length: 10), description: "The team's id, ten capital letters and digits.",
                example: "DEF123GHIJ",
                source: developerSite, whatToAdd: "the ten characters of your team at Apple"),
        ], otherNames: ["key_id", "team_id", "team", "auth_key"], file: keyFile)

    private static let developerSite = "Copy it from Apple's developer site"

    private static let certificate = CredentialForm(
        key: "certificate", kind: .clientCertificate, description: "A client certificate, instead of a key.",
        example: "certificate: {file: keys/push.p12, passphrase_env: PUSH_PASSPHRASE}",
        shortExample: "certificate: {file: keys/push.p12, passphrase_env: PUSH_PASSPHRASE}",
        origin: "from Apple's developer pages",
        fields: [
            AccountField(
                "file", .file, description: "A .p12, or a PEM with certificate and key.", example: "keys/push.p12"),
            AccountField(
                "passphrase_env", .passphraseVariable,
                description: "The environment variable that holds the passphrase.",
                example: "PUSH_PASSPHRASE"),
        ], otherNames: [], file: nil)

    /// What is wrong with a bundle id. Source: Apple, CFBundleIdentifier: letters, digits, hyphens
    /// and full stops.
    @Sendable private static func topicFlaw(_ topic: String, shown: String) -> Mistake? {
        guard
            topic.utf8.allSatisfy({
                ASCIISet.lettersAndDigits.contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
            })
        else {
            return .init(
                "the topic \(shown) is not a bundle id; those have only letters, digits, hyphens and full stops",
                remedy: "For example: topic: com.example.shop.")
        }
        // Source: App Store Connect calls this number the app's Apple ID.
        if topic.wholeMatch(of: /(?:id)?[0-9]+/) != nil {
            return .init(
                "the topic \(shown) is the app's number in the App Store, and APNs knows it by its bundle id",
                remedy: "Write that, as in topic: com.example.shop.")
        }
        // Source: Apple, "Sending notification requests to APNs", apns-topic: such topics are for
        // pushes that show nothing to people.
        let suffixes = [
            ".complication", ".voip", ".pushkit.fileprovider", ".location-query", ".push-type.liveactivity",
            ".push-type.controls",
        ]
        return suffixes.first(where: topic.hasSuffix).map { suffix in
            .init(
                "the topic \(shown) is for pushes of another kind, which show no text",
                remedy: "Write the bundle id alone: topic: \(topic.dropLast(suffix.count)).")
        }
    }

    /// Apple puts the topic in the certificate's user id and after the colon of its common name
    /// (`Apple Push Services: com.example.shop`).
    public func topic(ofCertificate commonName: String, userID: String) -> String {
        guard userID.isEmpty, commonName.hasPrefix("Apple "), let colon = commonName.firstRange(of: ": ") else {
            return userID
        }
        return String(commonName[colon.upperBound...])
    }
}

/// Things in a hand-written `aps` that are allowed but rarely meant.
extension APNs {
    /// Checks a hand-written payload.
    public func lint(payload members: [ContentMember]) -> PayloadLint {
        var lint = PayloadLint()
        guard case .object(let aps, _)? = members.first(where: { $0.name.value == "aps" })?.value else { return lint }
        let names = Set(aps.map(\.name.value))
        if names.contains("alert") {
            lint.showsMedia = names.contains("mutable-content")
            lint.mediaRemedy = "Write mutable-content: 1 into 'aps'."
        }
        for member in aps { lint.check(member, names: names) }
        return lint
    }
}

extension PayloadLint {
    fileprivate mutating func check(_ member: ContentMember, names: Set<String>) {
        switch (member.name.value, member.value) {
        case ("alert", .text(let text)): texts.append(("alert", text))
        case ("alert", .object(let members, _)):
            for member in members {
                guard ["title", "subtitle", "body"].contains(member.name.value), case .text(let value) = member.value
                else { continue }
                texts.append((member.name.value, value))
            }
        // Source: Apple, "Pushing background updates to your App": such a push has no alert, sound
        // or badge.
        case ("content-available", _) where !names.contains("alert") && !names.isDisjoint(with: ["sound", "badge"]):
            let visible = ["sound", "badge"].filter(names.contains).joined(separator: " and ")
            warn(
                .silentAndVisible,
                message: "with \(visible) this is sent as a visible push, though it looks like a silent one",
                at: member.name.position, remedy: "Remove \(visible) for a silent push, or add an alert.")
        case (let key, .text(let level)) where key == "interruption-level": check(interruption: level, key: key)
        case ("sound", .object(let keys, _)):
            for key in keys where key.name.value == "critical" {
                if case .integer(1, _) = key.value { warnCritical(at: key.name.position) }
            }
        default: break
        }
    }

    /// Notes a level that few pushes should have.
    /// - Parameter key: what it is called there.
    public mutating func check(interruption level: SourceText, key: String) {
        switch level.value {
        case "time-sensitive":
            warn(
                .timeSensitive,
                message: "a time-sensitive push breaks through Focus, and people can turn it off for the whole app",
                at: level.position, remedy: "Keep it for what needs attention at once; otherwise leave \(key) out.")
        case "critical": warnCritical(at: level.position)
        default: break
        }
    }

    private mutating func warnCritical(at place: SourcePosition) {
        warn(
            .criticalAlert,
            message: "a critical alert sounds on muted phones, and only apps with Apple's permission may send one",
            at: place,
            remedy: "Unless people's safety is at stake, leave it out.")
    }

    private mutating func warn(_ name: WarningName, message: String, at place: SourcePosition, remedy: String) {
        findings.append(.warning(name, message: message, at: place, remedy: remedy))
    }
}

/// What an iPhone shows of a payload.
extension APNs {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        var push = ShownPush()
        guard case .object(let members) = payload else { return push }
        for member in members {
            if member.name == "aps", case .object(let aps) = member.value {
                push.isSilent = !aps.contains { ["alert", "badge", "sound"].contains($0.name) }
                for key in aps { push.read(key) }
                push.readActivity(member.value)
            } else if member.name == "image", case .string(let address) = member.value {
                push.image = address
            } else {
                push.ownKeys.append((member.name, ShownPush.plain(member.value)))
            }
        }
        return push
    }
}

extension ShownPush {
    fileprivate mutating func read(_ key: JSONMember) {
        switch (key.name, key.value) {
        case ("alert", let alert): readAlert(alert)
        case ("sound", .object): readSound(key.value)
        case ("mutable-content", _), ("event", _), ("timestamp", .integer(0)): break
        case ("content-available", _): if !isSilent { marks.append(("wakes the app", "")) }
        case ("thread-id", let value): marks.append(("thread", Self.plain(value)))
        case ("badge", .integer(0)): marks.append(("badge", "removed"))
        case (let name, let value): marks.append((name, Self.plain(value)))
        }
    }
}
