import Base
import PushServices

/// Reads one app of volley.yaml, part by part.
struct AppReader {
    let section: Section
    /// Takes its pushes.
    let service: any PushService
    /// The owner of the account, as sentences name it.
    var owner: String

    init(section: Section, service: any PushService) {
        (self.section, self.service) = (section, service)
        owner = "the app \(quoted(section.group.name))"
    }

    private var findings: Findings { section.findings }
    private var account: AccountForm { service.account }

    private func subsection(_ key: String, _ group: KeyGroup, example: String) -> Section? {
        section.node(key).flatMap {
            Section($0, group, of: ProjectKeys.file(of: service), example: example, findings: findings)
        }
    }

    /// The service that an entry of `apps` names; the standard one if it names no service. For a
    /// wrong name it is the service that is meant, nil if that is not clear; the name is reported
    /// when the app is read.
    static func service(of app: YAMLNode) -> (any PushService)? {
        guard case .mapping(let entries) = app.content,
            let name = entries.first(where: { $0.key.value == ProjectKeys.service })?.value.text?.value
        else { return PushServices.standard }
        // A slip in the name is one mistake, and must not make the app's other keys wrong.
        return PushServices.meant(by: name)
    }

    /// Reports a service that there is not.
    func checkService() {
        let (key, names) = (ProjectKeys.service, PushServices.all.map(\.name))
        let example = "\(key): \(names[0])"
        guard let text = section.text(key, example: example), !names.contains(text.value) else { return }
        findings.error(
            "'\(key)' must be \(orList(names)), not \(quoted(text.value))", at: text.position,
            remedy: PushServices.meant(by: text.value).map { "Did you mean '\($0.name)'?" }
                ?? "For example: \(example).")
    }

    /// The service, with the switches that the app has on.
    func switched() -> any PushService {
        service.switched(on: Set(account.switches.map(\.key).filter { section.truth($0) ?? false }))
    }

    /// What the service calls the app.
    func topic() -> SourceText? {
        let field = account.topic
        guard let text = section.requiredText(field.key, example: "\(field.key): \(field.example)") else { return nil }
        return accepted(text, field)
    }

    /// What the service is asked about for statistics; nil where it is left out.
    func countedApp() -> SourceText? {
        guard let field = account.countedApp,
            let text = section.text(field.key, example: "\(field.key): \"\(field.example)\"")
        else {
            return nil
        }
        return accepted(text, field)
    }

    private func accepted(_ text: SourceText, _ field: AccountField) -> SourceText? {
        section.accepted(text) { value throws(Mistake) in
            // Where the service gives out a plain secret with the name, people mix them up. No
            // secret is written like a bundle id.
            let mayBeSecret = account.credentials.contains { $0.kind.isPlainSecret } && !value.contains(".")
            if let flaw = field.flaw(value, mayBeSecret ? "'\(SecretText.short(value))'" : quoted(value)) { throw flaw }
        }
    }

    /// Which of the service's servers; nil when absent or wrong, and reported.
    func environment() -> Environment? {
        let key = EnvironmentForm.key
        let environments = account.environments
        guard let node = section.required(key, example: "\(key): \(environments.example)") else { return nil }
        if case .mapping = node.content { return server() }
        if node.text?.value == Environment.simulatorName, !service.hasSimulator {
            section.findings.error(service.noSimulator.message, at: node.position, remedy: service.noSimulator.remedy)
            return nil
        }
        let simulator = service.hasSimulator ? [(Environment.simulatorName, Environment.simulator)] : []
        let choices = environments.choices.map { ($0.name, Environment.named($0)) } + simulator
        if let text = node.text, let meant = remedy(for: text.value) {
            section.findings.error(
                "'\(key)' must be \(orList(choices.map(\.0))), not \(quoted(text.value))", at: text.position,
                remedy: meant)
            return nil
        }
        return regional(section.choice(key, choices))
    }

    /// The same in the region that the app names. A server of one's own, and the simulator, are
    /// where they are.
    private func regional(_ environment: Environment?) -> Environment? {
        let regions = account.environments.regions
        guard !regions.isEmpty, section.has(EnvironmentForm.regionKey) else { return environment }
        guard let region = section.choice(EnvironmentForm.regionKey, regions.map { ($0.name, $0) }) else { return nil }
        guard case .named(let server)? = environment else { return environment }
        return .named(server.at(region))
    }

    /// What to write for a word of other tools.
    private func remedy(for word: String) -> String? {
        if let remedy = account.environments.remedies[word.lowercased()] { return remedy }
        guard ["local", "localhost", "mock", "simulated"].contains(word.lowercased()) else { return nil }
        return service.hasSimulator
            ? "Write environment: \(Environment.simulatorName)."
            : "Name a server, for example: \(service.serverExample)."
    }

    private func server() -> Environment? {
        let url = account.environments.serverExample
        guard let server = subsection(EnvironmentForm.key, ProjectKeys.environment, example: service.serverExample)
        else { return nil }
        let authority = server.path("ca", example: "ca: ca.pem")
        guard let address = server.requiredText("url", example: "url: \"\(url)\""),
            server.accepted(address, { address throws(Mistake) in try ServerURL.check(address, example: url) }) != nil
        else {
            return nil
        }
        return .server(url: address, certificateAuthority: authority)
    }

    /// The credential that the app presents to the service; nil when absent or wrong, and reported.
    /// Mistakes of several are reported together.
    func credential() -> CredentialReference? { account.credentials.compactMap { credential($0) }.first }

