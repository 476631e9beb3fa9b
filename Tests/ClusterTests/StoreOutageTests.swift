import Base
import Glibc
import Postgres
import Synchronization
import TestServers
import Testing

@testable import Cluster

@Suite("a store that cannot be used")
struct StoreOutageTests {
    private final class Connection {}

    private static let full = PostgresError(.refused(sqlState: "53100"), "could not extend file")
    private static let away = PostgresError(.unreachable, "connection refused")

    @Test(
        "people are told of trouble that lasts, of the same once a minute, of another sooner, and once when all connections are answered"
    )
    func telling() {
        let (claims, beats) = (Connection(), Connection()),
            (claiming, beating) = (ObjectIdentifier(claims), ObjectIdentifier(beats))
        var trouble = StoreOutage()
        func failed(_ storeConnection: ObjectIdentifier, _ why: PostgresError, _ now: Double) -> StoreOutage.News? {
            trouble.failed(storeConnection, why, since: now, at: now)
        }
        func answered(_ storeConnection: ObjectIdentifier) -> StoreOutage.News? { trouble.answered(storeConnection) }
        #expect(failed(claiming, Self.full, 10) == nil)
        // Beats change a row in place, and need no room: that they are answered says nothing about
        // claims.
        #expect(answered(beating) == nil)
        #expect(trouble.why == Self.full)
        #expect(failed(claiming, Self.full, 14) == .isAway(Self.full))
        #expect(failed(claiming, Self.full, 73) == nil)
        #expect(failed(claiming, Self.full, 74) == .isAway(Self.full))
        #expect(failed(beating, Self.away, 75) == nil)
        #expect(failed(beating, Self.away, 80) == .isAway(Self.away))
        #expect(failed(claiming, Self.full, 90) == nil, "told before")
        #expect(answered(claiming) == nil)
        #expect(answered(beating) == .isBack)
        #expect(answered(beating) == nil)
        #expect(trouble.why == nil)
        _ = (claims, beats)
    }

    @Test(
        "the store is waited for without an end while people hear of it, some seconds once one has asked for the end, and then no more"
    )
    func waiting() {
        let storeConnection = Connection(), claiming = ObjectIdentifier(storeConnection)
        var trouble = StoreOutage()
        _ = trouble.failed(claiming, Self.full, since: 0, at: 0)
        func isOver(_ now: Double, isAsked: Bool = true) -> Bool {
            trouble.isOver(isAsked: isAsked, isHeard: true, at: now)
        }
        #expect(!isOver(100_000, isAsked: false))
        #expect(!isOver(100_001))
        #expect(!isOver(100_003.9))
        #expect(isOver(100_004))
        #expect(!trouble.isClosed(at: 100_005.9))
        #expect(trouble.isClosed(at: 100_006))
        let news = trouble.answered(claiming)
        #expect(news == nil, "a connection that is closed says nothing about the store")
        #expect(isOver(100_007), "what is left gets its moment only")
        _ = storeConnection
    }

    @Test(
        "a database that answers is waited for after a request to end as before; trouble counts from its own beginning")
    func askedFirst() {
        let storeConnection = Connection(), claiming = ObjectIdentifier(storeConnection)
        var trouble = StoreOutage()
        func isOver(_ now: Double) -> Bool { trouble.isOver(isAsked: true, isHeard: true, at: now) }
        #expect(!isOver(0))
        #expect(!isOver(50))
        _ = trouble.failed(claiming, Self.away, since: 50, at: 50)
        #expect(!isOver(52.9))
        #expect(isOver(53))
        _ = storeConnection
    }

    @Test("where no message is shown, the store is waited for ten seconds")
    func unheard() {
        let storeConnection = Connection()
        var trouble = StoreOutage()
        _ = trouble.failed(ObjectIdentifier(storeConnection), Self.away, since: 0, at: 0)
        func isOver(_ now: Double) -> Bool { trouble.isOver(isAsked: false, isHeard: false, at: now) }
        #expect(!isOver(9.9))
        #expect(isOver(10))
    }

