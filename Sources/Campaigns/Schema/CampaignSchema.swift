public import Base
public import PushServices

/// The JSON Schema of campaign files. A campaign does not say which service takes its pushes, so
/// what one of them takes is valid.
public struct CampaignSchema {
    let services: [any PushService]

    /// The document that `volley schema` prints.
    public static var document: JSONValue { document(for: PushServices.all) }

    /// The document for campaigns of apps that use these services.
    public static func document(for services: [any PushService]) -> JSONValue {
        CampaignSchema(services: services).root
    }

    private var root: JSONValue {
        SchemaNode.document(
            "Volley campaign",
            SchemaNode.object(
                CampaignKeys.root, "Who gets what, how fast, and how it gets there.",
                required: ["name", "app", "audience"],
                rules: [("anyOf", .array(["content", "activity"].map(SchemaNode.has)))],
                [
                    "name": SchemaNode.text(
                        "What the campaign is called: lower-case letters, digits and hyphens, at most 64. Runs are named after it, and it decides which variant a device gets.",
                        example: "spring-sale", pattern: "^[a-z0-9-]{1,64}$"),
                    "app": SchemaNode.text("Which app of volley.yaml.", example: "shop"),
                    "description": SchemaNode.text(
                        "For people; nothing else reads it.", example: "Spring sale, everyone who likes discounts"),
                    "audience": audience, "content": content, "activity": activity, "variants": variants,
                    "delivery": delivery,
                    "schedule": schedule,
                    "allow": allow,
                ]),
            definitions: [("names", names), ("data", data), ("payload", payload)])
    }

    private var allow: JSONValue {
        let entry = SchemaNode.object(
            CampaignKeys.allowedWarning, "A warning to silence.", required: ["warning", "reason"],
            [
                "warning": SchemaNode.choice("Its name, in brackets at its end.", AllowReader.names),
                "reason": SchemaNode.text(
                    "Why, for people who read the campaign later.", example: "The important part comes first."),
            ])
        return .object(pairs: [
            ("type", .string("array")), ("description", .string("Warnings to silence; they are not shown.")),
            ("items", entry),
            ("minItems", .integer(1)),
        ])
    }

    // MARK: - Services

