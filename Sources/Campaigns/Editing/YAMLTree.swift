import Base

/// A YAML text as nodes that know which characters they are, for edits. Offsets count Unicode scalars.
struct YAMLTree {
    indirect enum Content {
        case scalar(String, SourceText.Style)
        case sequence(isFlow: Bool, [YAMLTree])
        case mapping(isFlow: Bool, [Entry])
        /// An alias, or a node with an anchor or a tag: an edit would change it in several places, or what it means.
        case shared
    }

    struct Entry {
        var key: YAMLTree
        var value: YAMLTree
    }

    var content: Content
    /// Of a block collection, the end is somewhere before what follows it.
    var extent: Range<Int>

    /// The end of the last thing that is written in it.
    var lastOffset: Int {
        switch content {
        case .scalar, .shared, .sequence(isFlow: true, _), .mapping(isFlow: true, _): extent.upperBound
        case .sequence(_, let items): items.last?.lastOffset ?? extent.upperBound
        case .mapping(_, let entries): entries.last?.value.lastOffset ?? extent.upperBound
        }
    }

    /// The entry of a mapping; nil for other nodes, and for a key that is not there or is there twice.
    func entry(_ key: String) -> Entry? {
        guard case .mapping(_, let entries) = content else { return nil }
        let found = entries.filter { $0.key.text == key }
        return found.count == 1 ? found[0] : nil
    }

    /// The text of a scalar, without the line ends after a block; nil for other nodes.
    var text: String? {
        guard case .scalar(var value, let style) = content else { return nil }
        if style == .literal || style == .folded { while value.hasSuffix("\n") { value.removeLast() } }
        return value
    }

    /// Whether nothing is written there.
    var isNull: Bool { if case .scalar(let value, .plain) = content { CoreSchema.isNull(value) } else { false } }
}

extension YAMLTree {
    /// Reads a text.
    /// - Returns: nil if it is no YAML, or has no `key: value` lines.
    static func read(_ text: String) -> YAMLTree? {
        guard let source = try? YAMLSource(file: "", bytes: Array(text.utf8)), var events = try? YAMLEventStream(source) else { return nil }
        return try? document(&events)
    }

    /// Deeper ones are refused where campaigns are read.
    private static let deepest = 64

    private static func document(_ events: inout YAMLEventStream) throws -> YAMLTree {
        while true {
            let event = try events.next()
            switch event.kind {
            case .streamStart, .documentStart: continue
            case .mappingStart: return try node(event, &events, depth: 1)
            default: throw Mistake("this is no text that could be changed")
            }
        }
    }

    private static func node(_ event: YAMLEvent, _ events: inout YAMLEventStream, depth: Int) throws -> YAMLTree {
        guard depth <= deepest else { throw Mistake("this is no text that could be changed") }
        switch event.kind {
        case .scalar(let value, let style, let properties):
            return YAMLTree(content: properties.isEmpty ? .scalar(value, style) : .shared, extent: event.extent)
        case .alias: return YAMLTree(content: .shared, extent: event.extent)
        case .sequenceStart(let isFlow, let properties):
            var items: [YAMLTree] = []
            while true {
                let next = try events.next()
                if case .sequenceEnd = next.kind {
                    let extent = event.extent.lowerBound..<next.extent.upperBound
                    return YAMLTree(content: properties.isEmpty ? .sequence(isFlow: isFlow, items) : .shared, extent: extent)
                }
                items.append(try node(next, &events, depth: depth + 1))
            }
        case .mappingStart(let isFlow, let properties):
            var entries: [Entry] = []
            while true {
                let next = try events.next()
                if case .mappingEnd = next.kind {
                    let extent = event.extent.lowerBound..<next.extent.upperBound
                    return YAMLTree(content: properties.isEmpty ? .mapping(isFlow: isFlow, entries) : .shared, extent: extent)
                }
                let key = try node(next, &events, depth: depth + 1)
                entries.append(Entry(key: key, value: try node(events.next(), &events, depth: depth + 1)))
            }
        case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
            throw Mistake("this is no text that could be changed")
        }
    }
}

extension YAMLProperties {
    fileprivate var isEmpty: Bool { anchor == nil && tag == nil }
}
