import Base

/// Parts of a JSON Schema (draft 2020-12), as editors use it for a YAML file.
///
/// A schema holds what editors can check while you type: keys, kinds, words, patterns. Only
/// `volley check` reports what depends on several values at once, on a clock or on another file.
enum SchemaNode {
    /// The keys of a group, from the table that the reader uses; a key that `definitions` lacks may
    /// hold anything.
    static func object(
        _ group: KeyGroup, _ description: String, required: [String] = [], rules: [(String, JSONValue)] = [],
        _ definitions: [String: JSONValue]
    ) -> JSONValue {
        let properties = (group.valid + group.unlisted).map { ($0, definitions[$0] ?? .object([])) }
        var members: [(String, JSONValue)] = [
            ("type", .string("object")), ("description", .string(description)),
            ("properties", .object(pairs: properties)),
            ("additionalProperties", .bool(false)),
        ]
        if !required.isEmpty { members.append(("required", strings(required))) }
        return .object(pairs: members + rules)
    }

    /// A group with keys of any name.
    static func map(
        _ description: String, _ value: JSONValue, examples: [JSONValue] = [], rules: [(String, JSONValue)] = []
    ) -> JSONValue {
        .object(
            pairs: [
                ("type", .string("object")), ("description", .string(description)), ("additionalProperties", value),
                ("minProperties", .integer(1)),
            ] + (examples.isEmpty ? [] : [("examples", .array(examples))]) + rules)
    }

    /// A text; a number or a truth value without quotes counts as one.
    static func text(_ description: String, example: String, pattern: String? = nil, rules: [(String, JSONValue)] = [])
        -> JSONValue
    {
        var members: [(String, JSONValue)] = [
            ("type", strings(pattern == nil ? ["string", "number", "boolean"] : ["string"])),
            ("description", .string(description)),
            ("examples", strings([example])),
        ]
        members.append(("pattern", .string(pattern ?? #"\S"#)))
        return .object(pairs: members + rules)
    }

    /// One of a few words.
    static func choice(_ description: String, _ words: [String], usual: String? = nil) -> JSONValue {
        .object(
            pairs: [("description", .string(description)), ("enum", strings(words))]
                + (usual.map { [("default", .string($0))] } ?? []))
    }

    /// `true` or `false`.
    static func truth(_ description: String) -> JSONValue {
        .object(pairs: [("type", .string("boolean")), ("description", .string(description)), ("default", .bool(false))])
    }

    /// A whole number.
    static func whole(_ description: String, in range: ClosedRange<Int64>, usual: Int64? = nil, example: Int64)
        -> JSONValue
    {
        .object(
            pairs: [
                ("type", .string("integer")), ("description", .string(description)),
                ("minimum", .integer(range.lowerBound)),
                ("maximum", .integer(range.upperBound)), ("examples", .array([.integer(example)])),
            ] + (usual.map { [("default", .integer($0))] } ?? []))
    }

    /// One or several of these in a list.
    static func oneOrMany(_ description: String, _ one: JSONValue, examples: [JSONValue]) -> JSONValue {
        .object(pairs: [
            ("description", .string(description)),
            (
                "anyOf",
                .array([one, .object(pairs: [("type", .string("array")), ("items", one), ("minItems", .integer(1))])])
            ),
            ("examples", .array(examples)),
        ])
    }

    /// Any of these forms.
    static func anyOf(_ description: String, _ forms: [JSONValue], rules: [(String, JSONValue)] = []) -> JSONValue {
        .object(pairs: [("description", .string(description)), ("anyOf", .array(forms))] + rules)
    }

    /// The same, or `null`.
    static func orNull(_ node: JSONValue) -> JSONValue {
        guard case .object(let members) = node else { return node }
        guard let type = node["type"] else {
            let alternatives = JSONValue.array([node, .object(pairs: [("type", .string("null"))])])
            return .object(members.filter { $0.name == "description" } + [JSONMember("anyOf", alternatives)])
        }
        let types = if case .array(let types) = type { types } else { [type] }
        return .object(members.map { $0.name == "type" ? JSONMember("type", .array(types + [.string("null")])) : $0 })
    }

    /// A part of `$defs`, with its own description.
    static func reference(_ name: String, _ description: String) -> JSONValue {
        .object(pairs: [("$ref", .string("#/$defs/\(name)")), ("description", .string(description))])
    }

    static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    /// Anything that has one of these keys.
    static func hasOneOf(_ keys: [String]) -> JSONValue { .object(pairs: [("anyOf", .array(keys.map(has)))]) }

    static func has(_ key: String) -> JSONValue { .object(pairs: [("required", strings([key]))]) }

    static func hasNone(of keys: [String]) -> JSONValue { .object(pairs: [("not", hasOneOf(keys))]) }

    /// Where a key has a value, a rule holds.
    static func whereTrue(_ key: String, _ rule: JSONValue) -> [(String, JSONValue)] {
        [
            (
                "if",
                .object(pairs: [
                    ("required", strings([key])),
                    ("properties", .object(pairs: [(key, .object(pairs: [("const", .bool(true))]))])),
                ])
            ), ("then", rule),
        ]
    }

    /// Where a key is there, a rule holds.
    static func whereThere(_ key: String, _ rule: JSONValue) -> JSONValue {
        .object(pairs: [("if", has(key)), ("then", rule)])
    }

    /// The document around a root group.
    static func document(_ title: String, _ root: JSONValue, definitions: [(String, JSONValue)]) -> JSONValue {
        guard case .object(let members) = root else { return root }
        let head = [
            JSONMember("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            JSONMember("title", .string(title)),
        ]
        return .object(head + members + [JSONMember("$defs", .object(pairs: definitions))])
    }
}

extension SchemaNode {
    /// Files of devices, or a query.
    static func devices(_ description: String, files: JSONValue) -> JSONValue {
        anyOf(
            description,
            [
                files,
                object(
                    CampaignKeys.deviceQuery, "Devices from a database of volley.yaml.",
                    required: ["database", "query"],
                    [
                        "database": text("A database of volley.yaml.", example: "warehouse"),
                        "query": text(
                            "One SELECT of PostgreSQL, which only reads; its columns are those of an export.",
                            example: "select token as device_token, tags, language from devices where active"),
                    ]),
            ])
    }
}

/// Notations that both files share.
enum SchemaPattern {
    /// `PaceNotation`
    static let pace = #"^\s*[0-9]+\s*/\s*([sS]|[sS][eE][cC]|second|min|minute|[hH]|hour)\s*$"#
    /// `FrequencyNotation`
    static let frequency =
        #"^\s*([aA]t\s+most\s+)?[0-9]+\s+((times?|push|pushes)\s+)?(per|in|a|every)\s+([0-9]+\s*)?(h|hrs?|hours?|d|days?|w|weeks?)\s*$"#
    /// `DurationNotation`
    static let duration =
        #"^\s*[0-9]+\s*(s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)\s*$"#
    /// A date with a time, as `Timestamp` reads it; loosely.
    static let moment = #"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}[ T].+$"#
    static let percentage = #"^\s*[0-9]*\.?[0-9]+\s*%\s*$"#
    static let shrinking = #"^\s*([0-9]*\.?[0-9]+\s*%|off)\s*$"#
    static let language = #"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*$"#
}
