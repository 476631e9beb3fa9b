import Base
import PushServices

/// Writes a payload's JSON once, with steps where templates name columns, and collects mistakes on the way.
struct PayloadWriter {
    var compiled = CompiledPayload()
    /// Constants up to here already belong to a step.
    var coveredConstants = 0
    /// Constants that are missing from some payloads, which take the shorter branch of a condition.
    var optionalBytes = 0
    /// Whether the text being compiled is seen by people and may have gaps.
    var marksGaps = false
    private(set) var columns: [SourceText]
    var findings: [Diagnostic] = []
    /// The comparisons of conditions, each once.
    var comparisons: [TemplateComparison] = []
    /// The service whose payload it is, if it is one of several that take the campaign's pushes; nil if it is the only one.
    private(set) var oneOfSeveral: (any PushService)?
    private var indexOfColumn: [String: Int]

    /// - Parameter columns: those already known; each once.
    init(columns: [SourceText] = []) {
        self.columns = columns
        indexOfColumn = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1.value, $0) })
    }

    /// The least number of bytes that a rendered payload has.
    var constantBytes: Int { compiled.constants.count - optionalBytes }

    /// Writes a whole payload, and returns what the service drafted.
    /// - Parameter isOneOfSeveral: whether other services take the campaign's pushes, too.
    mutating func append(_ content: MessageContent, for service: any PushService, isOneOfSeveral: Bool = false) -> PayloadDraft {
        defer { finish() }
        if isOneOfSeveral { oneOfSeveral = service }
        if content.payload == nil { checkKind(content) }
        let draft = service.payload(of: content)
        findings += draft.findings + draft.losses.map(finding)
        append(draft.root)
        return draft
    }

    /// What the service leaves out: other services may show it.
    private func finding(_ loss: ContentLoss) -> Diagnostic {
        if loss.isPartial {
            let allowance = "If that is fine, allow it: allow: [{warning: \(WarningName.notCarried.rawValue), reason: \"…\"}]."
            return .warning(
                .notCarried, message: "\(loss.reason), so \(loss.effect)", at: loss.place, remedy: "\(loss.remedy). \(allowance)")
        }
        guard let service = oneOfSeveral else { return Diagnostic(loss.reason, at: loss.place, remedy: "\(loss.remedy).") }
        let remedy = "\(loss.remedy). If that is fine, write below 'content' \(loss.key.below(service, "null"))."
        return .warning(.notCarried, message: "\(loss.reason), so \(loss.effect)", at: loss.place, remedy: remedy)
    }

    mutating func error(_ message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(Diagnostic(message, at: place, remedy: remedy))
    }

    mutating func warning(_ name: WarningName, message: String, at place: SourcePosition, remedy: String? = nil) {
        findings.append(.warning(name, message: message, at: place, remedy: remedy))
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

    /// A text with templates, between quotes. Returns its nodes, for further checks.
    @discardableResult
    mutating func appendTemplate(_ text: SourceText) -> [TemplateNode] {
        append(text, isShown: false) { writer, nodes in writer.compile(nodes) }
    }

    /// A text that people see, between quotes.
    /// - Parameters:
    ///   - mustShow: whether the push is not sent if this text is blank.
    ///   - isStrict: whether what looks like a tag must be one.
    mutating func appendShown(_ text: SourceText, mustShow: Bool, isStrict: Bool = true) {
        _ = append(text, isShown: isStrict) { writer, nodes in writer.compileShown(nodes, text, mustShow: mustShow) }
    }

    /// A web address with templates, between quotes. Returns its nodes.
    @discardableResult
    mutating func appendAddress(_ text: SourceText, mustBeSecure: Bool = false) -> [TemplateNode] {
        append(text, isShown: false) { writer, nodes in writer.compileAddress(nodes, mustBeSecure: mustBeSecure) }
    }

    private mutating func append(
        _ text: SourceText, isShown: Bool, _ compile: (inout PayloadWriter, [TemplateNode]) -> Void
    ) -> [TemplateNode] {
        var parser = TemplateParser(text, isShown: isShown)
        let nodes = parser.parse()
        findings += parser.mistakes
        append(raw: "\"")
        compile(&self, nodes)
        append(raw: "\"")
        return nodes
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
            findings += members.repeatedNames
            appendObject(members.map { member in (member.name.value, { $0.append(member.value) }) })
        }
    }

    /// The index of a column; a new name gets a new one.
    mutating func index(of name: SourceText) -> Int {
        guard let index = indexOfColumn[name.value] else {
            indexOfColumn[name.value] = columns.count
            columns.append(name)
            return columns.count - 1
        }
        // The payload's order may differ from the file's: a mistake about the column belongs to its first place in the file.
        let (new, old) = (name.position, columns[index].position)
        if (new.line, new.column) < (old.line, old.column) { columns[index] = name }
        return index
    }
}
