import Base

/// Reads `store` of volley.yaml.
struct StoreReader {
    let root: Section

    private static let key = "store"
    private static let variable = "VOLLEY_DATABASE"
    private static let group = "postgres: {url_env: \(variable)}"
    /// What to write at the top level of volley.yaml.
    static let example = "\(key): {\(group)}"

    /// nil where there is none, or its mistakes were reported.
    func settings() -> StoreSettings? {
        guard let node = root.node(Self.key),
            let store = Section(node, ProjectKeys.store, of: ProjectKeys.file, example: Self.example, findings: root.findings),
            let kind = store.required("postgres", example: Self.group),
            let postgres = Section(kind, ProjectKeys.postgresStore, of: ProjectKeys.file, example: Self.group, findings: root.findings),
            postgres.required("url_env", example: "url_env: \(Self.variable)") != nil
        else { return nil }
        return postgres.variableName("url_env", of: "address", example: Self.variable).map(StoreSettings.init)
    }
}

extension StoreSettings {
    /// What to write at the top level of a volley.yaml that has no store.
    public static let example = StoreReader.example
}
