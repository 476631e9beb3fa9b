import Base
import PushServices

/// A value of a YAML file that knows its place. Types are not decided here: code that needs a number or a truth value decides by
/// text and style, since only text without quotes can be anything other than text.
struct YAMLNode: Sendable {
    enum Content: Sendable {
        case scalar(String, SourceText.Style)
        case sequence([YAMLNode])
        case mapping([YAMLEntry])
        /// Already reported: nothing more is said about it.
        case unreadable
    }

    var content: Content
    /// Where the node starts; for an alias, where its anchor is.
    var position: SourcePosition
    /// Of a scalar whose characters do not simply follow one another in the file.
    var parts: [SourceText.Part] = []

    /// The text of a scalar with its place, else nil.
    var text: SourceText? {
        if case .scalar(let value, let style) = content { SourceText(value, at: position, style: style, parts: parts) } else { nil }
    }

    /// Nothing at all, `~` or `null`.
    var isNull: Bool {
        if case .scalar(let value, .plain) = content { CoreSchema.isNull(value) } else { false }
    }

    /// Whether the node was reported already.
    var isUnreadable: Bool {
        if case .unreadable = content { true } else { false }
    }

    /// How many nodes this one is, counting keys and itself, and how deep they nest, counting itself.
    var extent: (nodes: Int, depth: Int) {
        let children: [YAMLNode]
        var extent = (nodes: 1, depth: 1)
        switch content {
        case .scalar, .unreadable: return extent
        case .sequence(let items): children = items
        case .mapping(let entries):
            children = entries.map(\.value)
            extent.nodes += entries.count
        }
        for child in children {
            let inner = child.extent
            extent.nodes += inner.nodes
            extent.depth = max(extent.depth, inner.depth + 1)
        }
        return extent
    }

    /// What the node is, as errors name it: `a list`, `the text 'abc'`.
    var noun: String {
        switch content {
        case .scalar where isNull: "nothing"
        case .scalar(let value, _): quoted(value)
        case .sequence: "a list"
        case .mapping: "a group of keys"
        case .unreadable: "unreadable"
        }
    }
}

/// A key and its value.
struct YAMLEntry: Sendable {
    var key: SourceText
    var value: YAMLNode
}

/// A value between quotes for an error: on one line, shortened, and never a whole device token, nor a secret.
/// - Parameter isContent: whether devices get it: their addresses may be read by all.
func quoted(_ value: String, isContent: Bool = false) -> String {
    if let short = TargetRedaction.certain(value) { return "'\(short)'" }
    let value = SecretText.hidden(in: value, keepsPaths: isContent)
    let shown = String(String.UnicodeScalarView(value.unicodeScalars.prefix(60).map { $0.value < 0x20 ? " " : $0 }))
    return value.unicodeScalars.count > 60 ? "'\(shown)…'" : "'\(shown)'"
}
