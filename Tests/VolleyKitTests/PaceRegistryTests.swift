import Base
import Campaigns
import Delivery
import Testing

@testable import VolleyKit

@Suite("paces of apps")
struct PaceRegistryTests {
    private func settings(_ environment: String = "sandbox", pace: Int?) throws -> RunSettings {
        var settings = try RunSettings(
            json: .object(pairs: [
                ("environment", .string(environment)), ("topic", .string("com.example.shop")), ("push_type", .string("alert")),
                ("priority", .integer(10)), ("unknown", .string("resend")),
            ]), runFile: "x.sqlite")
        settings.appPace = pace.map { Pace(pushes: $0, intervalSeconds: 1) }
        return settings
    }

    @Test("all runs of an app have one, those of other apps and environments another")
    func sharing() throws {
        let paces = PaceRegistry()
        let first = try #require(paces.shared(byRunsOf: "shop", try settings(pace: 100)))
        #expect(first.pace == Pace(pushes: 100, intervalSeconds: 1))
        #expect(paces.shared(byRunsOf: "shop", try settings(pace: 100)) === first)
        #expect(paces.shared(byRunsOf: "news", try settings(pace: 100)) !== first)
        #expect(paces.shared(byRunsOf: "shop", try settings("production", pace: 100)) !== first)
        #expect(paces.shared(byRunsOf: "shop", try settings(pace: nil)) == nil)
    }
}
