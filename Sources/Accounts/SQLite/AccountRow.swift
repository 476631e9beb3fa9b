import Base
import GRDB

/// A row of the file, whose values may be of any type: SQLite accepts values of any type.
struct AccountRow {
    private let row: Row

    init(_ row: Row) { self.row = row }

    /// The rows of a query.
    static func all(_ db: Database, _ sql: String, _ arguments: StatementArguments = []) throws -> [AccountRow] {
        try Row.fetchAll(db, sql: sql, arguments: arguments).map(AccountRow.init)
    }

    /// The rows of a list that people read: one that cannot be read does not hide the others.
    static func readable<Value>(
        _ rows: [AccountRow], _ read: (AccountRow) throws -> Value
    ) throws -> (values: [Value], damaged: [AccountRow]) {
        var values: [Value] = []
        var damaged: [AccountRow] = []
        for row in rows {
            do { values.append(try read(row)) } catch let mistake as Diagnostic
                where mistake == AccountDiagnostics.unreadable
            {
                damaged.append(row)
            }
        }
        return (values, damaged)
    }

    /// The first row of a query.
    static func one(_ db: Database, _ sql: String, _ arguments: StatementArguments = []) throws -> AccountRow? {
        try Row.fetchOne(db, sql: sql, arguments: arguments).map(AccountRow.init)
    }

    /// A number of the file's header.
    static func pragma(_ name: String, _ db: Database) throws -> Int { try one(db, "PRAGMA \(name)")?.value(0) ?? 0 }

    /// A value.
    /// - Throws: `AccountDiagnostics.unreadable`: it is of another type.
    func value<Value: DatabaseValueConvertible>(_ column: Int, _ type: Value.Type = Value.self) throws -> Value {
        // A `DatabaseValue` is the value as stored: reading it as another type would end the
        // process on a mismatch.
        let value: DatabaseValue = row[column]
        return try Self.known(Value.fromDatabaseValue(value))
    }

    /// A value that may be missing.
    func optional<Value: DatabaseValueConvertible>(_ column: Int, _ type: Value.Type = Value.self) throws -> Value? {
        let value: DatabaseValue = row[column]
        return value.isNull ? nil : try Self.known(Value.fromDatabaseValue(value))
    }

    /// Bytes, stored as hex digits.
    func bytes(_ column: Int) throws -> [UInt8] { try Self.known(Hex.bytes(value(column, String.self))) }

    /// One of the words of an enumeration.
    func word<Value: RawRepresentable<String>>(_ column: Int, _ type: Value.Type = Value.self) throws -> Value {
        try Self.known(Value(rawValue: value(column)))
    }

    /// Milliseconds since 1970, in the years 1 to 9999: others have no date in ISO 8601.
    func moment(_ column: Int) throws -> Timestamp {
        let moment = try value(column, Int64.self)
        guard (-62_135_596_800_000...253_402_300_799_999).contains(moment) else { throw AccountDiagnostics.unreadable }
        return Timestamp(epochMilliseconds: moment)
    }

    func address(_ column: Int) throws -> IPAddress? {
        try optional(column, String.self).map { try Self.known(IPAddress($0)) }
    }

    func name(_ column: Int) throws -> AccountName { try Self.known(AccountName(reading: value(column))) }

    func displayName(_ column: Int) throws -> DisplayName {
        guard let name = try? DisplayName(value(column)) else { throw AccountDiagnostics.unreadable }
        return name
    }

    func json(_ column: Int) throws -> JSONValue {
        guard let json = try? JSONValue(parsing: value(column, String.self)) else {
            throw AccountDiagnostics.unreadable
        }
        return json
    }

    /// A value that must be one.
    static func known<Value>(_ value: Value?) throws(Diagnostic) -> Value {
        guard let value else { throw AccountDiagnostics.unreadable }
        return value
    }
}

/// Hex digits read back.
enum Hex {
    /// The bytes; nil for an odd number of digits, or for anything else than `0` to `9` and `a` to
    /// `f`.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[place]), let low = value(digits[place + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
