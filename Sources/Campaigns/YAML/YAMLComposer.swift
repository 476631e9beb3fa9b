import Base

/// Makes nodes from libyaml's events: one document, bounded in depth and in the nodes that aliases
/// expand to.
struct YAMLComposer: ~Copyable {
    /// Far more than any campaign has, few enough that a file of aliases to aliases stays harmless.
    static let maximumNodes = 10_000
    /// Deep enough for any payload by hand; recursion over nodes relies on it.
    static let maximumDepth = 64

    private struct Anchor {
        var node: YAMLNode
        var position: SourcePosition
        var isUsed = false
    }

    private var events: YAMLEventStream
    private let source: YAMLSource
    private let findings: Findings
    private var anchors: [String: Anchor] = [:]
    private var openAnchors: Set<String> = []
    private var nodeCount = 0
    /// The keys above the node that is read.
    private var path: [String] = []
    private var previous: YAMLEvent?

    /// A composer that reports mistakes that do not stop it to `findings`.
    /// - Throws: a `Diagnostic` when there is no memory for it.
    init(source: YAMLSource, findings: Findings) throws(Diagnostic) {
        events = try YAMLEventStream(source)
        self.source = source
        self.findings = findings
    }

    /// The root of the only document; nil without a document.
    mutating func document() throws(Diagnostic) -> YAMLNode? {
        _ = try next()
        let first = try next()
        guard case .documentStart = first.kind else { return nil }
        let root = try node(try next(), depth: 1)
        _ = try next()
        let after = try next()
        if case .documentStart = after.kind {
            throw Diagnostic(
                "a second document begins here", at: after.start,
                remedy: "Keep each campaign in a file of its own, and remove the line '---'.")
        }
        for (name, anchor) in anchors { reportIfUnused(anchor, name: name) }
        return root
    }

    private mutating func next() throws(Diagnostic) -> YAMLEvent {
        do throws(YAMLSyntaxProblem) {
            let event = try events.next()
            previous = event
            return event
        } catch {
            throw YAMLSyntaxTranslator(problem: error, source: source, previous: previous).diagnostic()
        }
    }

    private mutating func node(_ event: YAMLEvent, depth: Int) throws(Diagnostic) -> YAMLNode {
        try count(1, depth: depth, at: event.start)
        switch event.kind {
        case .alias(let name): return try expand(name, at: event.start, depth: depth)
        case .scalar(var value, let style, let properties):
            // The line end after a block belongs to the file, not to a text on a phone.
            if style == .literal || style == .folded { while value.hasSuffix("\n") { value.removeLast() } }
            let parts = ScalarPlaces.parts(of: value, style, at: event.start, in: source)
            let node = YAMLNode(content: .scalar(value, style), position: event.start, parts: parts)
            return checked(node, properties)
        case .sequenceStart(_, let properties):
            open(properties)
            return checked(try sequence(from: event.start, depth: depth), properties)
        case .mappingStart(let isFlow, let properties):
            open(properties)
            return checked(try mapping(from: event.start, isFlow: isFlow, depth: depth), properties)
        default: preconditionFailure("libyaml ended a node that it never began")
        }
    }

    private mutating func count(_ nodes: Int, depth: Int, at place: SourcePosition) throws(Diagnostic) {
        nodeCount += nodes
        guard depth <= Self.maximumDepth else {
            throw Diagnostic(
                "lists and keys nest deeper than \(Self.maximumDepth) levels here", at: place,
                remedy: "No campaign needs that; check the brackets and the indentation.")
        }
        guard nodeCount <= Self.maximumNodes else {
            throw Diagnostic(
                "the file holds more than \(Self.maximumNodes) values, aliases such as *name expanded", at: place,
                remedy: "Put long lists into a file of their own, one name per line, and write {file: names.txt}.")
        }
    }

    private mutating func sequence(from start: SourcePosition, depth: Int) throws(Diagnostic) -> YAMLNode {
        var items: [YAMLNode] = []
        while true {
            let event = try next()
            if case .sequenceEnd = event.kind { return YAMLNode(content: .sequence(items), position: start) }
            items.append(try node(event, depth: depth + 1))
        }
    }

