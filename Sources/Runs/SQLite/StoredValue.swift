package import Base
import GRDB
import GRDBSQLite

/// The only way in which values of a file are read, apart from the bytes of recipients and outcomes
/// (`PreparedStatement.Row`).
///
/// SQLite stores any type in any column, and one flipped bit turns a number into a text. GRDB's own
/// reads (`row[0] as Int?`, `Int.fetchOne`) either end the process there or throw an error that
/// repeats the row, in which there may be device tokens. These throw `SQLITE_MISMATCH` with the
/// column's name and nothing of its value; the file's own translation of errors makes a
/// `Diagnostic` of it.
extension PreparedStatement.Row {
    /// The largest count that is believed: sums of millions of them still fit into an `Int`.
    private static let mostCounted = 1 << 40
    /// The years 1 to 9999, in milliseconds since 1970: others have no date in ISO 8601.
    private static let moments: ClosedRange<Int> = -62_135_596_800_000...253_402_300_799_999

    /// A whole number.
    func int(_ column: CInt) throws(DatabaseError) -> Int {
        guard type(column) == SQLITE_INTEGER else { throw mismatch(column, "a whole number") }
        return number(column)
    }

    /// How many of something: not negative, and no larger than any count that Volley stores.
    func count(_ column: CInt) throws(DatabaseError) -> Int {
        let count = try int(column)
        guard (0...Self.mostCounted).contains(count) else { throw mismatch(column, "a count") }
        return count
    }

    /// The largest audience that something holds for: at least one device.
    func audience(_ column: CInt) throws(DatabaseError) -> Int {
        let devices = try count(column)
        guard devices > 0 else { throw mismatch(column, "a number of devices") }
        return devices
    }

    /// 0 or 1.
    func flag(_ column: CInt) throws(DatabaseError) -> Bool {
        let flag = try int(column)
        guard flag == 0 || flag == 1 else { throw mismatch(column, "0 or 1") }
        return flag == 1
    }

    /// Text in UTF-8.
    func string(_ column: CInt) throws(DatabaseError) -> String {
        guard type(column) == SQLITE_TEXT else { throw mismatch(column, "a text") }
        guard let string = String(validating: text(column), as: UTF8.self) else {
            throw mismatch(column, "a text in UTF-8")
        }
        return string
    }

    /// One of the words of an enumeration.
    func word<Value: RawRepresentable<String>>(_ column: CInt, _ type: Value.Type = Value.self) throws(DatabaseError)
        -> Value
    {
        guard let value = Value(rawValue: try string(column)) else {
            throw mismatch(column, "one of the words that Volley writes there")
        }
        return value
    }

    /// JSON.
    func json(_ column: CInt) throws(DatabaseError) -> JSONValue {
        guard let value = JSONValue(stored: try string(column)) else { throw mismatch(column, "JSON") }
        return value
    }

    /// Milliseconds since 1970, in the years 1 to 9999.
    func moment(_ column: CInt) throws(DatabaseError) -> Timestamp {
        let moment = try int(column)
        guard Self.moments.contains(moment) else { throw mismatch(column, "a moment") }
        return Timestamp(epochMilliseconds: Int64(moment))
    }

    /// A run's id.
    func run(_ column: CInt) throws(DatabaseError) -> String {
        let run = try string(column)
        guard RunID.isPossible(run) else { throw mismatch(column, "a run's id") }
        return run
    }

    /// An epoch of a run, `3-5f0c…`; blank where none began.
    func epoch(_ column: CInt) throws(DatabaseError) -> String {
        let epoch = try string(column)
        guard SendingHistory.isEpoch(epoch) else { throw mismatch(column, "the name of a life of a run") }
        return epoch
    }

    /// A time on a schedule's clock: `2026-12-01T09:00`.
    func occurrence(_ column: CInt) throws(DatabaseError) -> String {
        let occurrence = try string(column)
        guard LocalTime(occurrence)?.description == occurrence else { throw mismatch(column, "a time of a schedule") }
        return occurrence
    }

    /// The names of a run's lists of suppressed devices (`RunSettings.listName`).
    func lists(_ column: CInt) throws(DatabaseError) -> String {
        let lists = try string(column)
        guard ServiceSettings.areLists(lists) else { throw mismatch(column, "a service's environment") }
        return lists
    }

    /// A text that may be blank; nil then.
    func unlessBlank<Value>(_ column: CInt, _ read: (CInt) throws(DatabaseError) -> Value) throws(DatabaseError)
        -> Value?
    {
        try string(column).isEmpty ? nil : try read(column)
    }

    /// Whether the value is missing.
    func isNull(_ column: CInt) -> Bool { type(column) == SQLITE_NULL }

    /// A value that may be missing.
    func optional<Value>(_ column: CInt, _ read: (CInt) throws(DatabaseError) -> Value) throws(DatabaseError) -> Value?
    {
        isNull(column) ? nil : try read(column)
    }

    /// A value that is not what it should be.
    /// - Parameter wanted: what it should be: `a whole number`.
    func mismatch(_ column: CInt, _ wanted: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISMATCH, message: "\(name(column)) is not \(wanted)")
    }
}

extension JSONValue {
    /// JSON of a file, or of a row of the store; nil if it is not JSON, or has a number beyond 2⁴⁸
    /// (as milliseconds since 1970 the year 10889): Volley stores none, and sums and products of
    /// smaller ones fit into an `Int`.
    package init?(stored text: String) {
        guard let value = try? JSONValue(parsing: text), value.isOfNumbersWithin(-(1 << 48)...(1 << 48)) else {
            return nil
        }
        self = value
    }

    private func isOfNumbersWithin(_ range: ClosedRange<Int64>) -> Bool {
        switch self {
        case .integer(let number): range.contains(number)
        case .array(let values): values.allSatisfy { $0.isOfNumbersWithin(range) }
        case .object(let members): members.allSatisfy { $0.value.isOfNumbersWithin(range) }
        default: true
        }
    }
}

extension Database {
    /// The rows of a query.
    func all<Value>(
        _ sql: String, _ arguments: StatementArguments = [], reading read: (PreparedStatement.Row) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try PreparedStatement(self, sql: sql, arguments).forEachRow { row in
            values.append(try read(row))
            return true
        }
        return values
    }

    /// The first row of a query; nil without one.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = [], reading read: (PreparedStatement.Row) throws -> Value
    ) throws -> Value? {
        var value: Value?
        try PreparedStatement(self, sql: sql, arguments).forEachRow { row in
            value = try read(row)
            return false
        }
        return value
    }

    /// A number of the file's header or of the connection.
    func pragma(_ name: String) throws -> Int { try first("PRAGMA \(name)") { try $0.int(0) } ?? 0 }

    /// Whether a table is there, as SQLite reads the schema: in `sqlite_master` a flipped bit can
    /// hide its name from a search.
    func has(table: String) throws -> Bool {
        try first("SELECT 1 FROM pragma_table_info(?)", [table]) { _ in true } ?? false
    }

    /// Whether all pages and rows fit together: reads the whole file, 4 s for 1 GB when it is in
    /// memory. SQLite keeps no checksums, so that one byte of a text may be another one.
    func isWhole(_ query: String = "PRAGMA quick_check(1)") throws -> Bool {
        try first(query) { try $0.string(0) } == "ok"
    }

    /// Whether the file has neither tables nor views.
    func isBlank() throws -> Bool { try first("SELECT count(*) FROM sqlite_master") { try $0.count(0) } == 0 }
}
