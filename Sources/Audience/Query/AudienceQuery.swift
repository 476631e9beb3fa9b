public import Base
import Glibc
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
    /// Devices with tokens that are known to be invalid; nil without any. A selected one is skipped
    /// as `suppressed`, unless its newest row says in `registered_at` that it registered later than
    /// that.
    public var suppressed: SuppressedDevices?
    /// Devices that got many pushes lately, created together with `suppressed`; nil when there is
    /// no cap. A device that may get no more is skipped as `frequency`.
    public var capped: CappedDevices?
    /// Devices that got a push in the last hours, created together with `suppressed`: one cap for
    /// each sending. They are counted, and not skipped; nil when there was no such sending.
    public var reached: CappedDevices?
    /// How many pushes devices got today, created together with `suppressed`: at most `mostCounts`
    /// caps, the highest first. They are counted, and not skipped; nil where that does not matter.
    public var today: CappedDevices?
    /// The most caps of `today`.
    public static let mostCounts = 6
    /// The most devices that an alias expands to.
    public var aliasLimit = 10
    /// The share of unreadable rows (0 to 1) beyond which the plan stops.
    public var maximumBadRowShare = 0.01
    /// The columns with the cells that a recipient carries along, in the order of
    /// `Recipient.fields`.
    public var fields: [SourceText] = []
    /// What templates compare cells of `fields` with: values that cannot be compared, or that no
    /// recipient has, cause a warning.
    public var comparisons: [TemplateComparison] = []
    /// The text that people read, without template tags: a column's name in it causes a warning.
    public var texts: [SourceText] = []
    /// Whether a recipient also carries the cell of the column `timezone`, behind those of
    /// `fields`; blank where the export has no such column.
    public var carriesTimezone = false
    /// Where the campaign sends by each device's own clock: an export without the column is a
    /// warning there. nil otherwise.
    public var timezonePosition: SourcePosition?
    /// Where the campaign has quiet hours by another clock, which an export with zones overrules:
    /// one with zones under another name is a warning there.
    public var quietHoursPosition: SourcePosition?
    /// Where the campaign assigns variants by person, which needs the column of aliases; nil when
    /// it does not.
    public var variantsPosition: SourcePosition?
    /// Warnings about lists of names in separate files.
    public var listWarnings: [Diagnostic] = []
    /// Lines of such lists that are comments, and may be names: they cause a warning where the
    /// exports hold names that begin with `#`.
    public var hashedLines: [HashedLines] = []
    /// Where the campaign names tags, aliases and registration ids, for warnings; for lists in
    /// separate files, the first thousand names have theirs.
    public var places = NamePlaces()
    /// Warnings that the campaign allows: what would be refused under such a name is then a
    /// warning.
    public var allowed: Set<WarningName> = []
    /// The services of the app, at least one. If there are several, `columns` says how one is
    /// chosen for a row.
    public var services: [any PushService] = [PushServices.standard]
    /// The moment against which `within` and `older than` are evaluated.
    public var now: Timestamp

    /// The files that were read for this query and its copies: each must stay unchanged until the
    /// last of them has run.
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

    /// How a service is told of the Live Activity of a row, if it needs its token; otherwise nil.
    func activityForm(of service: any PushService) -> ActivityForm? {
        guard columns.tokensOfActivity != nil, let form = service.rules.activities, form.needsToken else { return nil }
        return form
    }

    /// Whether a row may have several targets: of several services, or of an activity next to the
    /// device's own.
    var hasSeveralTargets: Bool { services.count > 1 || columns.tokensOfActivity != nil }

    /// Whether some service is told of a Live Activity by the activity's token as the target.
    var sendsToActivities: Bool { services.contains { activityForm(of: $0) == .target } }

    /// Whether rows may name a user in addition to the target that reaches a device.
    var mayNameUsers: Bool { services.count > 1 && services.contains { $0.target.areUsers } }

    /// The last moment at which a device may have been active, in milliseconds since 1970: a later
    /// one is a mistake, and would make its row the newest forever.
    var latestActivity: Int64 { now.epochMilliseconds + ActivityMoment.grace }
}

