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
