import TestServers
import TestSupport
import Testing

/// A run that three machines send, with a real PostgreSQL, real processes and a simulator with a
/// ledger, and something that goes wrong on the way. `make machines` plays twenty large histories
/// of each fault.
@Suite(
    "three machines and a fault", .serialized,
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct MachineFaultTests {
    /// - Returns: a history of each fault for each seed.
    private static func histories() -> [History] {
        let seeds = MachineScale.seed.map { [$0] } ?? Array(1...MachineScale.rounds)
        return seeds.flatMap { seed in
            Fault.allCases.enumerated().compactMap { number, fault in
                guard MachineScale.faults.isEmpty || MachineScale.faults.contains(fault.rawValue) else { return nil }
                guard fault.canBePlayed else { return nil }
                // Each fault strikes at each moment in turn.
                let moments = Moment.allCases
                return History(
                    fault: fault, moment: moments[(number * 2 + seed + 1) % moments.count], seed: UInt64(seed))
            }
        }
    }

    @Test("report and ledger agree, nobody gets it twice, few are unknown, and the others take over")
    func faults() {
        let plays = Self.histories().map { history in Play(name: "\(history)") { history.play() } }
        for (name, found) in Play.together(plays, atMost: MachineScale.together) {
            for what in found { Issue.record("\(name): \(what)") }
        }
    }
}
