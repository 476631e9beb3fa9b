import Base
import PushServices

/// Turns the top level of volley.yaml into a project.
struct ProjectReader {
    let root: Section
    let file: String

    private static let appExample = "shop: {topic: com.example.shop, environment: simulator}"

    /// The project; nil when something that it needs was reported.
    func read() -> Project? {
        let runs = root.path("runs", example: "runs: runs", kind: "a folder")
        let proxy = ProxyReader(section: root).setting()
        let notices = NoticeReader(section: root).targets()
        let monitoring = MonitoringReader(root: root).monitoring()
        let console = ConsoleReader(root: root).settings()
        let databases = DatabaseReader(root: root).databases()
        let store = StoreReader(root: root).settings()
        guard let node = root.required("apps", example: "apps: {\(Self.appExample)}") else { return nil }
        guard
            let entries = Section.entries(
                of: node, name: "apps", example: "apps: {\(Self.appExample)}", findings: root.findings)
        else {
            return nil
        }
        if entries.isEmpty {
            root.findings.error(
                "'apps' is empty", at: node.position, remedy: "For example: apps: {\(Self.appExample)}.")
        }
        let apps = entries.compactMap { app($0, commonProxy: proxy) }
        for app in entries {
            root.checkName(app.key, of: "an app", example: "apps: {\(Self.appExample)}")
            // The names of its files hold it: `suppressed-NAME.sqlite-journal` has at most 255
            // bytes (NAME_MAX).
            if FilePaths.encoded(app.key.value).utf8.count > 229 {
                root.findings.error(
                    "the name of an app is too long for the name of a file: \(app.key.value.utf8.count) bytes",
                    at: app.key.position,
                    remedy: "Choose a short name, for example: apps: {\(Self.appExample)}.")
            }
        }
        checkDatabases(of: apps, databases)
        return Project(
            file: file, runs: runs?.value ?? "runs", databases: databases, store: store, apps: apps, proxy: proxy,
            notices: notices, monitoring: monitoring, console: console)
    }

    /// Only where runs are kept, and their store, whatever is wrong elsewhere in the file.
    /// - Returns: nil if a mistake is about these two, or may be.
    func readPlaces() -> Project? {
        let findings = root.findings, before = findings.all.count
        let runs = root.path("runs", example: "runs: runs", kind: "a folder"),
            store = StoreReader(root: root).settings()
        let isPlain = ["runs", StoreReader.key].allSatisfy { key in
            let isThere = root.entries.contains { $0.key.value == key }
            return isThere ? root.has(key) && !findings.repeatedKeys.contains(key) : !root.mentions(key)
        }
        guard isPlain, !findings.hasUnreadableKeys, findings.all.count == before else { return nil }
        return Project(file: file, runs: runs?.value ?? "runs", databases: [], store: store, apps: [], notices: [])
    }

    /// Reports databases that apps name and that are not there. A misspelt group of databases is
    /// reported already.
    private func checkDatabases(of apps: [App], _ databases: [Database]) {
        guard root.has(DatabaseReader.key) || !root.mentions(DatabaseReader.key) else { return }
        for query in apps.compactMap(\.deviceQuery)
        where !databases.contains(where: { $0.name.value == query.database.value }) {
            root.findings.error(
                query.unknownDatabase(among: databases, file: file).mistake, at: query.database.position)
        }
    }

    private func app(_ entry: YAMLEntry, commonProxy: ProxySetting?) -> App? {
        let named = AppReader.service(of: entry.value)
        let service = named ?? PushServices.standard
        let name = entry.key.value
        let group = named.map { ProjectKeys.app(of: $0, name: name) } ?? ProjectKeys.appOfUnknownService(name: name)
        guard
            let section = Section(
                entry.value, group, of: ProjectKeys.file(of: service), example: Self.appExample, findings: root.findings
            )
        else {
            return nil
        }
        let reader = AppReader(section: section, service: service)
        reader.checkService()
        // Of a service that is not known, no account can be checked.
        let services = named == nil ? nil : ServicesReader(app: reader).services()
        let known = named == nil ? [] : ServicesReader(app: reader).named
        let (devices, query) = DeviceSourceReader(section: section, keys: ProjectKeys.file(of: service)).source()
        devices.forEach { _ = section.checkPath(of: $0) }
        let columns = reader.columns(for: known)
        let pace = section.parsed("pace", example: "pace: 9000/s", PaceNotation.pace)
        let frequency = section.parsed("frequency", example: FrequencyNotation.example, FrequencyNotation.cap)
        let needsApproval = section.choice("approval", [("required", true), ("none", false)]) ?? false
        let testDevices = TestDeviceReader(section: section, services: known).devices()
        let proxy = ProxyReader(section: section).setting()
        let notices = NoticeReader(section: section).targets()
        guard let services else { return nil }
        return App(
            name: entry.key, services: services, devices: devices, deviceQuery: query, columns: columns, pace: pace,
            frequency: frequency,
            needsApproval: needsApproval, testDevices: testDevices, proxy: proxy ?? commonProxy, notices: notices)
    }
}

