import Base
import Testing

@Suite struct VocabularyTests {
    @Test("a pace is written as in a campaign, and the slower of two counts")
    func pace() {
        let second = Pace(pushes: 5000, intervalSeconds: 1), minute = Pace(pushes: 60_000, intervalSeconds: 60),
            hour = Pace(pushes: 100, intervalSeconds: 3600)
        #expect([second, minute, hour].map(\.description) == ["5000/s", "60000/min", "100/h"])
        #expect(minute.perSecond == 1000)
        #expect(Pace.slower(second, minute) == minute)
        #expect(Pace.slower(minute, second) == minute)
        #expect(Pace.slower(nil, hour) == hour)
        #expect(Pace.slower(hour, nil) == hour)
        #expect(Pace.slower(nil, nil) == nil)
        #expect(
            Pace.slower(Pace(pushes: 60, intervalSeconds: 60), Pace(pushes: 1, intervalSeconds: 1))?.intervalSeconds
                == 60)
    }

    @Test("the words that scripts rely on stay as they are")
    func words() {
        #expect(
            Outcome.allCases.map(\.name) == ["accepted", "invalid_token", "rejected", "failed", "unknown", "unsent"])
        #expect(Outcome.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect(
            SkipReason.allCases.map(\.rawValue) == [
                "bad_row", "not_matched", "filtered", "excluded", "missing_token", "bad_token", "no_service",
                "suppressed",
                "duplicate_token",
                "alias_limit", "frequency", "holdout",
                "render_error", "payload_too_large",
            ])
        #expect(
            ExportColumns.Standard.allCases.map(\.rawValue) == [
                "token", "registration_id", "alias", "tags", "language", "timezone", "last_active", "registered_at",
            ])
    }

    @Test("a column is looked for under the name that volley.yaml gives, the token under two without one")
    func columns() {
        let name = SourceText("push_token", at: SourcePosition(file: "volley.yaml", line: 1, column: 1))
        #expect(ExportColumns().candidates(for: .token) == ["token", "device_token"])
        #expect(ExportColumns().candidates(for: .lastActive) == ["last_active"])
        #expect(ExportColumns(names: [.token: name]).candidates(for: .token) == ["push_token"])
    }
}
