public import Base

/// Things in a hand-written message that are allowed but rarely meant.
extension FCM {
    /// Finds the texts that people see, so that they are checked as those of `content` are.
    public func lint(payload members: [ContentMember]) -> PayloadLint {
        var lint = PayloadLint()
        let message = members.members(of: "message")
        let alert = message.members(of: "apns").members(of: "payload").members(of: "aps").members(of: "alert")
        for part in [message.members(of: "notification"), message.members(of: "android").members(of: "notification"), alert] {
            for member in part where ["title", "subtitle", "body"].contains(member.name.value) {
                if case .text(let text) = member.value { lint.texts.append((member.name.value, text)) }
            }
        }
        return lint
    }
}
