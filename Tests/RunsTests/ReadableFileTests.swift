import Base
import Runs
import Testing

/// The run file as anyone reads it with `sqlite3 FILE`.
@Suite(.enabled(if: hasSQLiteTool, "needs the sqlite3 tool")) struct ReadableFileTests {
    @Test("the view says in words what became of everyone")
    func view() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 5)
        try run.append(.claimed(0..<2, at: noon))
        try run.append(.claimed(2..<4, at: noon))
        try run.append(
            .settled([
                [
                    settled(0, at: Timestamp(epochMilliseconds: 1_796_126_400_123)),
                    Settlement(
                        recipient: 2, outcome: .invalidToken, status: 410, reason: "Unregistered", attempts: 2,
                        latencyMilliseconds: 45,
                        settledAt: noon, invalidSince: Timestamp(epochSeconds: 1_796_000_000)),
                    settled(3, .unknown, status: 0, reason: "ConnectionLost", latency: 0),
                ]
            ]))
        let rows = query(
            run.path,
            "SELECT id, outcome, status, reason, attempts, latency_ms, settled_at, invalid_since FROM result ORDER BY id"
        )
        #expect(
            rows == """
                0|accepted|200||1|30|2026-12-01T12:00:00.123Z|
                1|unknown|||0|||
                2|invalid_token|410|Unregistered|2|45|2026-12-01T12:00:00.000Z|2026-11-30T00:53:20.000Z
                3|unknown||ConnectionLost|1||2026-12-01T12:00:00.000Z|
                4|unsent|||0|||
                """)
        #expect(query(run.path, "SELECT device_token || alias FROM result WHERE id = 4") == token(4) + "user4")
        #expect(query(run.path, "SELECT id, campaign, state, audience FROM run") == "run|spring-sale|planned|5")
        #expect(
            query(run.path, "SELECT group_concat(name) FROM outcome_name")
                == "accepted,invalid_token,rejected,failed,unknown,unsent")
        #expect(query(run.path, "PRAGMA integrity_check") == "ok")
    }

    @Test("the view and the figures agree")
    func agreement() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 40)
        try run.append(.claimed(0..<30, at: noon))
        try run.append(.settled([(0..<20).map { settled($0, Outcome.allCases[$0 % 5], status: 200 + $0) }]))
        let figures = try run.figures()
        for outcome in Outcome.allCases {
            #expect(
                query(run.path, "SELECT count(*) FROM result WHERE outcome = '\(outcome)'")
                    == "\(figures.outcomes[outcome] ?? -1)")
        }
    }

    @Test("a token stands in the table of recipients and nowhere else")
    func tokens() throws {
        let folder = try TemporaryFolder()
        // Tokens of zeros would be found in any empty space.
        let tokens = (0..<20).map { String(repeating: "5eed\($0 + 10)", count: 11).prefix(64) }
        let writer = try RunWriter(folder: folder.path, id: "run")
        for (id, token) in tokens.enumerated() {
            var one = recipient(id)
            one.token = Target(normalized: String(token))
            try writer.put(one, at: id)
        }
        let run = try writer.finish(plan("run", audience: 20))
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<20, at: noon))
        try run.append(.settled([(0..<10).map { settled($0, .rejected, status: 400, reason: "BadTopic") }]))
        try run.append(.state(.stopped, cause: .described("the topic is wrong"), at: noon))
        let dump = shell("sqlite3 '\(run.path)' .dump").split(separator: "\n")
        let tables = Set(
            dump.filter { line in tokens.contains { line.contains($0) } }.compactMap {
                $0.split(separator: " ").dropFirst(2).first
            })
        #expect(tables == ["recipient"])
    }
}
