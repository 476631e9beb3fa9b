import Base
import PushServices

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
        case .encoded(let node): compileEncoded(node)
        case .limited(let node, let limit): compileLimited(node, limit)
        }
    }

    /// Checks combinations of keys here, too. A campaign file with a wrong combination never gets this far, but content may also come from
    /// elsewhere.
    mutating func checkKind(_ content: MessageContent) {
        let texts = [content.title, content.subtitle, content.body].compactMap(\.self)
        if content.isSilent {
            for text in texts + [content.sound, content.category, content.thread, content.image].compactMap(\.self) {
                error(
                    "a silent push has no text, sound, category, thread or image", at: text.position,
                    remedy: "Remove it, or remove 'silent'.")
            }
            if content.badge != nil { error("a silent push has no badge", at: content.position, remedy: "Remove it, or remove 'silent'.") }
        } else if let image = content.image, texts.isEmpty {
            error("an image needs a text with it", at: image.position, remedy: "Add a title or a body.")
        } else if texts.isEmpty, content.sound == nil, content.badge == nil {
            error(
                "the content shows nothing", at: content.position,
                remedy: "Add a title, body, badge or sound, or write silent: true for a push that only wakes the app.")
        }
        if let badge = content.badge, badge < 0 {
            error("a badge cannot be negative", at: content.position, remedy: "Write 0 to remove the badge.")
        }
    }

    /// iOS loads media only over https, so an address that can never start with `https://` is a mistake. If the start is a column's cell,
    /// it is not known yet.
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
            let (known, unknown) = (starts.filter { $0.isOpen || $0.text.count > 8 }, starts.filter { !$0.isOpen && $0.text.count <= 8 })
            if unknown.isEmpty || starts.count > 100 { break }
            let next: [TemplateStart]
            switch node {
            case .text(let text): next = [TemplateStart(text: text, isOpen: false)]
            case .output(let output):
                let fallback: String? = if case .fallback(let text)? = output.filters.last { text } else { nil }
                next = [TemplateStart(text: "", isOpen: true)] + (fallback.map { [TemplateStart(text: $0, isOpen: false)] } ?? [])
            case .choice(let branches):
                let isComplete = branches.last?.condition == nil
                next = branches.flatMap { all(of: $0.body) } + (isComplete ? [] : [TemplateStart(text: "", isOpen: false)])
            }
            starts = known + unknown.flatMap { start in next.map { TemplateStart(text: start.text + $0.text, isOpen: $0.isOpen) } }
        }
        return starts
    }
}
