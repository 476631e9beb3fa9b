import Base
import Foundation
import TestSupport
import Testing

@testable import Campaigns
@testable import PushServices

@Suite("The schemas that editors read")
struct SchemaTests {
    private static let campaigns =
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/campaigns"

    /// A YAML text as an editor passes it to its validator; nil if it is not valid YAML, or JSON
    /// cannot express it.
    static func json(_ yaml: String) -> JSONValue? {
        let findings = Findings()
        guard let source = try? YAMLSource(file: "x.yaml", bytes: Array(yaml.utf8)),
            var composer = try? YAMLComposer(source: source, findings: findings)
        else { return nil }
        guard let root = try? composer.document(), !findings.hasErrors else { return nil }
        return json(root)
    }

    private static func json(_ node: YAMLNode) -> JSONValue {
        switch node.content {
        case .mapping(let entries): return .object(entries.map { JSONMember($0.key.value, json($0.value)) })
        case .sequence(let items): return .array(items.map { json($0) })
        case .unreadable: return .null
        case .scalar(let text, .plain):
            switch CoreSchema.value(of: text) {
            case .null: return .null
            case .bool(let truth): return .bool(truth)
            case .integer(let number): return .integer(number)
            case .double(let number): return .double(number)
            case .text, .unusableNumber: return .string(text)
            }
        case .scalar(let text, _): return .string(text)
        }
    }

