public import Base

/// What volley.yaml says, for people outside of the project that help with a problem: every known
/// key, the names of apps, and only those values that cannot be secret. Tokens, other names,
/// addresses beyond their host, queries and commands are left out, and so are comments. It is read
/// as it is, right or wrong.
///
/// ```swift
/// let outline = try ProjectOutline(file: "volley.yaml")
/// ```
public struct ProjectOutline: Sendable {
    /// What is shown in place of a value, or a key, that is left out.
    public static let removed = "(removed)"
    /// The outline.
    public let json: JSONValue

    /// Keys with plain values that may be shown; below `columns` all may be: they are names of
    /// columns.
    private static let shown: Set<String> = [
        "service", "environment", "topic", "pace", "frequency", "approval", "timeout", "runs", "timezone", "columns",
        "proxies",
        "roots",
        "file", "package", "region", "every", "at_most", "within", "metrics", "health",
    ]

    /// All keys that the file may have, wherever they belong. Others are people's own words, or
    /// mistakes, with anything in them.
    private static let known = keys(in: ProjectSchema.document)

    private static func keys(in schema: JSONValue) -> Set<String> {
        switch schema {
        case .array(let items): items.reduce(into: []) { $0.formUnion(keys(in: $1)) }
        case .object(let members):
            members.reduce(into: []) { found, member in
                if member.name == "properties", case .object(let properties) = member.value {
                    found.formUnion(properties.map(\.name))
                }
                found.formUnion(keys(in: member.value))
            }
        default: []
        }
    }

    /// Reads volley.yaml.
    /// - Throws: `Diagnostics`: the file is missing, cannot be read, or is no YAML.
    public init(file: String) throws(Diagnostics) {
        let source = try openSource(file)
        do throws(Diagnostic) {
            var composer = try YAMLComposer(source: source, findings: Findings())
            json = try composer.document().map { Self.outline($0, key: "", isShown: false, depth: 0) } ?? .null
        } catch { throw Diagnostics(error) }
    }

    /// - Parameter depth: how many mappings it is in.
    private static func outline(_ node: YAMLNode, key: String, isShown: Bool, depth: Int) -> JSONValue {
        switch node.content {
        case .unreadable: return .string(removed)
        case .sequence(let items): return .array(items.map { outline($0, key: key, isShown: isShown, depth: depth) })
        case .mapping(let entries):
            let hasNamesOfApps = depth == 1 && key == "apps"
            var removedCount = 0
            return .object(
                pairs: entries.map { entry in
                    let name = entry.key.value
                    let isShown = key == "columns" && isShown || shown.contains(name)
                    let value = outline(entry.value, key: name, isShown: isShown, depth: depth + 1)
                    if known.contains(name) || hasNamesOfApps && SecretText.hidden(in: name) == name {
                        return (name, value)
                    }
                    removedCount += 1
                    return (removedCount == 1 ? removed : "\(removed) \(removedCount)", value)
                })
        case .scalar(let text, _):
            if node.isNull { return .null }
            if text.contains("://") {
                guard let address = SecretText.address(text) else { return .string(removed) }
                return .string("\(address.scheme)://\(address.host)\(address.hasPath ? "/\(removed)" : "")")
            }
            if isShown {
                return .string(SecretText.isNoPath(text) || SecretText.hidden(in: text) != text ? removed : text)
            }
            return .string(key.hasSuffix("_env") && SecretText.isVariable(text) ? text : removed)
        }
    }
}