    @Test(
        "whatever an operator can change is waited for, and what is wrong with the statement or the data is not",
        arguments: [
            ("53100", true), ("53200", true), ("53300", true), ("57P01", true), ("57P03", true), ("57014", true),
            ("28P01", true),
            ("28000", true), ("42501", true), ("25006", true), ("25P03", true), ("40001", true), ("40P01", true),
            ("55P03", true),
            ("58030", true), ("08006", true), ("3D000", true), ("42P01", false), ("42601", false), ("22P02", false),
            ("23505", false),
            ("XX001", false),
        ])
    func passing(state: String, isPassing: Bool) {
        #expect(PostgresError(.refused(sqlState: state), "").isPassing == isPassing)
        #expect(StoreError.explained(PostgresError(.refused(sqlState: state), "why")).remedy?.isEmpty == false)
    }

    // MARK: - With a database

    /// What was told, in order; nil is that the store is back.
    private final class Told: Sendable {
        private let list = Mutex<[Diagnostic?]>([])
        func add(_ trouble: Diagnostic?) { list.withLock { $0.append(trouble) } }
        var all: [Diagnostic?] { list.withLock(\.self) }

        func wait(atMost seconds: Double, until isEnough: ([Diagnostic?]) -> Bool) -> Bool {
            let end = ContinuousClock.now + .seconds(seconds)
            while !isEnough(all) {
                if ContinuousClock.now > end { return false }
                usleep(20_000)
            }
            return true
        }
    }

    private static let short = StoreOutage.Limits(
        silence: 0.5, notice: 0.5, repetition: 60, grace: 0.5, closing: 0.2, unheard: 1)

    @Test("rights that were taken away are told with what to do, and what waits for them continues once they are back")
    func rights() throws {
        let bench = try StoreBench(PostgresServer.shared.get()), told = Told()
        let store = Store(bench.address, try StoreRetryDeadline(Cancellation(), limits: Self.short, tell: told.add)),
            storeConnection = store.storeConnection()
        let server = try PostgresServer.shared.get()
        try server.sql("ALTER TABLE \(bench.schema).volley_run OWNER TO postgres")
        let thread = try WorkerThread("waits") {
            Result {
                try storeConnection.retrying { try $0.execute("SELECT count(*) FROM volley_run", within: 10).count }
            }
        }
        #expect(
            told.wait(atMost: 10) { $0.first??.remedy?.contains("Give the role its rights") ?? false }, "\(told.all)")
        try server.sql("ALTER TABLE \(bench.schema).volley_run OWNER TO volley")
        #expect(try thread.join().get() == 1)
        #expect(told.all.count == 2 && told.all.last == .some(nil))
    }

    @Test(
        "a server that is silent is told of, too, and a request to end takes effect within moments, whatever is asked of it"
    )
    func silence() throws {
        let server = try PostgresServer(), bench = try StoreBench(server), told = Told(), asked = try Cancellation()
        let store = Store(bench.address, try StoreRetryDeadline(asked, limits: Self.short, tell: told.add))
        let storeConnections = [store.storeConnection(), store.storeConnection()]
        for storeConnection in storeConnections {
            try storeConnection.once { _ = try $0.execute("SELECT 1", within: 10) }
        }
        server.freeze(true)
        defer { server.freeze(false) }
        let threads = try storeConnections.map { storeConnection in
            try WorkerThread("waits") {
                Result { try storeConnection.retrying { _ = try $0.execute("SELECT 1", within: 10) } }
            }
        }
        #expect(
            told.wait(atMost: 10) { $0.count == 1 && $0[0]?.message.contains("gave no answer") ?? false }, "\(told.all)"
        )
        asked.request()
        let start = ContinuousClock.now
        for thread in threads {
            #expect(throws: Diagnostic.self) { try StoreError.explaining { try thread.join().get() } }
        }
        #expect(throws: PostgresError.self) {
            try store.storeConnection().once { _ = try $0.execute("SELECT 1", within: 10) }
        }
        #expect(start.duration(to: .now) < .seconds(8))
        #expect(store.isGivenUp)
    }
}
