import Foundation
import GRDB
import TestSupport

/// Damages a database of Volley at random, always the same way from the same seed: bits of the
/// file, or a value that gets another type or size.
public struct Damage {
    private var random: SeededRandom
    /// What was done, without any content of the file.
    public private(set) var what = "nothing"

    /// The damage of a seed.
    public init(seed: Int) { random = SeededRandom(UInt64(seed)) }

    /// How many seeds tests try, and the first: `VOLLEY_FUZZ_FILES` and `VOLLEY_FUZZ_FIRST`.
    public static func seeds(_ usual: Int) -> Range<Int> {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["VOLLEY_FUZZ_FIRST"].flatMap(Int.init) ?? 0
        return first..<first + (environment["VOLLEY_FUZZ_FILES"].flatMap(Int.init) ?? usual)
    }

    /// Says which seed is tried, where many are: a crash ends the process, and this is what is
    /// left.
    public static func announce(_ seed: Int) {
        if ProcessInfo.processInfo.environment["VOLLEY_FUZZ_FILES"] != nil {
            FileHandle.standardError.write(Data("\rseed \(seed) ".utf8))
        }
    }

    /// Makes a database of statements.
    public static func make(_ path: String, sql: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
        try database.close()
    }

    /// Damages a file.
    public mutating func apply(to path: String) throws {
        if Bool.random(using: &random), (try? changeValue(of: path)) ?? false { return }
        try changeBits(of: path)
    }

    private mutating func changeBits(of path: String) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        guard !bytes.isEmpty else { return }
        if Int.random(in: 0..<20, using: &random) == 0 {
            bytes.removeSubrange(Int.random(in: 0..<bytes.count, using: &random)...)
            what = "cut off at \(bytes.count)"
        } else {
            // Most of a file is zero, and says nothing.
            let used = bytes.indices.filter { bytes[$0] != 0 }
            let count = [1, 1, 1, 4, 40][Int.random(in: 0..<5, using: &random)]
            let places = (0..<count).map { _ in used.randomElement(using: &random) ?? 0 }
            for place in places { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
            what = "bits of the bytes \(places.prefix(4))"
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// - Returns: false if no row took the value.
    private mutating func changeValue(of path: String) throws -> Bool {
        let database = try DatabaseQueue(path: path)
        defer { try? database.close() }
        return try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = 1")
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            guard let table = tables.randomElement(using: &random),
                let column = try db.columns(in: table).randomElement(using: &random)?.name,
                case let rows = try DatabaseValue.fetchAll(db, sql: "SELECT \(column) FROM \(table)"),
                let row = rows.randomElement(using: &random)
            else { return false }
            let value = value(like: row)
            try db.execute(sql: "UPDATE \(table) SET \(column) = ? WHERE \(column) IS ?", arguments: [value, row])
            what = "\(table).\(column)"
            return db.changesCount > 0
        }
    }

    private mutating func value(like row: DatabaseValue) -> DatabaseValue {
        if let text = String.fromDatabaseValue(row), !text.isEmpty, Bool.random(using: &random) {
            return edited(text).databaseValue
        }
        let numbers: [Int64] = [
            0, 1, -1, 7, 1 << 31, 1 << 32 + 1, 1 << 41, 1 << 62, .max, .min, -62_135_596_800_001, 253_402_300_800_000,
        ]
        let texts = [
            "", "0f", "x", "{}", "[]", "[[", "{\"a\":9223372036854775807}", "finished", "running", "planned",
            "9223372036854775807-ff",
        ]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return (numbers.randomElement(using: &random) ?? 0).databaseValue
        case 1: return (texts.randomElement(using: &random) ?? "").databaseValue
        case 2: return ([0.5, 1e300, .infinity, -.infinity].randomElement(using: &random) ?? 0).databaseValue
        default:
            return Data((0..<Int.random(in: 0..<40, using: &random)).map { _ in .random(in: 0...255, using: &random) })
                .databaseValue
        }
    }

    /// A text with a character changed, or a number in it that is too large.
    private mutating func edited(_ text: String) -> String {
        var bytes = Array(text.utf8)
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let pieces = ["9", "-", "é", "\"", "{", "", "9223372036854775807", "\u{0}"]
        let digits = bytes.indices.filter { (0x30...0x39).contains(bytes[$0]) }
        let chosen = Bool.random(using: &random) ? digits.randomElement(using: &random) ?? place : place
        bytes.replaceSubrange(chosen...chosen, with: Array((pieces.randomElement(using: &random) ?? "").utf8))
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Damage of a single bit, in one place after the other.
extension Damage {
    /// Flips a bit of a file's bytes, one after the other, and calls `body` each time. What is zero
    /// is left out: most of a file, which says nothing.
    /// - Parameter step: flips one bit of every `step`th byte; with `VOLLEY_FUZZ_FILES` all eight
    ///   of each.
    public static func flipEach(of path: String, every step: Int, _ body: (_ place: Int) throws -> Void) throws {
        let file = URL(fileURLWithPath: path), intact = [UInt8](try Data(contentsOf: file))
        let tellsAll = ProcessInfo.processInfo.environment["VOLLEY_FUZZ_FILES"] != nil
        for place in stride(from: 0, to: intact.count, by: tellsAll ? 1 : step) where intact[place] != 0 {
            for bit in tellsAll ? Array(0..<8) : [place % 8] {
                var bytes = intact
                bytes[place] ^= 1 << UInt8(bit)
                for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
                try Data(bytes).write(to: file)
                try body(place)
            }
        }
        try Data(intact).write(to: file)
    }

    /// The values of a database, row by row as they are stored; nil if SQLite itself finds damage.
    public static func values(of path: String) -> [[String]]? {
        var configuration = Configuration()
        configuration.readonly = true
        guard let database = try? DatabaseQueue(path: path, configuration: configuration) else { return nil }
        defer { try? database.close() }
        return try? database.read { db in
            guard try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") == "ok" else { return nil }
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
            return try tables.flatMap { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\" NOT INDEXED").map {
                    $0.databaseValues.map(\.description)
                }
            }
        }
    }
}
