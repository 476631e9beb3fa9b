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
}
