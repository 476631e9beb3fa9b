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
        guard let entries = Section.entries(of: node, name: "apps", example: "apps: {\(Self.appExample)}", findings: root.findings) else {
            return nil
        }
        if entries.isEmpty { root.findings.error("'apps' is empty", at: node.position, remedy: "For example: apps: {\(Self.appExample)}.") }
        let apps = entries.compactMap { app($0, commonProxy: proxy) }
        for app in entries { root.checkName(app.key, of: "an app", example: "apps: {\(Self.appExample)}") }
        checkDatabases(of: apps, databases)
        return Project(
            file: file, runs: runs?.value ?? "runs", databases: databases, store: store, apps: apps, proxy: proxy,
            notices: notices, monitoring: monitoring, console: console)
    }

    /// Reports databases that apps name and that are not there. A misspelt group of databases is reported already.
    private func checkDatabases(of apps: [App], _ databases: [Database]) {
        guard root.has(DatabaseReader.key) || !root.mentions(DatabaseReader.key) else { return }
        for query in apps.compactMap(\.deviceQuery) where !databases.contains(where: { $0.name.value == query.database.value }) {
            root.findings.error(query.unknownDatabase(among: databases, file: file).mistake, at: query.database.position)
        }
    }

    private func app(_ entry: YAMLEntry, commonProxy: ProxySetting?) -> App? {
        let named = AppReader.service(of: entry.value)
        let service = named ?? PushServices.standard
        let name = entry.key.value
        let group = named.map { ProjectKeys.app(of: $0, name: name) } ?? ProjectKeys.appOfUnknownService(name: name)
        guard
            let section = Section(entry.value, group, of: ProjectKeys.file(of: service), example: Self.appExample, findings: root.findings)
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
            name: entry.key, services: services, devices: devices, deviceQuery: query, columns: columns, pace: pace, frequency: frequency,
            needsApproval: needsApproval, testDevices: testDevices, proxy: proxy ?? commonProxy, notices: notices)
    }
}
