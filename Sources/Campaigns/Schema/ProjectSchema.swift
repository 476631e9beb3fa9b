public import Base
public import PushServices

/// The JSON Schema of volley.yaml.
public struct ProjectSchema {
    private let services: [any PushService]

    /// The document that `volley schema --project` prints.
    public static var document: JSONValue { document(for: PushServices.all) }

    /// The document for apps that use these services.
    /// - Parameter services: at least one. The first is that of an app which names none.
    public static func document(for services: [any PushService]) -> JSONValue { ProjectSchema(services: services).root }

    private var root: JSONValue {
        SchemaNode.document(
            "Volley project (volley.yaml)",
            SchemaNode.object(
                ProjectKeys.root, "The apps that campaigns go to. Paths are relative to this file.", required: ["apps"],
                [
                    "runs": SchemaNode.text(
                        "The folder of run files.", example: "runs", rules: [("default", .string("runs"))]),
                    "proxy": SchemaNode.reference(
                        "proxy", "The proxy of all apps that name none; without it the environment decides."),
                    "notices": SchemaNode.reference("notices", "Who gets notices about the runs of all apps."),
                    "monitoring": monitoring,
                    "console": console,
                    "databases": SchemaNode.map(
                        "PostgreSQL databases that queries of devices are put to, by the names that they use.", database
                    ),
                    "store": store,
                    "apps": SchemaNode.map("Apps, by the names that campaigns use.", app),
                ]),
            definitions: [("proxy", proxy), ("notices", notices)])
    }

    /// An app of any service: the one that it names decides which keys are valid.
    private var app: JSONValue {
        services.dropFirst().reduce(app(of: services[0])) { others, service in
            let names = JSONValue.object(pairs: [
                ("required", SchemaNode.strings([ProjectKeys.service])),
                (
                    "properties",
                    .object(pairs: [(ProjectKeys.service, .object(pairs: [("const", .string(service.name))]))])
                ),
            ])
            return .object(pairs: [("if", names), ("then", app(of: service)), ("else", others)])
        }
    }

    private func app(of service: any PushService) -> JSONValue {
        let account = service.account
        let credentials = account.credentials.map(\.key)
        let needsCredentials = JSONValue.object(pairs: [
            (
                "if",
                .object(pairs: [
                    (
                        "not",
                        .object(pairs: [
                            (
                                "properties",
                                .object(pairs: [
                                    (
                                        EnvironmentForm.key,
                                        .object(pairs: [("const", .string(Environment.simulatorName))])
                                    )
                                ])
                            )
                        ])
                    )
                ])
            ), ("then", SchemaNode.hasOneOf(credentials)),
        ])
        let hasAccount = JSONValue.object(pairs: [
            ("required", SchemaNode.strings([account.topic.key, EnvironmentForm.key]))
        ])
        return SchemaNode.object(
            ProjectKeys.app(of: service), "One app.",
            rules: [
                ("anyOf", .array([hasAccount, SchemaNode.has(ProjectKeys.services)])),
                ("allOf", .array([needsCredentials] + notBoth(credentials))),
            ], accountKeys(of: service).merging(commonKeys(of: service)) { $1 })
    }

    /// The accounts of further services.
    private var furtherServices: JSONValue {
        let accounts = services.map { service in
            (
                service.name,
                SchemaNode.object(
                    ProjectKeys.account(of: service), "\(service.displayName).",
                    required: [service.account.topic.key, EnvironmentForm.key],
                    accountKeys(of: service).merging(["pace": pace(of: service)]) { $1 })
            )
        }
        return SchemaNode.object(
            ProjectKeys.namedServices, "Further services that take the app's pushes, each with its account.",
            rules: [("minProperties", .integer(1))], Dictionary(uniqueKeysWithValues: accounts))
    }

    /// The pace next to the keys of one of several services.
    private func pace(of service: any PushService) -> JSONValue {
        guard service.batching.isPacedByCalls else {
            return pace("Never faster than this, whatever a campaign asks for.")
        }
        return pace(
            "Never more calls than this, each for up to \(TextFormat.devices(service.batching.largestTargets)).")
    }

    private func pace(_ description: String) -> JSONValue {
        SchemaNode.text(description, example: "9000/s", pattern: SchemaPattern.pace)
    }

