import Base
import PushServices
import Runs
import Testing

@testable import Commands

@Suite("the question before a run is sent")
struct SendQuestionTests {
    private func text(_ services: [ServiceSettings]) -> String {
        let settings = RunSettings(services: services, pushType: .alert, renderingRules: 5)
        let plan = RunPlan(
            id: "20261201-090000-sale-7f3a", campaign: "sale", app: "shop", campaignFile: "sale.yaml",
            campaignSource: "",
            projectFile: "volley.yaml", seed: RunSeed(high: 1, low: 2), fields: [],
            plannedAt: Timestamp(epochSeconds: 0), planHash: "",
            rows: 5, audience: 5, skipped: [:], settings: .success(settings), preview: .null)
        return SendQuestion(plan: plan, settings: settings, last: nil, now: Timestamp(epochSeconds: 0)).text
    }

    private static let apns = ServiceSettings(environment: .named(APNs.production), topic: "com.example.shop")

    private static var fcm: ServiceSettings {
        var settings = ServiceSettings(environment: .simulator, topic: "shop-1a2b")
        settings.serviceName = FCM().name
        return settings
    }

    /// The service does not document how long it keeps a push.
    private static var rongCloud: ServiceSettings {
        var settings = ServiceSettings(environment: .simulator, topic: "e0x9wycfx7flq")
        settings.serviceName = RongCloud().name
        return settings
    }

    @Test("it says of each service where pushes go, and how long a push that does not expire is kept")
    func several() {
        let text = text([Self.apns, Self.fcm])
        #expect(
            text.contains("  Environment  APNs production") && text.contains("; FCM simulator: no device gets it\n"),
            "\(text)")
        #expect(text.contains(": APNs keeps it 30 days, FCM keeps it 28 days for phones that are off\n"), "\(text)")
    }

    @Test("of one service it names only the environment")
    func one() {
        let text = text([Self.apns])
        #expect(text.contains("  Environment  production") && text.contains("after 30 days"), "\(text)")
        #expect(text.contains(": until then APNs keeps it for phones that are off\n"), "\(text)")
    }

    @Test(
        "what a service keeps for less time than it might is kept that long",
        arguments: [(Getui().name, "2 h"), (JPush().name, "24 h")])
    func usual(service: String, time: String) {
        var settings = ServiceSettings(environment: .simulator, topic: "0123456789abcdef01234567")
        settings.serviceName = service
        #expect(text([settings]).contains("  Expires      after \(time), as the campaign does not say: until then "))
    }

    @Test("where a service does not say how long it keeps a push, it says that")
    func unsaid() {
        #expect(
            text([Self.rongCloud]).contains(
                "when RongCloud drops it: how long it keeps it for phones that are off, it does not say\n"))
        let both = text([Self.apns, Self.rongCloud])
        #expect(
            both.contains(
                ": APNs keeps it 30 days, RongCloud does not say how long it keeps it for phones that are off\n"),
            "\(both)")
    }

    @Test("where the service chooses the devices, it counts calls")
    func calls() throws {
        var settings = ServiceSettings(environment: .simulator, topic: "0123456789abcdef01234567")
        settings.serviceName = try #require(JPush().ownAudience).service.name
        let text = text([settings])
        #expect(text.hasPrefix("'sale' goes out in 5 calls to JPush, which chooses the devices of shop.\n"), "\(text)")
        #expect(self.text([Self.apns]).hasPrefix("'sale' goes to 5 devices of shop.\n"))
    }
}
