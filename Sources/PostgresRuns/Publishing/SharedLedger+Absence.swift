import Base
import Postgres
import Runs

/// Whether nobody sends a run, for what may be done only then.
extension SharedLedger {
    /// Makes sure that the run has no members. One that has beaten is there. One whose beat stands still is declared dead once it was silent for as long as
    /// members themselves wait before they do that.
    /// - Parameters:
    ///   - wanted: what is to be done, for the message: `fetched`.
    ///   - leavingSeconds: how long members that beat are waited for.
    ///   - silent: called with the machines of those that are waited for, at each look.
    ///   - pauseSeconds: between two looks.
    ///   - clock: seconds of this machine since some moment.
    /// - Throws: `Diagnostic`: it has members; `CancellationError`.
    func requireAbsence(
        for wanted: String, leavingSeconds: Double = 0, silent: ([String]) -> Void, pauseSeconds: Double = 1,
        clock: () -> Double = SharedLedger.seconds
    ) throws {
        var watch = MemberWatch(), first: [Int: Int64]?
        let end = clock() + leavingSeconds
        while true {
            let members = try members()
            guard !members.isEmpty else { return }
            let known = first ?? members.mapValues(\.beat)
            first = known
            if let other = members.first(where: { known[$0.key] != $0.value.beat }), clock() >= end {
                throw isBeingSent(by: other.value.machine, wanted)
            }
            let beats = Dictionary(uniqueKeysWithValues: members.map { ("\($0.key)", $0.value.beat) })
            for dead in watch.look(at: beats, clock()) {
                if let number = Int(dead.member) { _ = try declareDead(number, beat: dead.beat) }
            }
            silent(members.values.map(\.machine).sorted())
            store.patience.rest(atMost: pauseSeconds)
            if store.patience.isAsked { throw CancellationError() }
        }
    }

    private static let start = ContinuousClock.now

    /// By a clock that nobody can set.
    static func seconds() -> Double { (.now - start) / .seconds(1) }

    /// Those that have not left and were not declared dead.
    func members() throws -> [Int: (machine: String, beat: Int64)] {
        try ask { connection in
            var members: [Int: (machine: String, beat: Int64)] = [:]
            try connection.run(
                "SELECT number, machine, beat FROM volley_sender WHERE run = $1 AND dead_at IS NULL", [.int(run)],
                within: asking.answerSeconds
            ) { members[$0.int(0)] = ($0.text(1), Int64($0.int(2))) }
            return members
        }
    }

    private func isBeingSent(by machine: String, _ wanted: String) -> Diagnostic {
        Diagnostic(
            "the run is being sent (\(TextFormat.foreign(machine))), and cannot be \(wanted) meanwhile", file: place,
            remedy: "Wait for its end, or end it: with Ctrl-C where it was planned, or with `volley cancel \(plan.id)`.",
            [.wait(run: plan.id)])
    }
}
