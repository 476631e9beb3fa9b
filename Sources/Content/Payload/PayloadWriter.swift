import Base
import PushServices

/// Writes a payload's JSON once, with steps where templates name columns, and collects mistakes on
/// the way.
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
    /// The service that gets the payload, if it is one of several that take the campaign's pushes;
    /// nil if it is the only one.
    private(set) var oneOfSeveral: (any PushService)?
    /// The link of a tracked push, and what it gets if it leads to a web page.
    private var trackedLink: (text: SourceText, parameters: [String])?
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
    mutating func append(_ content: MessageContent, for service: any PushService, isOneOfSeveral: Bool = false)
        -> PayloadDraft
    {
        defer { finish() }
        if isOneOfSeveral { oneOfSeveral = service }
        if content.payload == nil, content.activity == nil { checkKind(content) }
        trackedLink = content.tracking.flatMap { tracking in content.link.map { ($0, tracking.linkParameters) } }
        let draft = service.payload(of: content)
        findings += draft.findings + draft.losses.map(finding)
        append(draft.root)
        return draft
    }

    /// What the service leaves out: other services may show it.
    private func finding(_ loss: ContentLoss) -> Diagnostic {
        if loss.isPartial {
            let allowance =
                "If that is fine, allow it: allow: [{warning: \(WarningName.notCarried.rawValue), reason: \"…\"}]."
            return .warning(
                .notCarried, message: "\(loss.reason), so \(loss.effect)", at: loss.place,
                remedy: "\(loss.remedy). \(allowance)")
        }
        guard let service = oneOfSeveral else {
            return Diagnostic(loss.reason, at: loss.place, remedy: "\(loss.remedy).")
        }
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
        let parameters = trackedLink.flatMap { $0.text == text ? $0.parameters : nil } ?? []
        return append(text, isShown: false) { writer, nodes in
            writer.compileAddress(nodes, mustBeSecure: mustBeSecure, parameters: parameters)
        }
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
            if !value.isFinite {
                error("this number cannot be sent", at: place, remedy: "Put it in quotes to send it as text.")
            }
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
        // The payload's order may differ from the file's: a mistake about the column belongs to its
        // first place in the file.
        let (new, old) = (name.position, columns[index].position)
        if (new.line, new.column) < (old.line, old.column) { columns[index] = name }
        return index
    }
}

/// A payload as a service drafts it: every node written, every text compiled.
extension PayloadWriter {
    mutating func append(_ node: PayloadNode) {
        switch node {
        case .constant(let value): append(value)
        case .content(let node): append(node)
        case .text(let text): appendTemplate(text)
        case .shown(let text, let mustShow, let isStrict): appendShown(text, mustShow: mustShow, isStrict: isStrict)
        case .address(let text, let mustBeSecure):
            let nodes = appendAddress(text, mustBeSecure: mustBeSecure)
            if mustBeSecure { checkImage(text, nodes) }
        case .object(let members): appendObject(members.map { member in (member.name, { $0.append(member.value) }) })
        case .list(let nodes):
            append(raw: "[")
            for (index, node) in nodes.enumerated() {
                if index > 0 { append(raw: ",") }
                append(node)
            }
            append(raw: "]")
        case .pushID:
            append(raw: "\"")
            PushIDPlace.append(to: &compiled.constants)
            append(raw: "\"")
        case .encoded(let node): compileEncoded(node)
        case .limited(let node, let limit): compileLimited(node, limit)
        }
    }

    /// Checks combinations of keys here, too. A campaign file with a wrong combination never gets
    /// this far, but content may also come from elsewhere.
    mutating func checkKind(_ content: MessageContent) {
        let texts = [content.title, content.subtitle, content.body].compactMap(\.self)
        if content.isSilent {
            for text in texts + [content.sound, content.category, content.thread, content.image].compactMap(\.self) {
                error(
                    "a silent push has no text, sound, category, thread or image", at: text.position,
                    remedy: "Remove it, or remove 'silent'.")
            }
            if content.badge != nil {
                error("a silent push has no badge", at: content.position, remedy: "Remove it, or remove 'silent'.")
            }
        } else if let image = content.image, texts.isEmpty, content.localized.isEmpty {
            error("an image needs a text with it", at: image.position, remedy: "Add a title or a body.")
        } else if texts.isEmpty, content.localized.isEmpty, content.sound == nil, content.badge == nil {
            error(
                "the content shows nothing", at: content.position,
                remedy: "Add a title, body, badge or sound, or write silent: true for a push that only wakes the app.")
        }
        if let badge = content.badge, badge < 0 {
            error("a badge cannot be negative", at: content.position, remedy: "Write 0 to remove the badge.")
        }
    }

    /// iOS loads media only over https, so an address that can never start with `https://` is a
    /// mistake. If the start is a column's cell, it is not known yet.
    private mutating func checkImage(_ image: SourceText, _ nodes: [TemplateNode]) {
        let scheme = "https://"
        for start in TemplateStart.all(of: nodes) {
            let head = start.text.lowercased().prefix(scheme.count)
            // A shorter start is fine if a cell follows that can complete it.
            guard start.isOpen && head.count < scheme.count ? !scheme.hasPrefix(head) : head != scheme else { continue }
            error(
                "'image' must be a web address that begins with https://, not '\(start.text)'", at: image.position,
                remedy: "For example: image: https://cdn.example.com/spring.jpg.")
            return
        }
    }
}

/// How a text with templates may begin.
private struct TemplateStart {
    var text: String
    /// Whether a cell follows, which may contain anything.
    var isOpen: Bool

    /// All starts, up to the first cells or the first characters.
    static func all(of nodes: [TemplateNode]) -> [TemplateStart] {
        var starts = [TemplateStart(text: "", isOpen: false)]
        for node in nodes {
            // Enough characters to decide, and few enough to go through.
            let (known, unknown) = (
                starts.filter { $0.isOpen || $0.text.count > 8 }, starts.filter { !$0.isOpen && $0.text.count <= 8 }
            )
            if unknown.isEmpty || starts.count > 100 { break }
            let next: [TemplateStart]
            switch node {
            case .text(let text): next = [TemplateStart(text: text, isOpen: false)]
            case .output(let output):
                let fallback: String? = if case .fallback(let text)? = output.filters.last { text } else { nil }
                next =
                    [TemplateStart(text: "", isOpen: true)]
                    + (fallback.map { [TemplateStart(text: $0, isOpen: false)] } ?? [])
            case .choice(let branches):
                let isComplete = branches.last?.condition == nil
                next =
                    branches.flatMap { all(of: $0.body) } + (isComplete ? [] : [TemplateStart(text: "", isOpen: false)])
            }
            starts =
                known
                + unknown.flatMap { start in next.map { TemplateStart(text: start.text + $0.text, isOpen: $0.isOpen) } }
        }
        return starts
    }
}
