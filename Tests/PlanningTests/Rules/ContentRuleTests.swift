import Base
import Foundation
import TestCommands
import Testing

@Suite("rules: content")
struct ContentRuleTests {
    private typealias Device = RuleFolder.Device

    private func expectPayload(_ content: String, _ json: String, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let rules = try RuleFolder(Device(1, ["store": "Lyon"]))
        let (payload, expected) = (
            try rules.payload(content, sourceLocation: sourceLocation), try JSONValue(parsing: json)
        )
        #expect(payload.sorted == expected.sorted, sourceLocation: sourceLocation)
    }

    @Test("title, subtitle, body, sound, badge, category, thread")
    func aps() throws {
        try expectPayload(
            "title: T\nsubtitle: S\nbody: \"{{ store }} has 20 % off\"\nsound: default\nbadge: 1\ncategory: SALE\nthread: spring",
            """
            {"aps": {"alert": {"title": "T", "subtitle": "S", "body": "Lyon has 20 % off"}, "sound": "default", "badge": 1,
             "category": "SALE", "thread-id": "spring"}}
            """)
        try expectPayload("badge: 0", #"{"aps": {"badge": 0}}"#)
    }

    @Test("badge: a number; APNs cannot add: \"+1\" is an error that says so")
    func badge() throws {
        let rules = try RuleFolder(Device(1))
        for badge in ["\"+1\"", "+1"] {
            #expect(
                try rules.mistakes(content: "title: Hi\nbadge: \(badge)").contains(
                    "campaign.yaml:7:10: APNs cannot add to a badge"))
        }
    }

    @Test("image: https only; sets mutable-content")
    func image() throws {
        try expectPayload(
            "title: T\nimage: https://cdn.example.com/a.jpg",
            #"{"aps": {"alert": {"title": "T"}, "mutable-content": 1}, "image": "https://cdn.example.com/a.jpg"}"#)
        let rules = try RuleFolder(Device(1))
        #expect(
            try rules.mistakes(content: "title: T\nimage: http://cdn.example.com/a.jpg").contains(
                "begins with https://"))
    }

    @Test("link and data: own keys, beside aps")
    func ownKeys() throws {
        try expectPayload(
            "title: T\nlink: shop://sale\ndata: {campaign: spring, n: 3, deep: {list: [1, true, null, \"{{ store }}\"]}}",
            """
            {"aps": {"alert": {"title": "T"}}, "link": "shop://sale", "campaign": "spring", "n": 3,
             "deep": {"list": [1, true, null, "Lyon"]}}
            """)
    }

    @Test("wake_app: content-available beside a visible push")
    func wakeApp() throws {
        try expectPayload("title: T\nwake_app: true", #"{"aps": {"alert": {"title": "T"}, "content-available": 1}}"#)
        try expectPayload("title: T\nwake_app: false", #"{"aps": {"alert": {"title": "T"}}}"#)
    }

    @Test("silent: background push: no title, body, sound or badge")
    func silent() throws {
        try expectPayload(
            "silent: true\ndata: {refresh: prices}", #"{"aps": {"content-available": 1}, "refresh": "prices"}"#)
        let rules = try RuleFolder(Device(1))
        for other in ["title: T", "body: B", "sound: default", "badge: 1"] {
            #expect(
                try rules.mistakes(content: "silent: true\n\(other)").contains(
                    "a silent push has no '\(other.prefix { $0 != ":" })'"))
        }
    }

    @Test("payload: the whole payload by hand, instead of all of the above")
    func payload() throws {
        try expectPayload(
            "payload:\n  aps: {alert: {loc-key: SALE, loc-args: [\"{{ store }}\"]}}\n  own: 1",
            #"{"aps": {"alert": {"loc-key": "SALE", "loc-args": ["Lyon"]}}, "own": 1}"#)
        let rules = try RuleFolder(Device(1))
        #expect(
            try rules.mistakes(content: "payload: {aps: {alert: Hi}}\ntitle: T").contains(
                "'title' cannot be used with it"))
    }

    @Test("languages: chosen by the device's language: zh-Hans-CN, then zh-Hans, then zh, then the text above")
    func languages() throws {
        let tags = ["zh-Hans-CN", "zh-Hans-SG", "zh-Hans", "zh", "de", "", "zh_hans_cn"]
        let folder = try ProjectFolder(
            app: "environment: simulator\ndevices: devices.csv",
            export: RuleFolder.csv(tags.enumerated().map { Device($0.offset + 1, ["language": $0.element, "x": "x"]) }))
        try folder.writeCampaign(
            audience: "everyone: true",
            content: "title: above\nlanguages:\n  zh: {title: zh}\n  zh-Hans: {title: Hans}\n  zh-Hans-CN: {title: CN}")
        let preview = try folder.preview(samples: 10, isJSON: true).json()
        guard case .array(let samples)? = preview["samples"] else { return }
        let titles = samples.map { sample in
            (
                Int(sample["device_token"]?.stringValue?.suffix(4) ?? "", radix: 16) ?? 0,
                sample["payload"]?["aps"]?["alert"]?["title"]?.stringValue ?? ""
            )
        }
        #expect(
            Dictionary(uniqueKeysWithValues: titles) == [
                1: "CN", 2: "Hans", 3: "Hans", 4: "zh", 5: "above", 6: "above", 7: "CN",
            ])
    }

    @Test("languages: a key that a translation leaves out is the one of the text above")
    func partlyTranslated() throws {
        let rules = try RuleFolder(Device(1, ["language": "de"]))
        let payload = try rules.payload("title: above\nbody: above\nlanguages:\n  de: {title: deutsch}")
        #expect(
            payload["aps"]?["alert"] == .object(pairs: [("title", .string("deutsch")), ("body", .string("above"))]))
    }
}

