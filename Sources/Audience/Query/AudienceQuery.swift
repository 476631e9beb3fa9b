public import Base
public import PushServices

/// Which devices to select, ready to run: lists loaded, paths resolved, columns named.
public struct AudienceQuery: Sendable {
    /// Export files in reading order.
    public var files: [String]
    /// Where the exports keep things.
    public var columns: ExportColumns
    /// Devices with at least one of these tags, with each of `allTags`, with none of `noneTags`.
    public var anyTags: [String] = []
    /// See `anyTags`.
    public var allTags: [String] = []
    /// See `anyTags`.
    public var noneTags: [String] = []
    /// Every device of these.
    public var aliases: [String] = []
    /// Exactly these devices.
    public var registrationIDs: [String] = []
    /// All devices, instead of the above.
    public var everyone = false
    /// All of these must be met.
    public var conditions: [ColumnCondition] = []
    /// None of these may apply.
    public var excludedTags: [String] = []
    /// None of these may apply.
    public var excludedAliases: [String] = []
    /// None of these may apply.
    public var excludedRegistrationIDs: [String] = []
    /// Files that list tokens or registration ids (plain lists one a line, or exports).
    public var excludedDevices: [String] = []
    /// Devices whose tokens are known to be invalid; nil when there are none. A selected one is skipped as `suppressed`, unless its
    /// newest row says in `registered_at` that it registered later than that.
    public var suppressed: SuppressedDevices?
    /// Devices that got many pushes lately, created together with `suppressed`; nil when there is no cap. A device that may get no more is
    /// skipped as `frequency`.
    public var capped: CappedDevices?
    /// Devices that got a push in the last hours, created together with `suppressed`: one cap for each sending. They are counted, and not
    /// skipped; nil when there was no such sending.
    public var reached: CappedDevices?
    /// The most devices that an alias expands to.
    public var aliasLimit = 10
    /// The share of unreadable rows (0 to 1) beyond which the plan stops.
    public var maximumBadRowShare = 0.01
    /// The columns whose cells a recipient carries along, in the order of `Recipient.fields`.
    public var fields: [SourceText] = []
    /// What templates compare cells of `fields` with: values that cannot be compared, or that no recipient has, cause a warning.
    public var comparisons: [TemplateComparison] = []
    /// The text that people read, without template tags: a column's name in it causes a warning.
    public var texts: [SourceText] = []
    /// Whether a recipient also carries the cell of the column `timezone`, behind those of `fields`; blank where the export has no such column.
    public var carriesTimezone = false
    /// Where the campaign asks for each device's own clock: an export without the column is a warning there. nil when it does not.
    public var timezonePosition: SourcePosition?
    /// Where the campaign has quiet hours by another clock, which an export with zones overrules: one whose zones have another name is a
    /// warning there.
    public var quietHoursPosition: SourcePosition?
    /// Where the campaign assigns variants by person, which needs the column of aliases; nil when it does not.
    public var variantsPosition: SourcePosition?
    /// Warnings about lists of names in separate files.
    public var listWarnings: [Diagnostic] = []
    /// Lines of such lists that are comments, and may be names: they cause a warning where the exports hold names that begin with `#`.
    public var hashedLines: [HashedLines] = []
    /// Where the campaign names tags, aliases and registration ids, for warnings; for lists in separate files, the first thousand
    /// names have theirs.
    public var places = NamePlaces()
    /// Warnings that the campaign allows: what would be refused under such a name is then a warning.
    public var allowed: Set<WarningName> = []
    /// The services of the app, at least one. If there are several, `columns` says how one is chosen for a row.
    public var services: [any PushService] = [PushServices.standard]
    /// The moment against which `within` and `older than` are evaluated.
    public var now: Timestamp

    /// The files that were read for this query and its copies: each must stay unchanged until the last of them has run.
    public var sources = SourceFiles()

    /// A query over some files.
    public init(files: [String], columns: ExportColumns, now: Timestamp) {
        self.files = files
        self.columns = columns
        self.now = now
    }
}

extension AudienceQuery {
    /// What the targets of the app's first service look like.
    public var targets: TargetForm { services[0].target }

    /// Whether rows may name a user beside the target that reaches a device.
    var mayNameUsers: Bool { services.count > 1 && services.contains { $0.target.areUsers } }

    /// The last moment at which a device may have been active, in milliseconds since 1970: a later one is a mistake, and would make its
    /// row the newest forever.
    var latestActivity: Int64 { now.epochMilliseconds + ActivityMoment.grace }
}

/// Where a campaign writes the names that it selects by; the first place of a name that appears twice.
public struct NamePlaces: Sendable {
    let tags: [String: SourcePosition]
    let aliases: [String: SourcePosition]
    let registrationIDs: [String: SourcePosition]
    /// The files of lists.
    private let lists: Set<String>

    /// The places of names; at most a thousand of each are kept, as no one writes more by hand.
    /// - Parameter lists: the files of lists in separate files.
    public init(tags: [SourceText] = [], aliases: [SourceText] = [], registrationIDs: [SourceText] = [], lists: Set<String> = []) {
        self.lists = lists
        func places(_ names: [SourceText]) -> [String: SourcePosition] {
            Dictionary(names.prefix(1_000).map { (trimmedText($0.value), $0.position) }) { first, _ in first }
        }
        self.tags = places(tags)
        self.aliases = places(aliases)
        self.registrationIDs = places(registrationIDs)
    }

    /// Whether a name comes from a separate file, with its place there or, far down in the file, without one.
    func isListed(_ place: SourcePosition?) -> Bool { place.map { lists.contains($0.file) } ?? true }
}

/// Lines of a list that begin with `#` and a name.
public struct HashedLines: Sendable {
    /// The audience's key that holds the list.
    let key: String
    /// The first of them.
    let first: [SourceText]
    let count: Int
    /// What may be shown of a line.
    private let shown: @Sendable (String) -> String

    /// - Parameters:
    ///   - key: `tags`, `aliases` or `registration_ids`.
    ///   - shown: what may be shown of a line.
    public init(key: String, first: [SourceText], count: Int, shown: @escaping @Sendable (String) -> String) {
        (self.key, self.first, self.count, self.shown) = (key, first, count, shown)
    }

    /// The warning about the first of them; nil if there is none.
    public var warning: Diagnostic? { first.first.map(warning) }

    /// - Parameter name: the line that is shown.
    public func warning(_ name: SourceText) -> Diagnostic {
        let shown = shown(name.value)
        return .warning(
            .commentInList,
            message:
                "\(TextFormat.counted(count, one: "line begins", many: "lines begin")) with '#' and \(TextFormat.plural(count, one: "is a comment", many: "are comments")), such as '\(shown)'",
            at: name.position,
            remedy: "If it is a name, write it in the campaign: \(key): [\"\(shown)\"]. A comment has a blank after its '#'.")
    }
}
