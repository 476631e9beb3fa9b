import Base
import FileDamage
import Postgres
import PushServices
import Runs
import TestServers
import TestSupport
import Testing

@testable import Cluster

/// Every table of a store, damaged in every way that its types allow. `make fuzz-files` tries
/// thousands.
@Suite(
    "damaged rows of the store",
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is missing; make test gets it"))
struct DamagedStoreTests {
    private static let noon = SharedRun.noon
    private static let audience = 1_500

    /// A store with two runs that were sent in part, and with everything else that machines share;
    /// `run` is the one that gets damaged.
    private struct Place {
        let bench: StoreBench
        let host: TemporaryFolder

        init() throws {
            (bench, host) = (try StoreBench(PostgresServer.shared.get()), try TemporaryFolder())
            try bench.passQuiet()
            for id in ["run", "other"] { try send(id) }
            let list = SuppressionList(app: "shop", environment: "production", folder: host.path)
            _ = try list.add(at: noon) { entries in
                for number in 1...3 {
                    try entries.add(Target(normalized: token(number)), reason: "Unregistered", invalidSince: noon)
                }
            }
            _ = try bench.store.exchange(list)
            let minute = Store.ReachedMinute(list: "production", at: Int(noon.epochMilliseconds), hashes: [1, 2, 3])
            try bench.store.setReached([minute], by: "run", of: "shop", keptFor: 86_400 * 36_500)
            _ = try bench.store.claim(Self.firing("2026-12-01T09:00"), by: try bench.store.joinAsService())
        }

        static func firing(_ time: String) -> SharedFiring {
            SharedFiring(app: "shop", campaign: "spring-sale", occurrence: time, run: "run", state: .claimed)
        }

        private func send(_ id: String) throws {
            var plan = SharedRun.plan(DamagedStoreTests.audience, waves: [1_000, 500])
            plan.id = id
            let file = try StoreBench.file(plan, SharedRun.recipients(DamagedStoreTests.audience), in: host.path)
            let ledger = try bench.store.publish(file)
            try ledger.append(.epochBegan("1-a", at: noon, from: [.planned]))
            let other = try bench.another().open(id, in: RunsFolder("\(host.path)/member"))
            try other.join()
            for part in 0..<4 {
                let sender = part % 2 == 0 ? ledger : other
                guard let ids = try sender.lease(atMost: 200, of: sender.plan.segments[0].ids) else { break }
                try sender.append(.claimed(ids, at: noon))
                try sender.append(.settled([ids.dropLast(part).map { settled($0) }]))
            }
            try ledger.append(
                .segment(
                    ledger.plan.segments[ledger.plan.segments.count - 1],
                    SegmentState(heldUntil: noon.adding(seconds: 60), cause: .cancelled)))
            _ = try ledger.beat(answers: [0: [.accepted: 5]])
            try ledger.append(.state(.stopped, cause: .cancelled, at: noon.adding(seconds: 9)))
            try other.leave()
            try ledger.leave()
        }
    }

    fileprivate static func settled(_ id: Int) -> Settlement {
        Settlement(
            recipient: id, outcome: id % 7 == 0 ? .invalidToken : .accepted, status: id % 7 == 0 ? 410 : 200,
            reason: id % 7 == 0 ? "Unregistered" : "", attempts: 1, latencyMilliseconds: id % 50, settledAt: noon,
            invalidSince: id % 7 == 0 ? noon : nil)
    }

    fileprivate static func token(_ number: Int) -> String { TextFormat.hex(UInt64(number), digits: 64) }

    @Test(
        "whatever is damaged in a row, each use of the store is done or refused with a diagnostic, and other runs are sent"
    )
    func damaged() throws {
        let place = try Place(), bench = place.bench
        let tables = try bench.sql(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = '\(bench.schema)' ORDER BY 1"
        ).compactMap { $0.first ?? nil }
        for table in tables { try bench.sql("CREATE TABLE intact_\(table) AS TABLE \(table)") }
        let whole = try bench.another().open("other", in: RunsFolder("\(place.host.path)/member")).figures(
            withGroups: true)
        for seed in Damage.seeds(8) {
            Damage.announce(seed)
            try bench.sql("TRUNCATE \(tables.joined(separator: ", ")) CASCADE")
            for table in Self.inOrder(tables) {
                try bench.sql("INSERT INTO \(table) OVERRIDING SYSTEM VALUE SELECT * FROM intact_\(table)")
            }
            // An epoch counts only in the transaction that wrote it.
            try bench.sql("UPDATE volley_life SET written_by = pg_current_xact_id()::xid")
            var damage = RowDamage(seed: seed)
            try damage.apply(to: bench)
            for (name, use) in Self.uses(of: place) {
                do { try use() } catch {
                    #expect(
                        error is Diagnostic || error is StoreRefusal || error is SendingRevoked,
                        "seed \(seed), \(damage.what), \(name): \(type(of: error)) \(error)")
                    #expect(!"\(error)".contains(Self.token(2)), "seed \(seed), \(damage.what), \(name) shows a token")
                }
            }
            // What is wrong with a run is its own affair; what is wrong with the store itself is
            // not.
            guard damage.isOfRun else { continue }
            #expect(throws: Never.self, "seed \(seed), \(damage.what)") {
                #expect(try bench.another().runs().contains { $0.id == "other" && $0.status.state == .stopped })
                let other = try bench.another().open("other", in: RunsFolder("\(place.host.path)/member"))
                #expect(try other.figures(withGroups: true) == whole)
                _ = try bench.another().fetch("other", into: RunsFolder("\(place.host.path)/of-\(seed)"))
            }
        }
    }

    @Test("a run that is damaged in the store is named by its id, not by a temporary file, and can be removed there")
    func named() throws {
        let place = try Place(), bench = place.bench, folder = RunsFolder("\(place.host.path)/elsewhere")
        for damage in [#"plan = '\x00ff'"#, "plan = (SELECT plan FROM volley_run WHERE id = 'other')", "state = 'foo'"]
        {
            try bench.sql("CREATE TABLE whole AS TABLE volley_run; UPDATE volley_run SET \(damage) WHERE id = 'run'")
            let fetched = #expect(throws: Diagnostic.self) { try bench.another().fetch("run", into: folder) }
            #expect(
                fetched?.message.hasPrefix("the store is damaged: the ") == true,
                "\(damage): \(String(describing: fetched))")
            #expect(
                fetched?.message.hasSuffix(" of the run run cannot be right") == true,
                "\(damage): \(String(describing: fetched))")
            #expect(fetched?.remedy?.contains("`volley store remove run --force`") == true)
            if damage.hasPrefix("plan") {
                let opened = #expect(throws: Diagnostic.self) { try bench.another().open("run", in: folder) }
                #expect(opened?.message == fetched?.message)
            }
            try bench.sql(
                """
                UPDATE volley_run r SET plan = w.plan, state = w.state FROM whole w WHERE w.id = r.id;
                DROP TABLE whole
                """)
        }
        try bench.sql("UPDATE volley_run SET plan = '' WHERE id = 'run'")
        try bench.another().remove("run", evenIfUnfetched: true, fetchedInto: folder)
        #expect(try bench.another().runs().map(\.id) == ["other"])
    }

    /// Tables to which others refer come first.
    private static func inOrder(_ tables: [String]) -> [String] {
        tables.filter { $0 == "volley_run" } + tables.filter { $0 != "volley_run" }
    }

    /// Everything that is done with a store, each with connections of its own: one that is refused
    /// must not hide the next.
    private static func uses(of place: Place) -> [(name: String, use: () throws -> Void)] {
        let bench = place.bench, folder = RunsFolder("\(place.host.path)/member"), own = RunsFolder(place.host.path)
        let reading: [(String, (SharedLedger) throws -> Void)] = [
            ("status", { _ = try ($0.status(), $0.order(), $0.forgetting()) }),
            ("claims", { _ = try ($0.claims().claimed.count, $0.claims().made, $0.claims().skippedWaves) }),
            ("in doubt", { _ = try $0.unsettled(in: 0..<audience, OpenOutcomes()) }),
            ("moments", { _ = try ($0.claims().first(of: 0..<900)?.description, $0.claims().last?.description) }),
            ("figures", { _ = try $0.figures(withGroups: true).outcomes }),
            ("pushes", { try $0.forEachPush(in: 0..<audience, PushSelection(withTraits: true)) { _ in } }),
            (
                "unsettled",
                {
                    try $0.forEachPush(
                        in: 0..<audience, PushSelection(unsettled: OpenOutcomes(resendsUnknown: true), withTraits: true)
                    ) {
                        _ in
                    }
                }
            ),
            ("results", { try $0.forEachResult { _, _, settled, _ in _ = settled?.settledAt.description } }),
            ("calls", { _ = try ($0.calls(ofService: 0), $0.answers(ofService: 0)) }),
            ("again", { _ = try ($0.leaseAgain(of: 0..<1_000), $0.isSettled(closing: []), $0.cappedIDs()) }),
        ]
        let sending: [(String, (SharedLedger) throws -> Void)] = [
            ("join", { try $0.join() }), ("beat", { _ = try $0.beat(answers: [0: [.accepted: 6]], dividing: []) }),
            ("conduct", { _ = try $0.becomeCoordinator() }),
            (
                "claim",
                {
                    if let ids = try $0.lease(atMost: 100, of: $0.plan.segments[0].ids) {
                        try $0.append(.claimed(ids, at: noon))
                    }
                }
            ),
            ("record", { try $0.append(.settled([[settled(799)]])) }),
            ("record lost", { _ = try $0.append(.lost(at: noon)) }),
            ("offer", { _ = try $0.offerAgain(resendsUnknown: [true], closing: []) }),
            ("doubtful", { try $0.claimDoubtful(at: noon) }),
            ("defer", { _ = try $0.append(.deferred(1_000..<1_500, .interrupted, isTooLate: false, at: noon)) }),
            ("end", { try $0.append(.state(.running, at: noon)) }),
            ("finish", { _ = try $0.append(.finished(unless: { _ in nil }, at: noon)) }),
            ("leave", { try $0.leave() }),
        ]
        // One ledger for what follows one another, as in a process that sends.
        let worker = Result { try bench.another().open("run", in: folder) }
        return reading.map { name, use in (name, { try use(bench.another().open("run", in: folder)) }) }
            + sending.map { name, use in (name, { try use(worker.get()) }) }
            + [
                ("runs", { _ = try bench.another().runs().map(\.status.startedAt?.description) }),
                (
                    "to send",
                    {
                        _ = try (
                            bench.another().runsToSend(ofApps: ["shop"]), bench.another().isBeingSent("run"),
                            bench.another().holds("run")
                        )
                    }
                ),
                ("pause", { _ = try bench.another().give(.pause, toRun: "run", in: own, at: noon) }),
                ("fetch", { _ = try bench.another().fetch("run", into: RunsFolder("\(place.host.path)/away")) }),
                ("fetch home", { _ = try bench.another().fetch("run", into: own) }),
                (
                    "reached",
                    {
                        try bench.another().forEachReached(
                            of: "shop", list: "production", since: 0, where: { _ in true }
                        ) { at, _ in
                            _ = at.description
                        }
                    }
                ),
                ("hash key", { _ = try bench.another().hashKey() }),
                (
                    "exchange",
                    {
                        let other = try TemporaryFolder()
                        let list = SuppressionList(app: "shop", environment: "production", folder: other.path)
                        _ = try bench.another().exchange(list)
                        try list.forEach { _ = $0.invalidSince.description }
                    }
                ),
                (
                    "firing",
                    {
                        _ = try (
                            bench.another().holder(of: Place.firing("2026-12-01T09:00")),
                            bench.another().claim(Place.firing("2026-12-02T09:00"), by: 1)
                        )
                    }
                ),
                (
                    "service",
                    {
                        let me = try bench.another().joinAsService(); _ = try bench.another().beat(ofService: me)
                    }
                ),
                ("schedules end", { try bench.another().end(["run"], as: .begun) }),
                ("remove", { try bench.another().remove("run", evenIfUnfetched: true, fetchedInto: own) }),
                ("remove unfetched", { try bench.another().remove("run", evenIfUnfetched: false, fetchedInto: own) }),
            ]
    }
}