/// Where a campaign writes the names that it selects by; the first place of a name that appears
/// twice.
public struct NamePlaces: Sendable {
    let tags: [String: SourcePosition]
    let aliases: [String: SourcePosition]
    let registrationIDs: [String: SourcePosition]
    /// The files of lists.
    private let lists: Set<String>

    /// The places of names; at most a thousand of each are kept, as no one writes more by hand.
    /// - Parameter lists: the files of lists in separate files.
    public init(
        tags: [SourceText] = [], aliases: [SourceText] = [], registrationIDs: [SourceText] = [], lists: Set<String> = []
    ) {
        self.lists = lists
        func places(_ names: [SourceText]) -> [String: SourcePosition] {
            Dictionary(names.prefix(1_000).map { (trimmedText($0.value), $0.position) }) { first, _ in first }
        }
        self.tags = places(tags)
        self.aliases = places(aliases)
        self.registrationIDs = places(registrationIDs)
    }

    /// Whether a name comes from a separate file, with its place there or, far down in the file,
    /// without one.
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

    /// The warning about the first of them; nil without any.
    public var warning: Diagnostic? { first.first.map(warning) }

    /// - Parameter name: the line that is shown.
    public func warning(_ name: SourceText) -> Diagnostic {
        let shown = shown(name.value)
        return .warning(
            .commentInList,
            message:
                "\(TextFormat.counted(count, one: "line begins", many: "lines begin")) with '#' and \(TextFormat.plural(count, one: "is a comment", many: "are comments")), such as '\(shown)'",
            at: name.position,
            remedy:
                "If it is a name, write it in the campaign: \(key): [\"\(shown)\"]. A comment has a blank after its '#'."
        )
    }
}

extension AudienceQuery {
    /// Checks the header of every export (for JSON: the keys of the first objects) and the lists of
    /// excluded devices, without reading the rows.
    /// - Throws: every file that cannot be read and every column that is missing.
    /// - Returns: warnings, such as a column that appears twice.
    public func checkColumns() throws(Diagnostics) -> [Diagnostic] { try prepared().warnings }

    /// The columns that each export has, in the order of the first; checked as `checkColumns` does.
    public func commonColumns() throws(Diagnostics) -> [String] {
        let headers = try prepared().files.map(\.header)
        return (headers.first ?? []).filter { column in headers.allSatisfy { $0.contains(column) } }
    }

    private func prepared() throws(Diagnostics) -> ScanPreparation {
        var limits = ReadingLimits(targets: targets)
        // Exports may change until they are read.
        limits.sources = sources.anew()
        return try ScanPreparation(self, limits: limits)
    }
}

extension AudienceQuery {
    /// The numbers of the query's selectors.
    struct Selectors: Sendable {
        /// Tags that select, numbered from 0: those of `anyTags`, then those of `allTags`, each
        /// once.
        var tags: [String] = []
        /// Rows selected only by lacking each of `noneTags`.
        var noneOnly: UInt32?
        var alias: UInt32?
        var registrationID: UInt32?
        var everyone: UInt32?
        var names: [String] = []
    }

    var selectors: Selectors {
        var selectors = Selectors()
        func add(_ name: String) -> UInt32 {
            selectors.names.append(name)
            return UInt32(selectors.names.count - 1)
        }
        var seen: Set<String> = []
        for tag in (anyTags + allTags).map(trimmedText) where !tag.isEmpty && seen.insert(tag).inserted {
            selectors.tags.append(tag)
            _ = add("tag:\(tag)")
        }
        if selectors.tags.isEmpty, !noneTags.isEmpty { selectors.noneOnly = add("tags") }
        if !aliases.isEmpty { selectors.alias = add("alias") }
        if !registrationIDs.isEmpty { selectors.registrationID = add("registration_id") }
        if everyone { selectors.everyone = add("everyone") }
        return selectors
    }

