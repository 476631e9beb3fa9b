import Base

/// The parts of an app's account with Getui. Source: docs.getui.com, RestAPI V2, "token".
extension Getui {
    /// App id, environment, app key, and master secret.
    public var account: AccountForm { Self.account }

    /// The only Getui there is. Source of the spare hosts: the SDK for Java, `Configs`.
    public static let production = ServiceEnvironment(
        name: "production", host: "restapi.getui.com", spareHosts: ["cncrestapi.getui.com", "nzrestapi.getui.com"])

    static let account = AccountForm(topic: appID, environments: environments, credentials: [masterSecret], switches: [lists])

    private static let console = "Copy it from Getui's console (dev.getui.com): the app's configuration"

    private static let appID = AccountField(
        "app_id", .name(pattern: "^[A-Za-z0-9]{8,64}$"), description: "The app's AppID at Getui.", example: "Jz1kA9xW2pQ7vB4nL5sT8y",
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
                example: "K8sdW0qPz16JbcXy2mV5t4", otherNames: ["appkey", "getui_app_key"], source: "\(console), AppKey",
                whatToAdd: "the app's AppKey at Getui", isBeside: true, flaw: flaw("app key", in: "AppKey")),
            AccountField("file", .file, description: "A file that holds the master secret, and nothing else.", example: "keys/getui.txt"),
            AccountField(
                "env", .variable, description: "The environment variable that holds the master secret.", example: "GETUI_MASTER_SECRET"),
        ], alternatives: ["file", "env"], otherNames: ["mastersecret", "secret", "app_secret", "key", "certificate"])

    /// Source: docs.getui.com, "token": a token is valid for a day, and an app may ask 100 times a minute. The SDK for Java renews it an
    /// hour early.
    static let tokens = TokenExchange(
        noun: "token", proof: .digest(proof), header: "token", prefix: "", renewEarlySeconds: 3600, shortestRenewalSeconds: 5)

    private static let proof = DigestFacts(
        path: { "/v2/\($0)/auth" }, text: { parts, secret in "\(parts.names[appKeyName] ?? "")\(parts.milliseconds)\(secret)" },
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
            return .refused(words.isEmpty ? String(code) : "\(code), \(words)", mayPass: passingCodes.contains(code) || status >= 500)
        }
        // The documentation writes the end as a text; a number says the same.
        let expiry = answer["data"]?["expire_time"]
        guard let token = answer["data"]?["token"]?.stringValue,
            let end = expiry?.integerValue ?? expiry?.stringValue.flatMap({ Int64($0) })
        else { return .unreadable }
        return .token(token, until: end)
    }

    /// What is wrong with a name that Getui gave an app. It publishes no form; all of its examples are letters and digits.
    private static func flaw(_ noun: String, in place: String) -> @Sendable (_ text: String, _ shown: String) -> Mistake? {
        { text, shown in
            if (8...64).contains(text.utf8.count), text.utf8.allSatisfy(ASCIISet.lettersAndDigits.contains) { return nil }
            let isBundle = text.contains(".") && text.utf8.allSatisfy { ASCIISet.lettersAndDigits.contains($0) || "._-".utf8.contains($0) }
            return Mistake(
                isBundle
                    ? "the \(noun) \(shown) is an app's package or bundle id, and Getui gave the app one of its own"
                    : "the \(noun) \(shown) is not one of Getui's; those are 8 to 64 letters and digits",
                remedy: "\(console), \(place).")
        }
    }
}
