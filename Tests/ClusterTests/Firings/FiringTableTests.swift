import Base
import TestServers
import TestSupport
import Testing

@testable import Cluster

@Suite(
    "the simulation's table of times",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct FiringTableTests {
    /// A table and a real one, to which the same happens.
    private struct Pair {
        let bench: StoreBench
        var table = FiringTable()
        var isQuiet = false

        init() throws {
            bench = try StoreBench(PostgresServer.shared.get())
            try bench.passQuiet()
        }

        mutating func setQuiet(_ isQuiet: Bool) throws {
            self.isQuiet = isQuiet
            let began = "clock_timestamp() - interval '\(isQuiet ? 0 : 31) s'"
            try bench.sql("UPDATE volley_life SET began_at = \(began), written_by = pg_current_xact_id()::xid")
        }

        mutating func join() throws { #expect(try bench.store.joinAsService() == table.join()) }

        mutating func die(_ service: Int) throws {
            guard let beat = table.beats.removeValue(forKey: service) else { return }
            try bench.store.declareDead([.init(worker: "\(service)", beat: beat)])
        }

        mutating func claim(_ time: String, _ row: FiringTable.Row) throws {
            let found = table.claim(time, row, isQuiet: isQuiet), inDatabase: FiringTable.Claim
            do {
                let holder = try bench.store.claim(Self.firing(time, row), by: row.owner)
                inDatabase = holder == nil ? .ours : .another(try self.row(of: time))
            } catch StoreRefusal.quiet { inDatabase = .refused }
            #expect(inDatabase == found)
        }

        mutating func write(_ firings: [String: FiringTable.Row], by service: Int) throws {
            table.write(firings)
            try bench.store.write(firings.map { Self.firing($0, $1) }, by: service)
        }

        private func row(of time: String) throws -> FiringTable.Row { try #require(try rows()[time]) }

        func rows() throws -> [String: FiringTable.Row] {
            try bench.sql("SELECT occurrence, run, state, owner FROM volley_firing").reduce(into: [:]) { rows, cells in
                rows[cells[0] ?? ""] = FiringTable.Row(
                    run: cells[1] ?? "", state: try #require(SharedFiring.State(rawValue: cells[2] ?? "")),
                    owner: cells[3].flatMap { Int($0) })
            }
        }

        private static func firing(_ time: String, _ row: FiringTable.Row) -> SharedFiring {
            SharedFiring(app: "shop", campaign: "c", occurrence: time, run: row.run, state: row.state)
        }
    }

    @Test("whatever services do, the real database answers and keeps the same", arguments: [1, 2, 3] as [UInt64])
    func differential(seed: UInt64) throws {
        var random = SeededRandom(seed), pair = try Pair()
        let times = ["a", "b", "c"], runs = ["r", "s", "t", ""],
            states = [SharedFiring.State.claimed, .claimed, .begun, .skipped, .over]
        for _ in 0..<3 { try pair.join() }
        for step in 0..<400 {
            let services = pair.table.beats.keys.sorted()
            func row() -> FiringTable.Row {
                .init(
                    run: runs.randomElement(using: &random) ?? "",
                    state: states.randomElement(using: &random) ?? .claimed,
                    owner: services.randomElement(using: &random))
            }
            switch Int.random(in: 0..<20, using: &random) {
            case 0 where services.count > 1: try pair.die(services.randomElement(using: &random) ?? 0)
            case 0, 1: try pair.join()
            case 2, 3: try pair.setQuiet(Bool.random(using: &random))
            case 4...7:
                guard let service = services.randomElement(using: &random) else { continue }
                var firings: [String: FiringTable.Row] = [:]
                for time in times where Bool.random(using: &random) {
                    firings[time] = row()
                    firings[time]?.owner = service
                }
                try pair.write(firings, by: service)
            case 8:
                // Forgotten.
                guard let time = times.randomElement(using: &random) else { continue }
                pair.table.rows[time] = nil
                try pair.bench.sql("DELETE FROM volley_firing WHERE occurrence = '\(time)'")
            default: try pair.claim(times.randomElement(using: &random) ?? "a", row())
            }
            try #require(try pair.rows() == pair.table.rows, "step \(step)")
        }
    }
}