/// Damages one value of a row, always the same way from the same seed.
private struct RowDamage {
    private var random: SeededRandom
    private(set) var what = "nothing"
    /// Whether a row of one run was damaged, and not one of all runs, apps or machines.
    private(set) var isOfRun = false

    init(seed: Int) { random = SeededRandom(UInt64(seed)) }

    mutating func apply(to bench: StoreBench) throws {
        let columns = try bench.sql(
            """
            SELECT table_name, column_name, data_type FROM information_schema.columns
            WHERE table_schema = '\(bench.schema)' AND starts_with(table_name, 'volley_') AND NOT column_name IN ('run', 'id', 'xid')
                AND is_generated = 'NEVER' AND data_type NOT IN ('oid', 'xid') ORDER BY 1, 2
            """)
        let ofRun = try bench.sql(
            """
            SELECT table_name FROM information_schema.columns
            WHERE table_schema = '\(bench.schema)' AND column_name = 'run' AND data_type = 'bigint'
            """
        ).map { $0[0] }
        for _ in 0..<50 {
            guard let column = columns.randomElement(using: &random), let table = column[0], let name = column[1],
                let type = column[2]
            else { continue }
            let isOfRun = table == "volley_run" || ofRun.contains(table)
            let rows =
                table == "volley_run"
                ? "id = 'run'" : isOfRun ? "run = (SELECT number FROM volley_run WHERE id = 'run')" : "true"
            let offset = Int.random(in: 0..<4, using: &random)
            let value = value(name, type)
            // A row may refuse the value: another one is tried.
            let changed = try? bench.sql(
                """
                UPDATE \(table) SET \(name) = \(value)
                WHERE ctid = (SELECT ctid FROM \(table) WHERE \(rows) ORDER BY ctid OFFSET \(offset) LIMIT 1) RETURNING 1
                """
            )
            guard changed?.isEmpty == false else { continue }
            (what, self.isOfRun) = ("\(table).\(name) = \(value)", isOfRun)
            return
        }
    }