/// Reads `store` of volley.yaml.
struct StoreReader {
    let root: Section

    fileprivate static let key = "store"
    private static let variable = "VOLLEY_DATABASE"
    private static let group = "postgres: {url_env: \(variable)}"
    /// What to write at the top level of volley.yaml.
    static let example = "\(key): {\(group)}"

    /// nil when absent, or when its mistakes were reported.
    func settings() -> StoreSettings? {
        guard let node = root.node(Self.key),
            let store = Section(
                node, ProjectKeys.store, of: ProjectKeys.file, example: Self.example, findings: root.findings),
            let kind = store.required("postgres", example: Self.group),
            let postgres = Section(
                kind, ProjectKeys.postgresStore, of: ProjectKeys.file, example: Self.group, findings: root.findings),
            postgres.required("url_env", example: "url_env: \(Self.variable)") != nil
        else { return nil }
        return postgres.variableName("url_env", of: "address", example: Self.variable).map(StoreSettings.init)
    }
}

extension StoreSettings {
    /// What to write at the top level of a volley.yaml that has no store.
    public static let example = StoreReader.example
}

/// Reads `console` of volley.yaml.
struct ConsoleReader {
    /// The top level.
    let root: Section

    private static let example = "console: {public_url: \"https://push.example.com\"}"
    private static let urlExample = "https://push.example.com"
    private static let proxyExample = "proxies: [127.0.0.1, 10.0.0.0/8]"

    /// What `volley serve` goes by; nil when absent, or reported.
    func settings() -> ConsoleSettings? {
        guard let node = root.node("console"),
            let section = Section(
                node, ProjectKeys.console, of: ProviderReader.keys, example: Self.example, findings: root.findings)
        else { return nil }
        if section.entries.isEmpty {
            root.findings.error("'console' is empty", at: node.position, remedy: "For example: \(Self.example).")
        }
        return ConsoleSettings(
            publicURL: publicURL(section), proxies: proxies(section),
            roots: section.paths("roots", example: "roots: [campaigns]", entry: "a folder").filter {
                section.path($0, subject: "an entry of 'roots'", kind: "a folder", example: "roots: [campaigns]") != nil
            },
            provider: ProviderReader(parent: section, apps: apps).provider())
    }

    /// The names of the apps, whatever else is wrong with them.
    private var apps: [String] {
        guard case .mapping(let entries)? = root.node("apps")?.content else { return [] }
        return entries.map(\.key.value)
    }

    private func publicURL(_ section: Section) -> SourceText? {
        section.text("public_url", example: "public_url: \"\(Self.urlExample)\"").flatMap { url in
            section.accepted(url) { (text) throws(Mistake) in
                do throws(Mistake) { try ServerURL.check(text, example: Self.urlExample) } catch {
                    throw Mistake(error.message, remedy: error.remedy?.replacing(" url: ", with: " public_url: "))
                }
            }
        }
    }

    private func proxies(_ section: Section) -> [AddressRange] {
        section.paths("proxies", example: Self.proxyExample, entry: "an address").compactMap { text in
            section.checked(text) { (text) throws(Mistake) in
                guard let range = AddressRange(text) else {
                    throw Mistake(
                        "\(quoted(text)) is neither an address nor a range of addresses",
                        remedy: "For example: \(Self.proxyExample).")
                }
                return range
            }
        }
    }
}

/// Reads `proxy` of volley.yaml, which is at the top level for all apps, or in one of them. Its
/// messages never hold a password.
struct ProxyReader {
    /// Where `proxy` is.
    let section: Section

    private static let example = "proxy: http://proxy.example.com:3128"

    private var findings: Findings { section.findings }

    /// What `proxy` says; nil when absent, or reported.
    func setting() -> ProxySetting? {
        guard let node = section.node("proxy") else { return nil }
        if case .mapping = node.content { return group(node) }
        guard let text = section.text("proxy", example: Self.example) else { return nil }
        if text.value.lowercased() == "none" { return ProxySetting.none(text.position) }
        guard let address = address(text) else { return nil }
        return .through(ProxyReference(address: address, position: text.position))
    }

