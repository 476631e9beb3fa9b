import Base
import Reports
import Runs
import Testing

@Suite struct ReportJSONTests {
    @Test("a finished run has every field, in the contract's order")
    func finished() throws {
        let folder = try TemporaryFolder()
        #expect(
            try Report(mixedRun(folder), isSummary: true).json.text == """
                {"run":"20261201-090000-spring-sale-7f3a","campaign":"spring-sale","app":"shop","state":"finished",\
                "audience":600,"skipped":{"not_matched":4123456,"duplicate_token":12,"alias_limit":3,"render_error":801},\
                "outcomes":{"accepted":531,"invalid_token":20,"rejected":1,"failed":5,"unknown":13,"unsent":30},\
                "reasons":{"Stopped":29,"Unregistered":14,"ProcessEnded":10,"BadDeviceToken":6,"ServiceUnavailable":5,"ConnectionLost":3,"Expired":1,"Teapot\\u001b[31m\u{202E}":1},\
                "attempts":583,"started_at":"2026-12-01T09:00:00Z","finished_at":"2026-12-01T09:03:41Z",\
                "rate":{"mean_per_second":3,"peak_per_second":4},"latency_ms":{"p50":160,"p90":272,"p99":314,"max":319},\
                "planned_at":"2026-12-01T08:59:12Z","rows":4124872}
                """)
    }

    @Test("what is not there yet is null, and the shape stays")
    func planned() throws {
        let folder = try TemporaryFolder()
        #expect(
            try Report(makeRun(folder, recipients(3)), isSummary: true).json.text == """
                {"run":"20261201-090000-spring-sale-7f3a","campaign":"spring-sale","app":"shop","state":"planned","audience":3,"skipped":{},\
                "outcomes":{"accepted":0,"invalid_token":0,"rejected":0,"failed":0,"unknown":0,"unsent":3},"reasons":{},"attempts":0,\
                "started_at":null,"finished_at":null,"rate":{"mean_per_second":null,"peak_per_second":null},\
                "latency_ms":{"p50":null,"p90":null,"p99":null,"max":null},"planned_at":"2026-12-01T08:59:12Z","rows":3}
                """)
    }

    @Test("a run that stopped early says why, and only such a run")
    func stoppedBecause() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(1))
        try run.append(.state(.running, at: start))
        #expect(try Report(run).json["stopped_because"] == nil)
        try run.append(.state(.stopped, cause: .described("Too many tokens were dead."), at: start))
        #expect(try Report(run).json["stopped_because"] == .string("Too many tokens were dead."))
    }

    @Test("a run that ended before it began, as the clock was set back, has no rate, and says why")
    func clockSetBack() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(4))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<4, at: start))
        try run.append(
            .settled([
                (0..<4).map {
                    Settlement(recipient: $0, outcome: .accepted, status: 200, attempts: 1, settledAt: start)
                }
            ]))
        try run.append(.state(.finished, at: start.adding(seconds: -3600)))
        let report = try Report(run)
        #expect(report.json["rate"]?.text == #"{"mean_per_second":null,"peak_per_second":4}"#)
        let text = report.text(width: 100, colour: false)
        #expect(text.contains("08:00:00 UTC; the clock was set back meanwhile"), "\(text)")
    }

    @Test("a run that took no time has a rate all the same")
    func noTime() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(4))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<4, at: start))
        try run.append(
            .settled([
                (0..<4).map {
                    Settlement(recipient: $0, outcome: .accepted, status: 200, attempts: 1, settledAt: start)
                }
            ]))
        try run.append(.state(.finished, at: start))
        #expect(try Report(run).json["rate"]?["mean_per_second"] == .integer(4000))
    }

    @Test("outcomes add up to the audience in every state", arguments: RunState.allCases)
    func sums(state: RunState) throws {
        let folder = try TemporaryFolder()
        let run = try mixedRun(folder, ending: state)
        guard case .object(let outcomes)? = try Report(run).json["outcomes"] else { throw Diagnostic("no outcomes") }
        #expect(outcomes.compactMap(\.value.integerValue).reduce(0, +) == 600)
        #expect(outcomes.map(\.name) == Outcome.allCases.map(\.name))
    }

    @Test(
        "a run is clean until someone was rejected, failed, is unknown, or was never sent to",
        arguments: Outcome.allCases)
    func clean(outcome: Outcome) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(2))
        try run.append(.claimed(0..<2, at: start))
        try run.append(
            .settled([
                [
                    Settlement(recipient: 0, outcome: .accepted, status: 200, attempts: 1, settledAt: start),
                    Settlement(recipient: 1, outcome: outcome, settledAt: start),
                ]
            ]))
        #expect(try Report(run).isClean == ![.rejected, .failed, .unknown, .unsent].contains(outcome))
    }

    @Test(
        "who is left out because of frequency is left out on purpose; what expired or came too late is missed",
        arguments: ["FrequencyCap", "Expired", "TooLate"])
    func missed(reason: String) throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(2))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<2, at: start))
        try run.append(
            .settled([
                [
                    Settlement(recipient: 0, outcome: .accepted, status: 200, attempts: 1, settledAt: start),
                    Settlement(recipient: 1, outcome: .unsent, reason: reason, settledAt: start),
                ]
            ]))
        try run.append(.state(.finished, at: start))
        #expect(try Report(run).isClean == (reason == "FrequencyCap"))
    }

    @Test("text, JSON and CSV agree in every figure")
    func agreement() throws {
        let folder = try TemporaryFolder()
        let run = try mixedRun(folder)
        let report = try Report(run)
        let rows = parseCSV(try csv(run)).dropFirst()
        let text = report.text(width: 100, colour: false)
        #expect(report.json["audience"] == .integer(Int64(rows.count)))
        #expect(report.json["attempts"] == .integer(Int64(rows.compactMap { Int($0[8]) }.reduce(0, +))))
        for outcome in Outcome.allCases {
            let count = rows.count { $0[5] == outcome.name }
            #expect(report.json["outcomes"]?[outcome.name] == .integer(Int64(count)))
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("  \(outcome.name) ") })
            #expect(line.replacing(",", with: "").split(separator: " ")[1] == "\(count)")
        }
        guard case .object(let reasons)? = report.json["reasons"] else { throw Diagnostic("no reasons") }
        // A CSV shows control characters as escapes.
        func cell(_ text: String) throws -> String {
            var bytes: [UInt8] = []
            CSVCell.append(text, to: &bytes)
            return try #require(parseCSV(bytes + Array("\n".utf8)).first?.first)
        }
        for reason in reasons {
            let name = try cell(reason.name)
            #expect(reason.value.integerValue == Int64(rows.count { $0[7] == name }))
        }
        #expect(reasons.compactMap(\.value.integerValue).reduce(0, +) == Int64(rows.count { !$0[7].isEmpty }))
        let latencies = rows.compactMap { Int($0[10]) }.sorted()
        #expect(report.json["latency_ms"]?["max"] == latencies.last.map { .integer(Int64($0)) })
        #expect(report.json["latency_ms"]?["p90"] == .integer(Int64(latencies[(latencies.count * 90 + 99) / 100 - 1])))
    }
}
