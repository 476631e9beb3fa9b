public import Base

/// Firebase Cloud Messaging over its HTTP v1 API. Every device gets a request of its own.
/// Source: Google, "FCM: REST resource projects.messages", "FCM error codes", "Best practices when
/// sending FCM messages at scale".
public struct FCM: PushService {
    /// `fcm`, in run files and as the key in volley.yaml.
    public let name = "fcm"
    /// The name that people use.
    public let displayName = "FCM"
    /// Its other names.
    public let otherNames = ["firebase", "google", "gcm", "firebase cloud messaging"]
    /// The name at its first mention.
    public let introduction = "FCM, Google's push service for Android, iOS and the web"
    /// The column of results that holds the push's id.
    public let idColumn = "fcm_request_id"
    /// Google, which publishes its address blocks as a file that changes.
    public let owner = ServiceOwner(
        name: "Google", reasonsPage: "Google's \"FCM error codes\"", ports: "443",
        networks:
            "For Google those are fcm.googleapis.com and oauth2.googleapis.com; the addresses are in https://www.gstatic.com/ipranges/goog.json."
    )
    /// The terms of Google's documentation. FCM has no id that a sender chooses.
    public let terms = ServiceTerms(
        pushID: idHeader, aPushID: "an \(idHeader)", collapseID: "collapse_key", pushType: "apns-push-type")
    /// Source: Google, "AndroidConfig": `ttl` is at most four weeks. A collapse id reaches iPhones
    /// as `apns-collapse-id`: 64 bytes; silent pushes to them have the priority 5.
    public let rules = CampaignRules(
        carried: FCMPayload.carried,
        ownKeys: [
            (
                FCMPayload.androidKey,
                "For Android alone: \(FCMPayload.androidKeys.map(\.name).joined(separator: ", ")) of the notification."
            ),
            (
                FCMPayload.labelKey,
                "A label by which Firebase counts the pushes: the same for all devices, at most 100 different ones a day."
            ),
        ],
        ownForms: [
            FCMPayload.androidKey: .group(FCMPayload.androidKeys),
            FCMPayload.labelKey: .pattern(FCMPayload.labelPattern),
        ],
        activities: .inPayload, payloadTargets: [FCMPayload.activityKey], longestStorageDays: 28, collapseIDBytes: 64,
        silentPriority: .normal, payloadKey: "message",
        payloadExample: "message: {notification: {title: Hello}}",
        payloadExampleJSON: .object(pairs: [
            ("message", .object(pairs: [("notification", .object(pairs: [("title", .string("Hello"))]))]))
        ]))

    /// What people see, what wakes the app, and Live Activities of iPhones.
    public let pushTypes = [PushType.alert, .background, .liveactivity]

    /// Answers do not repeat it, and Google's support has no use for it. It tells pushes apart in
    /// the logs of proxies.
    static let idHeader = "x-request-id"

    /// Source: Google, "Best practices when sending FCM messages at scale": wait at least 10
    /// seconds before a retry, with exponential back-off and jitter, and give up after 60 minutes.
    public let retry = {
        var policy = RetryPolicy()
        (policy.shortestDelaySeconds, policy.firstDelaySeconds) = (10, 20)
        (policy.longestDelaySeconds, policy.maximumTotalSeconds) = (300, 3600)
        return policy
    }()

    /// Source: Google, "Best practices when sending FCM messages at scale": a project may send
    /// 600,000 messages a minute, and a sender begins with none and takes at least 60 seconds to
    /// reach its rate. A project may have bought more, which a pace with FCM's own keys says.
    public let usualPace: ServicePace? = ServicePace(
        Pace(pushes: 600_000, intervalSeconds: 60), rampSeconds: 60, isLimit: true)

    /// FCM names each message that it takes, and refuses with other statuses.
    public let readsAcceptedBodies = true

    /// The only FCM there is.
    public init() {}

    /// Pushes to iPhones are of two kinds, and the project is named in the path: no suffix.
    public func topicSuffix(of type: PushType) -> String { "" }

    /// Bytes of the payload as Volley makes it.
    public func payloadLimit(of type: PushType) -> Int { Self.payloadLimit }

