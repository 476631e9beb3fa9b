import GRDB
import GRDBSQLite

/// A statement that is executed over and over, directly through SQLite's own interface: GRDB boxes
/// and checks every value of every row, which costs more than SQLite itself. GRDB still keeps the
/// statement, the connection and the transaction around it.
struct PreparedStatement {
    /// Kept alive here; `raw` is its pointer.
    private let statement: Statement
    private let raw: SQLiteStatement
    private let connection: SQLiteConnection

    /// Prepared once for each connection and SQL text. Must not be used after the closure that `db`
    /// was handed to.
    init(_ db: Database, sql: String, _ arguments: StatementArguments = []) throws {
        statement = try db.cachedStatement(sql: sql)
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        raw = statement.sqliteStatement
        guard let connection = db.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        self.connection = connection
    }

    /// Binds a number, or NULL.
    func bind(_ number: Int?, at index: CInt) throws {
        try check(number.map { sqlite3_bind_int64(raw, index, Int64($0)) } ?? sqlite3_bind_null(raw, index))
    }

    /// Binds text, which SQLite copies unless it is blank.
    func bind(_ text: String, at index: CInt) throws {
        guard !text.isEmpty else {
            // A static text needs no destructor (SQLITE_STATIC), and a null pointer would be NULL.
            let blank: StaticString = ""
            return try blank.utf8Start.withMemoryRebound(to: CChar.self, capacity: 1) {
                try check(sqlite3_bind_text(raw, index, $0, 0, nil))
            }
        }
        var text = text
        try text.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { bytes in
                // The destructor "−1", SQLITE_TRANSIENT, requests the copy.
                let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
                try check(sqlite3_bind_text(raw, index, bytes.baseAddress, CInt(bytes.count), transient))
            }
        }
    }

    /// Binds text that stays where it is until the statement has been executed.
    func bind(_ text: UnsafeBufferPointer<UInt8>, at index: CInt) throws {
        guard let start = text.baseAddress, !text.isEmpty else { return try bind("", at: index) }
        try start.withMemoryRebound(to: CChar.self, capacity: text.count) {
            try check(sqlite3_bind_text(raw, index, $0, CInt(text.count), nil))
        }
    }

    /// Binds bytes that stay where they are until the statement has been executed.
    func bind(blob bytes: UnsafeRawBufferPointer, at index: CInt) throws {
        try check(sqlite3_bind_blob(raw, index, bytes.baseAddress, CInt(bytes.count), nil))
    }

    /// Executes the statement with the values bound last.
    /// - Returns: how many rows it changed.
    @discardableResult
    func execute() throws -> Int {
        let code = sqlite3_step(raw)
        guard code == SQLITE_DONE else { throw failure(code) }
        let changes = Int(sqlite3_changes(connection))
        try check(sqlite3_reset(raw))
        return changes
    }

    /// Calls `body` with each row until it returns false.
    func forEachRow(_ body: (Row) throws -> Bool) throws {
        // An open query would keep its transaction open; the step before reported what went wrong.
        defer { sqlite3_reset(raw) }
        while true {
            switch sqlite3_step(raw) {
            case SQLITE_ROW: guard try body(Row(raw: raw)) else { return }
            case SQLITE_DONE: return
            case let code: throw failure(code)
            }
        }
    }

    /// The current row of a query. Valid until the next one.
    struct Row {
        fileprivate let raw: SQLiteStatement

        /// The type of a value as it is stored: `SQLITE_INTEGER` and others. Look before `text`,
        /// which may convert it.
        func type(_ index: CInt) -> CInt { sqlite3_column_type(raw, index) }

        /// The name of a column, for messages. The names of a damaged file may be anything.
        func name(_ index: CInt) -> String {
            guard let start = sqlite3_column_name(raw, index) else { return "a value" }
            let name = String(cString: start)
            let isPlain =
                name.utf8.count <= 40 && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || "_(*)".utf8.contains($0) }
            return isPlain && !name.isEmpty ? "`\(name)`" : "a value"
        }

        /// A number; 0 for NULL.
        func number(_ index: CInt) -> Int { Int(sqlite3_column_int64(raw, index)) }

        /// The bytes of a text in SQLite's own memory, UTF-8 unless the file was edited; none for
        /// NULL.
        func text(_ index: CInt) -> UnsafeBufferPointer<UInt8> {
            // In this order: asking for the text may convert it, which changes its length.
            let start = sqlite3_column_text(raw, index)
            return UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(raw, index)))
        }

        /// A blob in SQLite's own memory; nothing for NULL.
        func bytes(_ index: CInt) -> UnsafeRawBufferPointer {
            let start = sqlite3_column_blob(raw, index)
            return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(raw, index)))
        }
    }

    private func check(_ code: CInt) throws {
        if code != SQLITE_OK { throw failure(code) }
    }

    private func failure(_ code: CInt) -> DatabaseError {
        let error = DatabaseError(
            resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)))
        // After reading the message; the statement must not stay half executed.
        sqlite3_reset(raw)
        return error
    }
}
