public import Base

/// Reads `databases` of volley.yaml.
struct DatabaseReader {
    let root: Section

    static let key = "databases"
    static let example = "databases: {warehouse: {url_env: WAREHOUSE_URL}}"
    /// The longest time that a query may be given.
    private static let mostSeconds = 24 * 3600

    /// In the order of the file; what is wrong with them was reported.
    func databases() -> [Database] {
        guard let node = root.node(Self.key),
            let entries = Section.entries(of: node, name: Self.key, example: Self.example, findings: root.findings)
        else { return [] }
        if entries.isEmpty {
            root.findings.error(
                "'\(Self.key)' is empty", at: node.position,
                remedy: "Remove it, or write, for example: \(Self.example).")
        }
        for database in entries { root.checkName(database.key, of: "a database", example: Self.example) }
        return entries.map(database)
    }

    /// A database with mistakes is kept, so that references to it are not reported too.
    private func database(_ entry: YAMLEntry) -> Database {
        var database = Database(
            name: entry.key, variable: SourceText("", at: entry.key.position),
            timeoutSeconds: Database.usualTimeoutSeconds)
        guard
            let section = Section(
                entry.value, ProjectKeys.database, of: ProjectKeys.file,
                example: "\(SecretText.hidden(in: entry.key.value)): {url_env: WAREHOUSE_URL}",
                findings: root.findings)
        else { return database }
        if section.required("url_env", example: "url_env: WAREHOUSE_URL") != nil,
            let variable = section.variableName("url_env", of: "address", example: "WAREHOUSE_URL")
        {
            database.variable = variable
        }
        database.timeoutSeconds =
            section.parsed("timeout", example: "timeout: 10min", Self.timeout) ?? database.timeoutSeconds
        return database
    }

    private static func timeout(_ text: String) throws(Mistake) -> Int {
        let seconds = try DurationNotation.seconds(text)
        guard (1...mostSeconds).contains(seconds) else {
            throw Mistake("a query may take 1s to 24h, not \(quoted(text))", remedy: "For example: timeout: 10min.")
        }
        return seconds
    }
}

/// Reads `devices`: files, or a query to a database.
struct DeviceSourceReader {
    /// The group that has the key.
    let section: Section
    let keys: FileKeys

    private static let key = "devices"
    private static let example = "devices: {database: warehouse, query: \"select token as device_token from devices\"}"

    /// Nothing where the key is absent, or was reported.
    func source() -> (files: [SourceText], query: DeviceQuery?) {
        guard let node = section.node(Self.key), case .mapping = node.content else {
            return (section.paths(Self.key, example: "devices: exports/devices.csv").filter(isPath), nil)
        }
        guard
            let group = Section(
                node, CampaignKeys.deviceQuery, of: keys, example: Self.example, findings: section.findings)
        else { return ([], nil) }
        let database = group.requiredText("database", example: "database: warehouse")
        let sql = group.requiredText("query", example: "query: \"select token as device_token from devices\"")
        guard let database, let sql else { return ([], nil) }
        return ([], DeviceQuery(database: database, sql: sql, position: node.position))
    }

    /// An address is reported: it is no file, and it may hold a password.
    private func isPath(_ text: SourceText) -> Bool {
        guard text.value.firstMatch(of: /^[A-Za-z][A-Za-z0-9+.-]*:\/\//) != nil else { return true }
        let isDatabase = text.value.lowercased().hasPrefix("postgres")
        section.findings.error(
            "'\(Self.key)' names files of this machine, and \(quoted(text.value)) is an address", at: text.position,
            remedy: isDatabase
                ? "Name the database in volley.yaml, for example: \(DatabaseReader.example), and write here: \(Self.example)."
                : "Download the file, and write its path, for example: devices: exports/devices.csv.")
        return false
    }
}

extension DeviceQuery {
    /// The mistake to report when volley.yaml has no database with this name.
    /// - Parameter file: volley.yaml.
    public func unknownDatabase(among databases: [Database], file: String) -> (
        mistake: Mistake, position: SourcePosition
    ) {
        let names = databases.map(\.name.value)
        let nearest = database.value.utf8.count <= 64 ? nearestName(to: database.value, among: names) : nil
        let remedy =
            nearest.map { "Did you mean '\($0)'?" }
            ?? (names.isEmpty
                ? "Write at the top level of \(file): \(DatabaseReader.example)."
                : "It has: \(names.map { SecretText.hidden(in: $0) }.joined(separator: ", ")).")
        return (Mistake("there is no database \(quoted(database.value)) in \(file)", remedy: remedy), database.position)
    }
}
