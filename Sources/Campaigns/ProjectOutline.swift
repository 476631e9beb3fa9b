public import Base

/// What volley.yaml says, for people outside of the project who are asked for help: every key, and only those values that cannot be secret. Tokens, names,
/// addresses beyond their host, queries and commands are left out, and so are comments. It is read as it stands, right or wrong.
public struct ProjectOutline: Sendable {
    /// What stands in place of a value that is left out.
    public static let removed = "(removed)"
    /// The outline.
    public let json: JSONValue

    /// Keys whose plain values may be shown; below `columns` all may be: they are names of columns.
    private static let shown: Set<String> = [
        "service", "environment", "topic", "pace", "frequency", "approval", "timeout", "runs", "events", "timezone", "columns", "proxies",
        "roots",
        "file", "package", "region", "every", "at_most", "within", "metrics", "health",
    ]

    /// Reads volley.yaml.
    /// - Throws: `Diagnostics`: the file is missing, cannot be read, or is no YAML.
    public init(file: String) throws(Diagnostics) {
        let source = try openSource(file)
        do throws(Diagnostic) {
            var composer = try YAMLComposer(source: source, findings: Findings())
            json = try composer.document().map { Self.outline($0, key: "", isShown: false) } ?? .null
        } catch { throw Diagnostics(error) }
    }

    private static func outline(_ node: YAMLNode, key: String, isShown: Bool) -> JSONValue {
        switch node.content {
        case .unreadable: return .string(removed)
        case .sequence(let items): return .array(items.map { outline($0, key: key, isShown: isShown) })
        case .mapping(let entries):
            return .object(
                pairs: entries.map { entry in
                    let name = entry.key.value
                    return (name, outline(entry.value, key: name, isShown: key == "columns" && isShown || shown.contains(name)))
                })
        case .scalar(let text, _):
            if node.isNull { return .null }
            if text.contains("://") { return .string(host(of: text) ?? removed) }
            let isVariable = key.hasSuffix("_env") && text.wholeMatch(of: /[A-Z_][A-Z0-9_]*/) != nil
            return .string(isShown || isVariable ? text : removed)
        }
    }

    /// Of an address, its scheme and host: the rest may be a secret.
    /// - Returns: nil if it is not certain what of it is the host: a password may hold any character.
    private static func host(of text: String) -> String? {
        guard let address = text.wholeMatch(of: /([a-z][a-z0-9+.-]*):\/\/(?:[^@\/?#]*@)?([A-Za-z0-9.-]+(?::[0-9]+)?)([\/?#].*)?/),
            !(address.output.3 ?? "").contains("@")
        else { return nil }
        let (_, scheme, host, rest) = address.output
        return "\(scheme)://\(host)\(rest == nil ? "" : "/\(removed)")"
    }
}
