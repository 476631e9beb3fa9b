import Base
import PushServices

/// What devices get: content, its languages and variants, and Live Activities.
extension CampaignSchema {
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

    var content: JSONValue {
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

    var variants: JSONValue {
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

    var data: JSONValue {
        // One service's own key is a custom key of another's pushes.
        let keys = Set(services.map(\.rules.payloadKey))
        let forbidden = keys.count == 1 ? Array(keys) : []
        return .object(pairs: [
            ("type", .string("object")), ("properties", .object(pairs: forbidden.map { ($0, .bool(false)) })),
            ("examples", .array([.object(pairs: [("campaign", .string("spring-sale"))])])),
        ])
    }

    var payload: JSONValue {
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

    var activity: JSONValue {
        func group(_ description: String) -> JSONValue {
            .object(pairs: [("type", .string("object")), ("description", .string(description))])
        }
        func time(_ description: String, example: String) -> JSONValue {
            .object(pairs: [
                ("type", SchemaNode.strings(["string", "integer"])), ("description", .string(description)),
                ("examples", SchemaNode.strings([example])),
            ])
        }
        return SchemaNode.object(
            CampaignKeys.activity, "A Live Activity of iPhones; content is its alert.", required: ["event"],
            [
                "event": SchemaNode.choice("What happens to it.", ActivityContent.Event.allCases.map(\.rawValue)),
                "attributes_type": SchemaNode.text(
                    "The app's type of its attributes; for the start.", example: "DeliveryAttributes"),
                "attributes": group("What stays the same; for the start. Texts are templates."),
                "state": group("What it shows. Texts are templates."),
                "stale": time("After how long the state counts as out of date.", example: "30min"),
                "dismiss": time(
                    "After how long an activity that ended leaves the lock screen; 0 for at once.", example: "1h"),
                "relevance": .object(pairs: [
                    ("type", .string("number")), ("description", .string("The one with the highest comes first.")),
                ]),
            ])
    }

    var localized: JSONValue {
        let key = SchemaNode.text("The key of a text in the app.", example: "SALE_TITLE")
        let text = SchemaNode.anyOf(
            "The key of a text in the app, or the key with what takes the places of its variables.",
            [
                key,
                SchemaNode.object(
                    CampaignKeys.localizedText, "A text of the app with variables.", required: ["key"],
                    [
                        "key": key,
                        "args": .object(pairs: [
                            ("type", .string("array")),
                            ("description", .string("What takes the places of its variables. Templates.")),
                            ("items", .object(pairs: [("type", SchemaNode.strings(["string", "number", "boolean"]))])),
                        ]),
                    ]),
            ])
        return SchemaNode.object(
            CampaignKeys.localized,
            "Texts that the app holds in its languages, by their keys, instead of title, subtitle and body.",
            rules: [("minProperties", .integer(1))], ["title": text, "subtitle": text, "body": text])
    }
}
