import Base

/// Reads `data` and `payload`: JSON as YAML writes it. Texts are templates; the core schema decides
/// the type of values without quotes.
struct ContentNodeReader {
    let findings: Findings

    /// The node as JSON; a part that was reported becomes null. The composer bounds the depth.
    func node(_ node: YAMLNode) -> ContentNode {
        switch node.content {
        case .scalar(let value, .plain): plain(value, node)
        case .scalar(let value, let style): .text(SourceText(value, at: node.position, style: style, parts: node.parts))
        case .sequence(let items): .array(items.map(self.node), node.position)
        case .mapping(let entries): .object(entries.map(member), node.position)
        case .unreadable: .null(node.position)
        }
    }

    private func member(_ entry: YAMLEntry) -> ContentMember {
        if entry.key.value.contains("{{") || entry.key.value.contains("{%") {
            findings.error(
                "a key cannot hold a template", at: entry.key.position,
                remedy: "Only values can; give the key a fixed name.")
        }
        return ContentMember(entry.key, node(entry.value))
    }

    private func plain(_ value: String, _ node: YAMLNode) -> ContentNode {
        let place = node.position
        switch CoreSchema.value(of: value) {
        case .null: return .null(place)
        case .bool(let truth): return .bool(truth, place)
        case .text: return .text(SourceText(value, at: place, parts: node.parts))
        case .integer(let number):
            warnIfChanged(value, sent: "\(number)", place)
            return .integer(number, place)
        case .double(let number):
            warnIfChanged(value, sent: "\(number)", place)
            return .double(number, place)
        case .unusableNumber:
            findings.error(
                "the number \(quoted(value)) cannot be sent", at: place, remedy: "Put it in quotes to send it as text.")
            return .null(place)
        }
    }

    /// Post codes, telephone numbers and versions look like numbers, but are not.
    private func warnIfChanged(_ value: String, sent: String, _ place: SourcePosition) {
        guard sent != value else { return }
        findings.warning(
            .numberChanged, message: "\(quoted(value)) is sent as the number \(sent)", at: place,
            remedy: "Put it in quotes to send it as written.")
    }
}