@Suite("rules: templates")
struct TemplateRuleTests {
    private typealias Device = RuleFolder.Device

    private func title(_ template: String, _ cells: KeyValuePairs<String, String>) throws -> String? {
        try RuleFolder(Device(1, cells)).payload("title: \(template)")["aps"]?["alert"]?["title"]?.stringValue
    }

    @Test(
        "filters: default, upcase, downcase, capitalize, strip, truncate, date, number, pluralize",
        arguments: [
            ("{{ none | default: 'there' }}", "there"), ("{{ name | default: 'there' }}", "aDA"),
            ("{{ name | upcase }}", "ADA"),
            ("{{ name | downcase }}", "ada"), ("{{ name | capitalize }}", "Ada"), ("[{{ wide | strip }}]", "[x y]"),
            ("{{ long | truncate: 8 }}", "Hello..."), ("{{ day | date: '%d.%m.%Y' }}", "24.12.2026"),
            ("{{ points | number }}", "1,234.5"),
            ("{{ count }} {{ count | pluralize: 'item', 'items' }}", "3 items"),
        ])
    func filters(template: String, expected: String) throws {
        let cells: KeyValuePairs = [
            "name": "aDA", "none": "", "wide": "\" x y \"", "long": "Hello world", "day": "2026-12-24",
            "points": "1234.5", "count": "3",
        ]
        #expect(try title("\"\(template)\"", cells) == expected)
    }

    @Test(
        "{% if column == 'x' %} … {% elsif %} … {% else %} … {% endif %}",
        arguments: [("a", "one"), ("b", "two"), ("c", "three")])
    func conditions(cell: String, expected: String) throws {
        #expect(
            try title("\"{% if x == 'a' %}one{% elsif x == 'b' %}two{% else %}three{% endif %}\"", ["x": cell])
                == expected)
    }

    @Test(
        "columns are checked against the export's header before anything else: an unknown one is an error at its place in the file"
    )
    func unknownColumn() throws {
        let rules = try RuleFolder(Device(1, ["first_name": "Ada"]))
        let mistakes = try rules.mistakes(content: "title: \"Hi {{ firstname | default: 'you' }}\"")
        #expect(
            mistakes.contains("campaign.yaml:6:17: devices.csv has no column 'firstname'. Did you mean 'first_name'?"),
            "\(mistakes)")
    }

    @Test("no HTML escaping")
    func noEscaping() throws {
        #expect(
            try title("\"<b>{{ x }}</b> & more\"", ["x": "A&B <i>'\"\"q\"\"'"]) == "<b>A&B <i>'\"\"q\"\"'</b> & more")
    }
}

@Suite("rules: variants")
struct VariantRuleTests {
    private func preview(_ variants: String, name: String = "test", devices: Int = 1000) throws -> JSONValue {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: devices))
        try folder.writeCampaign(name: name)
        let campaign = try String(contentsOf: folder.url.appendingPathComponent("campaign.yaml"), encoding: .utf8)
        try folder.write("campaign.yaml", campaign + variants)
        return try folder.preview(samples: 500, isJSON: true).json()
    }

    private static let variants =
        "variants:\n  short: {share: 45, content: {body: \"20 % off.\"}}\n  long: {share: 45}\n  holdout: {share: 10}\n"

    @Test("each gets its share, a variant says what differs, holdout gets nothing")
    func shares() throws {
        let preview = try preview(Self.variants)
        let (short, long) = (preview["variants"]?.int("short") ?? 0, preview["variants"]?.int("long") ?? 0)
        let held = preview["skipped"]?.int("holdout") ?? 0
        #expect(short + long + held == 1000)
        // Five standard deviations of a binomial distribution.
        #expect(abs(short - 450) < 79 && abs(long - 450) < 79 && abs(held - 100) < 48)
        guard case .array(let samples)? = preview["samples"] else { return }
        for sample in samples {
            let body = sample["payload"]?["aps"]?["alert"]?["body"]?.stringValue
            #expect(body == (sample["variant"]?.stringValue == "short" ? "20 % off." : "World"))
        }
    }

    @Test(
        "decided by a hash of campaign and device: the same device always lands in the same one, and another campaign deals anew"
    )
    func hash() throws {
        func dealt(_ name: String, _ devices: Int) throws -> [String: String] {
            guard case .array(let samples)? = try preview(Self.variants, name: name, devices: devices)["samples"] else {
                return [:]
            }
            return Dictionary(
                uniqueKeysWithValues: samples.map {
                    ($0["device_token"]?.stringValue ?? "", $0["variant"]?.stringValue ?? "")
                })
        }
        let (some, more, other) = (try dealt("test", 100), try dealt("test", 200), try dealt("other", 100))
        #expect(some.count > 80 && some.allSatisfy { more[$0.key] == $0.value })
        #expect(some != other)
    }

    @Test("shares that do not add up are an error")
    func sum() throws {
        let rules = try RuleFolder()
        try rules.folder.write(
            "campaign.yaml",
            "name: test\napp: shop\naudience: {everyone: true}\ncontent: {title: Hi}\nvariants: {a: {share: 50}, b: {share: 40}}\n"
        )
        #expect(
            try rules.mistakes().contains("campaign.yaml:5:11: the shares of the variants add up to 90, not to 100"))
    }
}

extension JSONValue {
    /// With the members of all objects sorted by name.
    fileprivate var sorted: JSONValue {
        switch self {
        case .object(let members):
            .object(members.map { JSONMember($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        case .array(let items): .array(items.map(\.sorted))
        default: self
        }
    }
}