    /// nil when it is not there.
    private func credential(_ form: CredentialForm) -> CredentialReference? {
        if form.variable != nil, let node = section.node(form.key), let text = node.text, !node.isNull {
            // It may be the secret itself, so it is not repeated.
            findings.error(
                "'\(form.key)' must be a group of keys, not a text", at: text.position,
                remedy: "Keep the \(form.noun) itself out of this file; write, for example: \(form.shortExample).")
            return nil
        }
        guard let below = subsection(form.key, ProjectKeys.credential(form), example: form.shortExample) else {
            return nil
        }
        var values: [String: SourceText] = [:]
        for field in form.fields { values[field.key] = value(of: field, in: field.isBeside ? section : below, form) }
        checkAlternatives(of: form, in: below)
        return form.isComplete(values.keys) ? CredentialReference(form: form.key, values: values) : nil
    }

    private func value(of field: AccountField, in section: Section, _ form: CredentialForm) -> SourceText? {
        let example = "\(field.key): \(field.example)"
        func text() -> SourceText? {
            form.requires(field)
                ? section.requiredText(field.key, example: example) : section.text(field.key, example: example)
        }
        switch field.kind {
        case .file:
            return text().flatMap { section.path($0, subject: "'\(field.key)'", instead: form.noun, example: example) }
        case .keyID(let length), .issuer(let length): return identifier(field, in: section, length: length)
        case .passphraseVariable: return section.variableName(field.key, of: "passphrase", example: field.example)
        case .variable: return section.variableName(field.key, of: form.noun, example: field.example)
        case .name: return text().flatMap { accepted($0, field) }
        }
    }

    /// The secret is in one place.
    private func checkAlternatives(of form: CredentialForm, in section: Section) {
        let present = form.alternatives.filter(section.has)
        if present.count > 1 { return cannotCombine(present, in: section) }
        // A misspelt one was reported.
        guard let first = form.fields.first(where: { form.alternatives.contains($0.key) }),
            !form.alternatives.contains(where: section.mentions)
        else { return }
        findings.error(
            "'\(form.key)' has \(lacking(form.alternatives))", at: section.position,
            remedy: "Add one of them, for example: \(first.key): \(first.example).")
    }

    private func cannotCombine(_ keys: [String], in section: Section) {
        findings.error(
            "\(keys.map { "'\($0)'" }.joined(separator: " and ")) cannot be combined", at: section.place(of: keys[1]),
            remedy: "Keep the one that this app uses.")
    }

    /// `neither 'key' nor 'certificate'`
    private func lacking(_ keys: [String]) -> String {
        let names = keys.map { "'\($0)'" }
        return keys.count == 1 ? "no \(names[0])" : "neither \(names.joined(separator: " nor "))"
    }

    private func identifier(_ field: AccountField, in section: Section, length: Int) -> SourceText? {
        let example = "\(field.key): \(field.example)"
        guard let text = section.requiredText(field.key, example: example) else { return nil }
        let isIdentifier = text.value.utf8.allSatisfy {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        guard isIdentifier, text.value.utf8.count == length else {
            section.findings.error(
                "'\(field.key)' must be exactly \(length) capital letters and digits, not \(quoted(text.value))",
                at: text.position,
                remedy: "\(field.source), for example: \(example).")
            return nil
        }
        return text
    }

    /// One of the service's credentials, except that Volley makes a key for its own simulator.
    func checkCredentials(_ environment: Environment?) {
        let keys = account.credentials.map(\.key), present = keys.filter(section.has)
        if present.count > 1 { return cannotCombine(present, in: section) }
        guard present.isEmpty, let environment, let example = account.credentials.first?.example else { return }
        if case .simulator = environment { return }
        findings.error(
            "\(owner) has \(lacking(keys)), and \(service.displayName) answers no one without one",
            at: section.position,
            remedy: "Add, for example: \(example).")
    }

    /// Where to find things in the exports.
    /// - Parameter services: the app's; empty if they could not be read.
    func columns(for services: [any PushService]) -> ExportColumns {
        let group = ProjectKeys.columns(
            of: services, ofSeveral: services.count > 1 || section.has(ProjectKeys.services))
        let names = subsection("columns", group, example: "columns: {token: device_token}")
        var columns = names.map { ColumnsReader(names: $0, services: services).columns() } ?? ExportColumns()
        if services.count == 1, let key = services.first?.target.column, ProjectKeys.targetColumns.contains(key) {
            columns.onlyTargets = key
        }
        return columns
    }
}

/// The rules for the address of another server.
enum ServerURL {
    /// Accepts `https://host` and `https://host:port`.
    static func check(_ url: String, example: String) throws(Mistake) {
        let example = "For example: url: \"\(example)\"."
        guard url.lowercased().hasPrefix("https://") else {
            throw Mistake("the address \(quoted(url)) must begin with https://", remedy: example)
        }
        let authority = url.dropFirst("https://".count)
        guard !authority.contains("/"), !authority.contains("?"), !authority.contains("#") else {
            throw Mistake(
                "the address \(quoted(url)) must end after the host and port", remedy: "Remove the path. \(example)")
        }
        guard !authority.contains("@") else {
            throw Mistake(
                "the address \(quoted(url)) holds a user or a password",
                remedy: "Remove what is before the @. \(example)")
        }
        let parts = HostPort(authority), host = parts.host
        let isHost =
            !host.isEmpty
            && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: ":") }
        let isAddress =
            host.hasPrefix("[") && host.hasSuffix("]") && host.allSatisfy { $0.isHexDigit || "[]:.".contains($0) }
        guard isHost || isAddress else { throw Mistake("the address \(quoted(url)) names no host", remedy: example) }
        guard parts.portText == nil || parts.port != nil else {
            throw Mistake("the port of \(quoted(url)) must be a number from 1 to 65535", remedy: example)
        }
    }
}