    /// The keys of the app's account.
    private func accountKeys(of service: any PushService) -> [String: JSONValue] {
        let account = service.account
        let credentials = account.credentials.map { form in
            (
                form.key,
                SchemaNode.object(
                    ProjectKeys.credential(form), form.description,
                    required: form.fieldsBelow.filter(form.requires).map(\.key),
                    rules: form.alternatives.isEmpty
                        ? []
                        : [("allOf", .array([SchemaNode.hasOneOf(form.alternatives)] + notBoth(form.alternatives)))],
                    Dictionary(uniqueKeysWithValues: form.fieldsBelow.map { ($0.key, text($0)) }))
            )
        }
        let names = account.credentials.flatMap(\.fieldsBeside).map { ($0.key, text($0)) }
        let regions = account.environments.regions.map(\.name)
        let region =
            regions.isEmpty
            ? []
            : [
                (
                    EnvironmentForm.regionKey,
                    SchemaNode.choice("Where the app's account is; \(regions[0]) if it is not said.", regions)
                )
            ]
        let switches = account.switches.map { ($0.key, SchemaNode.truth($0.description)) }
        let countedApp = account.countedApp.map { [($0.key, text($0))] } ?? []
        return Dictionary(
            uniqueKeysWithValues: [
                (account.topic.key, text(account.topic)), (EnvironmentForm.key, environment(of: service)),
            ] + names
                + region + credentials + switches + countedApp)
    }

    /// A rule for each two of these keys: they cannot be combined.
    private func notBoth(_ keys: [String]) -> [JSONValue] {
        keys.indices.flatMap { index in
            keys[(index + 1)...].map {
                .object(pairs: [("not", .object(pairs: [("required", SchemaNode.strings([keys[index], $0]))]))])
            }
        }
    }

    private func text(_ field: AccountField) -> JSONValue {
        switch field.kind {
        case .name(let pattern): SchemaNode.text(field.description, example: field.example, pattern: pattern)
        case .file: SchemaNode.text(field.description, example: field.example)
        case .keyID(let length), .issuer(let length):
            SchemaNode.text(field.description, example: field.example, pattern: "^[A-Z0-9]{\(length)}$")
        case .passphraseVariable, .variable: variable(field.description, example: field.example)
        }
    }

