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
            environment: environment, topic: "com.example.shop", pushType: .alert,
            renderingRules: MessageCatalog.renderingRules)
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
    }

    @Test(
        "FCM's quota and its slow begin hold beside a pace that was chosen; one with FCM's own keys says what the project bought"
    )
    func chosenPaces() throws {
        let paces = PaceRegistry()
        var settings = settings(.production, pace: nil)
        settings.firstService.serviceName = "fcm"
        let quota = Pace(pushes: 600_000, intervalSeconds: 60)
        settings.firstService.pace = Pace(pushes: 20_000, intervalSeconds: 1)
        #expect(paces.ofService(byRunsOf: "shop", settings)?.pace == quota && settings.rampSeconds == 60)
        #expect(settings.paces.targets == quota, "not 20,000 a second")
        settings.devicePace = Pace(pushes: 20, intervalSeconds: 1)
        #expect(
            paces.ofService(byRunsOf: "shop", settings)?.pace == quota && settings.paces.targets == settings.devicePace)
        (settings.devicePace, settings.firstService.pace) = (nil, nil)
        for (second, ramp) in [(20_000, 60.0), (10_000, 60), (5000, 30), (1000, 6), (999, 0), (15, 0)] {
            settings.firstService.appPace = Pace(pushes: second, intervalSeconds: 1)
            #expect(
                paces.ofService(byRunsOf: "shop", settings)?.pace == settings.firstService.appPace
                    && settings.rampSeconds == ramp)
            #expect(settings.paces.targets == settings.firstService.appPace && settings.usualPace == nil)
        }
        // Two runs of an app share the begin as they share the pace.
        let key = try #require(paces.paces(ofRun: "r1", ofApp: "shop", settings).first?.key)
        #expect(key == "app fcm production 15/s steady shop")
        settings.firstService.serviceName = "rongcloud"
        #expect(settings.rampSeconds == 0)
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
        #expect(
            paces.ofService(byRunsOf: "shop", settings)?.pace == settings.firstService.appPace, "the app bought more")
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
        #expect(
            paces.ofDevices(byRunsOf: "shop", settings) === shared
                && paces.ofDevices(byRunsOf: "news", settings) !== shared)
        #expect(paces.ofService(byRunsOf: "shop", settings.ofService(0)) == nil)
        let calls = try #require(paces.ofService(byRunsOf: "shop", settings.ofService(1)))
        #expect(calls.pace == Pace(pushes: 540, intervalSeconds: 60) && calls.unit == .requests)
        #expect(settings.ofService(1).paces.largestRequest == 111)
    }

    @Test("a campaign's own paces last as long as somebody keeps them, and are those of one run")
    func campaigns() {
        let paces = PaceRegistry()
        var settings = settings(pace: nil)
        #expect(paces.ofService(ofRun: "r1", settings) == nil && paces.ofDevices(ofRun: "r1", settings) == nil)
        settings.firstService.pace = Pace(pushes: 20, intervalSeconds: 1)
        settings.devicePace = Pace(pushes: 10, intervalSeconds: 1)
        var kept: SharedPace? = paces.ofService(ofRun: "r1", settings)
        #expect(kept?.pace == settings.firstService.pace && kept?.unit == .requests)
        #expect(paces.ofService(ofRun: "r1", settings) === kept && paces.ofService(ofRun: "r2", settings) !== kept)
        #expect(paces.ofDevices(ofRun: "r1", settings)?.unit == .targets)
        weak let gone = kept
        kept = nil
        #expect(gone == nil, "nobody keeps it")
        #expect(paces.ofService(ofRun: "r1", settings) != nil)
    }

    @Test("runs of a process may use the sum of their parts, at most the pace, and all of it once they are over")
    func parts() throws {
        let paces = PaceRegistry()
        let keyed = try #require(paces.paces(ofRun: "r1", ofApp: "shop", settings(pace: 100)).first)
        let steps: [(part: Int?, run: String, together: Int?)] = [
            (30, "r1", 30), (20, "r2", 50), (90, "r2", 100), (nil, "r2", 30), (nil, "r1", nil),
        ]
        for step in steps {
            paces.setPart(step.part, of: keyed, run: step.run)
            #expect(keyed.pace.part == step.together)
        }
    }

    @Test("all paces of a run have keys that are the same on each machine, and are those that its senders get")
    func keys() throws {
        let paces = PaceRegistry()
        var settings = settings(.production, pace: 5000)
        settings.services.append(settings.firstService)
        settings.services[1].serviceName = "fcm"
        settings.services[1].appPace = nil
        settings.services[0].pace = Pace(pushes: 100, intervalSeconds: 1)
        #expect(
            paces.paces(ofRun: "r1", ofApp: "my shop", settings).map(\.key) == [
                "app apns production 5000/s steady my shop", "run r1 apns 100/s",
                "app fcm production 600000/min rising my shop",
            ])
        settings.appDevicePace = Pace(pushes: 1000, intervalSeconds: 1)
        settings.devicePace = Pace(pushes: 6000, intervalSeconds: 60)
        let all = paces.paces(ofRun: "r1", ofApp: "shop", settings)
        #expect(
            all.map(\.key) == [
                "app apns production 5000/s steady shop", "run r1 apns 100/s",
                "app fcm production 600000/min rising shop",
                "app devices production,production 1000/s steady shop", "run r1 devices 6000/min",
            ])
        let own = settings.ofService(0)
        #expect(
            all[0].pace === paces.ofService(byRunsOf: "shop", own) && all[1].pace === paces.ofService(ofRun: "r1", own))
        #expect(
            all[3].pace === paces.ofDevices(byRunsOf: "shop", settings)
                && all[4].pace === paces.ofDevices(ofRun: "r1", settings))
    }
}
