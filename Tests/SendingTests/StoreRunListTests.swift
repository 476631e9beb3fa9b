import Base
import Reports
import Runs
import Testing

@testable import Cluster
@testable import Sending

@Suite("The list of runs in the store")
struct StoreRunListTests {
    private func run(_ id: String, _ state: RunState, _ audience: Int, claimed: Int, cause: StopCause? = nil)
        -> StoredRun
    {
        StoredRun(
            id: id, campaign: "spring-sale", app: "shop", isComplete: true,
            status: RunStatus(
                state: state, cause: cause, startedAt: state == .planned ? nil : Timestamp(epochSeconds: 1_796_126_400),
                finishedAt: nil),
            audience: audience, claimed: claimed, workers: [], bytes: audience * 93)
    }

    private var runs: [StoredRun] {
        var sent = run("20261201-120000-spring-sale-7f3a", .running, 10_000_000, claimed: 1_234_000)
        sent.workers = [
            .init(number: 1, machine: "push-1, process 812", isCoordinator: true, isSilent: false, beat: 7),
            .init(number: 2, machine: "push-2\u{1B}[31m, process 99", isCoordinator: false, isSilent: true, beat: 7),
        ]
        var half = run("20261202-120000-spring-sale-0c1d", .planned, 900, claimed: 0)
        half.isComplete = false
        return [
            sent, run("20261130-120000-autumn-1b2c", .stopped, 60, claimed: 60, cause: .ledger(.processGone)), half,
        ]
    }

    @Test("a person sees one line a run, why it stopped, and who sends it") func text() {
        #expect(
            StoreRunList(runs).text == """
                RUN                               STATE         AUDIENCE    CLAIMED      SIZE  STARTED
                20261201-120000-spring-sale-7f3a  running     10,000,000  1,234,000  930.0 MB  2026-12-01T12:00:00Z
                  sent by push-1, process 812, which conducts
                  sent by push-2 [31m, process 99; silent just now
                20261130-120000-autumn-1b2c       stopped             60         60    5.5 kB  2026-12-01T12:00:00Z
                  why: \(StopCause.ledger(.processGone).sentence)
                20261202-120000-spring-sale-0c1d  incomplete         900          0   83.7 kB  -
                  Not all of its recipients are there. `volley send` copies what is missing, `volley store remove` removes it.
                """)
        #expect(StoreRunList([]).text == "There are no runs in the store.")
    }

    @Test("a run whose row cannot be read is listed as damaged, with what to do") func damaged() {
        var run = run("20261201-120000-spring-sale-7f3a", .stopped, 0, claimed: 0)
        run.problem = StoreError.damaged("the state of a run")
        #expect(
            StoreRunList([run]).json.text.contains(
                #""problem":"the store is damaged: the state of a run cannot be right""#))
        #expect(
            StoreRunList([run]).text == """
                RUN                               STATE    AUDIENCE  CLAIMED  SIZE  STARTED
                20261201-120000-spring-sale-7f3a  damaged         -        -   0 B  -
                  the store is damaged: the state of a run cannot be right. Nothing more is sent of this run. \
                Restore the database from a backup, and look for what else writes to it.
                """)
    }

    @Test("a program gets all of it") func json() {
        guard case .array(let all)? = StoreRunList(runs).json["runs"], let run = all.first,
            case .array(let workers)? = run["members"]
        else {
            Issue.record("there are no runs")
            return
        }
        #expect(run["run"]?.stringValue == "20261201-120000-spring-sale-7f3a" && run["is_complete"] == .bool(true))
        #expect(run["claimed"]?.integerValue == 1_234_000 && run["cause"] == .null && run["finished_at"] == .null)
        #expect(workers.map { $0["is_silent"] } == [.bool(false), .bool(true)])
    }
}
