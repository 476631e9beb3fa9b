/// Where an app's exports keep what Volley needs: the header names for the standard names.
public struct ExportColumns: Hashable, Sendable {
    /// The standard names, which campaigns and templates may use whatever the export calls its columns.
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

    /// Which of a device's rows count.
    public enum Rows: String, CaseIterable, Hashable, Sendable {
        /// Only the newest.
        case newest
        /// The tags of all rows together, and the newest row for everything else: for exports with one row per tag.
        case merge
    }

    /// Header names by standard name, for those that volley.yaml sets; the others have their standard name.
    public var names: [Standard: SourceText]
    /// What separates tags within a cell.
    public var tagSeparator: String
    /// Which of a device's rows count.
    public var rows = Rows.newest

    /// Columns with the names that volley.yaml gives.
    public init(names: [Standard: SourceText] = [:], tagSeparator: String = ";") {
        self.names = names
        self.tagSeparator = tagSeparator
    }

    /// The header names to look for, best first. Unless volley.yaml names it, the token's column may also be called `device_token`.
    public func candidates(for standard: Standard) -> [String] {
        if let name = names[standard] { return [name.value] }
        return standard == .token ? ["token", "device_token"] : [standard.rawValue]
    }
}
