import Base
import PushServices

/// Reads the services of an app: the one whose keys are in the app itself, and those below `services`.
struct ServicesReader {
    /// The app.
    let app: AppReader

    private static let example = "services: {…}"

    /// The services that the app names, whether or not their accounts are right, in the order of the file; empty if that is not clear.
    var named: [any PushService] {
        guard let node = app.section.node(ProjectKeys.services) else { return [app.service] }
        guard case .mapping(let entries) = node.content else { return [] }
        let below = entries.map { PushServices.meant(by: $0.key.value) }
        let all = (hasOwnAccount ? [app.service] : []) + below.compactMap(\.self).filter { !hasOwnAccount || $0.name != app.service.name }
        return below.contains { $0 == nil } ? [] : all
    }

    /// In the order of the file, at least one; nil when none could be read completely. What is wrong in them was reported.
    func services() -> [AppService]? {
        let section = app.section
        guard let node = section.node(ProjectKeys.services) else { return service(app, position: section.position).map { [$0] } }
        let keys = ProjectKeys.file(of: app.service)
        guard
            let below = Section(node, ProjectKeys.namedServices, of: keys, example: Self.example, findings: section.findings)
        else { return nil }
        if below.entries.isEmpty {
            section.findings.error(
                "'\(ProjectKeys.services)' is empty", at: node.position,
                remedy: "Name a service, \(orList(PushServices.all.map(\.name))), or remove the key.")
        }
        let own = hasOwnAccount ? service(app, position: section.position) : nil
        if own != nil || hasOwnAccount, let twice = below.entries.first(where: { $0.key.value == app.service.name }) {
            section.findings.error(
                "the app has the keys of \(app.service.displayName) already", at: twice.key.position,
                remedy: "Keep them in the app itself, or below '\(ProjectKeys.services)'.")
        }
        let others = below.entries.compactMap { entry -> AppService? in
            guard let service = PushServices.named(entry.key.value), service.name != own?.service.name else { return nil }
            return self.service(service, entry)
        }
        let all = (own.map { [$0] } ?? []) + others
        return all.isEmpty || hasOwnAccount && own == nil ? nil : all
    }

    /// Whether keys of an account are in the app itself.
    private var hasOwnAccount: Bool { (app.service.account.keys + [ProjectKeys.service]).contains(where: app.section.mentions) }

    private func service(_ service: any PushService, _ entry: YAMLEntry) -> AppService? {
        let form = service.account
        let example = "\(service.name): {\(form.topic.key): \(form.topic.example), \(EnvironmentForm.key): \(form.environments.example), …}"
        guard
            let section = Section(
                entry.value, ProjectKeys.account(of: service), of: ProjectKeys.file(of: service), example: example,
                findings: app.section.findings)
        else { return nil }
        var reader = AppReader(section: section, service: service)
        reader.owner = "'\(service.name)' of the app \(quoted(app.section.group.name))"
        return self.service(reader, position: entry.key.position)
    }

    private func service(_ reader: AppReader, position: SourcePosition) -> AppService? {
        let topic = reader.topic()
        let environment = reader.environment()
        let credential = reader.credential()
        reader.checkCredentials(environment)
        let isBelow = reader.section.group.valid == ProjectKeys.account(of: reader.service).valid
        let service = reader.switched()
        let example = PaceNotation.example(of: reader.service)
        let pace =
            isBelow
            ? reader.section.parsed("pace", example: example) { text throws(Mistake) in
                try PaceNotation.pace(text, of: reader.service)
            } : nil
        guard let topic, let environment else { return nil }
        return AppService(
            service: service, topic: topic, environment: environment, credential: credential, pace: pace, position: position)
    }
}
