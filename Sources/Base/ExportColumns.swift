/// Where an app's exports keep what Volley needs: the header names behind the standard names.
public struct ExportColumns: Hashable, Sendable {
    /// The standard names, as campaigns and templates may use them whatever the export calls its columns.
    public enum Standard: String, CaseIterable, Hashable, Sendable {
        case token
        case registrationID = "registration_id"
        case alias
        case tags
        case language
        case timezone
        case lastActive = "last_active"
        case registeredAt = "registered_at"
    }

    /// Which rows of a device decide about it.
    public enum Rows: String, CaseIterable, Hashable, Sendable {
        /// The newest alone.
        case newest
        /// The tags of all of them together, and the newest about all else: for exports with a row for each tag.
        case merge
    }

    /// Header names by standard name, for those that volley.yaml sets; the rest are called like their standard name.
    public var names: [Standard: SourceText]
    /// What separates tags within a cell.
    public var tagSeparator: String
    /// Which rows of a device decide about it.
    public var rows = Rows.newest

    /// Columns with the names that volley.yaml gives.
    public init(names: [Standard: SourceText] = [:], tagSeparator: String = ";") {
        self.names = names
        self.tagSeparator = tagSeparator
    }

    /// The header names to look for, best first. Without a name in volley.yaml the token may also stand under `device_token`.
    public func candidates(for standard: Standard) -> [String] {
        if let name = names[standard] { return [name.value] }
        return standard == .token ? ["token", "device_token"] : [standard.rawValue]
    }
}
