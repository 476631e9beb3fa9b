public import Base

/// The text of a YAML file in which single values can be changed; everything else, comments and
/// order included, stays as it is. Each change is read back: a text in which anything else would
/// mean something new is not given out.
///
/// ```swift
/// var file = YAMLEdit("content:\n  title: Hello  # of Anna\n")
/// try file?.set(.text("Spring sale"), at: ["content", "title"])  // the comment stays
/// ```
public struct YAMLEdit: Sendable {
    /// What a form can hold.
    public enum Value: Hashable, Sendable {
        case text(String)
        case list([String])
        case truth(Bool)
        /// As it is written without quotes: `45`, `33.3`. It is read as a text.
        case number(String)
    }

    /// The text, with all changes so far.
    public var text: String { current.text }
    private var current: ReadText
    private static let mostComments = 200
    /// How a refused change is made all the same.
    private static let remedy = "Change it in the source."

    /// - Returns: nil if the text has no `key: value` lines that could be changed.
    public init?(_ text: String) {
        guard let read = ReadText(text) else { return nil }
        current = read
    }

    /// A text with its tree: a form looks at it hundreds of times, so it is read once.
    private struct ReadText: Sendable {
        let text: String
        let tree: YAMLTree
        /// As offsets count them: without a byte order mark.
        let scalars: [Unicode.Scalar]
        /// The offsets of the beginnings of lines.
        let lineStarts: [Int]

        /// - Returns: nil if the text is no YAML, or has no `key: value` lines.
        init?(_ text: String) {
            guard let tree = YAMLTree.read(text) else { return nil }
            (self.text, self.tree) = (text, tree)
            let scalars = Array(text.unicodeScalars.drop { $0 == "\u{FEFF}" })
            self.scalars = scalars
            lineStarts = [0] + scalars.indices.lazy.filter { scalars[$0] == "\n" }.map { $0 + 1 }
        }

