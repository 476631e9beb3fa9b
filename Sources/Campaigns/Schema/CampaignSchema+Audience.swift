import Base
import PushServices

/// The devices that a campaign names.
extension CampaignSchema {
    private static let selectors = ["tags", "aliases", "registration_ids"]

    /// The names of services that keep audiences.
    private var keepers: [String] { services.map(\.name).filter(PushServices.keepingAudiences.map(\.name).contains) }

    private var hasChannels: Bool { services.contains { $0.name == PushServices.broadcasting?.name } }

    var audience: JSONValue {
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

    var names: JSONValue {
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
}
