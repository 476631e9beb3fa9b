import Base
import Content
import Delivery
import Runs
import Testing

@testable import Sending

@Suite("paces of apps")
struct PaceRegistryTests {
    private func settings(_ environment: FrozenEnvironment = .sandbox, pace: Int?) -> RunSettings {
        var settings = RunSettings(
            environment: environment, topic: "com.example.shop", pushType: .alert, renderingRules: MessageCatalog.renderingRules)
        settings.firstService.appPace = pace.map { Pace(pushes: $0, intervalSeconds: 1) }
        return settings
    }

    @Test("all runs of an app have one, those of other apps and environments another")
    func sharing() throws {
        let paces = PaceRegistry()
        let first = try #require(paces.shared(byRunsOf: "shop", settings(pace: 100)))
        #expect(first.pace == Pace(pushes: 100, intervalSeconds: 1))
        #expect(paces.shared(byRunsOf: "shop", settings(pace: 100)) === first)
        #expect(paces.shared(byRunsOf: "news", settings(pace: 100)) !== first)
        #expect(paces.shared(byRunsOf: "shop", settings(.production, pace: 100)) !== first)
        #expect(paces.shared(byRunsOf: "shop", settings(pace: nil)) == nil)
    }

    @Test("without a pace of their own, the runs of an app keep the service's, if it has one")
    func usualPace() throws {
        let paces = PaceRegistry()
        var settings = settings(.production, pace: nil)
        #expect(settings.firstService.pushPace == nil)
        settings.firstService.serviceName = "fcm"
        let shared = try #require(paces.shared(byRunsOf: "shop", settings))
        #expect(shared.pace == Pace(pushes: 600_000, intervalSeconds: 60) && settings.firstService.pushPace == shared.pace)
        #expect(paces.shared(byRunsOf: "shop", settings) === shared)
        settings.firstService.pace = Pace(pushes: 20, intervalSeconds: 1)
        #expect(paces.shared(byRunsOf: "shop", settings) == nil && settings.firstService.pushPace == settings.firstService.pace)
        settings.firstService.appPace = Pace(pushes: 600_000, intervalSeconds: 60)
        #expect(paces.shared(byRunsOf: "shop", settings) !== shared, "what was chosen does not begin slowly")
    }
}
