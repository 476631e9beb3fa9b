@testable import Sending
import Base
import PushServices
import Runs
import Simulators
import Workspace
import Testing

@Suite("settings that a plan freezes")
struct RunSettingsTests {
    @Test(
        "Apple's servers have one list of suppressed devices each, however they are named; what an authority of one's own vouches for is another server"
    )
    func lists() {
        func list(_ host: String, _ authority: String? = nil) -> String {
            ServiceSettings(environment: .server(host: host, port: 443, certificateAuthority: authority), topic: "")
                .listName
        }
        #expect(list("api.push.apple.com") == "production" && list("api.sandbox.push.apple.com") == "sandbox")
        #expect(list("api.development.push.apple.com") == "sandbox")
        for host in ["api.push.apple.com", "api.sandbox.push.apple.com"] {
            #expect(list(host, "ca.pem").hasPrefix(host))
        }
    }

    @Test("each service has a simulator if it says so, and none stands in for another's")
    func simulators() {
        for service in PushServices.all {
            #expect((Simulators.named(service.name) != nil) == service.hasSimulator, "\(service.name)")
        }
        #expect(Simulators.all.allSatisfy { PushServices.named($0.service) != nil })
        var settings = RunSettings(pushType: .alert)
        (settings.firstService.serviceName, settings.firstService.environment) = ("other", .simulator)
        #expect {
            _ = try Gateway(settings, SendingContext(), now: .now())
        } throws: { ($0 as? Diagnostic)?.message.hasSuffix("has no simulator") == true }
    }

    @Test("requests of a broadcast know its channel")
    func channel() {
        var settings = RunSettings(pushType: .liveactivity)
        #expect(settings.options(startingAt: .now()).channel == nil)
        settings.channel = "abcd"
        #expect(settings.options(startingAt: .now()).channel == "abcd")
    }

    @Test("a broadcast that failed is retried to its channel")
    func retriedBroadcast() throws {
        let folder = try PlannedFolder()
        var settings = RunSettings(pushType: .liveactivity)
        settings.firstService.serviceName = try #require(PushServices.broadcasting?.ownAudience).service.name
        settings.channel = "abcd"
        let source = "name: c\napp: shop\naudience: {channel: abcd}\nactivity: {event: end}\n"
        let run = try folder.plan("a", devices: 0..<1, source: source, settings)
        try folder.begin(run)
        try run.append(.claimed(0..<1, at: .now()))
        let failed = Settlement(
            recipient: 0, outcome: .failed, status: 503, reason: "ServiceUnavailable", attempts: 1, settledAt: .now())
        try run.append(.settled([[failed]]))
        try run.append(.state(.finished, at: .now()))
        let retry = try #require(try RetryPlanner(run: run, outcomes: [.failed], now: .now()).plan())
        let kept = try retry.plan.settings.get()
        #expect(kept.channel == "abcd" && kept.service.name == settings.service.name && retry.plan.audience == 1)
    }

    @Test("an expiry counts from the start of sending, and becomes the deadline")
    func expiry() {
        let start = Timestamp(epochSeconds: 1_800_000_000)
        var after = RunSettings(pushType: .alert)
        #expect(after.expiration(startingAt: start) == nil)
        after.expiry = .after(seconds: 60)
        #expect(after.expiration(startingAt: start) == 1_800_000_060)
        #expect(after.deadline(startingAt: start) == Timestamp(epochSeconds: 1_800_000_060))
        var now = RunSettings(pushType: .alert)
        now.expiry = .immediately
        #expect(now.expiration(startingAt: start) == 0)
        #expect(now.deadline(startingAt: start) == nil)
    }
}
