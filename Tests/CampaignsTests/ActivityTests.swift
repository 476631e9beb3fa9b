import Base
import PushServices
import Testing

@testable import Campaigns

@Suite("Live Activities of campaigns")
struct ActivityTests {
    private static let head = "name: a\napp: shop\naudience: {tags: [a]}\n"

    private func findings(_ yaml: String, for service: any PushService = APNs()) -> String {
        found { () throws(Diagnostics) in try readCampaign(Self.head + yaml, for: service) }
    }

    @Test("an activity starts with its alert, and is updated and ended with or without one")
    func read() throws {
        let start = try readCampaign(
            Self.head + """
                activity:
                  event: start
                  attributes_type: DeliveryAttributes
                  attributes: {order: "7"}
                  state: {minutes: 12, driver: "{{ driver }}"}
                  stale: 30min
                  relevance: 100
                content: {title: On its way, body: 12 minutes left, languages: {de: {body: Noch 12 Minuten}}}

                """
        ).0.content
        let activity = try #require(start.activity)
        #expect(
            activity.event == .start && activity.tokens == .start
                && activity.attributesType?.value == "DeliveryAttributes")
        #expect(activity.staleSeconds == 1800 && activity.dismissSeconds == nil && start.title?.value == "On its way")
        #expect(findings("activity: {event: update, state: {minutes: 12}}\n").isEmpty)
        #expect(findings("activity: {event: end, dismiss: 0}\n", for: FCM()).isEmpty)
        let end = try readCampaign(Self.head + "activity: {event: end, dismiss: 0}\n").0.content
        #expect(end.activity?.dismissSeconds == 0 && end.activity?.tokens == .running)
        let minutes = try readCampaign(Self.head + "activity: {event: update, state: {minutes: 12}, stale: 30m}\n").0
            .content
        #expect(minutes.activity?.staleSeconds == 1800)
        #expect(
            try readCampaign(Self.head + "activity: {event: end, dismiss: 90m}\n").0.content.activity?.dismissSeconds
                == 5400)
    }

    @Test(
        "what is wrong with one",
        arguments: [
            (
                "activity: {state: {a: 1}}\n",
                "campaign.yaml:4:11: the key 'event' is missing in 'activity'. Add it, for example: event: update."
            ),
            (
                "activity: {event: strat}\ncontent: {title: A, body: B}\n",
                "campaign.yaml:4:19: 'event' must be start, update or end, not 'strat'. Did you mean 'start'?"
            ),
            (
                "activity: {event: update}\n",
                "campaign.yaml:4:11: an activity that updates needs 'state'. Add it, for example: state: {minutes: 12}."
            ),
            (
                "activity: {event: end, attributes: {a: 1}}\n",
                "campaign.yaml:4:24: an activity that ends has no 'attributes'. Remove it."
            ),
            (
                "activity: {event: update, state: {a: 1}}\ncontent: {title: A, body: B, badge: 1}\n",
                "campaign.yaml:5:30: the alert of an activity has no 'badge'. It may have title, body and sound; remove the rest."
            ),
            (
                "activity: {event: update, state: {a: 1}}\ncontent: {title: A}\n",
                "campaign.yaml:5:10: the alert of an activity has a title and a body. Write both: content: {title: On its way, body: 12 minutes left}."
            ),
            (
                "activity: {event: update, state: {a: 1}}\ndelivery: {priority: low}\n",
                "campaign.yaml:5:22: an activity has the priority high or normal. Write priority: normal."
            ),
        ])
    func mistake(yaml: String, expected: String) { #expect(findings(yaml) == expected) }

    @Test("all services of the app must have them")
    func services() {
        let yaml = Self.head + "activity: {event: update, state: {a: 1}}\n"
        func findings(_ services: [any PushService]) -> String {
            found { () throws(Diagnostics) in
                try Campaign.read(source: yaml, file: "campaign.yaml", services: services, now: now)
            }
        }
        #expect(
            findings([Getui()]).contains(
                "campaign.yaml:4:11: a Live Activity goes through APNs, FCM or JPush, and the app has Getui. Give activities an app of "
                    + "volley.yaml with one of those."))
        #expect(
            findings([APNs(), Getui(), RongCloud()]).contains(
                "campaign.yaml:4:11: a Live Activity goes through APNs, FCM or JPush, and the app also has Getui and RongCloud. Give "
                    + "activities an app of volley.yaml without Getui and RongCloud."))
        #expect(findings([APNs(), FCM(), JPush()]).isEmpty)
    }

    @Test("JPush carries out the priority of an activity, which Android does not show")
    func deliveryOverJPush() throws {
        func warnings(_ key: String) throws -> [String] {
            let yaml = Self.head + "activity: {event: update, state: {a: 1}}\ndelivery: {\(key)}\n"
            return try Campaign.read(source: yaml, file: "campaign.yaml", services: [JPush()], now: now).1.map(
                \.message)
        }
        #expect(try warnings("priority: normal, collapse: a").isEmpty)
        #expect(
            try warnings("expires: 4h") == [
                "JPush lets no push to an iPhone expire, so iPhones may get it later than 'expires' allows"
            ])
    }
}

/// `audience: {channel: ID}`
@Suite("Campaigns that are broadcast")
struct BroadcastCampaignTests {
    private static let id = "dHN0LXNyY2gtY2hubA=="
    private static let update = "activity: {event: update, state: {goals: 1}}\n"

