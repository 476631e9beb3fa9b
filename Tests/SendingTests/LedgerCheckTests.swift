import Simulators
import Base
import Runs
import Testing

@testable import Sending

@Suite("a report held against the simulator's ledger")
struct LedgerCheckTests {
    private func agrees(ledger accepted: Int, report: Int, unknown: Int, before: Int = 0) -> Bool {
        var ledger = LedgerSummary()
        ledger.acceptedTokens = accepted
        var figures = RunFigures()
        figures.outcomes = [.accepted: report, .unknown: unknown]
        var earlier = RunFigures()
        earlier.outcomes = [.accepted: before]
        return LedgerCheck([0: ledger], figures: figures, acceptedBefore: earlier).agrees
    }

    @Test("agrees when both accepted the same")
    func equal() { #expect(agrees(ledger: 5, report: 5, unknown: 0)) }

    @Test("agrees when the rest is unknown to the report")
    func unknown() {
        #expect(agrees(ledger: 6, report: 5, unknown: 1))
        #expect(agrees(ledger: 5, report: 5, unknown: 1))
    }

    @Test("disagrees about a device that only one of them accepted")
    func different() {
        #expect(!agrees(ledger: 6, report: 5, unknown: 0))
        #expect(!agrees(ledger: 4, report: 5, unknown: 3))
    }

    @Test("knows nothing of those whom an earlier process sent to")
    func goneOn() {
        #expect(agrees(ledger: 120, report: 160, unknown: 0, before: 40))
        #expect(!agrees(ledger: 160, report: 160, unknown: 0, before: 40))
    }
}
