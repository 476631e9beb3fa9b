import Base
import PushServices

/// Reads `allow`: warnings that a campaign silences, and why.
struct AllowReader {
    let root: Section

    private var findings: Findings { root.findings }
    private static let example = "allow: [{warning: text-cut-off, reason: \"The important part comes first.\"}]"

    /// Every warning that can be allowed, by its name and by those that it had.
    static let names = warnings.map(\.rawValue) + WarningName.retired.keys.sorted()
    private static let warnings = WarningName.allCases.filter { $0 != .unusedAllow }

    /// The warnings, in the order of the file; what is wrong in them was reported.
    func read() -> [AllowedWarning] {
        guard let node = root.node("allow") else { return [] }
        guard case .sequence(let items) = node.content, !items.isEmpty else {
            root.wrongKind("'allow'", node, must: "a list of warnings with reasons", example: Self.example)
            if case .sequence = node.content {
                findings.error("'allow' is empty", at: node.position, remedy: "Remove it.")
            }
            return []
        }
        var seen: Set<String> = []
        return items.compactMap { item in
            guard let allowed = entry(item) else { return nil }
            if !seen.insert(allowed.written).inserted {
                findings.error(
                    "'\(allowed.written)' is allowed twice", at: allowed.position, remedy: "Keep one of them.")
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
                node, CampaignKeys.allowedWarning, of: CampaignKeys.file,
                example: "{warning: text-cut-off, reason: \"…\"}",
                findings: findings)
        else { return nil }
        let name = section.requiredText("warning", example: "warning: text-cut-off")
        let reason = section.requiredText("reason", example: "reason: \"The important part comes first.\"")
        let written = String((name?.value ?? "").trimmingSpaces().drop { $0 == "[" }.prefix { $0 != "]" })
        guard let name, let known = known(written, at: name), let reason else { return nil }
        return AllowedWarning(name: known, written: written, reason: reason.value, position: name.position)
    }

    private func known(_ written: String, at text: SourceText) -> WarningName? {
        if let name = WarningName.retired[written] ?? Self.warnings.first(where: { $0.rawValue == written }) {
            return name
        }
        let nearest = text.value.utf8.count <= 64 ? nearestName(to: written, among: Self.warnings.map(\.rawValue)) : nil
        findings.error(
            "there is no warning \(quoted(text.value))", at: text.position,
            remedy: nearest.map { "Did you mean '\($0)'?" } ?? "A warning's name is in brackets at its end.")
        return nil
    }
}
