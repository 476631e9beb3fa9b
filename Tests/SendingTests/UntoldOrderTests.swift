import Base
import Campaigns
import Foundation
import Cluster
import Reports
import Runs
import TestServers
import Testing

@testable import Sending
@testable import Workspace

/// Orders where a run was planned that its store, which other machines go by, could not be told.
@Suite(
    "orders while the store is away",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct UntoldOrderTests {
    /// A schema of the tests' server, which can be away.
    struct Place {
        let server: PostgresServer, schema: String

        var variable: String { "VOLLEY_TEST_\(schema.uppercased())" }
        var address: StoreAddress {
            StoreAddress(variable: SourceText(variable, at: SourcePosition(file: "volley.yaml", line: 1, column: 1)))
        }

        init(_ schema: String) throws {
            (server, self.schema) = (try PostgresServer.shared.get(), schema)
            try server.sql("CREATE SCHEMA \(schema) AUTHORIZATION volley")
            set(isAway: false)
            _ = try address.migrate(Cancellation())
        }

        func set(isAway: Bool) {
            EnvironmentVariables.replace(
                variable,
                with: isAway
                    ? "postgresql://volley@127.0.0.1:1/volley"
                    : server.address() + " options='-c search_path=\(schema)'")
        }
    }

    /// A run that a process of this machine sends through a store, and the run's file as commands
    /// open it.
    private struct Bench {
        let place: Place, folder: PlannedFolder
        let sender: RunFile, file: RunFile
        let choice: ProjectChoice

        init(_ schema: String) throws {
            (place, folder) = (try Place(schema), try PlannedFolder())
            choice = ProjectChoice(file: "\(folder.path)/volley.yaml", runs: folder.path)
            try UntoldOrderTests.write(
                "store: {postgres: {url_env: \(place.variable)}}\napps: {shop: {topic: com.example.shop, environment: simulator}}\n",
                to: "\(folder.path)/volley.yaml")
            sender = try folder.plan("20261101-090000-c-0001")
            try folder.begin(sender)
            let home = try place.address.open(asked: Cancellation()).publish(sender)
            try home.takeUp(epoch: "1-a", at: .now())
            try home.leave()
            file = try RunFile(path: sender.path)
        }

        var inStore: String { (try? place.server.sql("SELECT state FROM \(place.schema).volley_run")) ?? "" }

        func setStore(isAway: Bool) { place.set(isAway: isAway) }

        func give(_ order: RunOrder) throws -> OrderReach {
            order == .pause ? try pause(file, at: .now(), in: choice) : try cancel(file, in: choice).reach
        }

        func close() { for run in [sender, file] { run.close() } }
    }

    private static func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }

    @Test(
        "an order that the store cannot be told says so, and is passed on when it is given again, also after the process has ended",
        arguments: [RunOrder.pause, .cancel], [false, true])
    func givenAgain(order: RunOrder, isGone: Bool) throws {
        let bench = try Bench("untold_\(order.state)_\(isGone)")
        defer { bench.close() }
        bench.setStore(isAway: true)
        guard case .hereOnly = try bench.give(order) else { throw Diagnostic("it is said to hold for all") }
        #expect(try bench.file.orderToPassOn() == order && bench.inStore == "running")
        #expect(
            try Report(bench.file).text(width: 200, colour: false).contains(
                " here, and not yet for the other machines: "))
        if isGone { bench.sender.unlock() }
        #expect { _ = try bench.give(order) } throws: { "\($0)".contains("other machines may be sending it") }
        bench.setStore(isAway: false)
        guard case .passedOn = try bench.give(order) else { throw Diagnostic("it is not said to be passed on") }
        #expect(try bench.file.orderToPassOn() == nil && bench.inStore == order.state.rawValue)
        #expect(try bench.file.status().state == order.state)
        #expect(try !Report(bench.file).text(width: 200, colour: false).contains("not yet for the other machines"))
        #expect { _ = try bench.give(order) } throws: { "\($0)".contains("the run is ") }
    }

    @Test("an order that the store can be told holds for all at once", arguments: [RunOrder.pause, .cancel])
    func told(order: RunOrder) throws {
        let bench = try Bench("told_\(order.state)")
        defer { bench.close() }
        guard case .all = try bench.give(order) else { throw Diagnostic("it is not said to hold for all") }
        #expect(try bench.file.orderToPassOn() == nil && bench.inStore == order.state.rawValue)
    }

    @Test("what looks at the store later passes the order on", arguments: [RunOrder.pause, .cancel])
    func passedOnLater(order: RunOrder) throws {
        let bench = try Bench("later_\(order.state)")
        defer { bench.close() }
        bench.setStore(isAway: true)
        _ = try bench.give(order)
        bench.sender.unlock()
        bench.setStore(isAway: false)
        let runs = try StoreRuns(StoreSettings(variable: bench.place.address.variable), Cancellation())
        let list = try runs.list(passingOnFrom: RunsFolder(bench.folder.path))
        #expect(list.text.contains(order.state.rawValue) && bench.inStore == order.state.rawValue, "\(list.text)")
        #expect(try bench.file.orderToPassOn() == nil)
    }

    @Test("a run that the others have sent to its end is said to have finished, and is not cancelled")
    func finishedMeanwhile() throws {
        let bench = try Bench("untold_finished")
        defer { bench.close() }
        bench.setStore(isAway: true)
        _ = try bench.give(.cancel)
        bench.sender.unlock()
        bench.setStore(isAway: false)
        let other = try bench.place.address.open(asked: Cancellation()).open(
            bench.file.plan.id, in: RunsFolder(bench.folder.path))
        try other.append(.state(.finished, at: .now()))
        #expect { _ = try bench.give(.cancel) } throws: { "\($0)".contains("other machines had sent the rest of it") }
        #expect(try bench.file.status().state == .finished && bench.file.sharedSince() == nil)
    }

    @Test(
        "a paused run that another machine has ended is not said to continue",
        arguments: [RunState.cancelled, .finished])
    func endedMeanwhile(state: RunState) throws {
        let bench = try Bench("woken_\(state)")
        defer { bench.close() }
        _ = try bench.give(.pause)
        let other = try bench.place.address.open(asked: Cancellation()).open(
            bench.file.plan.id, in: RunsFolder(bench.folder.path))
        try other.append(.state(state, cause: state == .cancelled ? .cancelled : nil, at: .now()))
        #expect { _ = try wake(bench.file, in: bench.choice) } throws: {
            "\($0)".contains("the run is \(state.rawValue): another machine has ended it")
        }
        // Its process does not wake.
        #expect(try bench.file.status().state == .paused)
        bench.setStore(isAway: true)
        #expect(try requireNotEnded(bench.file, in: bench.choice) != nil)
    }

    @Test("a run that other machines may send is not cancelled here alone because volley.yaml cannot be read")
    func unreadableProject() throws {
        let bench = try Bench("untold_project")
        defer { bench.close() }
        bench.sender.unlock()
        let file = bench.choice.file ?? ""
        try Self.write("store: {postgres: {url: x}}\n", to: file)
        #expect { _ = try bench.give(.cancel) } throws: { "\($0)".contains("the run was not cancelled") }
        bench.file.close()
        #expect(try bench.file.status().state == .stopped)
        // A mistake elsewhere in the file does not matter.
        try Self.write("store: {postgres: {url_env: \(bench.place.variable)}}\napps: {shop: {bogus: 1}}\n", to: file)
        guard case .all = try bench.give(.cancel) else { throw Diagnostic("it is not said to hold for all") }
        #expect(bench.inStore == "cancelled")
    }
}
