import Base
import Reports
import Runs
import Testing

/// Text, JSON, CSV and page of one run say the same about it.
@Suite struct ReportAgreementTests {
    /// Languages, variants, a holdout, and every outcome in each of them; the last two hundred were
    /// never claimed.
    static func richRun(_ folder: TemporaryFolder, count: Int = 3000) throws -> RunFile {
        let languages = ["en", "de", "zh-Hans", "", "pt-BR", "ar"]
        let recipients = (0..<count).map { id in
            Recipient(
                token: Target(normalized: token(id)), registrationID: "r\(id)", alias: "a\(id)",
                language: languages[id * id % 7 % 6],
                variant: id % 3 == 0 ? "short" : "long")
        }
        let run = try makeRun(
            folder, skipped: [.notMatched: 4_123_456, .holdout: 330, .renderError: 801, .suppressed: 5], recipients)
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<count - 200, at: start))
        try run.append(.settled([(0..<count - 250).map(settlement)]))
        try run.append(
            .settled([[Settlement(recipient: count - 1, outcome: .unsent, reason: "Expired", settledAt: start)]]))
        return run
    }

    private static func settlement(_ id: Int) -> Settlement {
        func settled(_ outcome: Outcome, _ status: Int, _ reason: String, _ attempts: Int) -> Settlement {
            Settlement(
                recipient: id, outcome: outcome, status: status, reason: reason, attempts: attempts,
                latencyMilliseconds: status > 0 ? id * 7919 % 1300 : 0,
                settledAt: start.adding(seconds: Double(id) / 11))
        }
        return switch id % 50 {
        case 0: settled(.invalidToken, 410, "Unregistered", 1)
        case 1: settled(.invalidToken, 400, "BadDeviceToken", 2)
        case 2: settled(.rejected, 413, "PayloadTooLarge", 1)
        case 3: settled(.failed, 503, "ServiceUnavailable", 5)
        case 4: settled(.unknown, 0, "ConnectionLost", 2)
        case 5: settled(.unsent, 0, "Expired", 0)
        default: settled(.accepted, 200, "", id % 9 == 0 ? 3 : 1)
        }
    }

    @Test(
        "text, JSON, CSV and page agree in every figure",
        arguments: [RunState.running, .stopped, .cancelled, .finished])
    func agreement(state: RunState) throws {
        let folder = try TemporaryFolder()
        let run = try Self.richRun(folder)
        if state != .running {
            try run.append(.state(state, cause: .described("a reason"), at: start.adding(seconds: 300)))
        }
        try check(run)
    }

    @Test("a retry, its chain and the earlier runs of the campaign agree too")
    func chain() throws {
        let folder = try TemporaryFolder()
        let earlier = try makeRun(
            folder, id: "20261101-090000-spring-sale-0001", plannedAt: start.adding(seconds: -2_592_000), recipients(40)
        )
        try earlier.append(.state(.running, at: start.adding(seconds: -2_592_000)))
        try earlier.append(.state(.cancelled, at: start.adding(seconds: -2_592_000)))
        let run = try Self.richRun(folder)
        try run.append(.state(.finished, at: start.adding(seconds: 300)))
        _ = try makeRun(
            folder, id: "20261202-090000-spring-sale-0002", plannedAt: start.adding(seconds: 9), retryOf: run.plan.id,
            recipients(7))
        let json = try check(run)
        #expect(json["chain/20261202-090000-spring-sale-0002/audience"] == 7)
        #expect(json["earlier_runs/20261101-090000-spring-sale-0001/audience"] == 40)
    }

    @Test("after pruning text, JSON and page say what they said before, and the CSV says why it is gone")
    func pruned() throws {
        let folder = try TemporaryFolder()
        let run = try Self.richRun(folder)
        try run.append(.state(.cancelled, cause: .described("a reason"), at: start.adding(seconds: 300)))
        let before = try check(run)
        try run.prune(at: start.adding(seconds: 86_400))
        let pruned = try RunFile(path: run.path, readOnly: true)
        let report = try Report(pruned)
        #expect(figures(of: report.json) == before)
        #expect(report.json["pruned_at"] == .string("2026-12-02T09:00:00Z"))
        comparePage(ReportPage(report, madeBy: "Volley", madeAt: start).html.markup, before)
        compareText(report.text(width: 4000, colour: false), report.json)
        let error = #expect(throws: Diagnostic.self) { _ = try csv(pruned) }
        #expect(error?.message.contains("recipients were pruned at 2026-12-02") ?? false)
    }

    @Test("two runs are compared figure by figure, and in words")
    func comparison() throws {
        let folder = try TemporaryFolder()
        let first = try makeRun(
            folder, id: "20261101-090000-spring-sale-0001", plannedAt: start.adding(seconds: -2_592_000),
            recipients(2000))
        try first.append(.state(.running, at: start))
        try first.append(.claimed(0..<2000, at: start))
        try first.append(
            .settled([
                (0..<2000).map {
                    Settlement(
                        recipient: $0, outcome: $0 < 20 ? .failed : .accepted, status: $0 < 20 ? 503 : 200,
                        reason: $0 < 20 ? "ServiceUnavailable" : "", attempts: 1, latencyMilliseconds: 40,
                        settledAt: start)
                }
            ]))
        try first.append(.state(.finished, at: start.adding(seconds: 120)))
        let second = try Self.richRun(folder)
        try second.append(.state(.finished, at: start.adding(seconds: 300)))
        let comparison = try ReportComparison(before: Report(first), after: Report(second))
        let differences = try #require(comparison.json["differences"])
        let (before, after) = try (figures(of: Report(first).json), figures(of: Report(second).json))
        for (path, number) in figures(of: differences) {
            let parts = path.split(separator: "/").map(String.init)
            let figure = parts.dropLast().joined(separator: "/")
            switch parts.last {
            case "before": #expect(number == before[figure, default: 0], "\(figure)")
            case "after": #expect(number == after[figure, default: 0], "\(figure)")
            default: #expect(number == after[figure, default: 0] - before[figure, default: 0], "\(figure)")
            }
        }
        #expect(comparison.json["before"] == (try Report(first).json))
        let text = comparison.text(width: 100, colour: false)
        expectSnapshot(text, "comparison")
        let table = comparison.html.markup
        for title in [
            "Pushes sent", "Pushes a second, on average", "Pushes in the busiest second",
            "Milliseconds until half of the answers had come",
            "Milliseconds until 90 % of the answers had come",
        ] { #expect(table.contains("dir=\"auto\">\(title)</th>"), "\(title)") }
        let page = comparison.page(madeBy: "Volley", madeAt: start).markup
        let shown = figures(ofPage: page)
        #expect(shown.count > 40)
        for figure in shown {
            let path = figure.path.split(separator: "/").map(String.init)
            #expect(
                figure.value
                    == (path[0] == "before" ? before : after)[path.dropFirst().joined(separator: "/"), default: 0])
        }
        #expect(unbalancedElements(page).isEmpty)
    }

    @Test(
        "a reason for skipping rows is named in a comparison when it has become frequent, and when it has become rare")
    func skippedRows() throws {
        let folder = try TemporaryFolder()
        let reports = try [(1, 10), (2, 40)].map { number, skipped in
            let run = try makeRun(
                folder, id: "20261101-090000-spring-sale-000\(number)", skipped: [.badToken: skipped],
                recipients(100 - skipped))
            try run.append(.state(.running, at: start))
            return try Report(run)
        }
        func text(_ before: Report, _ after: Report) -> String {
            ReportComparison(before: before, after: after).text(width: 4000, colour: false)
        }
        let words = "of the rows were skipped as bad_token, instead of"
        #expect(text(reports[0], reports[1]).contains("40.0 % \(words) 10.0 %."))
        #expect(text(reports[1], reports[0]).contains("10.0 % \(words) 40.0 %."))
    }

    @discardableResult
    private func check(_ run: RunFile) throws -> [String: Int] {
        let report = try Report(run, chain: RunChain(of: run), earlier: run.earlierRuns())
        let json = figures(of: report.json)
        comparePage(ReportPage(report, madeBy: "Volley", madeAt: start).html.markup, json)
        compareText(report.text(width: 4000, colour: false), report.json)
        compareCSV(parseCSV(try csv(run)), json)
        return json
    }

    private func comparePage(_ page: String, _ json: [String: Int]) {
        let shown = figures(ofPage: page)
        #expect(shown.count > 60)
        for figure in shown {
            #expect(figure.value == json[figure.path], "\(figure.path)")
            #expect(figure.text.isEmpty || figure.text == figure.value.map(TextFormat.count), "\(figure.path)")
        }
        let missing = Set(json.filter { $0.value != 0 }.keys).subtracting(shown.map(\.path)).subtracting([
            "timeline/seconds_per_step"
        ])
        #expect(missing.isEmpty, "\(missing.sorted())")
        #expect(unbalancedElements(page).isEmpty)
    }

    private func compareText(_ text: String, _ json: JSONValue) {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        for section in ["skipped", "outcomes", "reasons"] {
            guard case .object(let members)? = json[section] else { continue }
            for member in members {
                let number = TextFormat.count(Int(member.value.integerValue ?? -1))
                #expect(
                    lines.contains { $0.first == member.name && $0.dropFirst().first == number },
                    "\(section) \(member.name) \(number)")
            }
        }
        for section in ["languages", "variants"] {
            guard case .object(let groups)? = json[section] else { continue }
            for group in groups {
                let words =
                    lines.first { $0.first == group.name && $0.dropFirst(2).first?.hasPrefix("device") ?? false } ?? []
                #expect(
                    words.dropFirst().first == TextFormat.count(Int(group.value["audience"]?.integerValue ?? -1)),
                    "\(group.name)")
                for outcome in Outcome.allCases {
                    let count = Int(group.value[outcome.name]?.integerValue ?? 0)
                    let place = words.firstIndex { $0.trimmed == outcome.name }
                    #expect(
                        place.map { words[$0 - 1] } == (count == 0 ? nil : TextFormat.count(count)),
                        "\(group.name) \(outcome)")
                }
            }
        }
        #expect(
            lines.contains {
                $0.starts(with: ["Pushes", "sent"])
                    && $0[2].trimmed == TextFormat.count(Int(json["attempts"]?.integerValue ?? -1))
            })
        for percentile in ["p50", "p90", "p99", "max"] {
            let number = TextFormat.count(Int(json["latency_ms"]?[percentile]?.integerValue ?? -1))
            #expect(lines.contains { $0.first == "Latency" && $0.contains { $0.trimmed == number } }, "\(percentile)")
        }
    }

    private func compareCSV(_ rows: [[String]], _ json: [String: Int]) {
        var counted: [String: Int] = [:]
        var latencies: [Int] = []
        for row in rows.dropFirst() {
            let (language, variant, outcome) = (row[3].isEmpty ? "unknown" : row[3], row[4], row[5])
            for path in [
                "audience", "outcomes/\(outcome)", "languages/\(language)/\(outcome)", "languages/\(language)/audience",
            ] {
                counted[path, default: 0] += 1
            }
            for path in [
                "variants/\(variant)/\(outcome)", "variants/\(variant)/audience",
                "languages_of_variants/\(variant)/\(language)/\(outcome)",
                "languages_of_variants/\(variant)/\(language)/audience",
            ] { counted[path, default: 0] += 1 }
            if !row[7].isEmpty { counted["reasons/\(row[7])", default: 0] += 1 }
            let attempts = Int(row[8]) ?? 0
            counted["attempts", default: 0] += attempts
            if attempts > 0 { counted["attempts_by_count/\(attempts)", default: 0] += 1 }
            guard let latency = Int(row[10]) else { continue }
            latencies.append(latency)
            counted[
                "latency_histogram/\(LatencyFigures.steps.first { latency <= $0 }.map(String.init) ?? "longer")",
                default: 0] += 1
        }
        latencies.sort()
        for (name, percent) in [("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)] {
            counted["latency_ms/\(name)"] = latencies[(latencies.count * percent + 99) / 100 - 1]
        }
        let expected = json.filter { path, number in
            let section = path.prefix { $0 != "/" }
            return number != 0 && !["skipped", "rate", "timeline", "rows", "chain", "earlier_runs"].contains(section)
        }
        #expect(counted == expected)
    }
}

extension String {
    /// Without the comma, semicolon or colon at the end.
    fileprivate var trimmed: String { last.map { ",;:".contains($0) } ?? false ? String(dropLast()) : self }
}
