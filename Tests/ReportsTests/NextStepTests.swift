import Base
import Runs
import Scheduling
import Testing

@testable import Reports

/// What the text of a report says first: result, next step, where the run went, what was sent.
@Suite struct NextStepTests {
    /// A run with these numbers of recipients by outcome, in a state.
    private func run(
        _ folder: TemporaryFolder, _ outcomes: [Outcome: Int], _ state: RunState = .finished, reason: String = "", isTest: Bool = false,
        settings: RunSettings = settings(), preview: JSONValue = .null
    ) throws -> SQLiteRun {
        let list = Outcome.allCases.flatMap { [Outcome](repeating: $0, count: outcomes[$0, default: 0]) }
        let run = try makeRun(folder, isTest: isTest, preview: preview, settings: settings, recipients(list.count))
        guard state != .planned else { return run }
        try run.setState(.running, at: start)
        try run.claim(0..<list.count, at: start)
        let reasons: [Outcome: String] = [
            .invalidToken: "Unregistered", .rejected: "PayloadEmpty", .failed: "ServiceUnavailable", .unsent: "Expired",
        ]
        try run.record(
            list.enumerated().map {
                Settlement(
                    recipient: $0.offset, outcome: $0.element, status: $0.element == .accepted ? 200 : 0, reason: reasons[$0.element] ?? "",
                    attempts: 1, settledAt: start)
            })
        if state != .running { try run.setState(state, cause: reason.isEmpty ? nil : .described(reason), at: start.adding(seconds: 60)) }
        return run
    }

    private let id = "20261201-090000-spring-sale-7f3a"

    private func commands(
        _ outcomes: [Outcome: Int], _ state: RunState = .finished, isTest: Bool = false, settings: RunSettings = settings()
    )
        throws
        -> [String?]
    {
        let folder = try TemporaryFolder()
        return try Report(run(folder, outcomes, state, isTest: isTest, settings: settings)).nextSteps.map(\.command)
    }

    @Test("a run that went well, or lost only devices without the app, leaves nothing to do")
    func nothing() throws {
        #expect(try commands([.accepted: 20]).isEmpty)
        #expect(try commands([.accepted: 200, .invalidToken: 2]).isEmpty)
        #expect(try commands([:]).isEmpty)
    }

    @Test("what is left to do comes with its command, what concerns most devices first")
    func largestFirst() throws {
        #expect(try commands([.accepted: 20, .failed: 3]) == ["volley retry \(id) --outcome failed"])
        #expect(try commands([.accepted: 20, .unknown: 3]) == ["volley retry \(id) --outcome unknown"])
        #expect(
            try commands([.accepted: 50, .failed: 3, .unknown: 1, .unsent: 9, .rejected: 6])
                == ["volley retry \(id) --outcome unsent", nil, "volley retry \(id) --outcome failed"])
    }

    @Test("whoever gave no answer is not sent to again without being told that it may be twice")
    func unknown() throws {
        let folder = try TemporaryFolder()
        let step = try #require(try Report(run(folder, [.accepted: 20, .unknown: 3])).nextSteps.first)
        #expect(step.words == "3 devices gave no answer and may have got it; if twice is better than never:")
    }

    @Test("a run that is not over is gone on with, and a plan is sent, approved or waits for its time")
    func unfinished() throws {
        #expect(try commands([.accepted: 20, .unsent: 9], .stopped) == ["volley resume \(id)"])
        #expect(try commands([.accepted: 20, .unsent: 9], .paused) == ["volley resume \(id)"])
        #expect(try commands([.accepted: 20, .unsent: 9], .cancelled) == ["volley resume \(id)"])
        #expect(try commands([.accepted: 20], .running) == ["volley report \(id)"])
        #expect(try commands([.unsent: 20], .planned) == ["volley send --plan \(id)"])
        let approval = settings { $0.needsApproval = true }
        #expect(try commands([.unsent: 20], .planned, settings: approval) == ["volley approve \(id) --by NAME"])
        let schedule = settings {
            $0.schedule = FrozenSchedule(Schedule(zone: .named(.utc)), nil)
            $0.schedule?.occurrence = LocalTime("2026-12-01 09:00")
        }
        #expect(try commands([.unsent: 20], .planned, settings: schedule) == [nil])
        #expect(try commands([.accepted: 2], isTest: true) == ["volley send spring.yaml"])
    }

    @Test("the first screen says what came of it, what to do, where it went and what was sent")
    func firstScreen() throws {
        let folder = try TemporaryFolder()
        func message(_ recipients: Int64, _ texts: [(String, String)]) -> JSONValue {
            .object(pairs: [("recipients", .integer(recipients))] + texts.map { ($0.0, .string($0.1)) })
        }
        let messages: [JSONValue] = [
            message(10, [("title", "Hallo")]), message(90, [("title", "Hi {{ first_name }}"), ("body", "Only until\nSunday")]),
        ]
        let preview = JSONValue.object(pairs: [("messages", .array(messages))])
        let text = try Report(run(folder, [.accepted: 90, .failed: 7, .unknown: 3], settings: settings(.production), preview: preview))
            .text(
                width: 100, colour: false)
        #expect(
            text.hasPrefix(
                """
                APNs accepted 90 of 100 pushes (90.0 %). 7 failed and 3 got no answer.
                Next: 7 devices failed temporarily; this sends to them again, but not to devices that gave no answer
                and may have got it:
                      volley retry \(id) --outcome failed

                  Campaign     spring-sale
                  App          shop
                  Environment  production
                  Text         Hi {{ first_name }} · Only until Sunday (one of 2 texts)
                  Run          \(id)

                """), "\(text)")
        let rows = text.split(separator: "\n").map { $0.split(separator: " ").first ?? "" }
        let order = rows.filter { word in Outcome.allCases.contains { $0.name == word } }
        #expect(order == ["accepted", "failed", "unknown", "invalid_token", "rejected", "unsent"])
    }

    @Test("a server of one's own is named with its port, and the simulator as what it is")
    func environments() throws {
        let server = FrozenEnvironment.server(host: "apns.test", port: 2197, certificateAuthority: nil)
        for (environment, words) in [(server, "apns.test:2197"), (.simulator, "simulator: no device gets it")] {
            let folder = try TemporaryFolder()
            let text = try Report(run(folder, [.accepted: 1], settings: settings(environment))).text(width: 100, colour: false)
            #expect(text.contains("  Environment  \(words)\n"), "\(text)")
        }
    }
}
