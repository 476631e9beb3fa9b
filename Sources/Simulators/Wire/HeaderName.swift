/// The headers that requests name fast. Besides these, a request keeps those that its service's rules read (`ServiceRules.ownHeaders`),
/// and no others.
enum HeaderName: Int, CaseIterable {
    case method, path, authorization, topic, pushType, id, expiration, priority, collapseID, contentType

    /// The name as HTTP/2 writes it.
    var text: StaticString {
        switch self {
        case .method: ":method"
        case .path: ":path"
        case .authorization: "authorization"
        case .topic: "apns-topic"
        case .pushType: "apns-push-type"
        case .id: "apns-id"
        case .expiration: "apns-expiration"
        case .priority: "apns-priority"
        case .collapseID: "apns-collapse-id"
        case .contentType: "content-type"
        }
    }

    /// Recognises a name, by its length first; nil for a header that the simulator ignores.
    init?(_ name: UnsafeBufferPointer<UInt8>) {
        let candidate: HeaderName
        switch name.count {
        case 5: candidate = .path
        case 7: candidate = name[0] == UInt8(ascii: ":") ? .method : .id
        case 10: candidate = .topic
        case 12: candidate = .contentType
        case 13: candidate = name[1] == UInt8(ascii: "u") ? .authorization : .priority
        case 14: candidate = .pushType
        case 15: candidate = .expiration
        case 16: candidate = .collapseID
        default: return nil
        }
        guard areEqual(name, candidate.text.bytes) else { return nil }
        self = candidate
    }
}