    private mutating func mapping(from start: SourcePosition, isFlow: Bool, depth: Int) throws(Diagnostic) -> YAMLNode {
        var entries: [YAMLEntry] = []
        var places: [String: SourcePosition] = [:]
        var isTemplate = false
        var cutKeys: Set<String> = []
        while true {
            let event = try next()
            if case .mappingEnd = event.kind { break }
            if isFlow, entries.isEmpty, isDoubledBrace(start, event) {
                isTemplate = true
                findings.error(
                    "YAML reads a text that begins with {{ as a group of keys", at: start,
                    remedy: "Put the whole text in quotes, for example: title: \"{{ first_name }}\".")
            }
            let key = try node(event, depth: depth + 1)
            path.append(key.text?.value ?? "")
            let value = try node(try next(), depth: depth + 1)
            path.removeLast()
            if isFlow, !isTemplate, isBehindComma(key, value, after: entries.last, cutKeys: &cutKeys) {
                // What is left of the value says nothing.
                entries[entries.count - 1].value.content = .unreadable
                continue
            }
            guard !isTemplate, let name = keyName(key) else {
                if !isTemplate { findings.hasUnreadableKeys = true }
                continue
            }
            if let first = places[name.value] {
                if depth == 1 { findings.repeatedKeys.insert(name.value) }
                findings.error(
                    "the key \(quoted(name.value)) appears twice; the first is in line \(first.line), column \(first.column)",
                    at: name.position, remedy: "Keep one of them.")
                // An empty one is not reported as empty, too.
                if let place = entries.firstIndex(where: { $0.key.value == name.value && $0.value.isNull }) {
                    entries[place].value = value
                }
            } else {
                places[name.value] = name.position
                entries.append(YAMLEntry(key: name, value: value))
            }
        }
        if isFlow, !isTemplate, areBareNames(entries) {
            let names = entries.map(\.key.value), isShown = !findings.isOfProject
            findings.error(
                "braces hold keys with values, but \(isShown ? quoted("{\(names.joined(separator: ", "))}") : "this text") has none",
                at: start,
                remedy:
                    "Put a list in brackets\(isShown ? ": [\(names.map { TextFormat.yaml($0) }.joined(separator: ", "))]" : "")."
            )
            return YAMLNode(content: .unreadable, position: start)
        }
        return YAMLNode(content: isTemplate ? .unreadable : .mapping(entries), position: start)
    }

    /// `{news, vip}`: several keys, none of them with a colon.
    private func areBareNames(_ entries: [YAMLEntry]) -> Bool {
        entries.count > 1
            && entries.allSatisfy { entry in
                guard entry.value.isNull, entry.value.text?.value.isEmpty == true, entry.key.style == .plain else {
                    return false
                }
                let line = source.line(entry.key.position.line)
                let rest = line.dropFirst(entry.key.position.column - 1 + entry.key.value.unicodeScalars.count)
                return rest.first { $0 != " " } != ":"
            }
    }

    /// To YAML, `{price: 19,99}` is a price of 19 and a key 99, and `{body: 20 % off, today}` has a
    /// key `today`. Reports it, once for each text.
    private func isBehindComma(_ key: YAMLNode, _ value: YAMLNode, after before: YAMLEntry?, cutKeys: inout Set<String>)
        -> Bool
    {
        guard let name = key.text, name.style == .plain, !name.value.isEmpty, value.isNull,
            value.text?.value.isEmpty == true, let before
        else {
            return false
        }
        // A key without a colon is followed by a comma or the closing brace.
        let line = source.line(key.position.line)
        let rest = line.dropFirst(key.position.column - 1 + name.value.unicodeScalars.count).drop { $0 == " " }
        guard rest.first == "," || rest.first == "}" else { return false }
        if cutKeys.contains(before.key.value) { return true }
        guard let last = before.value.text, last.style == .plain, !last.value.isEmpty else { return false }
        cutKeys.insert(before.key.value)
        let typo = typo(of: before, key, last: last.value, rest: line.dropFirst(key.position.column - 1))
        guard !findings.isOfProject || typo.hasNotation else {
            findings.error("the comma ends the text here", at: name.position, remedy: "Put the whole text in quotes.")
            return true
        }
        findings.error(
            "the comma ends the text here: YAML reads \(quoted(before.key.value)) as \(quoted(last.value)), and \(quoted(name.value)) as a key of its own",
            at: name.position, remedy: typo.remedy)
        return true
    }

