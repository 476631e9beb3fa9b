/// A JSON value (RFC 8259). Objects keep the order in which their members were written.
public indirect enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])

    /// An object from pairs, in the order in which they are written.
    public static func object(pairs: [(String, JSONValue)]) -> JSONValue {
        .object(pairs.map { JSONMember($0.0, $0.1) })
    }

    /// The value of the last member with this name, as in most parsers; nil for anything but an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The text of a string, otherwise nil.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number of an integer, otherwise nil.
    public var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }
}

/// A name and its value within a JSON object.
public struct JSONMember: Hashable, Sendable {
    /// The member's name, unescaped.
    public var name: String
    /// Its value.
    public var value: JSONValue

    /// A member.
    public init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}
