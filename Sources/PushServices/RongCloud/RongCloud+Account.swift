import Base

/// The parts of an app's account with RongCloud. Source: RongCloud, "API signature" and "data centers"; for the hosts, its SDK for Java
/// (`CenterEnum`).
extension RongCloud {
    /// App key, environment, region, and the app secret.
    public var account: AccountForm { Self.account }

    static let account = AccountForm(topic: appKey, environments: environments, credentials: [appSecret])

    private static let appKey = AccountField(
        "app_key", .name(pattern: "^[a-z0-9]{8,24}$"), description: "The App Key of the app, from RongCloud's console.",
        example: "e0x9wycfx7flq", otherNames: ["appkey", "app_id", "topic", "rongcloud_key"],
        source: "Copy it from RongCloud's console: the app's settings, App Key", whatToAdd: "the App Key of the app", flaw: appKeyFlaw)

    /// An app in development has an App Key of its own, and at most 100 users.
    private static let environments = EnvironmentForm(
        choices: [
            server(name: "production"),
            server(name: "development", reachesPeople: false, purpose: "for an app in development, which has at most 100 users"),
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
            name: name, reachesPeople: reachesPeople, purpose: purpose, host: regions[0].host, spareHosts: regions[0].spareHosts)
    }

    static let regions = [
        region("beijing", "rong-api.com"), region("singapore", "sg-light-api.com"), region("singapore-b", "sg-b-light-api.com"),
        region("north-america", "us-light-api.com"), region("saudi-arabia", "sau-light-api.com"),
    ]

    private static func region(_ name: String, _ domain: String) -> ServiceRegion {
        ServiceRegion(name: name, host: "api.\(domain)", spareHosts: ["api-b.\(domain)"])
    }

    private static let appSecret = CredentialForm(
        key: "app_secret", kind: .signedRequest(signature), description: "The App Secret of the app, from RongCloud's console.",
        example: "app_secret: {file: keys/rongcloud-secret.txt}", shortExample: "app_secret: {file: keys/rongcloud-secret.txt}",
        origin: "from RongCloud's console",
        fields: [
            AccountField(
                "file", .file, description: "A file that holds the App Secret and nothing else.", example: "keys/rongcloud-secret.txt"),
            AccountField(
                "env", .variable, description: "The environment variable that holds the App Secret, instead of the file.",
                example: "RONGCLOUD_SECRET"),
        ], alternatives: ["file", "env"], otherNames: ["secret", "appsecret", "master_secret", "rongcloud_secret"])

    /// The number has at most 18 characters. RongCloud's page asks for milliseconds, and its own SDKs send seconds.
    static let signature = RequestSignature(
        account: "app-key", nonce: "nonce", nonceDigits: 16, timestamp: "timestamp", signature: "signature")

    /// What is wrong with an App Key. RongCloud documents no form; all that are known are lower-case letters and digits.
    @Sendable private static func appKeyFlaw(_ key: String, shown: String) -> Mistake? {
        let isKey = !key.isEmpty && key.utf8.allSatisfy(ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789").contains)
        if isKey, (8...24).contains(key.utf8.count) { return nil }
        return Mistake(
            "the app key \(shown) is not an App Key of RongCloud; those have about 13 lower-case letters and digits",
            remedy:
                "Copy it from RongCloud's console: the app's settings, App Key. The App Secret, which has capitals, belongs to app_secret.")
    }
}
