import Base
import PushServices
import Testing

@testable import Campaigns

@Suite("A campaign without mistakes")
struct CampaignReadingTests {
    static let full = """
        name: spring-sale
        app: shop
        description: Spring sale
        audience:
          devices: [exports/a.csv, "exports/b*.csv.gz"]
          tags: {any: [discount, daily], all: {file: all.txt}, none: beta}
          aliases: {file: vip.txt}
          registration_ids: [191e35f7e07, 0042]
          where:
            language: [en, de]
            app_version: ">= 3.2.0"
            last_active: within 30 days
            registered_at: older than 12 hours
            store: present
            timezone: missing
            first_name: Ann
          exclude:
            tags: unsubscribed
            aliases: [user13]
            registration_ids: []
            devices: suppressed.csv
          alias_limit: 3
          max_bad_rows: 0.5%
        content:
          title: "Hi {{ first_name }}"
          subtitle: Only until Sunday
          body: 20 % off.
          sound: default
          badge: 0
          category: SALE
          thread: spring
          image: https://cdn.example.com/spring.jpg
          link: shop://sale
          data: {campaign: spring-sale}
          wake_app: true
        delivery:
          pace: 5000/s
          expires: 4h
          priority: low
          collapse: spring-sale
          unknown: skip
          stop_when: {invalid_token: 20%, rejected: "0.5 %", after: 500}

        """

