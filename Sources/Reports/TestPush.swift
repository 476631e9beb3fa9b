import Base
import Runs

/// A push of a test, and its outcome.
struct TestPush: Sendable {
    /// The test device's name in volley.yaml.
    var device: String
    var token: Target
    /// Blank when the campaign has none.
    var variant: String
    /// Blank for the text above `languages`.
    var language: String
    var outcome: Outcome
    /// The service's reason; blank when it was accepted.
    var reason: String

    /// Those of a run, in its order: a test has a few for each device.
    static func all(of run: RunFile) throws -> [TestPush] {
        var pushes: [TestPush] = []
        try run.forEachResult { _, recipient, settlement, isClaimed in
            pushes.append(
                TestPush(
                    device: recipient.alias, token: recipient.token, variant: recipient.variant, language: recipient.language,
                    outcome: settlement?.outcome ?? (isClaimed ? .unknown : .unsent), reason: settlement?.reason ?? ""))
        }
        return pushes
    }

    var json: JSONValue {
        .object(pairs: [
            ("device", .string(device)), ("device_token", .string(token.redacted)), ("variant", .string(variant)),
            ("language", .string(language)), ("outcome", .string(outcome.name)), ("reason", .string(reason)),
        ])
    }
}
