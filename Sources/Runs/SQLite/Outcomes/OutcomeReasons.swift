import Base
import GRDB

/// The numbers under which a run file keeps reasons: 1 and more, in the order in which they were
/// first seen; 0 means no reason.
struct OutcomeReasons {
    /// Replaces all reasons beyond the limit: a server may invent a new one for each push.
    private static let last = 0xFFFF
    private static let other = OwnReason.other.rawValue

    private let select: PreparedStatement
    private let insert: PreparedStatement
    private let count: PreparedStatement
    private var known: [String: Int] = [:]

    /// Valid within a transaction: a failed transaction loses what it has added.
    init(_ db: Database) throws {
        select = try PreparedStatement(db, sql: "SELECT number FROM reason WHERE reason = ?")
        insert = try PreparedStatement(db, sql: "INSERT INTO reason (number, reason) VALUES (?, ?)")
        count = try PreparedStatement(
            db, sql: "SELECT coalesce(max(number), 0) FROM reason WHERE number < \(Self.last)")
    }

    /// A reason's number; a new one if necessary.
    mutating func number(of reason: String) throws -> Int {
        if reason.isEmpty { return 0 }
        if let number = known[reason] { return number }
        let number = try stored(reason) ?? added(reason)
        known[reason] = number
        return number
    }

    private func stored(_ reason: String) throws -> Int? {
        try select.bind(reason, at: 1)
        return try first(select)
    }

    private func added(_ reason: String) throws -> Int {
        let next = try (first(count) ?? 0) + 1
        guard next < Self.last else {
            if let number = try stored(Self.other) { return number }
            return try add(Self.other, number: Self.last)
        }
        return try add(reason, number: next)
    }

    private func add(_ reason: String, number: Int) throws -> Int {
        try insert.bind(number, at: 1)
        try insert.bind(reason, at: 2)
        try insert.execute()
        return number
    }

    private func first(_ statement: PreparedStatement) throws -> Int? {
        var number: Int?
        try statement.forEachRow { row in
            number = row.number(0)
            return false
        }
        return number
    }

    /// The numbers of some reasons, as far as they are stored.
    static func numbers(of reasons: Set<OwnReason>, _ db: Database) throws -> Set<Int> {
        let names = Set(reasons.map(\.rawValue))
        return names.isEmpty ? [] : Set(try all(db).filter { names.contains($0.value) }.keys)
    }

    /// All reasons by number.
    static func all(_ db: Database) throws -> [Int: String] {
        var reasons: [Int: String] = [:]
        try PreparedStatement(db, sql: "SELECT number, reason FROM reason").forEachRow { row in
            reasons[row.number(0)] = try row.string(1)
            return true
        }
        return reasons
    }
}