    /// The selectors in the order of `AudienceResult.selectedBy`: `tag:NAME` for each tag of
    /// `anyTags`, then of `allTags` (`tags` when only `noneTags` select), `alias`,
    /// `registration_id`, `everyone`; only those that the query uses.
    public var selectorNames: [String] { selectors.names }
}

/// Text without the white space at its edges.
func trimmedText(_ text: String) -> String {
    var text = text
    return text.withUTF8 { String(decoding: trimmed($0), as: UTF8.self) }
}

extension AudienceQuery {
    /// Resolves paths and globs (`*`, `?`, `[…]`, as fnmatch(3) reads them) to files: those of a
    /// glob sorted by name, each file once. A path that exists is taken literally, whatever
    /// characters it holds; one without glob characters need not exist, as the scan reports it
    /// better. A glob does not match the files that Excel keeps next to an open one
    /// (`~$devices.csv`).
    /// - Throws: every glob that matches nothing, and what could not be looked into.
    public static func expand(paths: [String]) throws(Diagnostics) -> [String] {
        var files: [String] = []
        var seen: Set<String> = []
        var mistakes: [Diagnostic] = []
        for path in paths {
            do throws(Diagnostic) {
                let matches = try matches(of: path)
                if matches.isEmpty {
                    mistakes.append(
                        Diagnostic(
                            "no file matches '\(path)'", remedy: "Paths are relative to the file that names them."))
                }
                if let problem = matches.lazy.compactMap(FileAccess.lookupProblem).first { throw problem }
                files += matches.filter { seen.insert($0).inserted }
            } catch { mistakes.append(error) }
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
        return files
    }

    /// What one path or glob means: the path itself, whether anything is there or not; empty if a
    /// glob matches nothing.
    /// - Throws: a folder that this user may not enter or list, a link that leads to none: files in
    ///   it may be meant, and to leave them out in silence, as glob(3) does, would send to devices
    ///   that a list excludes.
    public static func matches(of path: String) throws(Diagnostic) -> [String] {
        guard path.contains(where: { "*?[".contains($0) }), !FilePaths.exists(path) else {
            return [path]
        }
        var found = [path.hasPrefix("/") ? "/" : ""]
        for part in path.split(separator: "/") {
            var next: [String] = []
            for folder in found {
                next += try names(in: folder, matching: String(part)).map {
                    folder.isEmpty ? $0 : FilePaths.join(folder, name: $0)
                }
            }
            found = next
        }
        return found.sorted { Array($0.utf8).lexicographicallyPrecedes($1.utf8) }
    }

    /// The names in a folder that a part of a glob matches; none in what is no folder.
    /// - Parameter folder: blank for the current one.
    private static func names(in folder: String, matching part: String) throws(Diagnostic) -> [String] {
        let place = folder.isEmpty ? "." : folder
        do throws(FileError) {
            // A backslash takes the meaning of the character behind it.
            if part.contains(where: { "*?[\\".contains($0) }) {
                return try Folder.names(in: place) { fnmatch(part, $0, FNM_PERIOD) == 0 && !$0.hasPrefix("~$") }
            }
            var status = stat()
            guard lstat(FilePaths.join(place, name: part), &status) == 0 else { throw .system(errno) }
            return [part]
        } catch .system(ENOENT) where FileKind.isLink(place) && FileKind(path: place) == nil {
            throw Diagnostic(
                "this is a link that leads nowhere, so it is not known which files are in it", file: place,
                remedy: "Make again what it leads to, or remove the link.")
        } catch .system(ENOENT), .system(ENOTDIR) {
            return []
        } catch .system(EACCES) where place.hasSuffix("/lost+found") {
            // Only root looks into the folder that fsck(8) keeps.
            return []
        } catch {
            throw FileAccess.problem(place, .reading, purpose: nil) ?? FileAccess.lookupProblem(
                FilePaths.join(place, name: part))
                ?? error.diagnostic("the folder cannot be read", file: place)
        }
    }
}
