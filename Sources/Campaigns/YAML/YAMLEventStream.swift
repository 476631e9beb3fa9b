import Base
import CYAML
import PushServices

/// The events of libyaml, one after the other. The only place that touches the library; its memory
/// belongs to this value.
struct YAMLEventStream: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// libyaml reads from here until it is deleted, so the bytes are kept as long.
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let source: YAMLSource

    /// The events of a file.
    /// - Throws: a `Diagnostic` when there is no memory for it.
    init(_ source: YAMLSource) throws(Diagnostic) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw .cannotMake("what reads YAML")
        }
        self.parser = parser
        self.source = source
        let bytes = source.bytes
        input = .allocate(capacity: max(1, bytes.count))
        _ = input.initialize(fromContentsOf: bytes)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// The next event. Must not be called again after a problem or the end of the stream.
    mutating func next() throws(YAMLSyntaxProblem) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw problem() }
        defer { yaml_event_delete(&event) }
        return YAMLEvent(
            kind: kind(of: event), start: position(event.start_mark), end: position(event.end_mark),
            extent: Int(event.start_mark.index)..<Int(event.end_mark.index))
    }

    private func kind(of event: yaml_event_t) -> YAMLEvent.Kind {
        switch event.type {
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_DOCUMENT_END_EVENT: return .documentEnd
        case YAML_ALIAS_EVENT: return .alias(text(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let value = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            return .scalar(
                value, style(scalar.style), YAMLProperties(anchor: text(scalar.anchor), tag: text(scalar.tag)))
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            return .sequenceStart(
                isFlow: start.style == YAML_FLOW_SEQUENCE_STYLE,
                YAMLProperties(anchor: text(start.anchor), tag: text(start.tag)))
        case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            return .mappingStart(
                isFlow: start.style == YAML_FLOW_MAPPING_STYLE,
                YAMLProperties(anchor: text(start.anchor), tag: text(start.tag)))
        case YAML_MAPPING_END_EVENT: return .mappingEnd
        case YAML_STREAM_START_EVENT: return .streamStart
        default: return .streamEnd
        }
    }

    private func style(_ style: yaml_scalar_style_t) -> SourceText.Style {
        switch style {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE: .singleQuoted
        case YAML_DOUBLE_QUOTED_SCALAR_STYLE: .doubleQuoted
        case YAML_LITERAL_SCALAR_STYLE: .literal
        case YAML_FOLDED_SCALAR_STYLE: .folded
        default: .plain
        }
    }

    private func text(_ bytes: UnsafePointer<UInt8>?) -> String? { bytes.map { String(cString: $0) } }

    /// libyaml counts lines and columns (in characters) from 0.
    private func position(_ mark: yaml_mark_t) -> SourcePosition {
        source.place(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    private func problem() -> YAMLSyntaxProblem {
        let state = parser.pointee
        return YAMLSyntaxProblem(
            message: state.problem.map { String(cString: $0) } ?? "out of memory",
            context: state.context.map { String(cString: $0) } ?? "",
            position: position(state.problem_mark),
            contextPosition: state.context == nil ? nil : position(state.context_mark))
    }
}

/// What libyaml found, and where.
struct YAMLEvent {
    enum Kind {
        case streamStart, streamEnd, documentStart, documentEnd
        case alias(String)
        case scalar(String, SourceText.Style, YAMLProperties)
        case sequenceStart(isFlow: Bool, YAMLProperties)
        case sequenceEnd
        case mappingStart(isFlow: Bool, YAMLProperties)
        case mappingEnd
    }

    var kind: Kind
    var start: SourcePosition
    var end: SourcePosition
    /// The same in characters (Unicode scalars) from the beginning of the text.
    var extent: Range<Int>
}

/// `&anchor` and `!tag` before a node.
struct YAMLProperties {
    var anchor: String?
    var tag: String?
}

/// Why libyaml stopped, in its own words.
struct YAMLSyntaxProblem: Error {
    var message: String
    var context: String
    var position: SourcePosition
    /// Where the construct began that could not be finished.
    var contextPosition: SourcePosition?
}

/// A value of a YAML file, with its place. Types are not decided here: code that needs a number or
/// a truth value decides by text and style, since only text without quotes can be anything other
/// than text.
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
    /// For a scalar with characters that do not simply follow one another in the file.
    var parts: [SourceText.Part] = []

    /// The text of a scalar with its place, else nil.
    var text: SourceText? {
        if case .scalar(let value, let style) = content {
            SourceText(value, at: position, style: style, parts: parts)
        } else {
            nil
        }
    }

    /// Nothing at all, `~` or `null`.
    var isNull: Bool {
        if case .scalar(let value, .plain) = content { CoreSchema.isNull(value) } else { false }
    }

    /// Whether the node was reported already.
    var isUnreadable: Bool {
        if case .unreadable = content { true } else { false }
    }

    /// How many nodes this one is, counting keys and itself, and how deep they nest, counting
    /// itself.
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

/// A value between quotes for an error: on one line, shortened, and never a whole device token, nor
/// a secret.
/// - Parameter isContent: whether devices get it: their addresses may be read by all.
func quoted(_ value: String, isContent: Bool = false) -> String {
    let value = SecretText.hidden(in: TargetRedaction.withoutTargets(value), keepsPaths: isContent)
    let shown = String(String.UnicodeScalarView(value.unicodeScalars.prefix(60).map { $0.value < 0x20 ? " " : $0 }))
    return value.unicodeScalars.count > 60 ? "'\(shown)…'" : "'\(shown)'"
}

/// The library that reads campaigns and volley.yaml.
public enum YAMLLibrary {
    /// The version that this process runs with: `0.2.5`; blank if it does not say.
    public static var version: String { yaml_get_version_string().map { String(cString: $0) } ?? "" }
}
