import Base

/// Writes a payload's JSON once, with holes where templates name columns, and collects what is wrong on the way.
struct PayloadWriter {
    private(set) var compiled = CompiledPayload()
    private(set) var columns: [SourceText]
    var findings: [Diagnostic] = []
    private var indexOfColumn: [String: Int]

    /// - Parameter columns: that are known already; each once.
    init(columns: [SourceText] = []) {
        self.columns = columns
        indexOfColumn = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1.value, $0) })
    }

    /// The bytes that every rendered payload has at least.
    var constantBytes: Int { compiled.constants.count }

    mutating func error(_ message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(Diagnostic(message, at: place, remedy: remedy))
    }

    mutating func warning(_ name: WarningName, _ message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(.warning(name, message, at: place, remedy: remedy))
    }

    /// JSON's own characters.
    mutating func append(raw: String) { compiled.constants.append(contentsOf: raw.utf8) }

    mutating func append(_ value: JSONValue) { value.append(to: &compiled.constants) }

    /// Members of an object between braces, separated by commas.
    mutating func appendObject(_ members: [(name: String, write: (inout PayloadWriter) -> Void)]) {
        append(raw: "{")
        for (index, member) in members.enumerated() {
            if index > 0 { append(raw: ",") }
            JSONWriter.appendString(member.name, to: &compiled.constants)
            append(raw: ":")
            member.write(&self)
        }
        append(raw: "}")
    }

    /// A text with templates, between quotes. Answers its pieces, for further checks.
    @discardableResult
    mutating func appendTemplate(_ text: SourceText) -> [TemplatePiece] {
        var parser = TemplateParser(text)
        let pieces = parser.parse()
        findings += parser.mistakes
        append(raw: "\"")
        for piece in pieces {
            switch piece {
            case .constant(let constant): escape(constant, into: \.constants)
            case .column(let name, let fallback): appendHole(name, fallback: fallback)
            }
        }
        append(raw: "\"")
        return pieces
    }

    /// Any value of `data` or `payload`.
    mutating func append(_ node: ContentNode) {
        switch node {
        case .null: append(.null)
        case .bool(let value, _): append(.bool(value))
        case .integer(let value, _): append(.integer(value))
        case .double(let value, let place):
            if !value.isFinite { error("this number cannot be sent", at: place, remedy: "Put it in quotes to send it as text.") }
            append(.double(value))
        case .text(let text): appendTemplate(text)
        case .array(let nodes, _):
            append(raw: "[")
            for (index, node) in nodes.enumerated() {
                if index > 0 { append(raw: ",") }
                append(node)
            }
            append(raw: "]")
        case .object(let members, _):
            checkNames(members)
            appendObject(members.map { member in (member.name.value, { $0.append(member.value) }) })
        }
    }

    /// JSON readers disagree about a name that stands twice, so that nobody could say what a phone makes of it.
    mutating func checkNames(_ members: [ContentMember]) {
        var seen: Set<String> = []
        for member in members where !seen.insert(member.name.value).inserted {
            error("the key '\(member.name.value)' stands here twice", at: member.name.position, remedy: "Keep one of them.")
        }
    }

    private mutating func appendHole(_ name: SourceText, fallback: String?) {
        var range: Range<Int>?
        if let fallback {
            let start = compiled.defaults.count
            escape(fallback, into: \.defaults)
            range = start..<compiled.defaults.count
        }
        compiled.holes.append(.init(constantEnd: compiled.constants.count, column: index(of: name), fallback: range))
    }

    private mutating func index(of name: SourceText) -> Int {
        guard let index = indexOfColumn[name.value] else {
            indexOfColumn[name.value] = columns.count
            columns.append(name)
            return columns.count - 1
        }
        // The payload's order need not be the file's: a complaint about the column belongs to its first place in the file.
        let (new, old) = (name.position, columns[index].position)
        if (new.line, new.column) < (old.line, old.column) { columns[index] = name }
        return index
    }

    private mutating func escape(_ text: String, into buffer: WritableKeyPath<CompiledPayload, [UInt8]>) {
        var text = text
        text.withUTF8 { JSONWriter.appendEscaped($0, to: &compiled[keyPath: buffer]) }
    }
}
