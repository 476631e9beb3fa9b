import Base

/// A payload from the keys of `content`. Source: Apple, "Generating a remote notification".
struct APNsPayload: ContentFindings {
    static let service = APNs().displayName

    var findings: [Diagnostic] = []

    /// The payload that APNs makes of content.
    static func draft(of content: MessageContent) -> PayloadDraft {
        var payload = APNsPayload()
        let (root, pushType) =
            if let whole = content.payload {
                (payload.byHand(whole, path: []), payload.checkByHand(whole))
            } else {
                (payload.fields(content), content.isSilent ? PushType.background : .alert)
            }
        return PayloadDraft(root: root, pushType: pushType, byteLimit: APNs.payloadLimit(of: pushType), findings: payload.findings)
    }

    // MARK: - By the keys of content

    /// The whole payload. Only keys that are set are written; own keys are next to `aps`.
    private mutating func fields(_ content: MessageContent) -> PayloadNode {
        let aps = content.isSilent ? [("content-available", .constant(.integer(1)))] : aps(content)
        var members: [Member] = [("aps", .object(aps))]
        if let image = content.image { members.append(("image", .address(image, mustBeSecure: true))) }
        if let link = content.link { members.append(("link", .address(link))) }
        if case .object(let data, _) = content.data {
            checkData(data, content)
            members += data.map { ($0.name.value, .content($0.value)) }
        }
        return .object(members)
    }

    private func aps(_ content: MessageContent) -> [Member] {
        var members: [Member] = []
        let alert = Self.alert(content, subtitleMustShow: content.title == nil && content.body == nil)
        if !alert.isEmpty { members.append(("alert", .object(alert))) }
        if let badge = content.badge { members.append(("badge", .constant(.integer(Int64(badge))))) }
        let texts = [("sound", content.sound), ("thread-id", content.thread), ("category", content.category)]
        members += texts.compactMap { name, text in text.map { (name, .text($0)) } }
        if content.image != nil { members.append(("mutable-content", .constant(.integer(1)))) }
        if content.wakesApp { members.append(("content-available", .constant(.integer(1)))) }
        return members
    }

    private mutating func checkData(_ data: [ContentMember], _ content: MessageContent) {
        findings += data.repeatedNames
        refuseTwice("image", content.image, in: data)
        refuseTwice("link", content.link, in: data)
        for member in data {
            let name = member.name.value
            switch name {
            case "aps":
                error(
                    "'data' must not hold 'aps', which belongs to APNs", at: member.name.position,
                    remedy: "Use the keys of 'content', or write the whole push as 'payload'.")
            default:
                warnOutsideAPS(
                    member,
                    remedy: APSRules.contentKeys[name].map { "If APNs should use it, write it as '\($0)' directly under 'content'." }
                        ?? "If APNs should use it, write the whole push as 'payload'.")
            }
        }
    }

    /// Warns about an own key that APNs expects inside `aps`.
    mutating func warnOutsideAPS(_ member: ContentMember, remedy: String?) {
        let name = member.name.value
        guard APSRules.keys.contains(where: { $0.name == name }) else { return }
        warning(.outsideAPS, message: "'\(name)' is next to aps, where APNs does not look for it", at: member.name.position, remedy: remedy)
    }
}

extension WarningName {
    static let outsideAPS = WarningName("outside-aps", from: [.files])
}
