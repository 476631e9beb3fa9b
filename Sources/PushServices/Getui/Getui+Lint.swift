public import Base

/// Things in a hand-written message that are allowed but rarely meant.
extension Getui {
    /// Finds the texts that people see, so that they are checked as those of `content` are.
    public func lint(payload members: [ContentMember]) -> PayloadLint {
        var lint = PayloadLint()
        let alert = members.members(of: "push_channel").members(of: "ios").members(of: "aps").members(of: "alert")
        for part in [members.members(of: GetuiPayload.messageKey).members(of: "notification"), alert] {
            for member in part where ["title", "subtitle", "body"].contains(member.name.value) {
                if case .text(let text) = member.value { lint.texts.append((member.name.value, text)) }
            }
        }
        return lint
    }
}
