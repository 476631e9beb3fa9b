import Base

/// The parts of an app's account with JPush. Source: docs.jiguang.cn, "REST API overview", authentication; for the data centre in Beijing,
/// JPush's SDK for Java.
extension JPush {
    /// App key, environment, region, and the master secret.
    public var account: AccountForm { Self.account }

    static let account = AccountForm(topic: appKey, environments: environments, credentials: [masterSecret])

    private static let console = "Copy it from JPush's console: the app's settings"

    private static let appKey = AccountField(
        "app_key", .name(pattern: "^[0-9a-f]{24}$"), description: "The AppKey of the app at JPush.", example: "7d431e42dfa6a6d693ac2d04",
        otherNames: ["appkey", "jpush_app_key", "app_id", "topic", "package", "package_name"], source: "\(console), AppKey",
        whatToAdd: "the app's AppKey at JPush", flaw: appKeyFlaw)

    /// For iPhones: which of Apple's servers their tokens belong to.
    private static let environments = EnvironmentForm(
        choices: [
            ServiceEnvironment(name: "production", host: regions[0].host),
            ServiceEnvironment(
                name: "development", reachesPeople: false, purpose: "for development builds of the app on iPhones", host: regions[0].host),
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
            AccountField("file", .file, description: "A file that holds the master secret, and nothing else.", example: "keys/jpush.txt"),
            AccountField(
                "env", .variable, description: "The environment variable that holds the master secret.", example: "JPUSH_MASTER_SECRET"),
        ], alternatives: ["file", "env"], otherNames: ["mastersecret", "secret", "app_secret", "key", "certificate"])

    /// What is wrong with an app key. All that JPush shows are 24 hex digits.
    @Sendable private static func appKeyFlaw(_ key: String, shown: String) -> Mistake? {
        if key.utf8.count == 24, key.utf8.allSatisfy(ASCIISet.lowercaseHex.contains) { return nil }
        let isBundle = key.contains(".") && key.utf8.allSatisfy { ASCIISet.lettersAndDigits.contains($0) || "._-".utf8.contains($0) }
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
