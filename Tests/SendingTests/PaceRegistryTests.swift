import Base
import Content
import Delivery
import PushServices
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
        let first = try #require(paces.ofService(byRunsOf: "shop", settings(pace: 100)))
        #expect(first.pace == Pace(pushes: 100, intervalSeconds: 1))
        #expect(paces.ofService(byRunsOf: "shop", settings(pace: 100)) === first)
        #expect(paces.ofService(byRunsOf: "news", settings(pace: 100)) !== first)
        #expect(paces.ofService(byRunsOf: "shop", settings(.production, pace: 100)) !== first)
        #expect(paces.ofService(byRunsOf: "shop", settings(pace: nil)) == nil)
    }

    @Test("without a pace of their own, the runs of an app keep the service's, if it has one")
    func usualPace() throws {
        let paces = PaceRegistry()
        var settings = settings(.production, pace: nil)
        #expect(settings.paces.isEmpty)
        settings.firstService.serviceName = "fcm"
        let shared = try #require(paces.ofService(byRunsOf: "shop", settings))
        #expect(shared.pace == Pace(pushes: 600_000, intervalSeconds: 60) && settings.paces.targets == shared.pace)
        #expect(paces.ofService(byRunsOf: "shop", settings) === shared)
        settings.firstService.pace = Pace(pushes: 20, intervalSeconds: 1)
        #expect(paces.ofService(byRunsOf: "shop", settings) == nil && settings.paces.targets == settings.firstService.pace)
        settings.firstService.appPace = Pace(pushes: 600_000, intervalSeconds: 60)
        #expect(paces.ofService(byRunsOf: "shop", settings) !== shared, "what was chosen does not begin slowly")
    }

    @Test("a limit of the service holds beside the pace of a run, so that its runs together keep it, too")
    func limits() throws {
        let paces = PaceRegistry()
        var settings = settings(.production, pace: nil)
        settings.firstService.serviceName = "rongcloud"
        settings.firstService.pace = Pace(pushes: 20, intervalSeconds: 1)
        let shared = try #require(paces.ofService(byRunsOf: "shop", settings))
        #expect(shared.pace == Pace(pushes: 100, intervalSeconds: 1) && shared.unit == .targets)
        #expect(settings.paces.targets == settings.firstService.pace)
        settings.firstService.appPace = Pace(pushes: 200, intervalSeconds: 1)
        #expect(paces.ofService(byRunsOf: "shop", settings)?.pace == settings.firstService.appPace, "the app bought more")
    }

    @Test("a pace of devices is one for all services and runs of an app, beside the calls that a service takes")
    func devices() throws {
        let paces = PaceRegistry()
        var settings = settings(.production, pace: nil)
        settings.services.append(settings.firstService)
        settings.services[1].serviceName = "jpush"
        #expect(paces.ofDevices(byRunsOf: "shop", settings) == nil)
        settings.appDevicePace = Pace(pushes: 1000, intervalSeconds: 1)
        let shared = try #require(paces.ofDevices(byRunsOf: "shop", settings))
        #expect(shared.pace == settings.appDevicePace && shared.unit == .targets)
        #expect(paces.ofDevices(byRunsOf: "shop", settings) === shared && paces.ofDevices(byRunsOf: "news", settings) !== shared)
        #expect(paces.ofService(byRunsOf: "shop", settings.ofService(0)) == nil)
        let calls = try #require(paces.ofService(byRunsOf: "shop", settings.ofService(1)))
        #expect(calls.pace == Pace(pushes: 540, intervalSeconds: 60) && calls.unit == .requests)
        #expect(settings.ofService(1).paces.largestRequest == 111)
    }
}
