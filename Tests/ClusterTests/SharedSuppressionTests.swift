import Base
import Postgres
import PushServices
import Runs
import TestServers
import Testing

@testable import Cluster

@Suite(
    "suppression lists in the store",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct SharedSuppressionTests {
    private static let noon = Timestamp(epochSeconds: 1_796_126_400)

    /// A machine with its own list.
    private struct Machine {
        let folder: TemporaryFolder
        let list: SuppressionList
        let store: Store

        init(_ bench: StoreBench, environment: String = "production") throws {
            folder = try TemporaryFolder()
            list = SuppressionList(app: "shop", environment: environment, folder: folder.path)
            store = try bench.another()
        }

        /// What it exchanges first goes, then comes.
        func exchange() throws { try store.exchange(list) }

        func add(
            _ numbers: some Sequence<Int>, since: Timestamp = noon, at now: Timestamp = noon,
            reason: String = "Unregistered"
        ) throws {
            _ = try list.add(at: now) { entries in
                for number in numbers { try entries.add(target(number), reason: reason, invalidSince: since) }
            }
        }

        func remove(_ numbers: some Sequence<Int>) throws {
            _ = try list.remove { remove in for number in numbers { try remove(target(number)) } }
        }

        var entries: [String] {
            get throws {
                var entries: [String] = []
                try list.forEach {
                    entries.append(
                        "\($0.token.text.suffix(4)) \($0.reason) \($0.invalidSince.epochSeconds - noon.epochSeconds)")
                }
                return entries
            }
        }
    }

    private static func target(_ number: Int) -> Target {
        let digits = String(number, radix: 16)
        return Target(normalized: String(repeating: "0", count: 64 - digits.count) + digits)
    }

    private func machines() throws -> (Machine, Machine, StoreBench) {
        let bench = try StoreBench(PostgresServer.shared.get())
        return (try Machine(bench), try Machine(bench), bench)
    }

    @Test("what one machine has, another gets, also what it had before there was a store")
    func both() throws {
        let (first, second, bench) = try machines()
        try first.add(1...2)
        try second.add(2...3, reason: "said \"no\", ö")
        try first.exchange()
        try second.exchange()
        try first.exchange()
        #expect(try first.entries == ["0001 Unregistered 0", "0002 Unregistered 0", "0003 said \"no\", ö 0"])
        #expect(try second.entries == first.entries)
        let other = try Machine(bench, environment: "sandbox")
        try other.exchange()
        #expect(try other.entries.isEmpty)
    }

    @Test("twelve thousand entries go and come; nothing goes twice, and nothing comes again")
    func many() throws {
        let (first, second, _) = try machines()
        try first.add(0..<12_000)
        #expect(try first.store.exchange(first.list) == (12_000, 12_000))
        #expect(try second.store.exchange(second.list) == (0, 12_000))
        #expect(try first.store.exchange(first.list) == (0, 0))
        #expect(try second.list.count() == 12_000)
        try second.add([12_000])
        #expect(try second.list.unsent(atMost: 9).count == 1)
        let (there, back) = (try second.store.exchange(second.list), try first.store.exchange(first.list))
        #expect(there == (1, 1) && back == (0, 1), "\(there) \(back)")
    }

    @Test("of a device the newest invalid_since counts on all machines, whoever says it first")
    func newest() throws {
        let (first, second, _) = try machines()
        try first.exchange()
        try first.add([1], since: Self.noon.adding(seconds: 60))
        try first.add([2], since: Self.noon)
        try second.add([1], since: Self.noon, at: Self.noon.adding(seconds: 3600))
        try second.add([2], since: Self.noon.adding(seconds: 60))
        for _ in 0..<2 {
            try second.exchange()
            try first.exchange()
        }
        #expect(try first.entries == ["0001 Unregistered 60", "0002 Unregistered 60"])
        #expect(try second.entries == first.entries)
    }

    @Test("who is taken off the list on one machine is off on all, until a service refuses the device again")
    func removal() throws {
        let (first, second, _) = try machines()
        try first.add(1...3)
        try first.exchange()
        try second.exchange()
        // The second machine's clock is behind that of the first: it has seen what it removes.
        try second.remove([1, 3])
        try second.exchange()
        try first.exchange()
        #expect(try first.entries == ["0002 Unregistered 0"])
        // A machine that was away all the time still has what was removed, as old as it is.
        try first.add([1], since: Self.noon, at: Self.noon.adding(seconds: 60))
        try first.exchange()
        try second.exchange()
        #expect(try second.entries == ["0001 Unregistered 0", "0002 Unregistered 0"])
        #expect(try second.list.removeAll() == 2)
        try second.exchange()
        try first.exchange()
        #expect(try first.entries.isEmpty)
    }

    @Test("a machine whose list is older than a removal does not bring the device back")
    func oldList() throws {
        let (first, second, bench) = try machines()
        try first.add([7])
        try first.exchange()
        try first.remove([7])
        try first.exchange()
        try second.add([7])
        try second.exchange()
        #expect(try second.entries.isEmpty)
        // The same from a backup of the folder: its marks are as old as its entries.
        let third = try Machine(bench)
        try third.add([7])
        try third.exchange()
        #expect(try third.entries.isEmpty)
    }

    @Test(
        "what is changed while the store is away is kept, and exchanged when it is back; an emptied store gets everything again"
    )
    func away() throws {
        let (first, second, bench) = try machines()
        try first.add([1])
        try first.exchange()
        try first.add([2])
        try first.remove([1])
        #expect(try first.list.unsent(atMost: 10).map(\.isRemoved) == [true, false])
        try second.exchange()
        #expect(try second.entries == ["0001 Unregistered 0"])
        try first.exchange()
        try second.exchange()
        #expect(try second.entries == ["0002 Unregistered 0"])
        let connection = try PostgresConnection.open(bench.address, Cancellation())
        try connection.execute("TRUNCATE volley_list, volley_suppressed", within: 10)
        try second.exchange()
        try first.exchange()
        #expect(try first.entries == ["0002 Unregistered 0"])
        #expect(try Machine(bench).store.exchange(first.list) == (0, 0))
    }

    @Test("two machines that write at the same moment lose nothing")
    func together() throws {
        let (first, second, _) = try machines()
        let threads = try [first, second].enumerated().map { number, machine in
            try WorkerThread("exchange") {
                for part in 0..<8 {
                    let start = number * 4000 + part * 300
                    do {
                        try machine.add(start..<start + 300)
                        try machine.exchange()
                    } catch { return "\(error)" }
                }
                return ""
            }
        }
        #expect(threads.map { $0.join() } == ["", ""])
        try first.exchange()
        try second.exchange()
        #expect(try first.list.count() == 4800)
        #expect(try first.entries == second.entries)
    }

    @Test("a token that is none is not taken into the file, and says so")
    func damaged() throws {
        let (first, second, bench) = try machines()
        try first.add([1])
        try first.exchange()
        let connection = try PostgresConnection.open(bench.address, Cancellation())
        try connection.execute("UPDATE volley_suppressed SET token = 'no token'", within: 10)
        #expect(throws: Diagnostic.self) { try second.exchange() }
        #expect(try second.entries.isEmpty)
    }
}
