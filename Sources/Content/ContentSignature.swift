import Base

/// The meaning of a content, without its places in the file: equal for contents that give the same push.
struct ContentSignature: Hashable {
    private let texts: [String?]
    private let badge: Int?
    private let flags: [Bool]
    private let objects: [Node?]

    init(_ content: MessageContent) {
        texts = [
            content.title, content.subtitle, content.body, content.sound, content.category, content.thread, content.image, content.link,
        ].map { $0?.value }
        badge = content.badge
        flags = [content.wakesApp, content.isSilent]
        objects = [content.data, content.payload].map { $0.map(Node.init) }
    }

    private indirect enum Node: Hashable {
        case null, bool(Bool), integer(Int64), double(Double), text(String), array([Node]), object([String: Node])

        init(_ node: ContentNode) {
            self =
                switch node {
                case .null: .null
                case .bool(let value, _): .bool(value)
                case .integer(let value, _): .integer(value)
                case .double(let value, _): .double(value)
                case .text(let text): .text(text.value)
                case .array(let nodes, _): .array(nodes.map(Node.init))
                case .object(let members, _):
                    .object(Dictionary(members.map { ($0.name.value, Node($0.value)) }) { first, _ in first })
                }
        }
    }
}
