import CPostgreSQL

/// A row in the server's binary form. Its cells are decoded on demand. Valid only during the call
/// that lends it.
public struct PostgresRow {
    let result: OpaquePointer
    let number: Int32

    /// Whether a cell is NULL.
    public func isNull(_ column: Int) -> Bool { PQgetisnull(result, number, Int32(column)) == 1 }

    /// The bytes of a cell; none for NULL. Lent.
    public func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        guard !isNull(column), let start = PQgetvalue(result, number, Int32(column)) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, number, Int32(column))))
    }

    /// A whole number of any of the server's sizes, or a truth value as 0 or 1; 0 for NULL.
    public func int(_ column: Int) -> Int {
        let bytes = bytes(column)
        switch bytes.count {
        case 1: return Int(bytes[0])
        case 2: return Int(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case 4: return Int(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case 8: return Int(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        default: return 0
        }
    }

    /// The same; nil for NULL.
    public func optionalInt(_ column: Int) -> Int? { isNull(column) ? nil : int(column) }

    /// Text; blank for NULL.
    public func text(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// The same; nil for NULL.
    public func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
}

/// A value that a statement is given: `$1`, `$2`, …
public enum PostgresValue: Hashable, Sendable {
    case null
    /// For `bigint`, `int` and `smallint`.
    case int(Int)
    case text(String)
    case bool(Bool)
    case bytes([UInt8])
    /// For `bigint[]`.
    case ints([Int])

    /// As libpq sends it: everything but bytes as text, which the server reads as whatever type the
    /// statement needs there.
    var text: String? {
        switch self {
        case .null, .bytes: nil
        case .int(let number): String(number)
        case .text(let text): text
        case .bool(let value): value ? "t" : "f"
        case .ints(let numbers): "{\(numbers.map(String.init).joined(separator: ","))}"
        }
    }
}

extension PostgresValue {
    /// NULL for nil.
    public static func optional(_ number: Int?) -> PostgresValue { number.map(PostgresValue.int) ?? .null }

    /// NULL for nil.
    public static func optional(_ text: String?) -> PostgresValue { text.map(PostgresValue.text) ?? .null }
}

/// A column that a statement would return.
public struct PostgresColumn: Hashable, Sendable {
    /// Its name; not unique.
    public var name: String
    /// The object id of its type; of a domain, of the type below it.
    public var type: UInt32
}

/// What a statement takes and returns.
public struct PostgresDescription: Hashable, Sendable {
    /// How many values it takes: `$1`.
    public var parameters: Int
    /// In its order; empty for a statement that returns no rows.
    public var columns: [PostgresColumn]
}