    /// A word of YAML's own, which a secret without quotes may begin with: of volley.yaml it is not
    /// repeated.
    private func named(_ noun: String, _ text: String) -> String {
        findings.isOfProject ? "this \(noun)" : "the \(noun) \(quoted(text))"
    }

    /// The whole value: as its line has it, or put together where it began on an earlier one.
    private func typo(of entry: YAMLEntry, _ key: YAMLNode, last: String, rest: some Sequence<Unicode.Scalar>)
        -> CommaTypo
    {
        let keys = path + [entry.key.value]
        guard entry.value.position.line == key.position.line else {
            return CommaTypo(path: keys, rest: Array(last.unicodeScalars) + Array(", ".unicodeScalars) + Array(rest))
        }
        return CommaTypo(path: keys, rest: source.line(key.position.line).dropFirst(entry.value.position.column - 1))
    }

    private func isDoubledBrace(_ start: SourcePosition, _ key: YAMLEvent) -> Bool {
        guard case .mappingStart(isFlow: true, _) = key.kind else { return false }
        return key.start.line == start.line && key.start.column == start.column + 1
    }

    /// The text of a key; nil, and reported, when it cannot be one.
    private func keyName(_ key: YAMLNode) -> SourceText? {
        guard let name = key.text else {
            if !key.isUnreadable {
                findings.error(
                    "a key must be a name, not \(key.noun)", at: key.position, remedy: "Write it as 'name: value'.")
            }
            return nil
        }
        if name.style == .plain && name.value.isEmpty {
            findings.error("a key is missing before the ':'", at: name.position, remedy: "Write it as 'name: value'.")
            return nil
        }
        if name.style == .plain && name.value == "<<" {
            findings.error(
                "the merge key '<<' is not supported", at: name.position,
                remedy: "Write the keys out where they are needed.")
            return nil
        }
        return name
    }

    private mutating func open(_ properties: YAMLProperties) {
        if let anchor = properties.anchor { openAnchors.insert(anchor) }
    }

    /// Refuses tags and hidden NULs, and remembers the anchor.
    private mutating func checked(_ node: YAMLNode, _ properties: YAMLProperties) -> YAMLNode {
        var node = node
        if let tag = properties.tag {
            let shown = tag.hasPrefix("tag:yaml.org,2002:") ? "!!" + tag.dropFirst(18) : tag
            findings.error(
                "\(named("YAML tag", shown)) is not supported", at: node.position,
                remedy:
                    "Remove it; if it belongs to a text or a comparison such as \"!= 3\", put the whole text in quotes."
            )
            node.content = .unreadable
        }
        if let text = node.text, text.value.unicodeScalars.contains("\0") {
            findings.error("a text must not hold the character \\0", at: node.position, remedy: "Remove it.")
            node.content = .unreadable
        }
        if let name = properties.anchor {
            if let replaced = anchors[name] { reportIfUnused(replaced, name: name) }
            anchors[name] = Anchor(node: node, position: node.position)
            openAnchors.remove(name)
        }
        return node
    }

    private mutating func expand(_ name: String, at place: SourcePosition, depth: Int) throws(Diagnostic) -> YAMLNode {
        if openAnchors.contains(name) {
            throw Diagnostic(
                "\(named("alias", "*" + name)) is inside what it refers to", at: place,
                remedy: "Write the values out instead.")
        }
        guard let anchor = anchors[name] else {
            findings.error(
                "\(named("alias", "*" + name)) refers to nothing above it", at: place,
                remedy: "A text that begins with * needs quotes.")
            return YAMLNode(content: .unreadable, position: place)
        }
        anchors[name]?.isUsed = true
        let extent = anchor.node.extent
        try count(extent.nodes - 1, depth: depth + extent.depth - 1, at: place)
        return anchor.node
    }

    /// `title: &more savings` would silently lose its first word.
    private func reportIfUnused(_ anchor: Anchor, name: String) {
        guard !anchor.isUsed else { return }
        findings.error(
            "\(named("anchor", "&" + name)) is never used", at: anchor.position,
            remedy: "A text that begins with & needs quotes; an anchor that nothing refers to can be removed.")
    }
}
