import Audience
import Base
import Glibc
import Cluster
import Runs
import TestServers
import Testing

@testable import Workspace

/// Frequency caps over machines: two folders of runs, and one store.
@Suite(
    "whom other machines sent to",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct SharedReachedTests {
    private func store(_ schema: String) throws -> Store {
        let server = try PostgresServer.shared.get()
        try server.sql("CREATE SCHEMA \(schema) AUTHORIZATION volley")
        let variable = "VOLLEY_TEST_\(schema.uppercased())"
        EnvironmentVariables.replace(variable, with: server.address() + " options='-c search_path=\(schema)'")
        let place = SourcePosition(file: "volley.yaml", line: 1, column: 1)
        let address = StoreAddress(variable: SourceText(variable, at: place))
        _ = try address.migrate(Cancellation())
        return try address.open(asked: Cancellation())
    }

    private func history(_ folder: PlannedFolder, pushes: Int = 1, _ store: Store?) throws -> FrequencyHistory {
        var history = FrequencyHistory(
            app: "shop", lists: ["sandbox"], caps: [FrequencyCap(pushes: pushes, seconds: 3600)], now: .now())
        history.elsewhere = try store.map { try SharedReached($0) }
        return history
    }

    private func devices(_ capped: CappedDevices?) -> [Int]? {
        capped.map { capped in
            (0..<10).filter { device in
                Array(PlannedFolder.token(device).utf8).withUnsafeBufferPointer { capped.contains(token: $0) }
            }
        }
    }

    @Test(
        "counts beside what this machine sent, for plans and for runs that were planned before; a machine's own runs count once"
    )
    func counted() throws {
        let store = try store("reached_counted"), (here, there) = (try PlannedFolder(), try PlannedFolder())
        let plan = try here.plan("20261201-090000-later-7f3a")
        let other = try there.plan("20261201-090000-other-7f3a")
        try there.send(other, to: 4)
        try SharedReached(store).share(other, there.settings, nil)
        #expect(devices(try history(here, nil).cappedDevices(for: plan, in: plan.catalog)) == nil)
        #expect(devices(try history(here, store).cappedDevices(for: plan, in: plan.catalog)) == [0, 1, 2, 3])
        #expect(devices(try history(here, store).cappedDevices(beside: nil, in: plan.catalog)) == [0, 1, 2, 3])
        let own = try here.plan("20261201-090000-own-7f3a")
        try here.send(own, to: 2)
        try SharedReached(store).share(own, here.settings, nil)
        #expect(devices(try history(here, pushes: 2, store).cappedDevices(beside: nil, in: plan.catalog)) == [0, 1])
        #expect(devices(try history(there, pushes: 2, store).cappedDevices(beside: nil, in: other.catalog)) == [0, 1])
        let suppressed = try SuppressedDevices(capacity: 1, hash: SharedReached(store).hash) { _ in }
        #expect(devices(try history(here, store).cappedDevices(beside: suppressed, in: plan.catalog)) == [0, 1, 2, 3])
        for run in [plan, other, own] { run.close() }
    }

    @Test(
        "what a run sent takes the place of what it had sent before; what no cap looks at any more is removed, and without caps nothing is kept"
    )
    func replaced() throws {
        let store = try store("reached_replaced"), folder = try PlannedFolder(), elsewhere = try PlannedFolder()
        let server = try PostgresServer.shared.get()
        let run = try folder.plan("20261201-090000-run-7f3a")
        try folder.send(run, to: 3)
        try SharedReached(store).share(run, folder.settings, nil)
        try folder.send(run, to: 10)
        try SharedReached(store).share(run, folder.settings, nil)
        #expect(
            devices(try history(elsewhere, store).cappedDevices(beside: nil, in: RunsFolder(elsewhere.path)))
                == Array(0..<10))
        #expect(try server.sql("SELECT sum(length(data)) FROM reached_replaced.volley_reached") == "80")
        var settings = folder.settings
        settings.frequencyCaps = []
        let uncapped = try folder.plan("20261201-090000-uncapped-7f3a", settings)
        try folder.send(uncapped, to: 10)
        try SharedReached(store).share(uncapped, settings, nil)
        #expect(try server.sql("SELECT count(DISTINCT run) FROM reached_replaced.volley_reached") == "1")
        try server.sql("UPDATE reached_replaced.volley_reached SET at = at - 7200000")
        let next = try folder.plan("20261201-090000-next-7f3a")
        try folder.send(next, to: 1)
        try SharedReached(store).share(next, folder.settings, nil)
        #expect(
            try server.sql("SELECT string_agg(DISTINCT run, ' ') FROM reached_replaced.volley_reached")
                == "20261201-090000-next-7f3a")
        for run in [run, uncapped, next] { run.close() }
    }
}