    @Test("its top level is read as written, with its source")
    func topLevel() throws {
        let (campaign, warnings) = try readCampaign(Self.full)
        #expect(warnings.isEmpty)
        #expect(campaign.file == "campaign.yaml")
        #expect(campaign.source == Self.full)
        #expect(
            campaign.name == SourceText("spring-sale", at: SourcePosition(file: "campaign.yaml", line: 1, column: 7)))
        #expect(campaign.app.value == "shop")
        #expect(campaign.description == "Spring sale")
    }

    @Test("its audience is read as written")
    func audience() throws {
        let audience = try readCampaign(Self.full).0.audience
        #expect(audience.position.description == "campaign.yaml:5:3")
        #expect(audience.devices.map(\.value) == ["exports/a.csv", "exports/b*.csv.gz"])
        #expect(audience.anyTags.names.map(\.value) == ["discount", "daily"])
        #expect(audience.allTags.names.isEmpty)
        #expect(audience.allTags.file?.value == "all.txt")
        #expect(audience.noneTags.names.map(\.value) == ["beta"])
        #expect(audience.aliases.file?.value == "vip.txt")
        #expect(audience.registrationIDs.names.map(\.value) == ["191e35f7e07", "0042"])
        #expect(!audience.everyone)
        #expect(audience.excludedTags.names.map(\.value) == ["unsubscribed"])
        #expect(audience.excludedAliases.names.map(\.value) == ["user13"])
        #expect(audience.excludedRegistrationIDs.isEmpty)
        #expect(audience.excludedDevices.map(\.value) == ["suppressed.csv"])
        #expect(audience.aliasLimit == 3)
        #expect(audience.maximumBadRowShare == 0.005)
    }

    @Test("how much the audience may shrink is a share, off, or not said")
    func shrinking() throws {
        func audience(_ keys: String) throws -> CampaignAudience {
            try readPart("audience: {tags: [a]\(keys)}\n").0.audience
        }
        let half = try audience(", shrinks_at_most: 50%")
        #expect(half.shrinkLimit == .atMost(StopShare(millionths: 500_000)))
        #expect(half.shrinkLimitPosition?.description == "campaign.yaml:1:23")
        #expect(try audience(", shrinks_at_most: 12.5 %").shrinkLimit == .atMost(StopShare(millionths: 125_000)))
        #expect(try audience(", shrinks_at_most: off").shrinkLimit == .off)
        #expect(try audience("").shrinkLimit == nil && audience("").shrinkLimitPosition == nil)
    }

    @Test("its conditions keep the order of the file")
    func conditions() throws {
        let conditions = try readCampaign(Self.full).0.audience.conditions
        #expect(
            conditions.map(\.column.value) == [
                "language", "app_version", "last_active", "registered_at", "store", "timezone", "first_name",
            ])
        #expect(
            conditions.map(\.test) == [
                .oneOf(["en", "de"]), .comparison(.greaterOrEqual, "3.2.0"), .within(seconds: 2_592_000),
                .olderThan(seconds: 43_200),
                .present, .missing, .oneOf(["Ann"]),
            ])
        #expect(conditions[1].column.position.description == "campaign.yaml:11:5")
    }

    @Test("its content is read as written, templates untouched")
    func content() throws {
        let content = try readCampaign(Self.full).0.content
        #expect(content.title?.value == "Hi {{ first_name }}")
        #expect(content.title?.style == .doubleQuoted)
        #expect(content.title?.position.description == "campaign.yaml:25:10")
        #expect(content.subtitle?.value == "Only until Sunday")
        #expect(content.body?.value == "20 % off.")
        #expect(content.sound?.value == "default")
        #expect(content.badge == 0)
        #expect(content.category?.value == "SALE")
        #expect(content.thread?.value == "spring")
        #expect(content.image?.value == "https://cdn.example.com/spring.jpg")
        #expect(content.link?.value == "shop://sale")
        #expect(content.data != nil)
        #expect(content.wakesApp)
        #expect(!content.isSilent)
        #expect(content.payload == nil)
    }

    @Test("its delivery is read as written")
    func delivery() throws {
        let delivery = try readCampaign(Self.full).0.delivery
        #expect(delivery.pace == Pace(pushes: 5000, intervalSeconds: 1))
        #expect(delivery.expiry == .after(seconds: 14_400))
        #expect(delivery.priority == .low)
        #expect(delivery.priorityPosition?.description == "campaign.yaml:39:13")
        #expect(delivery.collapseID?.value == "spring-sale")
        #expect(delivery.unknownPolicy == .skip)
        #expect(
            delivery.stopLimits?.shares == [
                .invalidToken: StopShare(millionths: 200_000), .rejected: StopShare(millionths: 5_000),
            ])
        #expect(delivery.stopLimits?.after == 500)
    }

    @Test("shares are judged after 1,000 answers unless another number is written")
    func stopLimits() throws {
        let delivery = try readPart("delivery: {stop_when: {failed: 100%}}\n").0.delivery
        #expect(delivery.stopLimits?.shares == [.failed: StopShare(millionths: 1_000_000)])
        #expect(delivery.stopLimits?.after == 1000)
    }

    @Test("what it leaves out has the defaults of the language")
    func defaults() throws {
        let campaign = try readPart("").0
        #expect(campaign.audience.devices.isEmpty)
        #expect(campaign.audience.aliasLimit == 10)
        #expect(campaign.audience.maximumBadRowShare == 0.01)
        #expect(campaign.delivery.pace == nil)
        #expect(campaign.delivery.expiry == nil)
        #expect(campaign.delivery.priority == nil)
        #expect(
            campaign.delivery.unknownPolicy == nil
                && campaign.delivery.unknownPolicy(of: PushServices.standard) == .resend)
        #expect(campaign.delivery.stopLimits == nil)
        #expect(campaign.description == nil)
    }

    @Test("a name may stand without brackets, and numbers and truth values are names too")
    func namesAsText() throws {
        let audience = try readPart(
            "audience: {tags: discount, aliases: [42, 0042, 1.50, true], registration_ids: 1e5}\n"
        ).0.audience
        #expect(audience.anyTags.names.map(\.value) == ["discount"])
        #expect(audience.aliases.names.map(\.value) == ["42", "0042", "1.50", "true"])
        #expect(audience.registrationIDs.names.map(\.value) == ["1e5"])
    }

    @Test("tags may come from a file, in the short form and the long one")
    func tagFiles() throws {
        let short = try readPart("audience: {tags: {file: tags.txt}}\n").0.audience
        let long = try readPart("audience: {tags: {any: {file: tags.txt}}}\n").0.audience
        #expect(short.anyTags.file?.value == "tags.txt")
        #expect(long.anyTags.file?.value == "tags.txt")
    }

    @Test("a quoted name may hold a comma")
    func quotedComma() throws {
        #expect(try readPart("audience: {tags: \"a, b\"}\n").0.audience.anyTags.names.map(\.value) == ["a, b"])
    }

    @Test("a broadcast says everyone: true")
    func everyone() throws {
        #expect(try readPart("audience: {everyone: true, exclude: {tags: [a]}}\n").0.audience.everyone)
    }

    @Test("everyone: false beside tags is like absent")
    func notEveryone() throws {
        #expect(try !readPart("audience: {everyone: false, tags: [a]}\n").0.audience.everyone)
    }

    @Test(
        "each kind of selector is enough alone",
        arguments: ["tags: {all: [a]}", "aliases: [a]", "registration_ids: [a]"])
    func oneSelector(_ selector: String) throws {
        _ = try readPart("audience: {\(selector)}\n")
    }

    @Test(
        "each of these is something to show",
        arguments: [
            "title: a", "subtitle: a", "body: a", "badge: 0", "sound: default", "silent: true", "payload: {aps: {}}",
        ])
    func somethingToShow(_ content: String) throws {
        _ = try readPart("content: {\(content)}\n")
    }

    @Test("a silent push may carry data and a link, at normal priority")
    func silent() throws {
        let campaign = try readPart(
            "content: {silent: true, data: {a: 1}, link: shop://a}\ndelivery: {priority: normal}\n"
        ).0
        #expect(campaign.content.isSilent)
        #expect(campaign.delivery.priority == .normal)
    }

    @Test(
        "an image may begin with a template",
        arguments: ["{{ picture }}", "https://cdn.example.com/{{ store }}.jpg", "HTTPS://a/b"])
    func images(_ image: String) throws {
        #expect(try readPart("content: {title: a, image: \"\(image)\"}\n").0.content.image?.value == image)
    }

    @Test("texts in literal and folded blocks keep their style and their place")
    func blocks() throws {
        let content = try readPart("content:\n  title: >-\n    one\n    two\n  body: |\n    a\n    b\n").0.content
        #expect(content.title?.value == "one two")
        #expect(content.title?.style == .folded)
        #expect(content.body?.value == "a\nb")
        #expect(content.body?.style == .literal)
        #expect(content.body?.position.description == "campaign.yaml:5:9")
    }

    @Test("a collapse id may have exactly 64 bytes")
    func collapse() throws {
        let id = String(repeating: "é", count: 32)
        #expect(try readPart("delivery: {collapse: \(id)}\n").0.delivery.collapseID?.value == id)
    }

    @Test("a name may have exactly 64 characters")
    func longestName() throws {
        let name = String(repeating: "a-1b", count: 16)
        #expect(try readPart("name: \(name)\n").0.name.value == name)
    }
}
