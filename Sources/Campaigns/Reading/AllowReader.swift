import Base
import PushServices

/// Reads `allow`: warnings that a campaign silences, and why.
struct AllowReader {
    let root: Section

    private var findings: Findings { root.findings }
    private static let example = "allow: [{warning: text-cut-off, reason: \"The important part comes first.\"}]"

    /// Every warning that can be allowed.
    static let names = WarningName.allCases.filter { $0 != .unusedAllow }.map(\.rawValue)

    /// The warnings, in the order of the file; what is wrong in them was reported.
    func read() -> [AllowedWarning] {
        guard let node = root.node("allow") else { return [] }
        guard case .sequence(let items) = node.content, !items.isEmpty else {
            root.wrongKind("'allow'", node, must: "a list of warnings with reasons", example: Self.example)
            if case .sequence = node.content { findings.error("'allow' is empty", at: node.position, remedy: "Remove it.") }
            return []
        }
        var seen: Set<WarningName> = []
        return items.compactMap { item in
            guard let allowed = entry(item) else { return nil }
            if !seen.insert(allowed.name).inserted {
                findings.error("'\(allowed.name.rawValue)' is allowed twice", at: allowed.position, remedy: "Keep one of them.")
            }
            return allowed
        }
    }

    private func entry(_ node: YAMLNode) -> AllowedWarning? {
        if let text = node.text, !node.isNull {
            // `allow: [text-cut-off]`, without a reason.
            findings.error(
                "'\(text.value)' has no reason", at: node.position,
                remedy: "Write {warning: \(text.value), reason: \"…\"}, so that others know why.")
            return nil
        }
        guard
            let section = Section(
                node, CampaignKeys.allowedWarning, of: CampaignKeys.file, example: "{warning: text-cut-off, reason: \"…\"}",
                findings: findings)
        else { return nil }
        let name = section.requiredText("warning", example: "warning: text-cut-off")
        let reason = section.requiredText("reason", example: "reason: \"The important part comes first.\"")
        guard let name, let known = self.name(name), let reason else { return nil }
        return AllowedWarning(name: known, reason: reason.value, position: name.position)
    }

    private func name(_ text: SourceText) -> WarningName? {
        let written = text.value.trimmingSpaces().drop { $0 == "[" }.prefix { $0 != "]" }
        if let name = WarningName(rawValue: String(written)), name != .unusedAllow { return name }
        let nearest = text.value.utf8.count <= 64 ? nearestName(to: String(written), among: Self.names) : nil
        findings.error(
            "there is no warning \(quoted(text.value))", at: text.position,
            remedy: nearest.map { "Did you mean '\($0)'?" } ?? "A warning's name is in brackets at its end.")
        return nil
    }
}
