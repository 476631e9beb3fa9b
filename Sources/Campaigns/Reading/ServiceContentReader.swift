import Base
import PushServices

/// Reads `services` below `content`: what devices of one service get instead of the texts above, and what only that service has.
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
            let named = Section(node, CampaignKeys.namedServices, of: CampaignKeys.file, example: example, findings: findings)
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
            let section = Section(
                entry.value, CampaignKeys.content(of: service), of: CampaignKeys.file, example: example, findings: findings)
        else { return nil }
        var reader = ContentReader(section: section, source: source, services: [service], base: base)
        reader.isOfService = true
        return ServiceContent(service: entry.key, content: reader.read())
    }
}

extension Findings {
    /// Reports a key of a campaign that some of the services that take its pushes do not have: a mistake if none has it.
    func note(_ lacking: [any PushService], of services: [any PushService], lack key: String, at place: SourcePosition) {
        guard let first = lacking.first else { return }
        if lacking.count == services.count { return error(first.lacks(key), at: place) }
        let names = lacking.map(\.displayName).joined(separator: " and ")
        warning(
            .notCarried, message: "\(names) \(lacking.count == 1 ? "has" : "have") no '\(key)', so devices there get the push without it",
            at: place, remedy: "If they need it, write it into another key for them: services: {\(first.name): {…}}.")
    }
}