    /// An expression of SQL.
    private mutating func value(_ column: String, _ type: String) -> String {
        func one(_ values: [String]) -> String { values.randomElement(using: &random) ?? "" }
        let chance = Int.random(in: 0..<10, using: &random)
        if chance == 0 { return "NULL" }
        switch type {
        case "bytea":
            let place = Int.random(in: 0..<1 << 20, using: &random), bit = Int.random(in: 0..<8, using: &random)
            if chance < 6 {
                let byte = "(\(place) % octet_length(\(column)))"
                return "set_byte(\(column), \(byte), get_byte(\(column), \(byte)) # \(1 << bit))"
            }
            return one([
                "'\\x'", "substring(\(column) FROM 1 FOR \(place % 300))", "'\\x00ff00ff00ff00ff00ff'",
                "\(column) || '\\x80'",
            ])
        case "text":
            if chance < 4 {
                return
                    "overlay(\(column) placing \(one(["'9'", "'-'", "'é'", "'\"'", "''"])) from \(1 + Int.random(in: 0..<12, using: &random)) for 1)"
            }
            return one([
                "''", "'0f'", "'x'", "'{}'", "'[]'", "'[['", "'{\"a\":9223372036854775807}'", "'finished'", "'running'",
                "'planned'",
                "'paused'",
                "'9223372036854775807-ff'", "repeat('[', 3000)",
            ])
        case "bigint":
            return one([
                "0", "1", "-1", "7", "2147483648", "4294967297", "2199023255552", "4611686018427387904",
                "9223372036854775807",
                "-9223372036854775808", "\(column) + 1", "\(column) - 1",
            ])
        case "smallint", "integer": return one(["0", "1", "2", "-1", "7", "99", "32767", "-32768"])
        case "boolean": return "NOT \(column)"
        default: return one(["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'294276-01-01'", "now()"])
        }
    }
}
