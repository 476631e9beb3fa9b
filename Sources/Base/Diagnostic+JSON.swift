extension Diagnostic {
    /// A mistake as JSON documents show it.
    public var json: JSONValue {
        let pairs: [(String, JSONValue)] = [
            ("file", file.map { .string($0) } ?? .null),
            ("line", position.map { .integer(Int64($0.line)) } ?? .null),
            ("column", position.map { .integer(Int64($0.column)) } ?? .null),
            ("message", .string(message)),
            ("remedy", remedy.map { .string($0) } ?? .null),
        ]
        return .object(pairs: pairs + (name.map { [("name", .string($0.rawValue))] } ?? []))
    }
}
