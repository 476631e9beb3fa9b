import GRDB

/// Executes one statement over and over with values bound straight to it: `StatementArguments` would box and copy every value of
/// ten million rows.
struct StatementBinder {
    private let statement: Statement
    private let raw: SQLiteStatement

    init(_ db: Database, _ sql: String) throws {
        statement = try db.cachedStatement(sql: sql)
        raw = statement.sqliteStatement
    }

    /// Forgets the last row's values: what is not bound again is NULL.
    func reset() {
        // Empty arguments reset the statement, clear its values and make GRDB believe that what follows is bound by intent.
        statement.setUncheckedArguments(StatementArguments())
    }

    func bind(_ number: Int, at index: CInt) throws { try check(Int64(number).bind(to: raw, at: index)) }

    func bind(_ text: String, at index: CInt) throws { try check(text.bind(to: raw, at: index)) }

    func execute() throws { try statement.execute() }

    private func check(_ code: CInt) throws {
        if code != 0 { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
