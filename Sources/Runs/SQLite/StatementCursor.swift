import GRDB

/// Steps through a query and reads each row straight from the statement, without GRDB's `Row` in between:
/// ten million rows are read here, and each step of a `Row` costs lookups and checks.
final class StatementCursor<Element>: DatabaseCursor {
    var _isDone = false
    let _statement: Statement
    private let decode: (SQLiteStatement) throws -> Element

    /// - Parameter decode: reads columns by index with `Int64(sqliteStatement:index:)` and `String(sqliteStatement:index:)`; the
    ///   latter crashes on NULL, so the query must not yield any.
    init(_ db: Database, sql: String, arguments: StatementArguments = [], decode: @escaping (SQLiteStatement) throws -> Element) throws {
        _statement = try db.makeStatement(sql: sql)
        try _statement.setArguments(arguments)
        self.decode = decode
    }

    func _element(sqliteStatement: SQLiteStatement) throws -> Element { try decode(sqliteStatement) }
}
