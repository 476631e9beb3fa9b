import Base
import PushServices
import Testing

@testable import Campaigns

@Suite("A campaign whose devices a service chooses")
struct OwnAudienceTests {
    @Test("names the service, and tags, aliases, ids or everyone")
    func reading() throws {
        let yaml =
            "audience: {by: jpush, tags: {any: [vip]}, aliases: {file: vip.txt}, registration_ids: [1a0018970a8d0000001]}\n"
        let (campaign, warnings) = try readPart(yaml, for: JPush())
        #expect(warnings.isEmpty && campaign.audience.by?.value == "jpush")
        #expect(campaign.audience.ownAudience?.service.name == "jpush-audience")
        #expect(
            campaign.audience.anyTags.names.map(\.value) == ["vip"]
                && campaign.audience.aliases.file?.value == "vip.txt")
        #expect(try readPart("audience: {by: jpush, everyone: true}\n", for: JPush()).0.audience.everyone)
    }

    @Test("may name Getui, whose names have other rules")
    func getui() throws {
        let yaml =
            "audience: {by: getui, tags: [a-b], aliases: [anna@example.com], registration_ids: [7d3f0a1b2c3d4e5f60718293a4b548b3]}\n"
        let (campaign, warnings) = try readPart(yaml, for: Getui())
        #expect(warnings.isEmpty && campaign.audience.ownAudience?.service.name == "getui-audience")
        #expect(
            found { () throws(Diagnostics) in
                try readPart(
                    "audience: {by: getui, tags: [\"a,b\"], aliases: [a/b], registration_ids: [7d3f]}\n", for: Getui())
            } == """
                campaign.yaml:1:30: Getui can have no tag 'a,b'. A tag of Getui has at most 31 characters, and neither a space nor a comma.
                campaign.yaml:1:48: Getui can have no alias 'a/b'. An alias of Getui has at most 39 characters: letters, digits, Chinese characters, and _@.+-.
                campaign.yaml:1:73: Getui can have no registration id '7d3f'. Getui chooses devices by their client ids (cid): 32 hex digits.
                """)
    }

    @Test("has content for the service by the service's own name")
    func content() throws {
        let (campaign, warnings) = try readPart(
            "audience: {by: jpush, everyone: true}\ncontent: {title: Hi, services: {jpush: {title: Hello}}}\n",
            for: JPush())
        #expect(warnings.isEmpty && campaign.content.services.map(\.service.value) == ["jpush"])
    }

    private static let mistakes: [MistakeCase] = [
        MistakeCase(
            "a service with a slip, and one that there is not", "audience: {by: jpsh, tags: [a]}\n",
            "campaign.yaml:1:16: there is no service 'jpsh' that chooses devices. Did you mean 'jpush'?"),
        MistakeCase(
            "a service that keeps no audiences", "audience: {by: apns, tags: [a]}\n",
            "campaign.yaml:1:16: APNs keeps no audiences, so it cannot choose devices. Remove the key: then Volley chooses the devices of an export. Those that keep audiences: \(orList(PushServices.keepingAudiences.map(\.name)))."
        ),
        MistakeCase(
            "keys about an export",
            "audience:\n  by: jpush\n  tags: [a]\n  devices: x.csv\n  where: {a: b}\n  exclude: {tags: [b]}\n  alias_limit: 3\n  max_bad_rows: 2%\n  shrinks_at_most: 50%\n",
            [
                (4, "devices"), (5, "where"), (6, "exclude"), (7, "alias_limit"), (8, "max_bad_rows"),
                (9, "shrinks_at_most"),
            ].map {
                "campaign.yaml:\($0.0):3: '\($0.1)' is about the devices of an export, but JPush chooses the devices. Remove it; or remove 'by', so that Volley chooses the devices."
            }.joined(separator: "\n")),
        MistakeCase(
            "tags in forms that JPush does not have here", "audience: {by: jpush, tags: {all: [a], none: [b]}}\n",
            """
            campaign.yaml:1:30: JPush sends to devices that have any of the tags, and knows no 'all' in a campaign. Write a list: tags: [one, two].
            campaign.yaml:1:40: JPush sends to devices that have any of the tags, and knows no 'none' in a campaign. Write a list: tags: [one, two].
            """),
        MistakeCase(
            "names that JPush cannot have",
            "audience: {by: jpush, tags: [a-b], aliases: [ok], registration_ids: [\"1\"]}\n",
            """
            campaign.yaml:1:30: JPush can have no tag 'a-b'. A tag of JPush has at most 40 bytes (a Chinese character has 3): letters, digits, Chinese characters, _ and @!#$&*+=.|￥.
            campaign.yaml:1:70: JPush can have no registration id '1'. \(JPush.targetRule).
            """),
        MistakeCase(
            "registration ids are not shown whole",
            "audience: {by: jpush, registration_ids: [1a0018970a8d-000001, \"1a0018970a8d0000002 1a0018970a8d0000003\", 9007199254740990000]}\n",
            """
            campaign.yaml:1:42: JPush can have no registration id '1a00…0001'. \(JPush.targetRule).
            campaign.yaml:1:63: '1a00…0003' is not a registration id, because it holds a space. Separate ids with commas, or write each on its own line after a hyphen.
            campaign.yaml:1:63: JPush can have no registration id '1a00…0003'. \(JPush.targetRule).
            campaign.yaml:1:106: warning: '9007…0000' seems to be rounded: a spreadsheet program keeps only 15 digits of a number. Compare it with its source; format the column as text before you open it in a spreadsheet program. [rounded-number]
            """),
        MistakeCase(
            "nor where several of them are read as one",
            "audience: {by: jpush, registration_ids: 1a0018970a8d0000001 1a0018970a8d0000002}\n",
            """
            campaign.yaml:1:41: '1a00…0002' is read as a single name. For several names write registration_ids: [1a00…0001, 1a00…0002].
            campaign.yaml:1:41: JPush can have no registration id '1a00…0002'. \(JPush.targetRule).
            """),
        MistakeCase(
            "a service by another of its names", "audience: {by: 极光, tags: [a]}\n",
            "campaign.yaml:1:16: there is no service '极光' that chooses devices. Did you mean 'jpush'?"),
        MistakeCase(
            "no names", "audience: {by: jpush}\n",
            "campaign.yaml:1:11: the audience selects no devices. Add tags, aliases or registration_ids; to send to all devices, write everyone: true."
        ),
        MistakeCase(
            "what needs to know the devices",
            """
            audience: {by: jpush, everyone: true}
            content: {title: Hi, languages: {de: {title: Hallo}}}
            variants: {a: {share: 50, content: {title: A}}, b: {share: 50}}
            delivery: {frequency: 2 per day}
            schedule: {at: 2027-01-01 09:00, timezone: recipient, fallback_timezone: Europe/Berlin}

            """,
            """
            campaign.yaml:2:34: 'languages' need the language of each device, but JPush chooses the devices. Write one text, or a campaign for the tag of each language.
            campaign.yaml:3:1: 'variants' are parts of an audience that Volley knows, but JPush chooses the devices. Remove them; for texts to compare, write a campaign for each tag.
            campaign.yaml:4:12: 'frequency' counts the pushes of each device, but JPush chooses the devices. Remove it.
            campaign.yaml:5:44: 'timezone: recipient' needs the time zone of each device, but JPush chooses the devices. Name one zone, for example: timezone: Asia/Shanghai.
            """),
    ]

    @Test("cannot have what needs to know the devices, and each mistake is said at its place", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readPart(mistake.yaml, for: JPush()) } == mistake.expected)
    }

    @Test("goes through a service that the app has")
    func lacking() {
        #expect(
            found { () throws(Diagnostics) in try readPart("audience: {by: jpush, tags: [a]}\n") }
                == "campaign.yaml:1:16: JPush is not among the app's services. The app has apns. Add JPush to it in volley.yaml, or remove the key."
        )
    }

    @Test("takes one service of the app, with its account, and test devices of that one")
    func apps() throws {
        let text = """
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                frequency: 2 per day
                services: {jpush: {app_key: 0123456789abcdef01234567, environment: simulator, pace: 10/s}}
                columns: {service: platform}
                test_devices: [\(String(repeating: "a1", count: 32)), {token: 1a0018970a8d0000001, service: jpush}]

            """
        let app = try #require(try readProject(text).0.apps.first)
        let own = try #require(app.sending(toAudiencesOf: "jpush"))
        #expect(
            own.services.map(\.service.name) == ["jpush-audience"]
                && own.services[0].pace == Pace(pushes: 10, intervalSeconds: 1))
        #expect(own.frequency == nil && own.testDevices.isEmpty)
        let alone = try #require(app.sending(through: "jpush"))
        #expect(alone.services.map(\.service.name) == ["jpush"] && alone.testDevices.map(\.service) == [0])
        #expect(alone.testDevices.map(\.token.text) == ["1a0018970a8d0000001"])
        #expect(app.sending(toAudiencesOf: "apns")?.services.map(\.service.name) == ["apns-audience"])
        #expect(app.sending(toAudiencesOf: "fcm") == nil)
        #expect(app.sending(asThrough: JPush()).services.count == 2)
        #expect(app.sending(asThrough: try #require(JPush().ownAudience).service).services.count == 1)
    }

    @Test("the schema offers the services that keep audiences, and refuses keys about an export beside them")
    func schema() throws {
        let schema = SchemaValidator(document: CampaignSchema.document(for: [APNs(), JPush()]))
        func isValid(_ audience: String) throws -> Bool {
            let campaign = #"{"name":"a","app":"shop","audience":\#(audience),"content":{"title":"Hi"}}"#
            return try schema.mistakes(JSONValue(parsing: campaign)).isEmpty
        }
        #expect(try isValid(#"{"by":"jpush","tags":["a"]}"#) && isValid(#"{"by":"jpush","everyone":true}"#))
        #expect(try !isValid(#"{"by":"apns","tags":["a"]}"#) && !isValid(#"{"by":"jpush"}"#))
        #expect(try !isValid(#"{"by":"jpush","tags":["a"],"where":{"a":"b"}}"#))
        #expect(!CampaignSchema.document(for: [APNs()]).text.contains("\"by\":{\"description\":\"The service"))
    }
}

extension JPush {
    fileprivate static var targetRule: String { JPush().target.rule }
}