    /// FCM takes 4,096 bytes. What a run adds to a payload (`FCMRequestBody`) counts as part of it,
    /// in case FCM counts it too: at most 287 bytes, with a collapse id of 64 bytes, which is there
    /// twice. The target does not count.
    /// Source: Google, "About FCM messages": "maximum payload is 4096 bytes".
    static let payloadLimit = 4096 - 300

    /// The label under which Google counts the messages of a tracked run: its id, as far as it fits
    /// with its moment and its last digits.
    /// Source: Google, "FcmOptions": at most 50 of `[a-zA-Z0-9-_.~%]`, and at most 100 labels a
    /// day.
    static func label(ofRun id: String) -> String { id.count <= 50 ? id : "\(id.prefix(45))\(id.suffix(5))" }
}

/// The parts of an app's account with Firebase. Source: Google, "Authorize send requests" and
/// "Using OAuth 2.0 for server to server applications".
extension FCM {
    /// Project, environment, and a service account.
    public var account: AccountForm { Self.account }

    /// The only FCM there is: it has no other servers for development.
    public static let production = ServiceEnvironment(name: "production", host: "fcm.googleapis.com")

    static let account = AccountForm(
        topic: project, environments: environments, credentials: [serviceAccount], countedApp: androidApp)

    private static let androidApp = AccountField(
        "android_app", .name(pattern: #"^[0-9]+:[0-9]+:android:[0-9a-f]+$"#),
        description: "The App ID of the Android app in the Firebase project, under which Google counts its messages.",
        example: "1:1234567890:android:0a1b2c3d4e5f67890",
        source: "Copy it from the Firebase console: Project settings, General, the Android app, App ID",
        flaw: { text, shown in
            if text.wholeMatch(of: /[0-9]+:[0-9]+:android:[0-9a-f]+/) != nil { return nil }
            return Mistake(
                "\(shown) is not the App ID of an Android app in Firebase; those are like 1:1234567890:android:0a1b2c3d4e5f67890",
                remedy: "Copy it from the Firebase console: Project settings, General, the Android app, App ID.")
        })

    private static let project = AccountField(
        "project", .name(pattern: "^[a-z][a-z0-9-]{4,28}[a-z0-9]$"), description: "The id of the Firebase project.",
        example: "shop-1a2b",
        otherNames: ["project_id", "firebase_project", "topic", "sender_id", "app_id", "package", "package_name"],
        source: "Copy it from the Firebase console: Project settings, General, Project ID",
        whatToAdd: "the id of the Firebase project",
        flaw: projectFlaw)

    private static let environments = EnvironmentForm(
        choices: [production],
        remedies: [
            (
                ["sandbox", "development", "develop", "dev", "debug", "staging", "stage", "test", "testing"],
                "FCM has only one: write environment: production. A project of its own keeps test devices apart."
            ),
            (["prod", "live", "release"], "Write environment: production."),
        ].reduce(into: [:]) { remedies, entry in
            for word in entry.0 { remedies[word] = entry.1 }
        }, example: "production", serverExample: "https://localhost:8443")

    private static let serviceAccount = CredentialForm(
        key: "service_account", kind: .fetchedToken(tokens),
        description: "The service account that sends for the project, from the Firebase console.",
        example: "service_account: {file: keys/shop-fcm.json}",
        shortExample: "service_account: {file: keys/shop-fcm.json}",
        origin: "from the Firebase console",
        fields: [
            AccountField(
                "file", .file, description: "The .json file that the console gives out under Service accounts.",
                example: "keys/shop-fcm.json"),
            AccountField(
                "env", .variable,
                description: "The environment variable that holds the file's text, instead of the file.",
                example: "FCM_SERVICE_ACCOUNT"),
        ], alternatives: ["file", "env"],
        otherNames: [
            "credentials", "google_application_credentials", "service_account_key", "server_key", "key", "certificate",
        ])

    /// Source: Google, "Using OAuth 2.0 for server to server applications": an assertion is valid
    /// for at most an hour. Tokens are valid for an hour, too; so they are replaced five minutes
    /// early.
    static let tokens = TokenExchange(
        noun: "access token", proof: .assertion(assertion), renewEarlySeconds: 300, shortestRenewalSeconds: 10)

    static let assertion = AssertionFacts(
        address: "https://oauth2.googleapis.com/token", path: "/token",
        scope: "https://www.googleapis.com/auth/firebase.messaging",
        seconds: 3600, read: ServiceAccountFile.key)

    /// What is wrong with a project's id. Source: Google Cloud, "Creating and managing projects": 6
    /// to 30 lower-case letters, digits and hyphens, beginning with a letter, and not ending with a
    /// hyphen.
    @Sendable private static func projectFlaw(_ project: String, shown: String) -> Mistake? {
        let isName = project.utf8.allSatisfy(ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789-").contains)
        let example = "For example: project: shop-1a2b."
        if !project.isEmpty, project.utf8.allSatisfy(ASCIISet("0123456789").contains) {
            return Mistake(
                "the project \(shown) is a project's number (its sender id), and FCM is told the project's id",
                remedy: "Copy the Project ID from the Firebase console, Project settings. \(example)")
        }
        if project.wholeMatch(of: /[0-9]+:[0-9]+:(?:android|ios|web):[0-9A-Za-z]+/) != nil {
            return Mistake(
                "the project \(shown) is the id of one app of a Firebase project, and FCM is told the project's id",
                remedy: "Copy the Project ID from the Firebase console, Project settings. \(example)")
        }
        if project.contains("."),
            project.utf8.allSatisfy({ ASCIISet.lettersAndDigits.contains($0) || "._-".utf8.contains($0) })
        {
            let isDomain = [".firebaseapp.com", ".web.app", ".appspot.com", ".iam.gserviceaccount.com"].contains {
                project.hasSuffix($0)
            }
            return Mistake(
                "the project \(shown) is \(isDomain ? "an address of a Firebase project" : "an app's package or bundle id"), and FCM is told the project's id",
                remedy: "Copy the Project ID from the Firebase console, Project settings. \(example)")
        }
        if isName, (6...30).contains(project.utf8.count), project.first?.isLetter == true, project.last != "-" {
            return nil
        }
        let isShouting = project.lowercased() != project && projectFlaw(project.lowercased(), shown: "") == nil
        return Mistake(
            "the project \(shown) is not the id of a Firebase project; those have 6 to 30 lower-case letters, digits and hyphens, and begin with a letter",
            remedy: isShouting
                ? "Write it in lower case if that is the Project ID in the Firebase console: project: \(project.lowercased())."
                : example)
    }
}

/// Things in a hand-written message that are allowed but rarely meant.
extension FCM {
    /// Finds the texts that people see, so that they are checked as those of `content` are.
    public func lint(payload members: [ContentMember]) -> PayloadLint {
        var lint = PayloadLint()
        let message = members.members(of: "message")
        let alert = message.members(of: "apns").members(of: "payload").members(of: "aps").members(of: "alert")
        for part in [
            message.members(of: "notification"), message.members(of: "android").members(of: "notification"), alert,
        ] {
            for member in part where ["title", "subtitle", "body"].contains(member.name.value) {
                if case .text(let text) = member.value { lint.texts.append((member.name.value, text)) }
            }
        }
        return lint
    }
}

/// What phones show of a message: the card of an Android phone, and what only iPhones show.
extension FCM {
    /// - Parameter payload: a JSON object.
    public func shown(_ payload: JSONValue) -> ShownPush {
        var push = ShownPush()
        guard let message = payload["message"] else { return push }
        let aps = message["apns"]?["payload"]?["aps"]
        let android = message["android"]?["notification"]
        push.readAlert(aps?["alert"])
        // Android reads nothing of `apns`, and its own notification goes before the common one.
        push.readTexts(message["notification"])
        push.readTexts(android)
        push.isSilent =
            message["notification"] == nil && android == nil
            && !["alert", "badge", "sound"].contains { aps?[$0] != nil }
        push.readMarks(of: android, and: aps)
        push.readActivity(aps)
        if let label = message["fcm_options"]?["analytics_label"] {
            push.marks.append(("label", ShownPush.plain(label)))
        }
        push.ownKeys = (message["data"]?.members ?? []).map { ($0.name, ShownPush.plain($0.value)) }
        return push
    }
}

extension ShownPush {
    fileprivate mutating func readTexts(_ notification: JSONValue?) {
        if let text = notification?["title"] { title = Self.plain(text) }
        if let text = notification?["body"] { body = Self.plain(text) }
        // As on iPhones.
        if title.isEmpty, let key = notification?["title_loc_key"] { title = "‹\(Self.plain(key))›" }
        if body.isEmpty, let key = notification?["body_loc_key"] { body = "‹\(Self.plain(key))›" }
        if case .string(let address)? = notification?["image"] { image = address }
    }

    /// Properties other than texts. Android's sound is not said if it is that of iPhones without
    /// its ending.
    fileprivate mutating func readMarks(of android: JSONValue?, and aps: JSONValue?) {
        for key in aps?.members ?? [] {
            switch (key.name, key.value) {
            case ("alert", _), ("mutable-content", _), ("event", _), ("timestamp", .integer(0)): break
            case ("content-available", _): if !isSilent { marks.append(("wakes the app", "")) }
            case ("thread-id", let value): marks.append(("thread", Self.plain(value)))
            case ("sound", .object): readSound(key.value)
            case ("badge", .integer(0)): marks.append(("badge", "removed"))
            case (let name, let value): marks.append((name, Self.plain(value)))
            }
        }
        let sound = aps?["sound"].map { Self.plain($0["name"] ?? $0) } ?? ""
        let said = ["title", "body", "image", "title_loc_key", "title_loc_args", "body_loc_key", "body_loc_args"]
        for key in android?.members ?? [] where !said.contains(key.name) {
            let value = Self.plain(key.value)
            if key.name == "sound", sound == value || sound.hasPrefix(value + ".") { continue }
            marks.append(("\(key.name) (Android)", value))
        }
    }
}

extension JSONValue {
    fileprivate var members: [JSONMember] { if case .object(let members) = self { members } else { [] } }
}

/// The answer that nearly every push gets, without a look at JSON as such.
extension FCM {
    /// `{"name": "projects/PROJECT/messages/ID"}`, with white space around its parts as JSON allows
    /// it, and no escapes in the name.
    public func plainlyAccepts(_ body: [UInt8]) -> Bool {
        var scan = PlainScan(bytes: body)
        guard scan.take("{", afterSpace: true), scan.take("\"name\"", afterSpace: true),
            scan.take(":", afterSpace: true),
            scan.take("\"projects/", afterSpace: true), scan.takeWord(), scan.take("/messages/"), scan.takeWord(),
            scan.take("\""),
            scan.take("}", afterSpace: true)
        else { return false }
        return scan.isAtEnd
    }
}

/// Goes through bytes that are expected to be of one form.
private struct PlainScan {
    let bytes: [UInt8]
    private var index = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Whether nothing but white space is left.
    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return index == bytes.count
        }
    }

    /// Takes a text that is to come next.
    mutating func take(_ text: StaticString, afterSpace: Bool = false) -> Bool {
        if afterSpace { skipSpace() }
        guard bytes.count - index >= text.utf8CodeUnitCount else { return false }
        let matches = text.withUTF8Buffer { text in
            for position in text.indices where bytes[index + position] != text[position] { return false }
            return true
        }
        if matches { index += text.utf8CodeUnitCount }
        return matches
    }

    /// Takes at least one character that is neither a slash nor special within a text of JSON.
    mutating func takeWord() -> Bool {
        let start = index
        while index < bytes.count, bytes[index] > 0x20, bytes[index] < 0x7F,
            bytes[index] != UInt8(ascii: "/"), bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\")
        { index += 1 }
        return index > start
    }

    private mutating func skipSpace() {
        while index < bytes.count,
            bytes[index] == 0x20 || bytes[index] == 0x0A || bytes[index] == 0x0D || bytes[index] == 0x09
        {
            index += 1
        }
    }
}
