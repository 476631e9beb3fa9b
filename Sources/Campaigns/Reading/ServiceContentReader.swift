import Base
import PushServices

/// Reads `services` below `content`: what devices of one service get instead of the texts above,
/// and what only that service has.
struct ServiceContentReader {
    /// The content.
    let section: Section
    let source: YAMLSource
    /// Those that take the pushes.
    let services: [any PushService]
    /// What they differ from.
    let base: MessageContent

    private var findings: Findings { section.findings }

    /// The contents, in the order of the file; what is wrong in them was reported.
    func read() -> [ServiceContent] {
        let example = "services: {\(services[0].accountName): {title: \"…\"}}"
        guard let node = section.node(CampaignKeys.services),
            let named = Section(
                node, CampaignKeys.namedServices, of: CampaignKeys.file, example: example, findings: findings)
        else { return [] }
        if named.entries.isEmpty {
            findings.error("'\(CampaignKeys.services)' is empty", at: node.position, remedy: "For example: \(example).")
        }
        return named.entries.compactMap { entry in
            guard let service = PushServices.named(entry.key.value) else { return nil }
            guard services.contains(where: { $0.accountName == service.name }) else {
                findings.error(
                    "\(service.displayName) is not among the app's services", at: entry.key.position,
                    remedy: "The app has \(services.map(\.accountName).joined(separator: ", ")).")
                return nil
            }
            return content(of: service, entry)
        }
    }

    private func content(of service: any PushService, _ entry: YAMLEntry) -> ServiceContent? {
        let example = "\(service.name): {title: \"…\"}"
        guard
            var section = Section(
                entry.value, CampaignKeys.content(of: service), of: CampaignKeys.file, example: example,
                findings: findings)
        else { return nil }
        let removed = Self.removed(section)
        section.withheld = Set(removed.map(\.rawValue))
        section.otherThanValue = "; null leaves it out for \(service.displayName)"
        var reader = ContentReader(section: section, source: source, services: [service], base: base)
        reader.isOfService = true
        var content = reader.read()
        content.removed = removed
        return ServiceContent(service: entry.key, content: content)
    }

    /// What devices of the service do without: `image: null`. A value that is missing may also be
    /// one that was forgotten.
    private static func removed(_ section: Section) -> Set<ContentKey> {
        Set(
            section.entries.compactMap { entry in
                guard entry.value.isNull, entry.value.text?.value.isEmpty == false else { return nil }
                return ContentKey(rawValue: entry.key.value).flatMap { ContentKey.removable.contains($0) ? $0 : nil }
            })
    }
}

extension Findings {
    /// Reports a key of `content` that some of the services that take its pushes do not have: a
    /// mistake if none has it.
    /// - Parameter knowing: those for which the campaign says that they do without it.
    func note(
        _ lacking: [any PushService], of services: [any PushService], lack key: ContentKey, knowing: Set<String>,
        at place: SourcePosition
    ) {
        if let first = lacking.first, lacking.count == services.count {
            return error(first.lacks(key.rawValue), at: place)
        }
        let unknowing = lacking.filter { !knowing.contains($0.accountName) }
        // What cannot be left out is a mistake, which others report.
        guard !unknowing.isEmpty, ![.silent, .payload].contains(key) else { return }
        guard ContentKey.removable.contains(key) else {
            return note(unknowing, lack: key.rawValue, at: place, remedy: allowance)
        }
        func saying(_ more: String) -> String {
            "services: {\(unknowing.map { "\($0.accountName): {\(key.rawValue): null\(more)}" }.joined(separator: ", "))}"
        }
        let text = key == .subtitle ? "; or let their text say the same: \(saying(", body: \"…\""))" : ""
        note(
            unknowing, lack: key.rawValue, at: place,
            remedy: "If that is fine, write below 'content' \(saying(""))\(text).")
    }

    /// The same for a key of `delivery`, which is for all services of an app.
    func note(
        _ lacking: [any PushService], of services: [any PushService], lack key: DeliveryKey, at place: SourcePosition
    ) {
        guard let first = lacking.first else { return }
        if lacking.count == services.count { return error(first.lacks(key.rawValue), at: place) }
        note(lacking, lack: key.rawValue, at: place, remedy: allowance)
    }

    /// The same for a key of `delivery` that a service carries out on some phones only.
    func note(_ loss: DeliveryLoss, of service: any PushService, at place: SourcePosition) {
        let remedy =
            loss.substitute.map { group, key, words in
                "\(words), below 'content': services: {\(service.accountName): {\(group): {\(key): …}}}. "
            } ?? ""
        warning(.notCarried, message: "\(loss.reason), so \(loss.effect)", at: place, remedy: remedy + allowance)
    }

    private var allowance: String {
        "If that is fine, allow it: allow: [{warning: \(WarningName.notCarried.rawValue), reason: \"…\"}]."
    }

    private func note(_ lacking: [any PushService], lack key: String, at place: SourcePosition, remedy: String) {
        let names = lacking.map(\.displayName).joined(separator: " and ")
        warning(
            .notCarried,
            message:
                "\(names) \(lacking.count == 1 ? "has" : "have") no '\(key)', so devices there get the push without it",
            at: place, remedy: remedy)
    }
}

extension [ContentMember] {
    /// Whether a group among them has a key.
    func has(_ key: String, in group: String) -> Bool {
        contains { member in
            guard member.name.value == group, case .object(let members, _) = member.value else { return false }
            return members.contains { $0.name.value == key }
        }
    }
}
