public import Base
public import PushServices

/// The JSON Schema of campaign files. A campaign does not say which service takes its pushes, so
/// what one of them takes is valid.
public struct CampaignSchema {
    private let services: [any PushService]

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
    private func names(of services: [any PushService], _ name: (any PushService) -> String) -> String {
        orList(services.map(name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
    }

    private var payloadKeys: String { names(of: services, \.rules.payloadKey) }

    /// A group without the keys that no service has.
    private func group(_ group: KeyGroup) -> KeyGroup {
        var carried = group.carried(by: services)
        carried.unlisted = group.unlisted
        return carried
    }

    // MARK: - Audience

    private static let selectors = ["tags", "aliases", "registration_ids"]

    /// The names of services that keep audiences.
    private var keepers: [String] { services.map(\.name).filter(PushServices.keepingAudiences.map(\.name).contains) }

    private var hasChannels: Bool { services.contains { $0.name == PushServices.broadcasting?.name } }

    private var audience: JSONValue {
        let channel = OwnAudienceReader.channelKey
        let rules = [
            (
                "allOf",
                JSONValue.array(
                    [
                        .object(pairs: [
                            (
                                "anyOf",
                                .array(
                                    (Self.selectors + (hasChannels ? [channel] : [])).map(SchemaNode.has) + [
                                        isForEveryone
                                    ])
                            )
                        ]),
                        .object(pairs: SchemaNode.whereTrue("everyone", SchemaNode.hasNone(of: Self.selectors))),
                    ]
                        + (keepers.isEmpty
                            ? []
                            : [
                                SchemaNode.whereThere(
                                    OwnAudienceReader.key, SchemaNode.hasNone(of: OwnAudienceReader.keysOfExports))
                            ])
                        + (hasChannels
                            ? [
                                SchemaNode.whereThere(
                                    channel,
                                    SchemaNode.hasNone(of: CampaignKeys.audience.valid.filter { $0 != channel }))
                            ]
                            : []))
            )
        ]
        var group = CampaignKeys.audience
        if !hasChannels { group.valid.removeAll { $0 == channel } }
        if keepers.isEmpty { group.valid.removeAll { $0 == OwnAudienceReader.key } }
        return SchemaNode.object(
            group,
            "Who gets it: devices that any of tags, aliases and registration_ids names (or everyone), if all of where holds and nothing in exclude does.",
            rules: rules,
            [
                "devices": SchemaNode.devices(
                    "The devices: exports or a query; without it the app's.",
                    files: files(
                        "Device exports: .csv .tsv .json .jsonl, each also .gz.", example: "exports/devices.csv")),
                OwnAudienceReader.key: SchemaNode.choice(
                    "The service that chooses the devices, by tags and aliases that apps registered with it; no export is read. Without it, Volley chooses the devices of an export.",
                    keepers),
                "tags": SchemaNode.anyOf(
                    "Devices with at least one of these tags; or any, all and none of several.",
                    [
                        SchemaNode.reference("names", "Devices with at least one of these tags."),
                        SchemaNode.object(
                            KeyGroup("tags", valid: CampaignKeys.tags.valid.filter { $0 != "file" }), "Tags in full.",
                            rules: [("minProperties", .integer(1))],
                            [
                                "any": SchemaNode.reference("names", "Devices with at least one of these."),
                                "all": SchemaNode.reference("names", "Devices with each of these."),
                                "none": SchemaNode.reference("names", "Devices with none of these."),
                            ]),
                    ]),
                "aliases": SchemaNode.reference("names", "Every device of these aliases, at most alias_limit each."),
                "registration_ids": SchemaNode.reference("names", "Exactly these devices."),
                "everyone": SchemaNode.truth(
                    "All devices of the export; cannot be combined with tags, aliases or registration_ids."),
                channel: SchemaNode.text(
                    "The broadcast channel whose phones get an update or the end of their Live Activity; used alone.",
                    example: OwnAudienceReader.channelExample, pattern: "^[A-Za-z0-9+/_-]+={0,2}$"),
                "where": conditions,
                "exclude": SchemaNode.object(
                    CampaignKeys.exclude, "Who is left out: none of these may hold.",
                    [
                        "tags": SchemaNode.reference("names", "Devices with at least one of these tags are left out."),
                        "aliases": SchemaNode.reference("names", "Every device of these aliases is left out."),
                        "registration_ids": SchemaNode.reference("names", "These devices are left out."),
                        "devices": files(
                            "Files that list tokens or registration ids, which are left out.", example: "suppressed.csv"
                        ),
                    ]),
                "alias_limit": SchemaNode.whole(
                    "At most this many devices of an alias, the most recently active ones.", in: 1...1_000_000,
                    usual: 10, example: 10),
                "max_bad_rows": SchemaNode.text(
                    "The share of rows that may be unreadable before the plan stops (1% by default).", example: "1%",
                    pattern: SchemaPattern.percentage),
                "shrinks_at_most": SchemaNode.text(
                    "How much smaller the audience may be than in the campaign's last run: a share, or off. Beyond it nothing is planned. volley schedule takes 50% by default.",
                    example: "50%", pattern: SchemaPattern.shrinking),
            ])
    }

    private var isForEveryone: JSONValue {
        .object(pairs: [
            ("required", SchemaNode.strings(["everyone"])),
            ("properties", .object(pairs: [("everyone", .object(pairs: [("const", .bool(true))]))])),
        ])
    }

    private func files(_ description: String, example: String) -> JSONValue {
        SchemaNode.oneOrMany(
            description, SchemaNode.text("A path or a glob, relative to this file.", example: example),
            examples: [.string(example), SchemaNode.strings([example, "exports/*.csv.gz"])])
    }

    private var names: JSONValue {
        let one = JSONValue.object(pairs: [
            ("type", SchemaNode.strings(["string", "number", "boolean"])), ("pattern", .string(#"\S"#)),
        ])
        return .object(pairs: [
            (
                "anyOf",
                .array([
                    one, .object(pairs: [("type", .string("array")), ("items", one)]),
                    SchemaNode.object(
                        KeyGroup("names", valid: ["file"]), "Names from a file.", required: ["file"],
                        ["file": SchemaNode.text("A file with one name per line.", example: "vip.txt")]),
                ])
            ),
            (
                "examples",
                .array([SchemaNode.strings(["discount", "daily"]), .object(pairs: [("file", .string("vip.txt"))])])
            ),
        ])
    }

    private var conditions: JSONValue {
        let value = JSONValue.object(pairs: [("type", SchemaNode.strings(["string", "number", "boolean"]))])
        return SchemaNode.map(
            "All of these must hold. By column: a value, a list of values, a comparison (\">= 3.2.0\"), within 30 days, older than 90 days, present, missing.",
            .object(pairs: [
                (
                    "anyOf",
                    .array([
                        value,
                        .object(pairs: [("type", .string("array")), ("items", value), ("minItems", .integer(1))]),
                    ])
                )
            ]),
            examples: [
                .object(pairs: [
                    ("language", SchemaNode.strings(["en", "de"])), ("app_version", .string(">= 3.2.0")),
                    ("last_active", .string("within 30 days")),
                ])
            ],
            rules: [("propertyNames", .object(pairs: [("not", .object(pairs: [("const", .string("tags"))]))]))])
    }

    // MARK: - What

    /// The keys of content, whichever of them a group has.
    private var contentKeys: [String: JSONValue] {
        [
            "title": SchemaNode.text(
                "The alert's title. A template.", example: "Hi {{ first_name | default: 'there' }}"),
            "subtitle": SchemaNode.text("The alert's subtitle. A template.", example: "Only until Sunday"),
            "body": SchemaNode.text("The alert's text. A template.", example: "{{ store }} has 20 % off everything."),
            "sound": SchemaNode.text("The sound: default, or a file in the app.", example: "default"),
            "badge": SchemaNode.whole(
                "The number on the app's icon; 0 clears it. \(names(of: services.filter { $0.rules.contentKeys.contains(.badge) }, \.displayName)) cannot add.",
                in: 0...2_147_483_647, example: 1),
            "category": SchemaNode.text("The category of the app's actions.", example: "SALE"),
            "thread": SchemaNode.text("Pushes of one thread are grouped on the device.", example: "spring"),
            "image": SchemaNode.text(
                "A picture, https only; sets mutable-content.", example: "https://cdn.example.com/spring.jpg",
                pattern: #"^([hH][tT][tT][pP][sS]://[^/]|\{\{|\{%)"#),
            "link": SchemaNode.text(
                "What the app opens when the push is tapped: a custom key next to \(payloadKeys).",
                example: "shop://sale"),
            "data": SchemaNode.reference("data", "Custom keys next to \(payloadKeys)."),
            "interruption": SchemaNode.choice(
                "How much the push may disturb. time-sensitive breaks through a Focus; critical, which needs Apple's permission, also sounds on muted phones.",
                MessageContent.interruptions),
            "relevance": .object(pairs: [
                ("type", .string("number")),
                (
                    "description",
                    .string("From 0 to 1: the push with the highest comes first in the summary of several.")
                ),
                ("minimum", .integer(0)), ("maximum", .integer(1)), ("examples", .array([.double(0.8)])),
            ]),
            "target_content": SchemaNode.text(
                "The app's name of the window that a tap brings forward.", example: "orders"),
            "filter": SchemaNode.text(
                "The app's word by which the filter of a Focus judges the push.", example: "work"),
            "localized": localized,
            "wake_app": SchemaNode.truth("Wake the app in addition to showing the push (content-available)."),
            "silent": SchemaNode.truth("A background push: no title, body, sound or badge."),
            "payload": SchemaNode.reference("payload", "The whole payload by hand, instead of all other keys."),
        ]
    }

    private var content: JSONValue {
        let besidePayload = CampaignKeys.content.valid.filter { !["payload", "languages"].contains($0) }
        let besideSilent = CampaignKeys.content.valid.filter {
            !["silent", "data", "link", "payload", "languages"].contains($0)
        }
        let rules = [
            (
                "allOf",
                JSONValue.array([
                    SchemaNode.hasOneOf([
                        "title", "subtitle", "body", "localized", "badge", "sound", "silent", "payload",
                        CampaignKeys.services,
                    ]),
                    SchemaNode.whereThere("payload", SchemaNode.hasNone(of: besidePayload)),
                    SchemaNode.whereThere("image", SchemaNode.hasOneOf(["title", "subtitle", "body", "localized"])),
                    .object(pairs: SchemaNode.whereTrue("silent", SchemaNode.hasNone(of: besideSilent))),
                ])
            )
        ]
        return SchemaNode.object(
            group(CampaignKeys.content), "What they get.", rules: rules,
            contentKeys.merging(["languages": languages, CampaignKeys.services: contentOfServices]) { $1 })
    }

    private var contentOfServices: JSONValue {
        let contents = services.map { service in
            let own = service.rules.ownKeys.map { key, description in
                (key, Self.ownKey(service.rules.ownForms[key], description))
            }
            var group = CampaignKeys.content(of: service)
            group.unlisted.removeAll { key in
                ContentKey(rawValue: key).map { !ContentKey.removable.contains($0) } ?? false
            }
            let keys = contentKeys.map { key, node in
                (key, keyOfService(key, node, isCarried: group.valid.contains(key)))
            }
            return (
                service.name,
                SchemaNode.object(
                    group, "What devices of \(service.displayName) get instead; only what differs.",
                    rules: [("minProperties", .integer(1))],
                    Dictionary(uniqueKeysWithValues: keys + [("languages", languages)] + own))
            )
        }
        return SchemaNode.object(
            CampaignKeys.namedServices, "What devices of a service get instead, by its name.",
            rules: [("minProperties", .integer(1))], Dictionary(uniqueKeysWithValues: contents))
    }

    /// For a key of a group that only one service has.
    private static let described = "Described in docs/reference/campaigns.md, services."

    /// A key that only one service has; without a form it may hold any keys.
    private static func ownKey(_ form: OwnForm?, _ description: String? = nil) -> JSONValue {
        let words: [(String, JSONValue)] = description.map { [("description", .string($0))] } ?? []
        func node(_ type: JSONValue, _ more: [(String, JSONValue)] = []) -> JSONValue {
            .object(pairs: [("type", type)] + words + more)
        }
        switch form {
        case .text: return node(.string("string"), [("pattern", .string(#"\S"#))])
        case .truth: return node(.string("boolean"))
        case .pattern(let pattern): return node(.string("string"), [("pattern", .string(pattern))])
        case .number(let range):
            return node(
                .string("integer"), [("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound))])
        case .either(let forms): return .object(pairs: words + [("anyOf", .array(forms.map { ownKey($0) }))])
        case .words(let choices): return .object(pairs: words + [("enum", SchemaNode.strings(choices))])
        case .data: return node(SchemaNode.strings(["object", "string"]))
        case .group(let keys, let required):
            return node(
                .string("object"),
                [
                    ("properties", .object(pairs: keys.map { ($0.key, ownKey($0.form, described)) })),
                    ("additionalProperties", .bool(false)), ("minProperties", .integer(1)),
                ] + (required.isEmpty ? [] : [("required", SchemaNode.strings(required))]))
        case nil: return node(.string("object"))
        }
    }

    /// A key of `content` below a service: `null` takes it away, also one that the service does not
    /// have.
    private func keyOfService(_ key: String, _ node: JSONValue, isCarried: Bool) -> JSONValue {
        guard ContentKey(rawValue: key).map(ContentKey.removable.contains) == true else { return node }
        guard !isCarried else { return SchemaNode.orNull(node) }
        return .object(pairs: [
            ("type", .string("null")), ("description", .string("null: these devices get the push without it.")),
        ])
    }

    private var languages: JSONValue {
        SchemaNode.map(
            "What devices of a language get instead, by language tag: zh-Hans-CN finds zh-Hans-CN, then zh-Hans, then zh, then the text above.",
            SchemaNode.object(
                group(CampaignKeys.translation), "Only what differs.", rules: [("minProperties", .integer(1))],
                contentKeys),
            examples: [
                .object(pairs: [("zh-Hans", .object(pairs: [("title", .string("…")), ("body", .string("…"))]))])
            ],
            rules: [("propertyNames", .object(pairs: [("pattern", .string(SchemaPattern.language))]))])
    }

    private var variants: JSONValue {
        let share = SchemaNode.anyOf(
            "The share of the audience, in percent; all shares add up to 100.",
            [
                .object(pairs: [
                    ("type", .string("number")), ("exclusiveMinimum", .integer(0)), ("maximum", .integer(100)),
                ]),
                .object(pairs: [
                    ("type", .string("string")), ("pattern", .string(#"^\s*[0-9]{1,3}(\.[0-9]{1,2})?\s*%?\s*$"#)),
                ]),
            ], rules: [("examples", .array([.integer(45)]))])
        let variant = SchemaNode.object(
            CampaignKeys.variant, "A part of the audience.", required: ["share"],
            [
                "share": share,
                "content": SchemaNode.object(
                    group(CampaignKeys.variantContent), "What these devices get instead; only what differs.",
                    rules: [("minProperties", .integer(1))], contentKeys.merging(["languages": languages]) { $1 }),
            ])
        return SchemaNode.map(
            "Parts of the audience that get different content, or nothing (holdout), decided by a hash of campaign and alias or device.",
            variant,
            examples: [
                .object(pairs: [
                    (
                        "short",
                        .object(pairs: [
                            ("share", .integer(50)), ("content", .object(pairs: [("body", .string("20 % off."))])),
                        ])
                    ),
                    ("long", .object(pairs: [("share", .integer(50))])),
                ])
            ],
            rules: [
                ("maxProperties", .integer(27)),
                ("propertyNames", .object(pairs: [("pattern", .string("^[A-Za-z0-9_-]{1,64}$"))])),
                (
                    "properties",
                    .object(pairs: [
                        (
                            "by",
                            SchemaNode.anyOf(
                                "How devices are assigned: all devices of an alias alike, or each by itself. Or a variant of that name.",
                                [
                                    SchemaNode.choice(
                                        "How devices are assigned.", VariantDealing.allCases.map(\.rawValue),
                                        usual: VariantDealing.alias.rawValue), variant,
                                ])
                        ),
                        (
                            MessageVariant.holdoutName,
                            SchemaNode.object(
                                KeyGroup(MessageVariant.holdoutName, valid: ["share"]),
                                "These devices get nothing, and the report compares.",
                                required: ["share"], ["share": share])
                        ),
                    ])
                ),
            ])
    }

    private var data: JSONValue {
        // One service's own key is a custom key of another's pushes.
        let keys = Set(services.map(\.rules.payloadKey))
        let forbidden = keys.count == 1 ? Array(keys) : []
        return .object(pairs: [
            ("type", .string("object")), ("properties", .object(pairs: forbidden.map { ($0, .bool(false)) })),
            ("examples", .array([.object(pairs: [("campaign", .string("spring-sale"))])])),
        ])
    }

    private var payload: JSONValue {
        let forms = services.map { service in
            JSONValue.object(pairs: [
                ("type", .string("object")), ("required", SchemaNode.strings([service.rules.payloadKey])),
                (
                    "properties",
                    .object(pairs: [(service.rules.payloadKey, .object(pairs: [("type", .string("object"))]))])
                ),
                ("examples", .array([service.rules.payloadExampleJSON])),
            ])
        }
        return forms.count == 1 ? forms[0] : .object(pairs: [("anyOf", .array(forms))])
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
