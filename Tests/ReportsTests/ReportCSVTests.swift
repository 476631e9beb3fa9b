import Base
import Reports
import Runs
import Testing

@Suite struct ReportCSVTests {
    @Test("the header is the contract's, and every kind of line is whole")
    func lines() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(4))
        try run.append(.claimed(0..<3, at: start))
        try run.append(
            .settled([
                [
                    Settlement(
                        recipient: 0, outcome: .accepted, status: 200, attempts: 1, latencyMilliseconds: 31,
                        settledAt: start),
                    Settlement(recipient: 1, outcome: .unsent, reason: "Expired", settledAt: start.adding(seconds: 61)),
                ]
            ]))
        let ids = (0..<4).map { PushID(runSeed: run.plan.seed, recipient: $0).description }
        #expect(
            String(decoding: try csv(run), as: UTF8.self) == """
                device_token,registration_id,alias,language,variant,outcome,status,reason,attempts,apns_id,latency_ms,settled_at
                \(token(0)),r0,a0,en,,accepted,200,,1,\(ids[0]),31,2026-12-01T09:00:00Z
                \(token(1)),r1,a1,en,,unsent,,Expired,0,,,2026-12-01T09:01:01Z
                \(token(2)),r2,a2,en,,unknown,,,,\(ids[2]),,
                \(token(3)),r3,a3,en,,unsent,,,0,,,

                """)
    }

    @Test("quotes, commas, line breaks and Unicode survive; formulas do not")
    func cells() throws {
        let cells = [
            "plain", "a,b", "say \"hi\"", "two\nlines", "carriage\rreturn", "日本 ü 🎉", "", " lead", "\"", "=1+1",
            "+49 30", "-1", "@SUM(A1)",
            "\tx", "\rx", "=cmd|' /C calc'!A0,\"x\"", "a=b", "'quoted",
        ]
        let expected = cells.map { ["=", "+", "-", "@", "\t", "\r"].contains(String($0.prefix(1))) ? "'" + $0 : $0 }
        let folder = try TemporaryFolder()
        let run = try makeRun(
            folder,
            cells.enumerated().map {
                Recipient(
                    token: Target(normalized: token($0.offset)), registrationID: $0.element, alias: $0.element,
                    language: $0.element)
            })
        try run.append(.claimed(0..<cells.count, at: start))
        try run.append(
            .settled([
                cells.enumerated().map {
                    Settlement(
                        recipient: $0.offset, outcome: .rejected, status: 400, reason: $0.element, attempts: 1,
                        settledAt: start)
                }
            ]))
        let rows = parseCSV(try csv(run)).dropFirst()
        #expect(rows.allSatisfy { $0.count == 12 })
        for column in [1, 2, 3, 7] { #expect(rows.map { $0[column] } == expected) }
    }

    @Test("chunks are bounded, whole and in order")
    func chunks() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(2500))
        var chunks: [Int] = []
        var bytes: [UInt8] = []
        try ReportCSV.write(run) {
            chunks.append($0.count)
            bytes += $0
        }
        #expect(chunks.count > 2)
        #expect(chunks.dropLast().allSatisfy { (65_536..<66_600).contains($0) })
        let rows = parseCSV(bytes)
        #expect(rows.count == 2501)
        #expect(rows.dropFirst().enumerated().allSatisfy { $0.element[0] == token($0.offset) })
    }

    @Test("a run without anyone has a header")
    func empty() throws {
        let folder = try TemporaryFolder()
        #expect(parseCSV(try csv(makeRun(folder, []))).count == 1)
    }

    @Test("an error of the one who writes ends the report")
    func writeError() throws {
        struct Full: Error {}
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(1000))
        #expect(throws: Full.self) { try ReportCSV.write(run) { _ in throw Full() } }
    }

    @Test("a filter for the language unknown takes the devices that have none")
    func unknownLanguage() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(
            folder, ["", "de"].enumerated().map { Recipient(token: Target(normalized: token($0)), language: $1) })
        var filter = ReportCSV.Filter()
        filter.language = "unknown"
        #expect(parseCSV(try csv(run, filter)).dropFirst().map { $0[3] } == [""])
    }

    @Test("a filter takes the lines of all that fit in every respect, as they stand among all others")
    func filters() throws {
        let folder = try TemporaryFolder()
        let run = try ReportAgreementTests.richRun(folder)
        let all = parseCSV(try csv(run)).dropFirst()
        func filter(_ outcomes: Set<Outcome>?, _ language: String?, _ variant: String?) -> ReportCSV.Filter {
            var filter = ReportCSV.Filter()
            (filter.outcomes, filter.language, filter.variant) = (outcomes, language, variant)
            return filter
        }
        let cases: [(ReportCSV.Filter, ([String]) -> Bool)] = [
            (filter([.invalidToken, .unsent], nil, nil), { ["invalid_token", "unsent"].contains($0[5]) }),
            (filter(nil, "zh-Hans", nil), { $0[3] == "zh-Hans" }),
            (filter([.unknown], "de", "short"), { $0[5] == "unknown" && $0[3] == "de" && $0[4] == "short" }),
            (filter(nil, "xx", nil), { _ in false }),
        ]
        for (filter, holds) in cases {
            let rows = parseCSV(try csv(run, filter))
            #expect(rows.first?.count == 12)
            #expect(Array(rows.dropFirst()) == all.filter(holds))
        }
        #expect(all.contains { $0[5] == "unknown" && $0[3] == "de" && $0[4] == "short" })
    }
}