    private func group(_ node: YAMLNode) -> ProxySetting? {
        let example = "proxy: {url: \"http://proxy.example.com:3128\", user: volley, password_env: PROXY_PASSWORD}"
        guard let proxy = Section(node, ProjectKeys.proxy, of: ProjectKeys.file, example: example, findings: findings)
        else { return nil }
        let user = proxy.text("user", example: "user: volley")
        let variable = proxy.variableName("password_env", of: "password", example: "PROXY_PASSWORD")
        guard let url = proxy.requiredText("url", example: "url: \"http://proxy.example.com:3128\""),
            var address = address(url)
        else {
            return nil
        }
        if let user {
            if address.user != nil {
                findings.error("the proxy's user is in its url too", at: user.position, remedy: "Keep one of the two.")
            }
            address.user = user.value
        }
        if let variable { check(variable, address) }
        return .through(ProxyReference(address: address, position: url.position, passwordVariable: variable))
    }

    private func check(_ variable: SourceText, _ address: ProxyAddress) {
        if address.password != nil {
            findings.error(
                "the proxy's password is in its url too", at: variable.position, remedy: "Remove it from the url.")
        } else if address.user == nil {
            findings.error(
                "the proxy's password has no user to go with it", at: variable.position, remedy: "Add user: NAME.")
        } else if !address.takesPassword {
            findings.error(
                "\(address.scheme.rawValue) takes a user, but no password", at: variable.position,
                remedy: "Remove it, or use socks5h.")
        }
    }

    private func address(_ text: SourceText) -> ProxyAddress? {
        do throws(Mistake) {
            let address = try ProxyAddress(text.value)
            if address.password != nil {
                findings.warning(
                    .passwordInFile,
                    message: "everyone who reads this file can see the password of the proxy \(address)",
                    at: text.position,
                    remedy:
                        "Keep it in an environment variable: proxy: {url: \"\(address.scheme.rawValue)://\(address)\", user: NAME, "
                        + "password_env: PROXY_PASSWORD}.")
            }
            return address
        } catch {
            findings.error(error.message, at: text.position, remedy: error.remedy)
            return nil
        }
    }
}

/// Reads the services of an app: the one with its keys in the app itself, and those below
/// `services`.
struct ServicesReader {
    /// The app.
    let app: AppReader

    private static let example = "services: {…}"

    /// The services that the app names, whether or not their accounts are right, in the order of
    /// the file; empty if that is not clear.
    var named: [any PushService] {
        guard let node = app.section.node(ProjectKeys.services) else { return [app.service] }
        guard case .mapping(let entries) = node.content else { return [] }
        let below = entries.map { PushServices.meant(by: $0.key.value) }
        let all =
            (hasOwnAccount ? [app.service] : [])
            + below.compactMap(\.self).filter { !hasOwnAccount || $0.name != app.service.name }
        return below.contains { $0 == nil } ? [] : all
    }

    /// In the order of the file, at least one; nil when none could be read completely. What is
    /// wrong in them was reported.
    func services() -> [AppService]? {
        let section = app.section
        guard let node = section.node(ProjectKeys.services) else {
            return service(app, position: section.position).map { [$0] }
        }
        let keys = ProjectKeys.file(of: app.service)
        guard
            let below = Section(
                node, ProjectKeys.namedServices, of: keys, example: Self.example, findings: section.findings)
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
            guard let service = PushServices.named(entry.key.value), service.name != own?.service.name else {
                return nil
            }
            return self.service(service, entry)
        }
        let all = (own.map { [$0] } ?? []) + others
        return all.isEmpty || hasOwnAccount && own == nil ? nil : all
    }

    /// Whether keys of an account are in the app itself.
    private var hasOwnAccount: Bool {
        (app.service.account.keys + [ProjectKeys.service]).contains(where: app.section.mentions)
    }

    private func service(_ service: any PushService, _ entry: YAMLEntry) -> AppService? {
        let form = service.account
        let example =
            "\(service.name): {\(form.topic.key): \(form.topic.example), \(EnvironmentForm.key): \(form.environments.example), …}"
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
        let countedApp = reader.countedApp()
        guard let topic, let environment else { return nil }
        return AppService(
            service: service, topic: topic, environment: environment, credential: credential, pace: pace,
            position: position,
            countedApp: countedApp)
    }
}
