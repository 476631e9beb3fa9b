import TestServers
import Testing

@Suite(
    "three machines without a fault", .serialized,
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct MachineRunTests {
    @Test(
        "runs of one device, of sixty at one a second, of several services and in waves; brakes, other keys, and orders from any machine"
    )
    func runs() {
        let plays = MachineRun.allCases.filter { !MachineRun.withOrders.contains($0) }.map { run in
            Play(name: run.rawValue) { run.play() }
        }
        play(plays)
    }

    @Test("orders and interruptions")
    func orders() { play(MachineRun.withOrders.map { run in Play(name: run.rawValue) { run.play() } }) }

    private func play(_ plays: [Play]) {
        for (name, found) in Play.together(plays, atMost: MachineScale.together) {
            for what in found { Issue.record("\(name): \(what)") }
        }
    }
}
