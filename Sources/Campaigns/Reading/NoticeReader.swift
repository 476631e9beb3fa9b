import Base

/// Reads `notices` of volley.yaml, which is at the top level for all apps, or in one of them.
struct NoticeReader {
    /// Where `notices` is.
    let section: Section

    private static let example = "notices: [{webhook: \"https://hooks.example.com/volley\", secret_env: VOLLEY_SECRET}]"
    private var findings: Findings { section.findings }

    /// The receivers, in the order of the file; what is wrong was reported.
    func targets() -> [NoticeTarget] {
        guard let node = section.node("notices") else { return [] }
        guard case .sequence(let items) = node.content else {
            section.wrongKind("'notices'", node, must: "a list", example: Self.example)
            return []
        }
        if items.isEmpty {
            findings.error("'notices' is an empty list", at: node.position, remedy: "Add an entry, or remove the key.")
        }
        return items.compactMap(target)
    }

    private func target(_ node: YAMLNode) -> NoticeTarget? {
        guard
            let entry = Section(
                node, ProjectKeys.notice, of: ProjectKeys.file, example: Self.example, findings: findings)
        else {
            return nil
        }
        let events = events(entry)
        guard entry.has("webhook") || !entry.has("command") else { return command(entry, events) }
        if entry.has("command") {
            findings.error(
                "an entry of 'notices' is a webhook or a command, not both", at: entry.place(of: "command"),
                remedy: "Split it into two entries.")
        }
        return webhook(entry, events)
    }

    private func webhook(_ entry: Section, _ events: Set<NoticeEvent>) -> NoticeTarget? {
        let secret = entry.variableName("secret_env", of: "secret", example: "VOLLEY_SECRET")
        let authority = entry.path("ca", example: "ca: ca.pem")
        let example = "webhook: \"https://hooks.example.com/volley\""
        guard !entry.mentions("command") || entry.has("webhook") else { return nil }
        guard let url = entry.requiredText("webhook", example: example), entry.accepted(url, WebhookURL.check) != nil
        else { return nil }
        return NoticeTarget(
            way: .webhook(url: url, secretVariable: secret, certificateAuthority: authority), events: events,
            position: entry.position)
    }

    private func command(_ entry: Section, _ events: Set<NoticeEvent>) -> NoticeTarget? {
        for key in ["secret_env", "ca"] where entry.has(key) {
            findings.error(
                "'\(key)' is for webhooks, and this entry is a command", at: entry.place(of: key), remedy: "Remove it.")
        }
        guard let node = entry.node("command") else { return nil }
        let example = "command: [./on-notice.sh]"
        guard case .sequence(let items) = node.content else {
            entry.wrongKind("'command'", node, must: "a list of the program and its arguments", example: example)
            return nil
        }
        let words = items.compactMap { entry.text($0, subject: "an entry of 'command'", example: example) }
        if items.isEmpty {
            findings.error("'command' is an empty list", at: node.position, remedy: "For example: \(example).")
        }
        guard let program = words.first, words.count == items.count,
            entry.path(program, subject: "the first entry of 'command'", kind: "a program", example: example) != nil
        else { return nil }
        return NoticeTarget(way: .command(words), events: events, position: entry.position)
    }

    /// All of them when none are named.
    private func events(_ entry: Section) -> Set<NoticeEvent> {
        guard let node = entry.node("events") else { return Set(NoticeEvent.allCases) }
        let names = NoticeEvent.allCases.filter { $0 != .test }.map(\.rawValue)
        let example = "events: [finished, stopped]"
        guard case .sequence(let items) = node.content else {
            entry.wrongKind("'events'", node, must: "a list", example: example)
            return []
        }
        if items.isEmpty {
            findings.error(
                "'events' is an empty list", at: node.position,
                remedy: "Name an event, or remove the key to get all of them.")
        }
        var events: Set<NoticeEvent> = [.test]
        for item in items {
            guard let text = entry.text(item, subject: "an entry of 'events'", example: example) else { continue }
            if let event = NoticeEvent(rawValue: text.value), event != .test {
                events.insert(event)
            } else {
                let nearest = text.value.utf8.count <= 64 ? nearestName(to: text.value, among: names) : nil
                findings.error(
                    "there is no event \(quoted(text.value))", at: text.position,
                    remedy: nearest.map { "Did you mean '\($0)'?" }
                        ?? "The events are \(names.joined(separator: ", ")).")
            }
        }
        return events
    }
}

/// Reads `monitoring` of volley.yaml.
struct MonitoringReader {
    /// The top level.
    let root: Section

    /// The files to keep up to date; nil when absent, or reported.
    func monitoring() -> Monitoring? {
        let example = "monitoring: {prometheus: /var/lib/node_exporter/volley.prom, health: health.json}"
        guard let node = root.node("monitoring"),
            let section = Section(
                node, ProjectKeys.monitoring, of: ProjectKeys.file, example: example, findings: root.findings)
        else { return nil }
        let prometheus = section.path("prometheus", example: "prometheus: /var/lib/node_exporter/volley.prom")
        if let prometheus, !prometheus.value.hasSuffix(".prom") {
            root.findings.error(
                "the file \(quoted(prometheus.value)) does not end with .prom, and node_exporter reads no others",
                at: prometheus.position,
                remedy: "For example: prometheus: volley.prom.")
        }
        if section.entries.isEmpty {
            root.findings.error("'monitoring' is empty", at: node.position, remedy: "For example: \(example).")
        }
        return Monitoring(prometheus: prometheus, health: section.path("health", example: "health: health.json"))
    }
}

/// The rules for the address of a webhook.
enum WebhookURL {
    /// Accepts `https://host[:port][/path][?query]`, and the same with http where the host is this
    /// machine.
    static func check(_ url: String) throws(Mistake) {
        let example = "For example: webhook: \"https://hooks.example.com/volley\"."
        let lower = url.lowercased()
        guard let scheme = ["https://", "http://"].first(where: { lower.hasPrefix($0) }) else {
            throw Mistake("the address of a webhook must begin with https://", remedy: example)
        }
        let rest = url.dropFirst(scheme.count)
        let authority = String(rest.prefix { !"/?#".contains($0) })
        // The path itself may be a secret, so it is not repeated.
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !rest.contains("#") else {
            throw Mistake(
                "the address of a webhook holds characters that no URL may have",
                remedy: "Write them percent-encoded, as %20.")
        }
        guard !authority.contains("@") else {
            throw Mistake(
                "the address of a webhook holds a user or a password",
                remedy: "Keep secrets out of this file: sign with secret_env instead.")
        }
        do { try ServerURL.check("https://\(authority)", example: "") } catch {
            throw Mistake("the webhook's host or port cannot be read: \(quoted(authority))", remedy: example)
        }
        guard scheme == "https://" || isThisMachine(authority) else {
            throw Mistake(
                "a webhook must begin with https://; http is only for this machine",
                remedy: "Write https://, or use a server at 127.0.0.1.")
        }
    }

    private static func isThisMachine(_ authority: String) -> Bool {
        let host =
            authority.hasPrefix("[")
            ? String(authority.prefix { $0 != "]" } + "]") : String(authority.prefix { $0 != ":" })
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isLoopback = parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        return host.lowercased() == "localhost" || host == "[::1]" || isLoopback
    }
}
