import Base
import Reports
import PushServices
import Testing

@testable import Delivery

/// What a run does while APNs, or something in front of it, accepts no push at all.
@Suite("outages")
struct OutageTests {
    /// Answers everything in flight, repeatedly; returns how often pushes were submitted.
    private func submissions(
        _ bench: inout Bench, seconds: Double,
        _ answer: (inout Bench, Int) -> Void = { $0.answer($1, 500, "InternalServerError") }
    ) -> Int {
        var count = 0
        for _ in 0..<Int(seconds * 10) where bench.machine.end == nil {
            for push in bench.machine.pushes.indices where bench.machine.pushes[push].state == .inFlight {
                answer(&bench, push)
            }
            count += submitted(bench.advance(seconds: 0.1)).count
        }
        return count
    }

    @Test(
        "of a service that answers 500 to everybody nobody fails, and the run stops when it lasts",
        arguments: [1, 5, 60, 10_000])
    func fromTheBeginning(pushes: Int) {
        var bench = Bench(pushes: pushes) { $0.canaryPushes = Canary.usualSize }
        bench.advance()
        _ = submissions(&bench, seconds: 300)
        #expect(bench.machine.settlements.isEmpty && bench.machine.ending == nil)
        _ = submissions(&bench, seconds: 900)
        guard case .stopped(let cause) = bench.machine.end else {
            Issue.record("it goes on")
            return
        }
        let reason = cause.sentence
        #expect(reason.contains("InternalServerError") && reason.contains("has accepted none for 15 min"), "\(reason)")
        #expect(bench.machine.settlements.count == pushes)
        #expect(bench.machine.settlements.allSatisfy { $0.outcome == .unsent })
    }

    @Test("a run that an outage meets in the middle goes on behind it, and nobody has failed")
    func inTheMiddle() {
        var bench = Bench(pushes: 2000) { $0.streamsPerConnection = 100 }
        bench.warmUp()
        bench.advance()
        for push in 1...50 { bench.answer(push, 200) }
        _ = submissions(&bench, seconds: 400)
        #expect(bench.machine.settlements.allSatisfy { $0.outcome == .accepted })
        _ = submissions(&bench, seconds: 200) { $0.answer($1, 200) }
        #expect(bench.machine.end == .finished)
        #expect(bench.machine.settlements.count { $0.outcome == .accepted } == 2000)
    }

    @Test("a few devices that are refused again and again fail, and the rest goes on")
    func fewDevices() {
        var bench = Bench(pushes: 50)
        bench.warmUp()
        bench.advance()
        for push in 3..<50 { bench.answer(push, 200) }
        _ = submissions(&bench, seconds: 200)
        #expect(bench.machine.end == .finished)
        #expect(bench.machine.settlements.count { $0.outcome == .failed } == 2)
    }

    @Test("429 to everybody fails nobody either")
    func tooManyRequests() {
        var bench = Bench(pushes: 20)
        bench.advance()
        _ = submissions(&bench, seconds: 300) { $0.answer($1, 429, "TooManyRequests") }
        #expect(bench.machine.settlements.isEmpty)
        _ = submissions(&bench, seconds: 100) { $0.answer($1, 200) }
        #expect(bench.machine.end == .finished)
        #expect(bench.machine.settlements.allSatisfy { $0.outcome == .accepted })
    }

    @Test(
        "what a gateway answers leaves in doubt; when it answers everybody, pushes are tried one at a time",
        arguments: [true, false])
    func gateway(resends: Bool) {
        var bench = Bench(pushes: 10_000) { $0.resendsUnknown = resends }
        bench.advance()
        let count = 1 + submissions(&bench, seconds: 1500) { $0.answer($1, 504, "") }
        #expect(count < 60, "\(count) pushes may have reached phones")
        guard case .stopped(let cause) = bench.machine.end else {
            Issue.record("it goes on")
            return
        }
        let reason = cause.sentence
        #expect(reason.contains("HTTP504, apparently not from APNs itself"), "\(reason)")
        let unknown = bench.machine.settlements.filter { $0.outcome == .unknown }
        #expect(
            (1...count).contains(unknown.count) && unknown.allSatisfy { $0.status == 504 && $0.reason == "HTTP504" })
        #expect(bench.machine.settlements.count { $0.outcome == .unsent } == 10_000 - unknown.count)
    }

    @Test(
        "answers that are cut off together are one doubt: a push is tried within a second, not after the longest wait")
    func cutTogether() {
        var bench = Bench(pushes: 1000) {
            $0.resendsUnknown = false
            $0.streamsPerConnection = 200
        }
        bench.warmUp()
        bench.advance()
        for push in 1...200 { bench.answer(push, 400) { ($0.id, $0.isCutOff) = (.missing, true) } }
        _ = submissions(&bench, seconds: 2) { $0.answer($1, 200) }
        #expect(bench.machine.end == .finished)
        #expect(bench.machine.settlements.count { $0.outcome == .accepted } == 800)
    }

    @Test("a gateway that begins to answer in the middle costs what was in flight, and a few more")
    func gatewayInTheMiddle() {
        var bench = Bench(pushes: 10_000) {
            $0.resendsUnknown = false
            $0.streamsPerConnection = 100
        }
        bench.warmUp()
        bench.advance()
        for push in 1...100 { bench.answer(push, 200) }
        bench.advance()
        _ = submissions(&bench, seconds: 300) { $0.answer($1, 502, "") }
        #expect(bench.machine.settlements.count { $0.outcome == .unknown } < 150)
        _ = submissions(&bench, seconds: 100) { $0.answer($1, 200) }
        #expect(bench.machine.end == .finished)
    }
}
