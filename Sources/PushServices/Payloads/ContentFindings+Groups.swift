import Base

/// Groups of keys that only one service has, below its name in `content.services`.
extension ContentFindings {
    /// The members of such a group, without those that the service does not know, which are noted.
    /// - Parameters:
    ///   - others: keys that are not for a campaign, with what to do instead.
    ///   - example: the group as a person might write it: a whole sentence.
    mutating func members(
        of key: String, in content: MessageContent, valid: [String], others: [String: String] = [:], example: String
    ) -> [ContentMember] {
        guard let members = group(key, in: content, example: example) else { return [] }
        findings += members.repeatedNames
        return members.filter { member in
            let name = member.name.value
            if valid.contains(name) { return true }
            if let remedy = others[name] {
                error("'\(name)' is set by Volley", at: member.name.position, remedy: remedy)
            } else {
                let nearest = nearestName(to: name, among: valid).map { "Did you mean '\($0)'?" }
                error(
                    "unknown key '\(TextFormat.foreign(name, maximumBytes: 40))' in '\(key)'", at: member.name.position,
                    remedy: nearest ?? "Valid here: \(valid.joined(separator: ", ")).")
            }
            return false
        }
    }

    /// All members of such a group; nil if there is none, or none that can be read, which is noted.
    mutating func group(_ key: String, in content: MessageContent, example: String) -> [ContentMember]? {
        guard let own = content.own.first(where: { $0.name.value == key }) else { return nil }
        if case .object(let members, _) = own.value { return members }
        error("'\(key)' must be a group of keys", at: own.value.position, remedy: example)
        return nil
    }

    /// The members of a group that holds nothing but texts, by the service's names for them.
    /// - Parameter keys: keys of a campaign, and of the payload.
    mutating func texts(
        of key: String, in content: MessageContent, _ keys: [(campaign: String, payload: String)], example: String
    ) -> [(name: String, text: SourceText)] {
        members(of: key, in: content, valid: keys.map(\.campaign), example: example).compactMap { member in
            guard let key = keys.first(where: { $0.campaign == member.name.value }), let text = text(member) else { return nil }
            return (key.payload, text)
        }
    }

    /// The text of a member; nil, and noted, if it has none.
    mutating func text(_ member: ContentMember) -> SourceText? {
        if case .text(let text) = member.value { return text }
        error("'\(member.name.value)' must be a text", at: member.value.position, remedy: "Put it in quotes.")
        return nil
    }
}