    /// What services call something, each name once.
    func names(of services: [any PushService], _ name: (any PushService) -> String) -> String {
        orList(services.map(name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
    }

    var payloadKeys: String { names(of: services, \.rules.payloadKey) }

    /// A group without the keys that no service has.
    func group(_ group: KeyGroup) -> KeyGroup {
        var carried = group.carried(by: services)
        carried.unlisted = group.unlisted
        return carried
    }

    // MARK: - How

    private var delivery: JSONValue {
        let percentages = StopLimits.outcomes.map { outcome in
            (
                outcome.name,
                SchemaNode.text(
                    "The share of answers that may be \(outcome.name).", example: "5%",
                    pattern: SchemaPattern.percentage)
            )
        }
        let collapsing = services.filter { $0.rules.deliveryKeys.contains(.collapse) }
        let recognizing = services.filter(\.recognizesRepeats)
        let sameID = recognizing.isEmpty ? "" : " under the same \(names(of: recognizing, \.terms.pushID))"
        return SchemaNode.object(
            group(CampaignKeys.delivery), "How it gets there.",
            [
                "pace": SchemaNode.text(
                    "Never faster than this, in any second: 5000/s, 300000/min, 100/h. The app's own pace may be slower still.",
                    example: "5000/s", pattern: SchemaPattern.pace),
                "frequency": SchemaNode.text(
                    "How many pushes of the app a device may get in a period, counted from past runs. The app's own cap counts too.",
                    example: "at most 2 per 7 days", pattern: SchemaPattern.frequency),
                "expires": SchemaNode.anyOf(
                    "When it is no longer wanted: a time from the start of the run, a date with a time (UTC unless it says otherwise), or 0 for now or never.",
                    [
                        .object(pairs: [("type", .string("string")), ("pattern", .string(SchemaPattern.duration))]),
                        .object(pairs: [("type", .string("string")), ("pattern", .string(SchemaPattern.moment))]),
                        .object(pairs: [("enum", .array([.integer(0), .string("0")]))]),
                    ], rules: [("examples", .array([.string("4h"), .string("2030-12-01 18:00 +01:00"), .integer(0)]))]),
                "priority": SchemaNode.choice(
                    "high (10), normal (5) or low (1).", ["high", "normal", "low"], usual: "high"),
                "collapse": SchemaNode.text(
                    "\(names(of: collapsing) { "\($0.terms.collapseID), at most \($0.rules.collapseIDBytes) bytes" }): a newer push replaces the older one on the device.",
                    example: "spring-sale",
                    pattern: #"^(?!.*\{[{%])(?! )(?!.* $)[^\x00-\x1f\x7f-\x9f]*$"#,
                    rules: [("maxLength", .integer(Int64(collapsing.map(\.rules.collapseIDBytes).max() ?? 0)))]),
                "unknown": SchemaNode.choice(
                    "A push whose answer was lost: resend sends it again\(sameID), skip reports it as unknown.",
                    ["resend", "skip"], usual: "resend"),
                "track": .object(pairs: [
                    (
                        "description",
                        .string(
                            "Pushes say which they are: volley {run, campaign, variant, id} in the app's data, utm_* in links to web pages. silent: those that no one sees, too."
                        )
                    ), ("enum", .array([.bool(true), .bool(false), .string("silent")])), ("default", .bool(false)),
                ]),
                "stop_when": SchemaNode.object(
                    CampaignKeys.stopWhen, "Stop the run when a share of its answers is passed.",
                    rules: [("anyOf", .array(StopLimits.outcomes.map { SchemaNode.has($0.name) }))],
                    Dictionary(
                        uniqueKeysWithValues: percentages + [
                            (
                                "after",
                                SchemaNode.whole(
                                    "How many answers it takes before shares are judged.", in: 1...1_000_000_000,
                                    usual: Int64(StopLimits.usualAnswers), example: 1000)
                            )
                        ])),
            ])
    }

    // MARK: - When

    private var schedule: JSONValue {
        let zone = #"^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z][A-Za-z0-9_+-]*)*$"#
        let recipient = JSONValue.object(pairs: [
            ("required", SchemaNode.strings(["timezone"])),
            ("properties", .object(pairs: [("timezone", .object(pairs: [("const", .string("recipient"))]))])),
        ])
        return SchemaNode.object(
            CampaignKeys.schedule, "When it is sent; without it, when you run volley send.", required: ["timezone"],
            rules: [
                (
                    "allOf",
                    .array([
                        SchemaNode.hasOneOf(["at", "repeat", "quiet_hours"]),
                        .object(pairs: [("if", recipient), ("then", SchemaNode.has("fallback_timezone"))]),
                        SchemaNode.whereThere("fallback_timezone", recipient),
                    ])
                )
            ],
            [
                "at": SchemaNode.text(
                    "The time, or the first of several, on the clock of timezone.", example: "2026-12-01 09:00",
                    pattern: #"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}[ Tt][0-9]{2}:[0-9]{2}(:00)?\s*$"#),
                "timezone": SchemaNode.text(
                    "Whose clock: a place of the tz database, or recipient for each device by its own.",
                    example: "Europe/Berlin",
                    pattern: zone),
                "fallback_timezone": SchemaNode.text(
                    "With timezone: recipient, the zone of devices whose own is not known.", example: "Europe/Berlin",
                    pattern: zone),
                "quiet_hours": SchemaNode.text(
                    "When nothing is sent, by the device's own clock where the export has its zone; pushes are held until they end.",
                    example: "21:00-08:00", pattern: #"^\s*[0-9]{1,2}:[0-9]{2}\s*-\s*[0-9]{1,2}:[0-9]{2}\s*$"#),
                "repeat": SchemaNode.text(
                    "How to repeat it: cron's minute, hour, day of the month, month and day of the week.",
                    example: "0 9 * * mon,thu",
                    pattern: #"^\s*[^\s@]+(\s+[^\s]+){4}\s*$"#),
                "late": SchemaNode.text(
                    "What to do when it could not be sent at the time: send, skip, or skip after a time (2h by default).",
                    example: "skip after 2h", pattern: #"^\s*(send|skip(\s+after\s+[0-9]+\s*[a-z]+)?)\s*$"#),
            ])
    }
}
