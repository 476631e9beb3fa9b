import Base
import CPostgreSQL
import Glibc

extension PostgresConnection {
    /// Runs statements, separated by semicolons.
    /// - Parameter seconds: how long the answer may take.
    /// - Returns: the rows of the last one, with cells as text; nil for NULL.
    /// - Throws: `PostgresError`; `CancellationError`, once the server was told.
    @discardableResult
    public func execute(_ statements: String, within seconds: Double) throws -> [[String?]] {
        try stoppingOnError {
            try results(Deadline(seconds: seconds)) { PQsendQuery($0, statements) }.last?.rows ?? []
        }
    }

    /// Runs one statement with values.
    /// - Parameters:
    ///   - values: of `$1`, `$2`, …
    ///   - isKept: whether the server keeps the statement for as long as the connection lasts: one
    ///     that is run often is parsed and planned once.
    ///   - seconds: how long the answer may take.
    ///   - read: called with each row.
    /// - Returns: how many rows there are, or were changed.
    /// - Throws: `PostgresError`; `CancellationError`, once the server was told; what `read`
    ///   throws.
    @discardableResult
    public func run(
        _ statement: String, _ values: [PostgresValue] = [], isKept: Bool = false, within seconds: Double,
        _ read: (PostgresRow) throws -> Void = { _ in }
    ) throws -> Int {
        let deadline = Deadline(seconds: seconds)
        return try stoppingOnError {
            let name = isKept ? try keep(statement, deadline) : nil
            guard
                let result = try results(deadline, { handle in Self.send(statement, as: name, values, over: handle) })
                    .last
            else {
                throw failure
            }
            for number in 0..<PQntuples(result.handle) { try read(PostgresRow(result: result.handle, number: number)) }
            return PQcmdTuples(result.handle).flatMap { Int(String(cString: $0)) } ?? 0
        }
    }

    /// - Returns: the server's name for the statement.
    private func keep(_ statement: String, _ deadline: Deadline) throws -> String {
        if let known = kept[statement] { return known }
        let name = "volley\(kept.count)"
        _ = try results(deadline) { PQsendPrepare($0, name, statement, 0, nil) }
        kept[statement] = name
        return name
    }

