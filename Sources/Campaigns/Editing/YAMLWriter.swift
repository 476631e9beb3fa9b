import Base

/// Changes characters of a YAML text, at the places that its tree records.
struct YAMLWriter {
    private var scalars: [Unicode.Scalar]
    private let lineEnd: [Unicode.Scalar]

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
        // Places do not count a byte order mark.
        hasMark = scalars.first == "\u{FEFF}"
        if hasMark { scalars.removeFirst() }
        lineEnd = text.utf8.contains(0x0D) ? ["\r", "\n"] : ["\n"]
    }

    private let hasMark: Bool

    var text: String { (hasMark ? "\u{FEFF}" : "") + Self.string(scalars) }

    // MARK: - Writing

    /// - Returns: false where it cannot be written.
    mutating func write(_ value: YAMLEdit.Value, at path: ArraySlice<String>, in node: YAMLTree) -> Bool {
        guard let key = path.first else { return replace(node, with: value) }
        guard case .mapping(let isFlow, let entries) = node.content else {
            guard node.isNull else { return false }
            // `content:` without anything behind it.
            replace(node.extent, with: (isBehindColon(node) ? " " : "") + "{" + Self.flow(path, value) + "}")
            return true
        }
        if let entry = node.entry(key) { return write(value, at: path.dropFirst(), in: entry.value) }
        guard !entries.contains(where: { $0.key.text == key }) else { return false }
        if isFlow {
            let place = entries.last?.value.lastOffset ?? node.extent.lowerBound + 1
            insert((entries.isEmpty ? "" : ", ") + Self.flow(path, value), at: place)
            return true
        }
        guard let first = entries.first, let last = entries.last else { return false }
        let indent = first.key.extent.lowerBound - lineStart(first.key.extent.lowerBound)
        let blank = scalars[lineStart(first.key.extent.lowerBound)..<first.key.extent.lowerBound]
        guard blank.allSatisfy({ $0 == " " }) else { return false }
        let place = lineAfter(last.value)
        insert((place.needsLineEnd ? Self.string(lineEnd) : "") + block(path, value, indent: indent), at: place.offset)
        return true
    }

    private mutating func replace(_ node: YAMLTree, with value: YAMLEdit.Value) -> Bool {
        switch (node.content, value) {
        case (.shared, _), (.mapping, _): return false
        case (.scalar(_, let style), _) where style == .literal || style == .folded:
            // The line ends after a block belong to it.
            let end = node.extent.upperBound
            var kept = end
            while kept > node.extent.lowerBound, scalars[kept - 1].properties.isWhitespace { kept -= 1 }
            replace(node.extent.lowerBound..<kept, with: Self.written(value, like: nil))
            return true
        case (.scalar(_, let style), _):
            replace(node.extent, with: (isBehindColon(node) ? " " : "") + Self.written(value, like: style))
            return true
        case (.sequence(isFlow: true, _), _):
            replace(node.extent, with: Self.written(value, like: nil))
            return true
        case (.sequence(isFlow: false, let items), _):
            guard let last = items.last else { return false }
            return replace(block: node, through: last, with: value)
        }
    }

    /// A list with a line for each of its items keeps that look.
    private mutating func replace(block node: YAMLTree, through last: YAMLTree, with value: YAMLEdit.Value) -> Bool {
        let start = lineStart(node.extent.lowerBound)
        let indent = scalars[start..<node.extent.lowerBound]
        guard indent.allSatisfy({ $0 == " " }) else { return false }
        let end = last.lastOffset
        guard case .list(let texts) = value else { return false }
        let items = texts.map { "- " + TextFormat.yaml($0) }
        replace(
            node.extent.lowerBound..<end,
            with: items.joined(separator: Self.string(lineEnd) + Self.string(Array(indent))))
        return true
    }

    /// Puts a value into a group of its own.
    /// - Returns: false where it is not written as a list or in one place.
    mutating func wrap(_ node: YAMLTree, under key: String) -> Bool {
        switch node.content {
        case .scalar(_, let style) where node.extent.isEmpty || style == .literal || style == .folded: return false
        case .shared, .mapping: return false
        case .scalar, .sequence(isFlow: true, _):
            insert("}", at: node.extent.upperBound)
            insert("{\(TextFormat.yaml(key)): ", at: node.extent.lowerBound)
        case .sequence(isFlow: false, _):
            // The items may be as far to the right as the key that they get.
            let start = lineStart(node.extent.lowerBound), indent = scalars[start..<node.extent.lowerBound]
            guard !indent.isEmpty, indent.allSatisfy({ $0 == " " }) else { return false }
            insert(Self.string(Array(indent)) + TextFormat.yaml(key) + ":" + Self.string(lineEnd), at: start)
        }
        return true
    }

    // MARK: - Removing

    /// - Returns: false where it cannot be removed.
    mutating func remove(_ path: ArraySlice<String>, from node: YAMLTree) -> Bool {
        guard let key = path.first, let entry = node.entry(key), case .mapping(let isFlow, let entries) = node.content
        else { return false }
        if path.count > 1 {
            // A group without any key left goes, too.
            guard case .mapping(_, let inner) = entry.value.content, inner.count == 1,
                inner[0].key.text == path.dropFirst().first,
                path.count == 2 || leadsToNothing(path.dropFirst(), inner[0].value)
            else { return remove(path.dropFirst(), from: entry.value) }
        }
        guard let place = entries.firstIndex(where: { $0.key.text == key }) else { return false }
        let start = entry.key.extent.lowerBound
        if isFlow {
            if place + 1 < entries.count {
                replace(start..<entries[place + 1].key.extent.lowerBound, with: "")
            } else {
                replace((place > 0 ? entries[place - 1].value.lastOffset : start)..<entry.value.lastOffset, with: "")
            }
            return true
        }
        guard entries.count > 1, scalars[lineStart(start)..<start].allSatisfy({ $0 == " " }) else { return false }
        replace(lineStart(start)..<lineAfter(entry.value).offset, with: "")
        return true
    }

    /// Whether removing what the path leads to leaves nothing of a group.
    private func leadsToNothing(_ path: ArraySlice<String>, _ node: YAMLTree) -> Bool {
        guard path.count > 1, let key = path.dropFirst().first else { return true }
        guard case .mapping(_, let entries) = node.content, entries.count == 1, entries[0].key.text == key else {
            return false
        }
        return leadsToNothing(path.dropFirst(), entries[0].value)
    }

    // MARK: - Places

    private func lineStart(_ offset: Int) -> Int {
        var start = offset
        while start > 0, scalars[start - 1] != "\n", scalars[start - 1] != "\r" { start -= 1 }
        return start
    }

    /// The beginning of the line after a node, behind a comment in the node's last line.
    private func lineAfter(_ node: YAMLTree) -> (offset: Int, needsLineEnd: Bool) {
        var end = node.lastOffset
        // A block ends with its line, and with blank lines after it.
        if end > 0, end <= scalars.count, scalars[end - 1] == "\n" || scalars[end - 1] == "\r" {
            while end > 1, isLineEnd(scalars[end - 1]), isLineEnd(scalars[end - 2]),
                !(scalars[end - 2] == "\r" && scalars[end - 1] == "\n")
            {
                end -= 1
            }
            return (end, false)
        }
        while end < scalars.count, !isLineEnd(scalars[end]) { end += 1 }
        guard end < scalars.count else { return (end, true) }
        return (end + (scalars[end] == "\r" && end + 1 < scalars.count && scalars[end + 1] == "\n" ? 2 : 1), false)
    }

    private func isLineEnd(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\r" }

    /// Whether a value without characters is directly after the colon of its key.
    private func isBehindColon(_ node: YAMLTree) -> Bool {
        node.extent.isEmpty && node.extent.lowerBound > 0 && scalars[node.extent.lowerBound - 1] == ":"
    }

    private mutating func insert(_ text: String, at offset: Int) { replace(offset..<offset, with: text) }

    private mutating func replace(_ range: Range<Int>, with text: String) {
        scalars.replaceSubrange(range, with: Array(text.unicodeScalars))
    }

    private static func string(_ scalars: [Unicode.Scalar]) -> String { String(String.UnicodeScalarView(scalars)) }

    // MARK: - Notation

    /// `a: {b: "x"}` inside of braces.
    private static func flow(_ path: ArraySlice<String>, _ value: YAMLEdit.Value) -> String {
        guard let key = path.first else { return written(value, like: nil) }
        let rest = path.dropFirst()
        return "\(TextFormat.yaml(key)): " + (rest.isEmpty ? written(value, like: nil) : "{\(flow(rest, value))}")
    }

    /// Lines of their own, indented.
    private func block(_ path: ArraySlice<String>, _ value: YAMLEdit.Value, indent: Int) -> String {
        guard let key = path.first else { return "" }
        let rest = path.dropFirst()
        let start = String(repeating: " ", count: indent) + TextFormat.yaml(key) + ":"
        if rest.isEmpty { return start + " " + Self.written(value, like: nil) + Self.string(lineEnd) }
        return start + Self.string(lineEnd) + block(rest, value, indent: indent + 2)
    }

    private static func written(_ value: YAMLEdit.Value, like style: SourceText.Style?) -> String {
        switch value {
        case .text(let text): TextFormat.yaml(text, like: style)
        case .truth(let truth): truth ? "true" : "false"
        case .number(let number): CoreSchema.value(of: number) == .text ? TextFormat.yaml(number) : number
        case .list(let texts): "[" + texts.map { TextFormat.yaml($0) }.joined(separator: ", ") + "]"
        }
    }
}

