import Base
import FileDamage
import Foundation
import PushServices
import Testing

@testable import Runs

/// The records that decide what is sent, with one bit flipped. `make fuzz-files` flips each bit of
/// each byte.
@Suite("flipped bits in records")
struct FlippedBitTests {
    private static let run = "20261201-090000-spring-sale-0005", other = "20261201-100000-spring-sale-a27d"

    /// A record, and all that is decided by it, in words.
    struct Kind: Sendable, CustomTestStringConvertible {
        let file: String
        let make: @Sendable (_ folder: String, _ path: String) throws -> Void
        let decide: @Sendable (_ folder: String) throws -> String
        var testDescription: String { file }
    }

    /// With small pages, so that few rows fill a tree of them.
    private static func fixture(_ name: String, and more: String) throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../Fixtures/Formats/\(name).sql")
        return try "PRAGMA page_size = 512; \(String(contentsOf: file, encoding: .utf8)) \(more)"
    }

    private static func list(_ folder: String) -> SuppressionList {
        SuppressionList(app: "shop", environment: "production", folder: folder)
    }

    private static func fill(_ list: SuppressionList, _ path: String) throws {
        _ = try list.add(at: noon) { entries in
            for number in 0..<16 {
                try entries.add(Target(normalized: token(number * 7919)), reason: "Unregistered", invalidSince: noon)
            }
        }
        try Damage.make(path, sql: "PRAGMA page_size = 1024; VACUUM")
    }

    private static let kinds = [
        Kind(file: "suppressed-shop.sqlite") { folder, path in
            try fill(list(folder), path)
        } decide: { folder in
            var devices: [String] = []
            _ = try list(folder).withTokens { _, forEach in
                try forEach { token, since, isImported in
                    devices.append("\(String(decoding: token, as: UTF8.self)) \(since) \(isImported)")
                }
            }
            return "\(devices) \(try list(folder).entry(of: Target(normalized: token(7919)))?.reason ?? "")"
        },
        Kind(file: "orders.sqlite") { _, path in
            let made = """
                INSERT INTO placed VALUES (3, 'third', 'plan', NULL, '/a.yaml', NULL, NULL, 'd', NULL, 'ben', 1796115600000, 1796116200000,
                    'boot', 1000, 'done', 'l', '{"run":"\(other)"}', '\(other)', 1796115600000, NULL);
                """
            try Damage.make(path, sql: fixture("orders-2", and: made))
        } decide: { folder in
            let store = try OrderStore(folder: folder)
            defer { store.close() }
            let unended = try store.unended()
            if let damaged = unended.damaged.first { throw damaged.mistake }
            return "\(unended.orders) \(try store.askers(ofRun: other).sorted())"
        },
        Kind(file: "schedule.sqlite") { _, path in
            try Damage.make(path, sql: fixture("schedule-3", and: ""))
        } decide: { folder in
            let saved = try ScheduleStore.read(folder: folder, since: Timestamp(epochSeconds: 0))
            return "\(saved.scheduledRuns) \(saved.campaigns) \(saved.approvals)"
        },
        Kind(file: "sent.db") { folder, path in
            try Damage.make(path, sql: fixture("sent-1", and: "PRAGMA user_version = 1;"))
            let history = SendingHistory(folder: folder)
            try history.noteCancelled(
                "20261201-110000-spring-sale-0006",
                having: .init(campaign: "c", occurrence: "2026-12-02T09:00", file: "/a", realFile: "/a")
            )
            try history.write { db in
                try SendingHistory.Scope(app: "shop", environment: "sandbox+fcm:production", isTest: false).note(
                    db, run: run)
                try EpochSequence.note(db, run: run, epoch: "1-abc", isEnd: false, at: noon)
            }
        } decide: { folder in
            let history = SendingHistory(folder: folder), known = try history.entries()
            let time = SendingHistory.Time(
                campaign: "spring-sale", occurrence: "2026-12-01T09:00", file: "/b", realFile: "/b")
            return try
                "\(known.begun) \(known.cancelled) \(history.run(having: time, besides: "") ?? "") \(history.order().last)"
        },
    ]

    @Test(
        "with any bit flipped, a record says what it said before, or is refused with its name, or another value is stored in it",
        arguments: kinds)
    func flipped(kind: Kind) throws {
        let folder = try TemporaryFolder(), path = "\(folder.path)/\(kind.file)"
        try kind.make(folder.path, path)
        let before = try kind.decide(folder.path), values = try #require(Damage.values(of: path))
        var refused = 0
        try Damage.flipEach(of: path, every: 3) { place in
            do {
                guard try kind.decide(folder.path) != before else { return }
                // Rows have no sums: one possible value may become another. But no row is lost, and
                // none is found in another's place.
                let found = Damage.values(of: path)
                #expect(found != nil && found != values && found?.count == values.count, "byte \(place)")
            } catch {
                refused += 1
                #expect((error as? Diagnostic)?.file == path, "byte \(place): \(error)")
            }
        }
        #expect(refused > 50)
    }

    @Test(
        "a list in which a key was changed is damaged for planning, for a look-up, for `volley doctor` and for a backup"
    )
    func key() throws {
        let folder = try TemporaryFolder(), list = Self.list(folder.path), name = "suppressed-shop.sqlite",
            path = "\(folder.path)/\(name)"
        try Self.fill(list, path)
        var bytes = readBytes(path)
        let key = Array(token(3 * 7919).utf8),
            place = try #require(bytes.indices.first { bytes[$0...].starts(with: key) })
        bytes[place + 40] = UInt8(ascii: "f")
        writeBytes(bytes, path)
        let damage = "the suppression list is damaged: its pages or rows do not fit together"
        #expect(diagnostic { _ = try list.withTokens { _, _ in } }?.message == damage)
        #expect(diagnostic { _ = try list.entry(of: Target(normalized: token(5 * 7919))) }?.message == damage)
        #expect(diagnostic { try list.forEach { _ in } }?.message == damage)
        var known = KnownObstacles()
        #expect(RunsFolder(folder.path).obstacles(&known).map(\.message) == [damage])
        let copy = try TemporaryFolder(), inventory = try RunsInventory(folder.path)
        let entry = try #require(inventory.entries.first)
        let mistake = diagnostic { _ = try inventory.copy(entry, to: copy.path) { _, _ in } }
        #expect(
            mistake?.file == path && mistake?.message == "the file is damaged: its pages or rows do not fit together")
        #expect(diagnostic { _ = try RestoredRuns(in: folder.path, Self.origin) }?.message == damage)
    }

    private static let origin = RestoredRuns.Origin(
        backupAt: noon, restoredAt: noon, sending: [], nothingSentSince: true)

    @Test(
        "devices in the list of an environment that cannot be, or whose token or run is no text, are damage: no search finds them",
        arguments: [
            ("environment = 'producuion'", "`environment` is not a service's environment"),
            ("environment = x'70'", "`environment` is not a text"),
            ("device_token = CAST(device_token AS BLOB)", "`device_token` is not a text"),
            ("run = x''", "`run` is not a whole number"),
        ])
    func environment(change: String, words: String) throws {
        let folder = try TemporaryFolder(), list = Self.list(folder.path),
            path = "\(folder.path)/suppressed-shop.sqlite"
        try Self.fill(list, path)
        try Damage.make(path, sql: "UPDATE suppressed SET \(change) WHERE device_token = '\(token(15 * 7919))'")
        #expect(
            diagnostic { _ = try list.withTokens { _, forEach in try forEach { _, _, _ in } } }?.message.contains(words)
                == true)
    }

    @Test(
        "one row or table that cannot be read makes the whole record of what was sent damaged, whichever run is looked up",
        arguments: [
            "ALTER TABLE scope RENAME COLUMN environment TO environmenu",
            "ALTER TABLE life_event RENAME COLUMN run TO rum",
            "ALTER TABLE cancelled RENAME COLUMN campaign TO kampaign", "UPDATE beginning SET run = 'nonsense'",
            "UPDATE beginning SET run = '20261301-090000-spring-sale-0005'",
            "UPDATE beginning SET run = '20261201-090000-spring-sale-000m'",
            "UPDATE beginning SET retry_of = 'x'", "UPDATE beginning SET life = 'x'",
            "UPDATE beginning SET life = '1-xyz'",
            "UPDATE beginning SET occurrence = '2026-12-01T23:\"0'",
            "UPDATE beginning SET begun_at = 4611686018427387904",
            "UPDATE scope SET environment = 'sandboy'", "UPDATE scope SET environment = 'sandbox+'",
            "UPDATE scope SET run = 'x'",
            "UPDATE life_event SET run = 'x'", "UPDATE life_event SET life = '-'", "UPDATE cancelled SET run = 'x'",
            "UPDATE cancelled SET occurrence = 'x'",
        ])
    func history(edit: String) throws {
        let folder = try TemporaryFolder(), path = "\(folder.path)/sent.db"
        let kind = try #require(Self.kinds.last), history = SendingHistory(folder: folder.path)
        try kind.make(folder.path, path)
        #expect(try history.entry(of: Self.other) == nil)
        try Damage.make(path, sql: edit)
        let uses: [() throws -> Void] = [
            { _ = try history.entry(of: Self.other) }, { _ = try history.entries() }, { _ = try history.order() },
            { _ = try history.isCancelled(Self.other) }, { _ = try history.retries(of: Self.other) },
            { try history.noteCancelled(Self.other, having: nil) }, { _ = try history.confirm(Self.other) },
        ]
        for use in uses {
            #expect(diagnostic(use)?.message.hasPrefix("the record of what was sent is damaged: ") == true)
        }
        let known = HistorySnapshot(of: RunsFolder(folder.path))
        #expect(throws: Diagnostic.self) { try known.begun(of: "spring-sale") }
        #expect(throws: Diagnostic.self) { try known.begun(since: noon) }
        #expect(throws: Diagnostic.self) { try known.restored(of: "spring-sale") }
        #expect(throws: Diagnostic.self) {
            try RunsFolder(folder.path).started(of: "spring-sale", known: known) { _ in true }
        }
    }

    @Test("names of environments and runs are known by their form")
    func forms() throws {
        for name in [
            "production", "sandbox", "simulator", "a.example:443", "[::1]:8443", "::1:8443", "fcm:production",
            "sandbox+jpush:simulator",
        ] {
            #expect(ServiceSettings.areLists(name), "\(name)")
        }
        for name in ["", "producuion", "fcm:", "fcl:production", "a.example:0", "a\u{e}example:443", "sandbox+"] {
            #expect(!ServiceSettings.areLists(name), "\(name)")
        }
        let id = RunID.make(campaign: "a-1", now: noon, seed: .random())
        #expect(RunID.isPossible(id) && !RunID.isPossible(id + "0") && !RunID.isPossible(String(id.dropLast())))
        for id in [
            "", "run", "20261201-090000-a-a27m", "20261232-090000-a-a27d", "20261201-096000-a-a27d",
            "20261201-090000-A-a27d",
        ] {
            #expect(!RunID.isPossible(id), "\(id)")
        }
    }
}