    private func mistakes(_ yaml: String, ofProject: Bool) throws -> [String] {
        SchemaValidator(document: ofProject ? ProjectSchema.document : CampaignSchema.document).mistakes(
            try #require(Self.json(yaml), "no YAML"))
    }

    // MARK: - What is right

    @Test("every sample is valid, names its schema, and finds it", arguments: SampleTests.campaigns + ["volley.yaml"])
    func samples(_ file: String) throws {
        let text = try String(contentsOfFile: Self.campaigns + "/" + file, encoding: .utf8)
        #expect(try mistakes(text, ofProject: file == "volley.yaml").isEmpty)
        let named = try #require(text.split(separator: "\n").first?.split(separator: "=").last)
        let schema = try String(contentsOfFile: "\(Self.campaigns)/\(named)", encoding: .utf8)
        let document = file == "volley.yaml" ? ProjectSchema.document : CampaignSchema.document
        #expect(schema == document.indentedText + "\n", "run `volley schema` into \(named) anew")
    }

    /// The examples in docs/reference about a campaign file, except those that are followed by a
    /// mistake.
    private static func documented() throws -> [String] {
        let text = try ["campaigns.md", "templates.md", "warnings.md"]
            .map { try String(contentsOfFile: "\(campaigns)/../docs/reference/\($0)", encoding: .utf8) }.joined(
                separator: "\n")
        var examples: [String] = []
        for (number, block) in text.components(separatedBy: "\n```").enumerated() where number % 2 == 1 {
            if block.hasPrefix("yaml\n") { examples.append(String(block.dropFirst("yaml\n".count)) + "\n") }
            if block.hasPrefix("text\n") { _ = examples.popLast() }
        }
        return examples
    }

    @Test("what the reference shows as right, the schema takes")
    func reference() throws {
        let examples = try Self.documented()
        #expect(examples.count > 10)
        for yaml in examples {
            let found = try mistakes(completed(yaml), ofProject: false)
            #expect(found.isEmpty, "\(yaml)")
        }
        #expect(try mistakes(CampaignReadingTests.full, ofProject: false).isEmpty)
    }

    @Test("null stands only below a service, for a key that can be taken away there")
    func nothing() throws {
        func isValid(_ content: String) throws -> Bool {
            try mistakes(completed("content: \(content)\n"), ofProject: false).isEmpty
        }
        let keys = ContentKey.removable.map { "\($0.rawValue): null" }.joined(separator: ", ")
        for service in PushServices.all {
            #expect(try isValid("{title: A, services: {\(service.name): {\(keys)}}}"), "\(service.name)")
            #expect(try !isValid("{title: A, services: {\(service.name): {payload: null}}}"), "\(service.name)")
        }
        #expect(
            try !isValid("{title: A, image: null}") && !isValid("{title: A, services: {rongcloud: {sound: default}}}"))
        #expect(
            try isValid("{title: A, services: {rongcloud: {badge: 1}}}")
                && !isValid("{title: A, services: {rongcloud: {badge: x}}}"))
    }

    @Test("the schema has the keys of makers and of HarmonyOS")
    func makers() throws {
        func isValid(_ service: String, _ keys: String) throws -> Bool {
            try mistakes(
                completed("content: {title: A, body: B, services: {\(service): {\(keys)}}}\n"), ofProject: false
            ).isEmpty
        }
        for service in ["getui", "jpush", "rongcloud"] {
            #expect(
                try isValid(
                    service, "makers: {vivo: {category: A, classification: operational}, honor: {importance: low}}"))
            #expect(try isValid(service, "harmony: {category: MARKETING}") && !isValid(service, "harmony: {}"))
            #expect(
                try !isValid(service, "makers: {vivo: {importance: low}}")
                    && !isValid(service, "makers: {sony: {channel: c}}"))
            #expect(try !isValid(service, "makers: {vivo: {classification: 1}}") && !isValid(service, "makers: {}"))
        }
        #expect(
            try isValid("getui", "harmony: {category: A, want: {abilityName: B}}")
                && isValid("jpush", "harmony: {category: A, test: true}")
        )
        #expect(
            try isValid("getui", "makers: {xiaomi: {template: t}}")
                && !isValid("jpush", "makers: {xiaomi: {template: t}}"))
    }

    @Test("notations that Volley takes, the schema takes too")
    func notations() throws {
        let campaigns = [
            "delivery: {pace: 300000/min}", "delivery: {pace: 5 / hour}", "delivery: {expires: 0}",
            "delivery: {expires: 4 hours}",
            "delivery: {expires: 2030-12-01 18:00 +01:00}", "delivery: {stop_when: {rejected: 0.5%}}",
            "audience: {tags: a}",
            "audience: {tags: {file: t.txt}}", "audience: {tags: {any: [a], none: b}}",
            "audience: {everyone: true, where: {a: 1, b: [x, 2]}}",
            "audience: {aliases: [42, true]}", "content: {silent: true, data: {a: [1, {b: null}]}}",
            "content: {title: 2026}",
            "content: {payload: {aps: {}, x: 1}, languages: {de: {payload: {aps: {}}}}}",
            "content: {title: x, image: \"{{ picture }}\"}",
            "schedule: {timezone: UTC, quiet_hours: 9:00 - 24:00, late: skip}",
            "schedule: {timezone: recipient, fallback_timezone: Pacific/Auckland, repeat: \"*/5 8-18 * * 1-5\", late: skip after 90 minutes}",
            "variants: {a: {share: 33.33}, b: {share: 56.67%}, holdout: {share: 10}}",
        ]
        for yaml in campaigns {
            _ = try readPart(yaml + "\n")
            #expect(try mistakes(completed(yaml + "\n"), ofProject: false).isEmpty, "\(yaml)")
        }
        let app = "apps:\n  shop:\n    topic: com.example.shop\n"
        let projects = [
            "    environment: simulator\n    proxy: none\n    approval: required\n    columns: {token: t, tags: {column: x, separator: \"|\"}}\n",
            "    environment: {url: \"https://localhost:2197\", ca: ca.pem}\n    certificate: {file: a.p12, passphrase_env: P}\n",
            "    environment: simulator\n    proxy: {url: \"socks5h://p:1080\", user: u, password_env: P}\n    devices: [a.csv, b.csv]\n",
            "    environment: simulator\n    test_devices: [aabbccdd00112233, {token: \"AABBCCDD00112244\", language: de-AT, cells: {a: 1, b: }}]\n",
            "    environment: simulator\n    test_devices: [{name: Anna, alias: 4711}]\n",
        ]
        for yaml in projects {
            _ = try readProject(app + yaml)
            #expect(try mistakes(app + yaml, ofProject: true).isEmpty, "\(yaml)")
        }
    }

    // MARK: - What is wrong

    private static let all: [(MistakeCase, ofProject: Bool)] =
        (MistakesInKeysTests.mistakes + MistakesInAudienceTests.mistakes + MistakesInContentTests.mistakes
        + MistakesInDeliveryTests.mistakes + MistakesInScheduleTests.mistakes
        + VariantReadingTests.mistakes).map { ($0, false) } + MistakesInProjectTests.mistakes.map { ($0, true) }

    /// Mistakes that the shape of a file shows by itself.
    private static let structural = [
        "unknown key", "is missing", "must be a group of keys", "must be a text", "must be true or false",
        "must be a whole number",
        "must be exactly 10", "must be the name of an environment variable", "cannot be combined", "selects no devices",
        "has neither 'key' nor 'certificate'", "shows nothing", "cannot be used with it", "a silent push has no",
        "is an empty list",
        "does not say when", "instead of five", " must be high, ", " must be resend ", " must be production, ",
        "lacks a percent sign", "per what", "lacks a unit",
        "must begin with https://", "is no bundle id", "cannot be a device token", "a device token of",
    ]

    /// Mistakes with the same words that are not about shape: an empty list selects no device only
    /// if it is alone, ages are hidden in texts, and what a language may say depends on what is
    /// above it.
    private static let beyond = [
        "an empty list of tags alone", "ages that are none", "a silent push with a text for a language",
    ]

    @Test("every mistake in a file's shape is one for the schema too")
    func structure() throws {
        var count = 0
        for (mistake, ofProject) in Self.all
        where !Self.beyond.contains(mistake.title) && Self.structural.contains(where: mistake.expected.contains) {
            guard let value = Self.json(ofProject ? mistake.yaml : completed(mistake.yaml)) else { continue }
            let schema = SchemaValidator(document: ofProject ? ProjectSchema.document : CampaignSchema.document)
            #expect(!schema.mistakes(value).isEmpty, "the schema takes: \(mistake.title)\n\(mistake.yaml)")
            count += 1
        }
        #expect(count > 80)
    }

    // MARK: - Several services

    private static let services: [any PushService] = [
        APNs(),
        OtherService {
            let account = $0.account
            $0.account = AccountForm(
                topic: AccountField(
                    "app_code", .name(pattern: "^[a-z_]+$"), description: "The app's code.", example: "shop_app"),
                environments: account.environments, credentials: [account.credentials[0]])
            ($0.target, $0.hasSimulator) = (OtherService.installationIDs, false)
            $0.rules = CampaignRules(
                carried: [.title: "", .body: "", .data: "", .payload: ""], deliveryKeys: [.collapse],
                longestStorageDays: 7,
                collapseIDBytes: 100,
                silentPriority: nil, payloadKey: "message", payloadExample: "message: {}",
                payloadExampleJSON: .object([]))
        },
    ]

    @Test("with several services, the one that an app names decides which keys the app has")
    func apps() throws {
        let schema = SchemaValidator(document: ProjectSchema.document(for: Self.services))
        func isValid(_ app: String) throws -> Bool {
            try schema.mistakes(#require(Self.json("apps: {shop: {\(app)}}"))).isEmpty
        }
        let key = "key: {file: a.p8, id: ABC123DEFG, team: DEF123GHIJ}"
        let id = "3f2a0c11-5b7e-4d09-8a66-0d1e2f3a9c01"
        #expect(try isValid("topic: com.example.shop, environment: simulator"))
        #expect(try isValid("service: apns, topic: com.example.shop, environment: simulator"))
        #expect(try isValid("service: other, app_code: shop, environment: production, \(key), test_devices: [\(id)]"))
        for wrong in [
            "app_code: shop, environment: simulator",
            "service: other, topic: com.example.shop, environment: production, \(key)",
            "service: other, app_code: shop, environment: simulator",
            "service: third, topic: com.example.shop, environment: simulator",
            "topic: com.example.shop, environment: simulator, test_devices: [\(id)]",
        ] {
            #expect(try !isValid(wrong), "\(wrong)")
        }
    }

    @Test("what any of several services takes of a campaign is valid, and what none takes is not")
    func campaigns() throws {
        func isValid(_ part: String, _ services: [any PushService]) throws -> Bool {
            let schema = SchemaValidator(document: CampaignSchema.document(for: services))
            return try schema.mistakes(#require(Self.json(completed(part)))).isEmpty
        }
        let (both, other) = (Self.services, [Self.services[1]])
        let collapse = "delivery: {collapse: \(String(repeating: "a", count: 100))}\n"
        #expect(try isValid(collapse, both) && isValid(collapse, other) && !isValid(collapse, [APNs()]))
        #expect(try isValid("delivery: {priority: high}\n", both) && !isValid("delivery: {priority: high}\n", other))
        #expect(
            try isValid("content: {title: A, sound: default}\n", both)
                && !isValid("content: {title: A, sound: default}\n", other))
        for key in ["aps", "message"] {
            #expect(
                try isValid("content: {payload: {\(key): {}}}\n", both)
                    && isValid("content: {title: A, data: {\(key): 1}}\n", both))
        }
        #expect(
            try !isValid("content: {payload: {a: {}}}\n", both)
                && !isValid("content: {title: A, data: {message: 1}}\n", other))
    }

    // MARK: - The table of keys

    @Test("every key that a reader knows stands in a schema with words about it, and with nothing else beside it")
    func keys() {
        for (document, groups) in [
            (CampaignSchema.document, CampaignKeys.file.groups), (ProjectSchema.document, ProjectKeys.file.groups),
        ] {
            var seen: [Set<String>] = []
            collect(document, &seen)
            for group in groups {
                let valid = Set(group.valid + group.unlisted)
                // 'file' below 'tags' is a separate form.
                #expect(
                    seen.contains(valid) || seen.contains(valid.subtracting(["file"])),
                    "the schema lacks the group '\(group.name)'")
            }
        }
    }

    /// The names in each group of properties that allows no others; all of them must be described.
    private func collect(_ schema: JSONValue, _ seen: inout [Set<String>]) {
        switch schema {
        case .array(let parts): for part in parts { collect(part, &seen) }
        case .object(let members):
            if schema["additionalProperties"] == .bool(false), case .object(let properties)? = schema["properties"] {
                seen.append(Set(properties.map(\.name)))
                for property in properties {
                    #expect(property.value["description"] != nil, "'\(property.name)' has no description in the schema")
                }
            }
            for member in members { collect(member.value, &seen) }
        default: break
        }
    }

    @Test(
        "another validator takes the schemas and the samples",
        .enabled(if: hasPythonValidator, "python3 with jsonschema and yaml is not installed"))
    func otherValidator() throws {
        let script = """
            import glob, json, sys, jsonschema, yaml
            folder = sys.argv[1]
            for file in sorted(glob.glob(folder + '/*.yaml')):
                name = 'project' if file.endswith('/volley.yaml') else 'campaign'
                schema = json.load(open(f'{folder}/.volley/{name}.schema.json'))
                jsonschema.Draft202012Validator.check_schema(schema)
                for mistake in jsonschema.Draft202012Validator(schema).iter_errors(yaml.safe_load(open(file))):
                    print(file, mistake.message)
            """
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, Self.campaigns]
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && output.isEmpty, "\(output)")
    }
}

private let hasPythonValidator: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", "import jsonschema, yaml; jsonschema.Draft202012Validator"]
    process.standardError = FileHandle.nullDevice
    try? process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
}()