        /// The line of an offset, from 1.
        func line(_ offset: Int) -> Int {
            var (low, high) = (0, lineStarts.count)
            while low < high {
                let middle = (low + high) / 2
                if lineStarts[middle] <= offset { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    /// What is at a path of keys: nil if there is nothing.
    /// - Throws: `Mistake` if it is something that no form can show, such as a group of keys.
    public func value(at path: [String]) throws(Mistake) -> Value? {
        guard let node = try node(at: path) else { return nil }
        if case .scalar(let value, .plain) = node.content, let truth = CoreSchema.bool(value) { return .truth(truth) }
        if let text = node.text { return .text(text) }
        if case .sequence(_, let items) = node.content {
            let texts = items.compactMap(\.text)
            if texts.count == items.count { return .list(texts) }
        }
        throw Mistake("\(name(path)) is more than a form can show", remedy: Self.remedy)
    }

    /// Whether a value is a number as it is written, without quotes: programs tell 5 from "5".
    public func isNumber(at path: [String]) -> Bool {
        guard let node = try? node(at: path), case .scalar(let value, .plain) = node.content else { return false }
        return Double(value) != nil
    }

    private func node(at path: [String]) throws(Mistake) -> YAMLTree? {
        var node = current.tree
        for key in path {
            if node.isNull { return nil }
            guard case .mapping(_, let entries) = node.content else {
                throw Mistake("\(name(path)) is not written as keys", remedy: Self.remedy)
            }
            guard let entry = node.entry(key) else {
                guard !entries.contains(where: { $0.key.text == key }) else {
                    throw Mistake("'\(key)' stands there twice", remedy: Self.remedy)
                }
                return nil
            }
            node = entry.value
        }
        return node.isNull ? nil : node
    }

    /// The keys of the group at a path, in the order of the file; empty where there is no group. An
    /// empty path is the whole text.
    public func keys(at path: [String]) -> [String] {
        var node = current.tree
        for key in path {
            guard let entry = node.entry(key) else { return [] }
            node = entry.value
        }
        guard case .mapping(_, let entries) = node.content else { return [] }
        return entries.compactMap(\.key.text)
    }

    /// The lines that a value takes, from its key on; nil without a value.
    public func lines(at path: [String]) -> ClosedRange<Int>? {
        extent(at: path).map { current.line($0.lowerBound)...current.line($0.upperBound) }
    }

    /// Whether a place of the text, counted from 1 in lines and Unicode scalars, lies in a value or
    /// in its key: of several values in one line, it says which is meant.
    public func holds(line: Int, column: Int, at path: [String]) -> Bool {
        let starts = current.lineStarts
        guard starts.indices.contains(line - 1), let extent = extent(at: path) else { return false }
        return extent.contains(starts[line - 1] + column - 1)
    }

    /// Where a value is, from its key on; nil without a value.
    private func extent(at path: [String]) -> ClosedRange<Int>? {
        guard let last = path.last else { return nil }
        let scalars = current.scalars
        var node = current.tree
        for key in path.dropLast() {
            guard let entry = node.entry(key) else { return nil }
            node = entry.value
        }
        guard let entry = node.entry(last) else { return nil }
        let start = entry.key.extent.lowerBound
        // A block ends with its line, and with blank lines after it.
        var end = min(entry.value.lastOffset, scalars.count)
        while end > start, scalars[end - 1].properties.isWhitespace { end -= 1 }
        return start...end
    }

    /// Writes a value, or removes what is there.
    /// - Parameter value: nil to remove the key, and a group of keys that has no other.
    /// - Throws: `Mistake`: it cannot be changed without changing something else.
    public mutating func set(_ value: Value?, at path: [String]) throws(Mistake) {
        precondition(!path.isEmpty, "a value has a key")
        do throws(Mistake) {
            let before = try self.value(at: path)
            guard before != value else { return }
        } catch  where value == nil {
            // More than a form can show can still be removed.
        }
        let tree = current.tree
        var writer = YAMLWriter(text)
        let isDone = value.map { writer.write($0, at: path[...], in: tree) } ?? writer.remove(path[...], from: tree)
        guard isDone else {
            throw Mistake("\(name(path)) cannot be changed without changing what stands around it", remedy: Self.remedy)
        }
        guard let after = ReadText(writer.text),
            after.tree.meaning == tree.meaning.setting(value.map(Meaning.init), at: path[...])
        else {
            throw Mistake("\(name(path)) cannot be changed without changing what stands around it", remedy: Self.remedy)
        }
        current = after
    }

    // MARK: - Comments

    /// The comments that have a line of their own and begin with a text, without the sign before
    /// them, in the order of the file.
    public func comments(beginningWith start: String) -> [String] { commentLines(beginningWith: start).map(\.text) }

    /// Writes a comment as a line of its own, above the line that begins with a key of a path: the
    /// last that begins one.
    /// - Throws: `Mistake`: there is nothing at the path, or no line for it.
    public mutating func addComment(_ comment: String, above path: [String]) throws(Mistake) {
        precondition(!comment.contains(where: \.isNewline), "a comment is one line")
        var scalars = current.scalars
        var node = current.tree, place: Int?
        for key in path {
            guard let entry = node.entry(key) else { throw Mistake("there is no \(name(path))", remedy: Self.remedy) }
            let key = entry.key.extent.lowerBound, line = (scalars[..<key].lastIndex(of: "\n") ?? -1) + 1
            if scalars[line..<key].allSatisfy({ $0 == " " }) { place = line }
            node = entry.value
        }
        let line = place ?? 0, indent = scalars[line...].prefix { $0 == " " }
        let end: [Unicode.Scalar] = scalars.contains("\r") ? ["\r", "\n"] : ["\n"]
        scalars.insert(contentsOf: Array(indent) + Array("# \(comment)".unicodeScalars) + end, at: line)
        try replace(with: scalars, name(path))
    }

    /// Removes comments that have a line of their own and begin with a text.
    /// - Parameter isMeant: whether a comment, without the sign before it, goes.
    public mutating func removeComments(beginningWith start: String, where isMeant: (String) -> Bool) throws(Mistake) {
        let meant = commentLines(beginningWith: start).filter { isMeant($0.text) }
        guard !meant.isEmpty else { return }
        try replace(with: Self.without(meant.map(\.extent), current.scalars), "the comment")
    }

    /// - Parameter extents: ascending.
    private static func without(_ extents: [Range<Int>], _ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var rest: [Unicode.Scalar] = [], place = 0
        for extent in extents {
            rest += scalars[place..<extent.lowerBound]
            place = extent.upperBound
        }
        return rest + scalars[place...]
    }

    /// The lines that are comments. A line of a text may look like one: without it, the file would
    /// mean something else.
    private func commentLines(beginningWith text: String) -> [(text: String, extent: Range<Int>)] {
        let (scalars, starts) = (current.scalars, current.lineStarts)
        var lines: [(text: String, extent: Range<Int>)] = []
        for (number, start) in starts.enumerated() where lines.count < Self.mostComments {
            let end = number + 1 < starts.count ? starts[number + 1] : scalars.count
            guard scalars[start..<end].first(where: { $0 != " " && $0 != "\t" }) == "#" else { continue }
            let line = String(String.UnicodeScalarView(scalars[start..<end].filter { $0 != "\r" && $0 != "\n" }))
                .trimmingSpaces()
            let comment = line.hasPrefix("#") ? String(line.dropFirst()).trimmingSpaces() : ""
            if !comment.isEmpty, comment.hasPrefix(text) { lines.append((comment, start..<end)) }
        }
        let meaning = current.tree.meaning
        func areComments(_ extents: [Range<Int>]) -> Bool {
            YAMLTree.read(String(String.UnicodeScalarView(Self.without(extents, scalars))))?.meaning == meaning
        }
        // Mostly all of them are: then one more reading is enough.
        return lines.isEmpty || areComments(lines.map(\.extent)) ? lines : lines.filter { areComments([$0.extent]) }
    }

    /// Another text with the same meaning.
    private mutating func replace(with scalars: [Unicode.Scalar], _ what: String) throws(Mistake) {
        let mark = text.unicodeScalars.first == "\u{FEFF}" ? "\u{FEFF}" : ""
        guard let after = ReadText(mark + String(String.UnicodeScalarView(scalars))),
            after.tree.meaning == current.tree.meaning
        else {
            throw Mistake("\(what) cannot be changed without changing what stands around it", remedy: Self.remedy)
        }
        current = after
    }

    /// Puts a value into a group of its own: `tags: [a]` becomes `tags: {any: [a]}`, so that the
    /// group can have further keys.
    /// - Throws: `Mistake`: it cannot be changed without changing something else.
    public mutating func wrap(_ path: [String], under key: String) throws(Mistake) {
        let tree = current.tree
        var (node, inner): (YAMLTree?, Meaning?) = (tree, nil)
        for key in path { node = node?.entry(key)?.value }
        inner = node?.meaning
        var writer = YAMLWriter(text)
        guard let node, let inner, writer.wrap(node, under: key) else {
            throw Mistake("\(name(path)) cannot be changed without changing what stands around it", remedy: Self.remedy)
        }
        let group = Meaning.mapping([.init(key: .scalar(key, isText: true), value: inner)])
        guard let after = ReadText(writer.text), after.tree.meaning == tree.meaning.setting(group, at: path[...]) else {
            throw Mistake("\(name(path)) cannot be changed without changing what stands around it", remedy: Self.remedy)
        }
        current = after
    }

    private func name(_ path: [String]) -> String { "'\(path.joined(separator: "."))'" }
}

/// What a tree means, without how it is written.
indirect enum Meaning: Equatable {
    /// - isText: whether it can be nothing but text.
    case scalar(String, isText: Bool)
    case sequence([Meaning])
    case mapping([Pair])
    case null
    case shared(Int)

    struct Pair: Equatable {
        var key: Meaning
        var value: Meaning
    }

    init(_ value: YAMLEdit.Value) {
        switch value {
        case .text(let text): self = .scalar(text, isText: true)
        case .list(let texts): self = .sequence(texts.map { .scalar($0, isText: true) })
        case .truth(let truth): self = .scalar(truth ? "true" : "false", isText: false)
        case .number(let number): self = .scalar(number, isText: CoreSchema.value(of: number) == .text)
        }
    }

    /// The same with a value at a path, or without what is there.
    func setting(_ value: Meaning?, at path: ArraySlice<String>) -> Meaning {
        guard let key = path.first else { return value ?? .null }
        var pairs: [Pair] = if case .mapping(let pairs) = self { pairs } else { [] }
        let name = Meaning.scalar(key, isText: true)
        if let place = pairs.firstIndex(where: { $0.key == name }) {
            let inner = pairs[place].value.setting(value, at: path.dropFirst())
            let isEmpty = value == nil && (path.count == 1 || inner == .mapping([]))
            if isEmpty { pairs.remove(at: place) } else { pairs[place].value = inner }
        } else if value != nil {
            pairs.append(Pair(key: name, value: Meaning.mapping([]).setting(value, at: path.dropFirst())))
        }
        return .mapping(pairs)
    }
}

extension YAMLTree {
    var meaning: Meaning {
        switch content {
        case .scalar(let value, let style):
            if isNull { return .null }
            return .scalar(text ?? value, isText: style != .plain || CoreSchema.value(of: value) == .text)
        case .sequence(_, let items): return .sequence(items.map(\.meaning))
        case .mapping(_, let entries):
            return .mapping(entries.map { .init(key: $0.key.meaning, value: $0.value.meaning) })
        // Not looked into: it must stay as long as it is.
        case .shared: return .shared(extent.count)
        }
    }
}