    /// Values are given as text where that is the same for the server, so that it finds their types
    /// by itself.
    /// - Parameter name: of a statement that the server keeps; nil for one that it does not.
    private static func send(
        _ statement: String, as name: String?, _ values: [PostgresValue], over handle: OpaquePointer
    ) -> Int32 {
        var copies: [UnsafeMutableRawPointer?] = []
        var lengths: [Int32] = [], formats: [Int32] = []
        defer { for copy in copies { free(copy) } }
        for value in values {
            if case .bytes(let bytes) = value {
                let copy = malloc(max(1, bytes.count))
                bytes.withUnsafeBytes {
                    if let start = $0.baseAddress { copy?.copyMemory(from: start, byteCount: $0.count) }
                }
                copies.append(copy)
                lengths.append(Int32(bytes.count))
                formats.append(1)
            } else {
                copies.append(value.text.flatMap { strdup($0) }.map { UnsafeMutableRawPointer($0) })
                lengths.append(0)
                formats.append(0)
            }
        }
        let pointers = copies.map { $0.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) } }
        if let name { return PQsendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1) }
        return PQsendQueryParams(handle, statement, Int32(values.count), nil, pointers, lengths, formats, 1)
    }

    /// Runs `COPY … FROM STDIN`.
    /// - Parameters:
    ///   - seconds: how long all of it may take.
    ///   - produce: returns the next bytes, rows cut anywhere; nil at their end.
    /// - Throws: `PostgresError`; `CancellationError`; what `produce` throws. Nothing is copied
    ///   then.
    public func copyIn(_ statement: String, within seconds: Double, _ produce: () throws -> [UInt8]?) throws {
        let deadline = Deadline(seconds: seconds)
        try stoppingOnError {
            try send(deadline) { PQsendQuery($0, statement) }
            guard let first = try nextResult(deadline) else { throw failure }
            try check(first)
            guard PQresultStatus(first.handle) == PGRES_COPY_IN else {
                throw PostgresError(.lost, "the server takes no rows")
            }
            do { while let bytes = try produce() { try put(bytes, deadline) } } catch {
                _ = PQputCopyEnd(handle, "no more rows")
                while (try? nextResult(Deadline(seconds: 5))) != nil {}
                throw error
            }
            while true {
                let sent = PQputCopyEnd(handle, nil)
                if sent == 1 { break }
                guard sent == 0 else { throw failure }
                try wait(forWriting: true, forReading: true, deadline)
            }
            try send(deadline) { _ in 1 }
            while let result = try nextResult(deadline) { try check(result) }
            try checkConfirmed()
        }
    }

    private func put(_ bytes: [UInt8], _ deadline: Deadline) throws {
        try bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            while true {
                let sent = PQputCopyData(handle, start.assumingMemoryBound(to: CChar.self), Int32(buffer.count))
                // libpq would keep whatever the server does not take yet, without a limit.
                if sent == 1 { return try self.send(deadline) { _ in 1 } }
                guard sent == 0 else { throw failure }
                // What it holds back has to leave first.
                try wait(forWriting: true, forReading: true, deadline)
                guard PQconsumeInput(handle) == 1 else { throw failure }
            }
        }
    }

    /// Has one statement parsed, without running it.
    /// - Parameter seconds: how long the answer may take.
    /// - Throws: `PostgresError`, also for a second statement; `CancellationError`.
    public func describe(_ statement: String, within seconds: Double) throws -> PostgresDescription {
        let deadline = Deadline(seconds: seconds)
        return try stoppingOnError {
            _ = try results(deadline) { PQsendPrepare($0, "", statement, 0, nil) }
            guard let result = try results(deadline, { PQsendDescribePrepared($0, "") }).last else { throw failure }
            return PostgresDescription(parameters: Int(PQnparams(result.handle)), columns: result.columns)
        }
    }

    /// Runs `COPY … TO STDOUT`.
    /// - Parameters:
    ///   - seconds: how long all of it may take.
    ///   - idle: called about once a second while no row comes.
    ///   - receive: takes the bytes of a row, with its line break.
    /// - Throws: `PostgresError`; `CancellationError`; what `receive` throws. The server was told
    ///   then.
    public func copy(
        _ statement: String, within seconds: Double, idle: () -> Void = {},
        _ receive: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let deadline = Deadline(seconds: seconds)
        try stoppingOnError {
            try send(deadline) { PQsendQuery($0, statement) }
            guard let first = try nextResult(deadline, idle: idle) else { throw failure }
            try check(first)
            guard PQresultStatus(first.handle) == PGRES_COPY_OUT else {
                throw PostgresError(.lost, "the server sends no rows")
            }
            try receiveRows(deadline, idle, receive)
            while let result = try nextResult(deadline) { try check(result) }
        }
    }

    private func receiveRows(
        _ deadline: Deadline, _ idle: () -> Void, _ receive: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        while true {
            var bytes: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &bytes, 1)
            defer { PQfreemem(bytes) }
            switch count {
            case 1...: try receive(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            case 0: try awaitInput(deadline, idle: idle)
            case -1: return
            default: throw failure
            }
        }
    }

    // MARK: - Results

    /// Sends something, and takes all its results.
    private func results(_ deadline: Deadline, _ request: (OpaquePointer) -> Int32) throws -> [PostgresResult] {
        try send(deadline, request)
        var results: [PostgresResult] = [], refusal: PostgresError?
        // After an error, too, libpq wants every result to be taken.
        while let result = try nextResult(deadline) {
            results.append(result)
            if refusal == nil { refusal = error(of: result) }
        }
        if let refusal { throw refusal }
        try checkConfirmed()
        return results
    }

    private func send(_ deadline: Deadline, _ request: (OpaquePointer) -> Int32) throws {
        guard request(handle) == 1 else { throw failure }
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                // A server that waits for us to read would never take the rest.
                try wait(forWriting: true, forReading: true, deadline)
                guard PQconsumeInput(handle) == 1 else { throw failure }
            default: throw failure
            }
        }
    }

    private func awaitInput(_ deadline: Deadline, idle: () -> Void = {}) throws {
        try wait(deadline, idle: idle)
        guard PQconsumeInput(handle) == 1 else { throw failure }
    }

    private func nextResult(_ deadline: Deadline, idle: () -> Void = {}) throws -> PostgresResult? {
        while PQisBusy(handle) != 0 { try awaitInput(deadline, idle: idle) }
        return PQgetResult(handle).map(PostgresResult.init)
    }

    private func check(_ result: PostgresResult) throws { if let error = error(of: result) { throw error } }

    private func error(of result: PostgresResult) -> PostgresError? {
        guard [PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE].contains(PQresultStatus(result.handle)) else { return nil }
        // Without a SQLSTATE it is libpq itself that complains.
        guard let state = result.text(volley_pg_sqlstate) else { return failure }
        return PostgresError(
            .refused(sqlState: state), result.text(volley_pg_message) ?? "the server gives no reason",
            remedy: result.text(volley_pg_hint),
            scalarOffset: result.text(volley_pg_position).flatMap { Int($0) }.map { $0 - 1 })
    }

    // MARK: - Stopping

    /// Stops what the server is doing once the result is no longer awaited.
    private func stoppingOnError<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            if PQtransactionStatus(handle) == PQTRANS_ACTIVE { stop() }
            throw error
        }
    }

    /// Requests that the server end the statement. The request uses a connection of its own, which
    /// libpq makes blocking: so another thread makes it, and waits only a short time for a server
    /// that does not answer.
    private func stop() {
        guard let pointer = PQgetCancel(handle), let answered = try? Wakeup() else { return }
        let request = StopRequest(pointer: pointer)
        guard
            (try? detachThread {
                request.send()
                answered.wake()
            }) != nil
        else { return }
        answered.wait(atMost: 1)
    }
}

/// A request to end a statement. PQcancel is thread-safe, and a request belongs to the one thread
/// that sends it, so it can be handed over.
private struct StopRequest: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Sends it, and gives it back to libpq.
    func send() {
        var complaint = [CChar](repeating: 0, count: 256)
        PQcancel(pointer, &complaint, Int32(complaint.count))
        PQfreeCancel(pointer)
    }
}

/// A result of libpq.
private final class PostgresResult {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQclear(handle) }

    var columns: [PostgresColumn] {
        (0..<PQnfields(handle)).map { number in
            PostgresColumn(
                name: PQfname(handle, number).map { String(cString: $0) } ?? "", type: PQftype(handle, number))
        }
    }

    var rows: [[String?]] {
        (0..<PQntuples(handle)).map { row in
            (0..<PQnfields(handle)).map { column in
                PQgetisnull(handle, row, column) == 1
                    ? nil : PQgetvalue(handle, row, column).map { String(cString: $0) }
            }
        }
    }

    func text(_ field: (OpaquePointer) -> UnsafePointer<CChar>?) -> String? {
        field(handle).map { String(cString: $0) }
    }
}