    private func environment(of service: any PushService) -> JSONValue {
        let form = service.account.environments
        let names = form.choices.map { choice in choice.note.map { "\(choice.name) (\($0))" } ?? choice.name }
        let simulator = service.hasSimulator ? [Environment.simulatorName] : []
        let known = names + simulator.map { "\($0) (a stand-in on this machine)" }
        return SchemaNode.anyOf(
            "Which \(service.displayName): \(known.joined(separator: ", ")), or another server.",
            [
                SchemaNode.choice(
                    "\(service.owner.name)'s servers\(service.hasSimulator ? ", or a stand-in" : "").",
                    form.choices.map(\.name) + simulator
                ),
                SchemaNode.object(
                    ProjectKeys.environment, "Another server.", required: ["url"],
                    [
                        "url": SchemaNode.text(
                            "https, host and port; no path.", example: form.serverExample,
                            pattern: #"^[hH][tT][tT][pP][sS]://[^/?#@]+$"#),
                        "ca": SchemaNode.text(
                            "A PEM file with the only authority to trust; without it the system's.", example: "ca.pem"),
                    ]),
            ])
    }

    /// The keys that all apps have.
    private func commonKeys(of service: any PushService) -> [String: JSONValue] {
        [
            "devices": SchemaNode.devices(
                "The devices of campaigns that name none: exports or a query.",
                files: SchemaNode.oneOrMany(
                    "Device exports.",
                    SchemaNode.text("A path or a glob, relative to this file.", example: "exports/devices.csv"),
                    examples: [.string("exports/devices.csv")])),
            "columns": columns,
            "pace": pace("Never faster than this, whatever a campaign asks for."),
            "frequency": SchemaNode.text(
                "How many pushes a device may get in a period, whatever a campaign asks for; counted from past runs.",
                example: "at most 2 per 7 days", pattern: SchemaPattern.frequency),
            "approval": SchemaNode.choice(
                "required: nothing is sent until it is approved with volley approve.", ["required", "none"],
                usual: "none"),
            "test_devices": testDevices(of: service),
            "proxy": SchemaNode.reference("proxy", "The app's own proxy; none goes straight to the server."),
            "notices": SchemaNode.reference(
                "notices", "Who gets notices about the app's runs, in addition to those named at the top level."),
            ProjectKeys.service: SchemaNode.choice(
                "Who takes the app's pushes.", services.map(\.name), usual: services[0].name),
            ProjectKeys.services: furtherServices,
        ]
    }

    private func variable(_ description: String, example: String) -> JSONValue {
        SchemaNode.text(description, example: example, pattern: "^[A-Za-z_][A-Za-z0-9_]*$")
    }

    private var proxy: JSONValue {
        let url = #"^(https?|socks4a?|socks5h?)://.+:[0-9]+/?$"#
        return .object(pairs: [
            (
                "anyOf",
                .array([
                    SchemaNode.choice("Straight to the server, whatever the environment says.", ["none"]),
                    SchemaNode.text("The proxy's address.", example: "http://proxy.example.com:3128", pattern: url),
                    SchemaNode.object(
                        ProjectKeys.proxy, "A proxy that requires a user.", required: ["url"],
                        [
                            "url": SchemaNode.text(
                                "The proxy's address.", example: "http://proxy.example.com:3128", pattern: url),
                            "user": SchemaNode.text("The user.", example: "volley"),
                            "password_env": variable(
                                "The environment variable that holds the password.", example: "PROXY_PASSWORD"),
                        ]),
                ])
            )
        ])
    }

    private var notices: JSONValue {
        let entry = SchemaNode.object(
            ProjectKeys.notice, "Who gets notices, and about what.",
            rules: [
                ("anyOf", .array([SchemaNode.has("webhook"), SchemaNode.has("command")])),
                ("if", SchemaNode.has("command")), ("then", SchemaNode.hasNone(of: ["webhook", "secret_env", "ca"])),
            ],
            [
                "webhook": SchemaNode.text(
                    "An address that gets a POST with JSON; https, http on this machine only.",
                    example: "https://hooks.example.com/volley",
                    pattern: "^[hH][tT][tT][pP][sS]?://[^@#]+$"),
                "secret_env": variable(
                    "The environment variable with the secret that signs the notices.", example: "VOLLEY_SECRET"),
                "ca": SchemaNode.text(
                    "A PEM file with the only authority to trust; without it the system's.", example: "ca.pem"),
                "command": .object(pairs: [
                    ("type", .string("array")),
                    ("description", .string("A program and its arguments; it reads JSON from standard input.")),
                    ("minItems", .integer(1)),
                    ("items", SchemaNode.text("Program or argument.", example: "./on-notice.sh")),
                    ("examples", .array([SchemaNode.strings(["./on-notice.sh"])])),
                ]),
                "events": .object(pairs: [
                    ("type", .string("array")), ("description", .string("The events; without it, all of them.")),
                    ("minItems", .integer(1)),
                    (
                        "items",
                        SchemaNode.choice("An event.", NoticeEvent.allCases.filter { $0 != .test }.map(\.rawValue))
                    ),
                ]),
            ])
        return .object(pairs: [("type", .string("array")), ("minItems", .integer(1)), ("items", entry)])
    }

    private var database: JSONValue {
        SchemaNode.object(
            ProjectKeys.database, "Where a database is.", required: ["url_env"],
            [
                "url_env": variable(
                    "The environment variable that holds its address: postgresql://user@host/database.",
                    example: "WAREHOUSE_URL"),
                "timeout": SchemaNode.text(
                    "The longest that a query may take.", example: "10min", pattern: SchemaPattern.duration,
                    rules: [("default", .string("10min"))]),
            ])
    }

    private var store: JSONValue {
        SchemaNode.object(
            ProjectKeys.store, "The database that several machines share to send one run.", required: ["postgres"],
            [
                "postgres": SchemaNode.object(
                    ProjectKeys.postgresStore, "A PostgreSQL database.", required: ["url_env"],
                    [
                        "url_env": variable(
                            "The environment variable that holds its address: postgresql://user@host/database.",
                            example: "VOLLEY_DATABASE")
                    ])
            ])
    }

    private var monitoring: JSONValue {
        SchemaNode.object(
            ProjectKeys.monitoring, "Files that volley schedule keeps up to date.",
            rules: [("minProperties", .integer(1))],
            [
                "prometheus": SchemaNode.text(
                    "Metrics for node_exporter's textfile collector.", example: "/var/lib/node_exporter/volley.prom",
                    pattern: "\\.prom$"),
                "health": SchemaNode.text("A JSON document that says whether all is well.", example: "health.json"),
            ])
    }

    private var console: JSONValue {
        func list(_ key: String, _ description: String, _ entry: JSONValue, example: String) -> (String, JSONValue) {
            (key, SchemaNode.oneOrMany(description, entry, examples: [SchemaNode.strings([example])]))
        }
        return SchemaNode.object(
            ProjectKeys.console, "What volley serve shows in a browser, and to whom.",
            rules: [("minProperties", .integer(1))],
            Dictionary(uniqueKeysWithValues: [
                (
                    "public_url",
                    SchemaNode.text(
                        "The address that people type: https, host and port; no path.",
                        example: "https://push.example.com",
                        pattern: #"^[hH][tT][tT][pP][sS]://[^/?#@]+$"#)
                ),
                list(
                    "proxies", "Reverse proxies whose X-Forwarded headers count.",
                    SchemaNode.text(
                        "An address, or a range of them.", example: "10.0.0.0/8",
                        pattern: "^[0-9a-fA-F:.]+(/[0-9]{1,3})?$"),
                    example: "127.0.0.1"),
                list(
                    "roots", "Folders whose campaigns and exports may be named; without it the folder of this file.",
                    SchemaNode.text("A path, relative to this file.", example: "campaigns"), example: "campaigns"),
                ("oidc", provider),
            ]))
    }

    private var provider: JSONValue {
        let role = SchemaNode.text(
            "A role, for all apps or for one.", example: "editor:shop",
            pattern: "^(\(ClaimedRole.Role.allCases.map(\.rawValue).joined(separator: "|")))(:.+)?$")
        return SchemaNode.object(
            ProjectKeys.provider, "A provider of identities by which people sign in (OpenID Connect).",
            required: ["issuer", "client_id", "roles"],
            [
                "issuer": SchemaNode.text(
                    "The provider, exactly as it calls itself.", example: "https://login.example.com",
                    pattern: "^[hH][tT][tT][pP][sS]://[^?#@]+$"),
                "client_id": SchemaNode.text("What the provider calls Volley.", example: "volley"),
                "client_secret": SchemaNode.object(
                    ProjectKeys.clientSecret,
                    "Where the secret is that the provider gave out; without it Volley is a public client.",
                    rules: [("minProperties", .integer(1)), ("maxProperties", .integer(1))],
                    [
                        "file": SchemaNode.text("A file that holds it alone.", example: "keys/oidc.txt"),
                        "env": variable("The environment variable that holds it.", example: "OIDC_SECRET"),
                    ]),
                "roles": SchemaNode.object(
                    ProjectKeys.claimedRoles, "What people may do, by a claim.", required: ["claim", "map"],
                    [
                        "claim": SchemaNode.text("The claim; a part of one as realm_access.roles.", example: "groups"),
                        "map": SchemaNode.map(
                            "Values of the claim, each with its roles.",
                            SchemaNode.oneOrMany("Roles.", role, examples: [.string("editor:shop")])),
                    ]),
                "name": SchemaNode.text("What the button calls the provider.", example: "Example Login"),
                "name_claim": SchemaNode.text(
                    "The claim with the name to sign in with.", example: "email",
                    rules: [("default", .string(ConsoleProvider.usualNameClaim))]),
                "scopes": SchemaNode.oneOrMany(
                    "What is asked for besides openid.",
                    SchemaNode.text("A scope.", example: "groups", pattern: #"^\S+$"#),
                    examples: [SchemaNode.strings(["profile", "email", "groups"])]),
                "ca": SchemaNode.text(
                    "A PEM file with the only authority to trust; without it the system's.", example: "ca.pem"),
                "only": SchemaNode.truth("Whether the sign-in page shows no form for passwords."),
            ])
    }

    private var columns: JSONValue {
        var names = Dictionary(
            uniqueKeysWithValues: ExportColumns.Standard.allCases.map {
                ($0.rawValue, SchemaNode.text("The column that holds \($0.rawValue).", example: $0.rawValue))
            })
        names["tags"] = SchemaNode.anyOf(
            "The column that holds tags, and what separates them.",
            [
                SchemaNode.text("The column.", example: "tags"),
                SchemaNode.object(
                    ProjectKeys.tags, "Column and separator.",
                    [
                        "column": SchemaNode.text("The column.", example: "tags"),
                        "separator": .object(pairs: [
                            ("type", SchemaNode.strings(["string"])),
                            ("description", .string("A single character between tags.")),
                            ("minLength", .integer(1)), ("maxLength", .integer(1)), ("default", .string(";")),
                        ]),
                    ]),
            ])
        names["rows"] = SchemaNode.choice(
            "When a device has several rows: the newest decides everything, or the tags of all are united (merge) and the newest decides the rest.",
            ExportColumns.Rows.allCases.map(\.rawValue), usual: ExportColumns.Rows.newest.rawValue)
        names["format"] = SchemaNode.choice(
            "The system whose exports these are, read as they are; without it, exports of these systems are recognised.",
            ExportColumns.Format.allCases.map(\.rawValue))
        for service in services where ProjectKeys.targetColumns.contains(service.target.column) {
            names[service.target.column] = SchemaNode.text(
                "The column that holds \(service.target.nouns); in an app with this service alone, the same as token.",
                example: service.target.column)
        }
        for tokens in ActivityTokens.allCases {
            let what = tokens == .start ? "with which Live Activities are started" : "of Live Activities that run"
            names[tokens.rawValue] = SchemaNode.text(
                "The column that holds the tokens \(what).", example: tokens.rawValue)
        }
        names[ProjectKeys.service] = serviceColumn
        names[ProjectKeys.prefer] = .object(pairs: [
            ("type", .string("array")),
            (
                "description",
                .string("Which service is chosen for a device that has targets of several, the best first.")
            ),
            ("minItems", .integer(1)), ("items", SchemaNode.choice("A service.", services.map(\.name))),
        ])
        return SchemaNode.object(
            ProjectKeys.columns(of: [], ofSeveral: true),
            "What the exports call the columns that Volley needs, and which rows of a device count.", names)
    }

    private var serviceColumn: JSONValue {
        SchemaNode.anyOf(
            "The column that says which service reaches a device, in an app with several.",
            [
                SchemaNode.text("The column; its cells are names of services.", example: "service"),
                SchemaNode.object(
                    ProjectKeys.serviceColumn, "The column, and what its cells mean.", required: ["column"],
                    [
                        "column": SchemaNode.text("The column.", example: "platform"),
                        "map": SchemaNode.map(
                            "Cells, each with its service; capitals do not matter.",
                            SchemaNode.choice("A service.", services.map(\.name))),
                    ]),
            ])
    }

    private func testDevices(of service: any PushService) -> JSONValue {
        // To YAML a token of digits alone is a number unless it is in quotes.
        let token = JSONValue.object(pairs: [
            ("type", SchemaNode.strings(["string", "integer", "number"])),
            ("description", .string("The \(service.target.noun), \(service.target.writing); best in quotes.")),
            ("pattern", .string(#"^\s*"# + service.target.pattern + #"\s*$"#)),
        ])
        let device = SchemaNode.object(
            ProjectKeys.testDevice, "A test device.",
            rules: [("anyOf", .array(["token", "alias"].map(SchemaNode.has)))],
            [
                "name": SchemaNode.text("For people.", example: service.phoneExample), "token": token,
                "alias": SchemaNode.text(
                    "In place of a token: the devices that the exports of the app have for this alias, at most \(TestDevice.mostOfAlias).",
                    example: "user4711"),
                ProjectKeys.service: SchemaNode.choice(
                    "Its service, in an app with several; otherwise the first one that has such targets.",
                    services.map(\.name)),
                "language": SchemaNode.text(
                    "Gets the text of this language only; without it every text.", example: "de",
                    pattern: SchemaPattern.language),
                "cells": .object(pairs: [
                    ("type", .string("object")), ("description", .string("Cells by column, for templates.")),
                    (
                        "additionalProperties",
                        .object(pairs: [("type", SchemaNode.strings(["string", "number", "boolean", "null"]))])
                    ), ("examples", .array([.object(pairs: [("first_name", .string("Anna"))])])),
                ]),
            ])
        return .object(pairs: [
            ("type", .string("array")), ("description", .string("Where volley send --test goes.")),
            ("minItems", .integer(1)),
            ("items", .object(pairs: [("anyOf", .array([token, device]))])),
        ])
    }
}