    private func findings(_ yaml: String, for service: any PushService = APNs()) -> String {
        found { () throws(Diagnostics) in try readCampaign("name: a\napp: shop\n" + yaml, for: service) }
    }

    @Test("name a channel, and update or end its activities")
    func read() throws {
        let yaml = "name: a\napp: shop\naudience: {channel: \(Self.id)}\n"
        let (campaign, warnings) = try readCampaign(
            yaml + Self.update + "delivery: {expires: 8h, priority: normal, unknown: resend}\n")
        #expect(
            warnings.isEmpty && campaign.audience.channel?.value == Self.id && campaign.audience.by?.value == "apns")
        #expect(campaign.audience.ownAudience?.service.name == "apns-audience")
        #expect(campaign.audience.selectors.last?.list.names.map(\.value) == [Self.id])
        let end = try readCampaign(
            yaml + "activity: {event: end, dismiss: 0}\ncontent: {title: Over, body: It is 2 to 1}\n"
        ).0
        #expect(end.content.activity?.event == .end && end.content.title?.value == "Over")
        // As a run keeps it.
        let own = try #require(campaign.audience.ownAudience)
        #expect(try readCampaign(yaml + Self.update, for: own.service).0.audience.channel?.value == Self.id)
    }

    private static let mistakes: [MistakeCase] = [
        MistakeCase(
            "anything next to the channel", "audience: {channel: \(id), tags: [a], everyone: true}\n" + update,
            """
            campaign.yaml:3:43: 'channel' is used alone: phones follow a channel by themselves, and 'tags' is about other devices. Remove 'tags', or remove 'channel'.
            campaign.yaml:3:54: 'channel' is used alone: phones follow a channel by themselves, and 'everyone' is about other devices. Remove 'everyone', or remove 'channel'.
            """),
        MistakeCase(
            "what is no id", "audience: {channel: \"a b\"}\n" + update,
            "campaign.yaml:3:21: APNs can have no channel 'a b'. A channel's id is base64: `volley channels list` shows those of the app."
        ),
        MistakeCase(
            "no activity", "audience: {channel: \(id)}\ncontent: {title: Hi}\n",
            "campaign.yaml:3:11: a broadcast updates or ends Live Activities, and this campaign has no 'activity'. Add it, for example: activity: {event: update, state: {minutes: 12}}."
        ),
        MistakeCase(
            "a start",
            "audience: {channel: \(id)}\nactivity: {event: start, attributes_type: D, attributes: {a: 1}, state: {a: 1}}\ncontent: {title: A, body: B}\n",
            "campaign.yaml:4:11: a broadcast cannot start an activity. Write event: update or end. To start it, write a campaign for the devices of an export."
        ),
        MistakeCase(
            "what is about single devices or many requests",
            "audience: {channel: \(id)}\n\(update)delivery:\n  collapse: a\n  pace: 10/s\n  frequency: 1 per day\n  stop_when: {rejected: 5%}\n",
            """
            campaign.yaml:6:3: a broadcast has no 'collapse': phones show the newest state anyway. Remove it.
            campaign.yaml:7:3: a broadcast has no 'pace': it is one request. Remove it.
            campaign.yaml:8:3: a broadcast has no 'frequency': Volley does not know its devices. Remove it.
            campaign.yaml:9:3: a broadcast has no 'stop_when': it is one request. Remove it.
            """),
        MistakeCase(
            "an expiry that no channel keeps", "audience: {channel: \(id)}\n\(update)delivery: {expires: 9h}\n",
            "campaign.yaml:5:21: a channel keeps a broadcast for 8 hours at most. Write expires: 8h or less."),
        MistakeCase(
            "variants",
            "audience: {channel: \(id)}\n\(update)content: {title: A, body: B}\nvariants: {a: {share: 50, content: {title: C}}, b: {share: 50}}\n",
            "campaign.yaml:6:1: 'variants' are parts of an audience that Volley knows, but APNs chooses the devices. Remove them."
        ),
    ]

    @Test("cannot have what belongs to devices, and each mistake is said at its place", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) { #expect(findings(mistake.yaml) == mistake.expected) }

    @Test("go through the service that has channels")
    func services() {
        let text = findings("audience: {channel: \(Self.id)}\n" + Self.update, for: JPush())
        #expect(
            text
                == "campaign.yaml:3:21: a broadcast channel goes through APNs, and the app has JPush. Add APNs to the app in volley.yaml, or name an app that has it."
        )
    }

    @Test("are in the schema: the channel alone")
    func schema() throws {
        let schema = SchemaValidator(document: CampaignSchema.document(for: [APNs(), JPush()]))
        func isValid(_ audience: String) throws -> Bool {
            let campaign = #"{"name":"a","app":"shop","audience":\#(audience),"activity":{"event":"end"}}"#
            return try schema.mistakes(JSONValue(parsing: campaign)).isEmpty
        }
        #expect(try isValid(#"{"channel":"dHN0LXNyY2gtY2hubA=="}"#))
        #expect(try !isValid(#"{"channel":"a b"}"#) && !isValid(#"{"channel":"abcd","tags":["a"]}"#))
        #expect(!CampaignSchema.document(for: [JPush()]).text.contains("broadcast channel"))
    }
}
