import Base

/// The parts of an app's account with Apple. Source: Apple, "Establishing a token-based connection to APNs", "Establishing a
/// certificate-based connection to APNs".
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
        "topic", .name(pattern: "^[A-Za-z0-9.-]+$"), description: "The app's bundle id; suffixes that a push type needs are added.",
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
        description: "the .p8 file that Apple gives out under Certificates, Identifiers & Profiles, Keys", namePrefix: "AuthKey_",
        nameSuffix: ".p8", idLength: 10)

    private static let key = CredentialForm(
        key: "key", kind: .signingKey(tokens), description: "The key that signs for the app, from Apple's developer pages.",
        example: "key: {file: keys/AuthKey_ABC123DEFG.p8, id: ABC123DEFG, team: DEF123GHIJ}",
        shortExample: "key: {file: keys/AuthKey.p8, id: ABC123DEFG, team: DEF123GHIJ}", origin: "from Apple's developer pages",
        fields: [
            AccountField("file", .file, description: "The .p8 file.", example: "keys/AuthKey_ABC123DEFG.p8"),
            AccountField(
                "id", .keyID(length: 10), description: "The key's id, ten capital letters and digits.", example: "ABC123DEFG",
                source: developerSite,
                whatToAdd: "the ten characters that Apple shows next to it"),
            AccountField(
                "team", .issuer(length: 10), description: "The team's id, ten capital letters and digits.", example: "DEF123GHIJ",
                source: developerSite, whatToAdd: "the ten characters of your team at Apple"),
        ], otherNames: ["key_id", "team_id", "team", "auth_key"], file: keyFile)

    private static let developerSite = "Copy it from Apple's developer site"

    private static let certificate = CredentialForm(
        key: "certificate", kind: .clientCertificate, description: "A client certificate, instead of a key.",
        example: "certificate: {file: keys/push.p12, passphrase_env: PUSH_PASSPHRASE}",
        shortExample: "certificate: {file: keys/push.p12, passphrase_env: PUSH_PASSPHRASE}", origin: "from Apple's developer pages",
        fields: [
            AccountField("file", .file, description: "A .p12, or a PEM with certificate and key.", example: "keys/push.p12"),
            AccountField(
                "passphrase_env", .passphraseVariable, description: "The environment variable that holds the passphrase.",
                example: "PUSH_PASSPHRASE"),
        ], otherNames: [], file: nil)

    /// What is wrong with a bundle id. Source: Apple, CFBundleIdentifier: letters, digits, hyphens and full stops.
    @Sendable private static func topicFlaw(_ topic: String, shown: String) -> Mistake? {
        guard topic.utf8.allSatisfy({ ASCIISet.lettersAndDigits.contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }) else {
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
        // Source: Apple, "Sending notification requests to APNs", apns-topic: such topics are for pushes that show nothing to people.
        let suffixes = [
            ".complication", ".voip", ".pushkit.fileprovider", ".location-query", ".push-type.liveactivity", ".push-type.controls",
        ]
        return suffixes.first(where: topic.hasSuffix).map { suffix in
            .init(
                "the topic \(shown) is for pushes of another kind, which show no text",
                remedy: "Write the bundle id alone: topic: \(topic.dropLast(suffix.count)).")
        }
    }

    /// Apple puts the topic in the certificate's user id and after the colon of its common name (`Apple Push Services: com.example.shop`).
    public func topic(ofCertificate commonName: String, userID: String) -> String {
        guard userID.isEmpty, commonName.hasPrefix("Apple "), let colon = commonName.firstRange(of: ": ") else { return userID }
        return String(commonName[colon.upperBound...])
    }
}