/// A YAML text as nodes that know which characters they are, for edits. Offsets count Unicode
/// scalars.
struct YAMLTree: Sendable {
    indirect enum Content: Sendable {
        case scalar(String, SourceText.Style)
        case sequence(isFlow: Bool, [YAMLTree])
        case mapping(isFlow: Bool, [Entry])
        /// An alias, or a node with an anchor or a tag: an edit would change it in several places,
        /// or what it means.
        case shared
    }

    struct Entry: Sendable {
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

    /// The entry of a mapping; nil for other nodes, and for a key that is not there or is there
    /// twice.
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
        guard let source = try? YAMLSource(file: "", bytes: Array(text.utf8)), var events = try? YAMLEventStream(source)
        else { return nil }
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
                    return YAMLTree(
                        content: properties.isEmpty ? .sequence(isFlow: isFlow, items) : .shared, extent: extent)
                }
                items.append(try node(next, &events, depth: depth + 1))
            }
        case .mappingStart(let isFlow, let properties):
            var entries: [Entry] = []
            while true {
                let next = try events.next()
                if case .mappingEnd = next.kind {
                    let extent = event.extent.lowerBound..<next.extent.upperBound
                    return YAMLTree(
                        content: properties.isEmpty ? .mapping(isFlow: isFlow, entries) : .shared, extent: extent)
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
