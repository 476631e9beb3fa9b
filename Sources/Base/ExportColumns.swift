/// Where an app's exports keep what Volley needs: the header names for the standard names.
public struct ExportColumns: Hashable, Sendable {
    /// The standard names, which campaigns and templates may use whatever the export calls its
    /// columns.
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
        /// The tags of all rows together, and the newest row for everything else: for exports with
        /// one row per tag.
        case merge
    }

    /// Exports of other systems that are read as they are.
    public enum Format: String, CaseIterable, Hashable, Sendable {
        /// What LeanCloud exports of `_Installation`.
        case leanCloud = "leancloud"
    }

    /// Header names by standard name, for those that volley.yaml sets; the others have the format's
    /// name, or their standard name.
    public var names: [Standard: SourceText]
    /// The format that volley.yaml names; nil if each export shows its own.
    public var format: Format?
    /// What exports of a format call them, unless volley.yaml says otherwise.
    public var namesOfFormat: [Standard: String] = [:]
    /// What separates tags within a cell.
    public var tagSeparator: String
    /// Which of a device's rows count.
    public var rows = Rows.newest
    /// Header names by the key of a service's targets (`TargetForm.column`), for those that
    /// volley.yaml sets.
    public var targets: [String: SourceText] = [:]
    /// The key of the targets of the app's only service, which exports may have as the column's
    /// name; nil if that is `token`, or of several.
    public var onlyTargets: String?
    /// The column that says how a device is reached; nil if its targets say so.
    public var service: ServiceColumn?
    /// Names of services, the best first, for a device that has targets of several; the rest follow
    /// in the order of the app's.
    public var preference: [SourceText] = []

    /// Header names of the tokens of Live Activities, for those that volley.yaml sets.
    public var activityTokens: [ActivityTokens: SourceText] = [:]
    /// Which of these a push needs, in addition to the device's or in its place, at services that
    /// want it; nil if a push goes to devices alone.
    public private(set) var tokensOfActivity: ActivityTokens?

    /// Columns with the names that volley.yaml gives.
    public init(names: [Standard: SourceText] = [:], tagSeparator: String = ";") {
        self.names = names
        self.tagSeparator = tagSeparator
    }

    /// The same where a push needs tokens of activities.
    public func reading(_ tokens: ActivityTokens) -> ExportColumns {
        var columns = self
        columns.tokensOfActivity = tokens
        return columns
    }

    /// The header name of the tokens of activities.
    public func name(of tokens: ActivityTokens) -> String { activityTokens[tokens]?.value ?? tokens.rawValue }

    /// The same of those that a push needs; nil if it needs none.
    public var columnOfActivity: String? { tokensOfActivity.map(name) }

    /// The header names to look for, best first. Unless volley.yaml names it, the token's column
    /// may also be called `device_token`, or by the service's key for its targets.
    public func candidates(for standard: Standard) -> [String] {
        if let name = names[standard]?.value ?? namesOfFormat[standard] { return [name] }
        return standard == .token ? ["token", "device_token"] + (onlyTargets.map { [$0] } ?? []) : [standard.rawValue]
    }

    /// The header names to look for, best first, for the targets of a service that is one of
    /// several.
    /// - Parameter key: the service's key for them (`TargetForm.column`).
    public func candidates(forTargets key: String) -> [String] {
        if let name = targets[key] { return [name.value] }
        return Standard(rawValue: key).map { candidates(for: $0) } ?? [key]
    }

    /// Whether the targets of a service are read from the column of tokens although they have a key
    /// of their own: a column says which service reaches a device, and volley.yaml names no other
    /// column for them.
    public func tokensHold(targets key: String) -> Bool {
        service != nil && targets[key] == nil && key != Standard.token.rawValue
    }

    /// The column of tokens as messages have it: `'token' or 'device_token'`.
    public var quotedTokens: String { Self.quoted(candidates(for: .token)) }

    /// The column of a service's targets as messages have it.
    /// - Parameter key: the service's key for them.
    public func quoted(targets key: String) -> String { Self.quoted(candidates(forTargets: key)) }

    private static func quoted(_ names: [String]) -> String { names.map { "'\($0)'" }.joined(separator: " or ") }
}

/// `columns: {service: {column: platform, map: {…}}}`: which service reaches the device of a row.
public struct ServiceColumn: Hashable, Sendable {
    /// The column.
    public var column: SourceText
    /// Cells and the names of services, in the order of the file. Without a map, cells are names of
    /// services themselves.
    public var map: [Entry]

    /// What a cell stands for.
    public struct Entry: Hashable, Sendable {
        /// A cell. Capitals do not matter.
        public var cell: SourceText
        /// The name of a service.
        public var service: SourceText

        /// An entry of the map.
        public init(cell: SourceText, service: SourceText) { (self.cell, self.service) = (cell, service) }
    }

    /// A column with what its cells mean.
    public init(column: SourceText, map: [Entry] = []) { (self.column, self.map) = (column, map) }
}
