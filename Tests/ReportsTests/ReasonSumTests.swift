import Base
import PushServices
import Runs
import Testing

@testable import Reports

/// The reasons of a report add up to the outcomes of all recipients that were not accepted, however
/// far the run came.
@Suite struct ReasonSumTests {
    /// The required end of a run.
    enum End: CaseIterable { case running, paused, stopped, interrupted, cancelled, finished, killed }

    private func end(_ run: RunFile, _ end: End) throws {
        let later = start.adding(seconds: 300)
        switch end {
        case .running: break
        case .paused: try run.append(.state(.paused, at: later))
        case .stopped: try run.append(.state(.stopped, cause: .described("a reason"), at: later))
        case .interrupted: try run.append(.state(.stopped, cause: .interrupted, at: later))
        case .cancelled: try run.append(.state(.cancelled, cause: .cancelled, at: later))
        case .finished: try run.append(.state(.finished, at: later))
        case .killed: run.unlock()
        }
    }

    /// The sum of numbers below a path of a report in JSON, without those of accepted pushes.
    private func sum(_ json: JSONValue?) -> Int64 {
        guard case .object(let members)? = json else { return -1 }
        return members.filter { $0.name != "accepted" }.reduce(0) { $0 + ($1.value.integerValue ?? 0) }
    }

    private func check(_ run: RunFile) throws {
        let report = try Report(run)
        let json = report.json
        #expect(sum(json["reasons"]) == sum(json["outcomes"]), "\(json["reasons"]?.text ?? "")")
        for service in report.services {
            let told = service.reasons.reduce(0) { $0 + $1.recipients }
            #expect(told == service.audience - service.count(.accepted), "\(service.name)")
        }
        let rows = parseCSV(try csv(run)).dropFirst()
        #expect(rows.allSatisfy { ($0[5] == "accepted") == $0[7].isEmpty })
        let counted = Dictionary(grouping: rows.map { $0[7] }.filter { !$0.isEmpty }) { $0 }.mapValues(\.count)
        #expect(counted == report.reasonCounts)
        let shown = figures(ofPage: ReportPage(report, madeBy: "Volley", madeAt: start).html.markup)
        for (reason, count) in counted {
            #expect(shown.contains { $0.path == "reasons/\(reason)" && $0.value == count }, "\(reason)")
        }
    }

    @Test("of a run through one service", arguments: End.allCases)
    func one(how: End) throws {
        let folder = try TemporaryFolder()
        let run = try ReportAgreementTests.richRun(folder)
        try end(run, how)
        try check(run)
    }

    @Test("of a run through two services, of which one stopped or was sent to until its end", arguments: End.allCases)
    func two(how: End) throws {
        let folder = try TemporaryFolder()
        let run = try ServiceReportTests.run(folder)
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<61, at: start))
        try run.append(.settled([(0..<60).filter { $0 != 7 }.map { ServiceReportTests.settled($0, .accepted, 200) }]))
        let stop = StopCause.service(FCM().name, .refused(reason: "UNAUTHENTICATED", status: 401, clockLagSeconds: nil))
        try run.append(.segment(run.plan.segments[1], SegmentState(cause: stop)))
        try end(run, how)
        try check(run)
        guard how == .stopped else { return }
        let partial = PartialStop(
            stopped: [.init(service: FCM().name, cause: stop)], finished: [PushServices.standard.name])
        try run.append(.state(.stopped, cause: .services(partial), at: start))
        try check(run)
    }

    @Test(
        "devices that a killed process left may have been sent to: report, CSV and page say so, and not that their turn had not come"
    )
    func killed() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(6))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<4, at: start))
        try run.append(
            .settled([[Settlement(recipient: 0, outcome: .accepted, status: 200, attempts: 1, settledAt: start)]]))
        run.unlock()
        func check(unclaimed: String) throws {
            let text = try Report(run).text(width: 4000, colour: false)
            let told = text.contains(
                /ProcessEnded +3 [^\n]*\n +They may have been sent: the process ended before an answer came\./)
            #expect(told, "\(text)")
            let rows = parseCSV(try csv(run)).dropFirst()
            #expect(rows.map { $0[5] } == ["accepted", "unknown", "unknown", "unknown", "unsent", "unsent"])
            #expect(rows.map { $0[7] } == ["", "ProcessEnded", "ProcessEnded", "ProcessEnded", unclaimed, unclaimed])
            // The number of attempts is not known, and their ids help to find out.
            #expect(rows.map { $0[8] } == ["1", "", "", "", "0", "0"])
            #expect(rows.map { $0[9].isEmpty } == [false, false, false, false, true, true])
            let page = ReportPage(try Report(run), madeBy: "Volley", madeAt: start).html.markup
            #expect(page.contains("They may have been sent: the process ended before an answer came."))
        }
        try check(unclaimed: "Stopped")
        try run.lockForSending()
        #expect(try run.append(.lost(at: start)).count == 3)
        try run.append(.state(.stopped, cause: .interrupted, at: start))
        try check(unclaimed: "Interrupted")
    }

    @Test(
        "devices that were given back before a run was cancelled are unsent because it was cancelled, in every form of its report"
    )
    func givenBack() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(5))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<4, at: start))
        let settled = [("", Outcome.accepted), ("Paused", .unsent), ("QuietHours", .unsent), ("FrequencyCap", .unsent)]
            .enumerated().map {
                Settlement(recipient: $0, outcome: $1.1, status: 0, reason: $1.0, attempts: 1, settledAt: start)
            }
        try run.append(.settled([settled]))
        try run.append(.state(.cancelled, cause: .cancelled, at: start))
        #expect(try Report(run).reasonCounts == ["Cancelled": 3, "FrequencyCap": 1])
        try check(run)
    }

    @Test("a plan has no reasons yet, and one that was cancelled has been cancelled for all")
    func planned() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(3))
        #expect(try Report(run).reasons.isEmpty)
        try run.append(.state(.cancelled, cause: .cancelled, at: start))
        #expect(try Report(run).reasonCounts == ["Cancelled": 3])
        try check(run)
    }

    @Test("a pruned run says what it said before")
    func pruned() throws {
        let folder = try TemporaryFolder()
        let run = try ReportAgreementTests.richRun(folder)
        try run.append(.state(.stopped, cause: .described("a reason"), at: start))
        let before = try Report(run).reasonCounts
        #expect(before["Stopped"] == 199 && before["ProcessEnded"] == 50)
        try run.prune(at: start)
        #expect(try Report(RunFile(path: run.path, readOnly: true)).reasonCounts == before)
    }
}
