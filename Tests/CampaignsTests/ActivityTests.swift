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
        #expect(activity.event == .start && activity.tokens == .start && activity.attributesType?.value == "DeliveryAttributes")
        #expect(activity.staleSeconds == 1800 && activity.dismissSeconds == nil && start.title?.value == "On its way")
        #expect(findings("activity: {event: update, state: {minutes: 12}}\n").isEmpty)
        #expect(findings("activity: {event: end, dismiss: 0}\n", for: FCM()).isEmpty)
        let end = try readCampaign(Self.head + "activity: {event: end, dismiss: 0}\n").0.content
        #expect(end.activity?.dismissSeconds == 0 && end.activity?.tokens == .running)
        let minutes = try readCampaign(Self.head + "activity: {event: update, state: {minutes: 12}, stale: 30m}\n").0.content
        #expect(minutes.activity?.staleSeconds == 1800)
        #expect(try readCampaign(Self.head + "activity: {event: end, dismiss: 90m}\n").0.content.activity?.dismissSeconds == 5400)
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

    @Test("other services have none")
    func services() {
        let yaml = "activity: {event: update, state: {a: 1}}\n"
        #expect(
            findings(yaml, for: JPush()).contains(
                "campaign.yaml:4:11: a Live Activity goes through APNs or FCM, and the app has JPush. Give activities an app of volley.yaml "
                    + "with one of the two."))
    }
}
