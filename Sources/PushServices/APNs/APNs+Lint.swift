public import Base

/// Things in a hand-written `aps` that are allowed but rarely meant.
extension APNs {
    /// Checks a hand-written payload.
    public func lint(payload members: [ContentMember]) -> PayloadLint {
        var lint = PayloadLint()
        guard case .object(let aps, _)? = members.first(where: { $0.name.value == "aps" })?.value else { return lint }
        let names = Set(aps.map(\.name.value))
        if names.contains("alert") {
            lint.showsMedia = names.contains("mutable-content")
            lint.mediaRemedy = "Write mutable-content: 1 into 'aps'."
        }
        for member in aps { lint.check(member, names: names) }
        return lint
    }
}

extension PayloadLint {
    fileprivate mutating func check(_ member: ContentMember, names: Set<String>) {
        switch (member.name.value, member.value) {
        case ("alert", .text(let text)): texts.append(("alert", text))
        case ("alert", .object(let members, _)):
            for member in members {
                guard ["title", "subtitle", "body"].contains(member.name.value), case .text(let value) = member.value else { continue }
                texts.append((member.name.value, value))
            }
        // Source: Apple, "Pushing background updates to your App": such a push has no alert, sound or badge.
        case ("content-available", _) where !names.contains("alert") && !names.isDisjoint(with: ["sound", "badge"]):
            let visible = ["sound", "badge"].filter(names.contains).joined(separator: " and ")
            warn(
                .silentAndVisible, message: "with \(visible) this is sent as a visible push, though it looks like a silent one",
                at: member.name.position, remedy: "Remove \(visible) for a silent push, or add an alert.")
        case ("interruption-level", .text(let level)) where level.value == "time-sensitive":
            warn(
                .timeSensitive, message: "a time-sensitive push breaks through Focus, and people can turn it off for the whole app",
                at: level.position, remedy: "Keep it for what needs attention at once; otherwise leave interruption-level out.")
        case ("interruption-level", .text(let level)) where level.value == "critical": warnCritical(at: level.position)
        case ("sound", .object(let keys, _)):
            for key in keys where key.name.value == "critical" {
                if case .integer(1, _) = key.value { warnCritical(at: key.name.position) }
            }
        default: break
        }
    }

    private mutating func warnCritical(at place: SourcePosition) {
        warn(
            .criticalAlert, message: "a critical alert sounds on muted phones, and only apps with Apple's permission may send one",
            at: place,
            remedy: "Unless people's safety is at stake, leave it out.")
    }

    private mutating func warn(_ name: WarningName, message: String, at place: SourcePosition, remedy: String) {
        findings.append(.warning(name, message: message, at: place, remedy: remedy))
    }
}
