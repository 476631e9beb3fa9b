public import Base
public import PushServices

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

extension ContentNode {
    /// Reads a file that holds a payload as YAML, which includes JSON.
    /// - Parameter service: takes the push.
    /// - Throws: every mistake of the file at once; a file without `key: value` lines is one of
    ///   them.
    /// - Returns: always a `.object`, and warnings.
    public static func read(payloadFile file: String, for service: any PushService) throws(Diagnostics) -> (
        ContentNode, [Diagnostic]
    ) {
        let source = try openSource(file)
        let findings = Findings()
        let start = SourcePosition(file: file, line: 1, column: 1)
        var content = ContentNode.null(start)
        do throws(Diagnostic) {
            var composer = try YAMLComposer(source: source, findings: findings)
            if let root = try composer.document(), case .mapping = root.content {
                content = ContentNodeReader(findings: findings).node(root)
            } else {
                findings.error(
                    "the file holds no payload; a payload has 'key: value' lines", at: start,
                    remedy: "For example: \(service.rules.payloadExample).")
            }
        } catch {
            findings.fatal(error)
        }
        return (content, try findings.warnings())
    }
}

extension Expiry {
    /// Reads `0`, a length of time such as `4h`, or a date with a time, as `delivery.expires` of a
    /// campaign has it.
    /// - Throws: a `Diagnostic` that says how to write it.
    public init(notation: String) throws(Diagnostic) {
        do throws(Mistake) {
            self = try DeliveryReader.expiry(notation)
        } catch {
            throw Diagnostic(error.message, remedy: error.remedy)
        }
    }
}
