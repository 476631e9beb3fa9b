package import Base
package import PushServices

extension OtherService {
    /// A service whose tokens its own server gives out, for requests signed with the key in a
    /// robot's file. Its word for an app is shop.
    package static let robots = OtherService {
        ($0.name, $0.displayName) = ("robots", "Robopush")
        $0.account = AccountForm(
            topic: AccountField(
                "shop_name", .name(pattern: "^[a-z-]+$"), description: "The shop's name.", example: "my-shop"),
            environments: $0.account.environments, credentials: [robotAccount])
    }

    private static let robotAccount = CredentialForm(
        key: "robot_account", kind: .fetchedToken(exchange), description: "The robot that sends.",
        example: "robot_account: {file: keys/robot.json, region: eu}",
        shortExample: "robot_account: {file: keys/robot.json, region: eu}",
        origin: "from Robopush's console",
        fields: [
            AccountField("file", .file, description: "The robot's file.", example: "keys/robot.json"),
            AccountField(
                "env", .variable, description: "The environment variable that holds the robot's file.",
                example: "SHOP_ROBOT"),
            AccountField(
                "region", .name(pattern: "^[a-z]{2}$"), description: "Where the robot is.", example: "eu",
                flaw: { text, shown in
                    text.utf8.count == 2
                        ? nil
                        : Mistake("the region \(shown) does not have two letters", remedy: "For example: region: eu.")
                }),
        ], alternatives: ["file", "env"], otherNames: ["robot"])

    package static let exchange = TokenExchange(
        noun: "robot token", proof: .assertion(assertion), renewEarlySeconds: 300, shortestRenewalSeconds: 60)

    private static let assertion = AssertionFacts(
        address: "https://tokens.robopush.example/token", path: "/token", scope: "push", seconds: 3600
    ) { secret throws(Mistake) in
        func text(_ name: String) throws(Mistake) -> String {
            guard let text = secret[name]?.stringValue, !text.isEmpty else {
                throw Mistake("the robot has no '\(name)'")
            }
            return text
        }
        return AssertionKey(
            issuer: try text("email"), keyID: try text("key"), privateKeyPEM: secret["pem"]?.stringValue ?? "",
            topic: secret["shop"]?.stringValue)
    }

    /// A robot's file.
    package static func robot(
        shop: String? = "my-shop", pem: String = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"
    )
        -> JSONValue
    {
        .object(pairs: [
            ("email", .string("robot@robopush.example")), ("key", .string("7f3a")), ("pem", .string(pem)),
            ("shop", shop.map { .string($0) } ?? .null),
        ])
    }
}
