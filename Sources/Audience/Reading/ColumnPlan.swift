import Base
import PushServices

/// Which cells of an export's rows the query uses: cell numbers by purpose. Cells of columns that
/// the export lacks are `blankCell`, which is always blank.
struct ColumnPlan {
    /// The header's columns (or JSON's keys) that become cells, in the order of the cells, each
    /// once.
    private(set) var columns: [Int] = []
    /// The targets of the first service.
    private(set) var token = 0
    /// The targets of each service; used if a row may have several.
    private(set) var targets: [Int] = []
    /// The devices' own targets at each service: the same, but for services whose targets are
    /// tokens of Live Activities.
    private(set) var devices: [Int] = []
    /// These tokens.
    private(set) var activity = 0
    /// Which service reaches the device; used if there are several.
    private(set) var service = 0
    private(set) var registrationID = 0
    private(set) var alias = 0
    private(set) var tags = 0
    private(set) var language = 0
    private(set) var lastActive = 0
    /// Needed only when devices are suppressed.
    private(set) var registeredAt = 0
    /// Whether a device is valid, in formats that say so; nil in others.
    private(set) var validity: Int?
    private(set) var conditions: [Int] = []
    private(set) var fields: [Int] = []

    /// The cell after all others.
    var blankCell: Int { columns.count }

    /// The cell that may be a JSON array.
    var tagsCell: Int? { tags == blankCell ? nil : tags }

    /// The names of the used columns.
    func names(in header: [String]) -> [String] { columns.map { header[$0] } }
}

extension ColumnPlan {
    /// Finds the query's columns in a header.
    /// - Throws: every column that is missing.
    init(_ query: AudienceQuery, _ resolver: ColumnResolver, needsRegistrationID: Bool) throws(Diagnostics) {
        var mistakes: [Diagnostic] = []
        func required(_ standard: ExportColumns.Standard, if isNeeded: Bool) -> Int? {
            let column = resolver.column(of: standard)
            if column == nil, isNeeded { mistakes.append(resolver.missing(standard)) }
            return column
        }
        func named(_ name: SourceText, in place: ColumnResolver.Place) -> Int? {
            let column = resolver.column(named: name.value)
            if column == nil { mistakes.append(resolver.unknown(name, in: place)) }
            return column
        }
        let isMixed = query.services.count > 1
        let activityColumn = query.columns.tokensOfActivity.flatMap { tokens -> Int? in
            let column = resolver.header.firstIndex(of: query.columns.name(of: tokens))
            if column == nil { mistakes.append(resolver.missing(tokens)) }
            return column
        }
        let targetColumns = isMixed ? resolver.targetColumns(query.services.map(\.target)) : []
        if isMixed, !targetColumns.contains(where: { $0 != nil }) {
            mistakes.append(resolver.missingTargets(query.services))
        }
        let serviceColumn = resolver.columns.service.flatMap { named($0.column, in: .settings) }
        let standards = [
            isMixed ? nil : required(.token, if: true),
            required(.registrationID, if: needsRegistrationID),
            required(.alias, if: !query.aliases.isEmpty || !query.excludedAliases.isEmpty),
            required(.tags, if: query.usesTags),
            required(.language, if: false),
            required(.lastActive, if: false),
            query.suppressed == nil ? nil : required(.registeredAt, if: false),
            query.carriesTimezone ? required(.timezone, if: false) : nil,
        ]
        let validityColumn =
            LeanCloudExport.isFormat(of: resolver.columns)
            ? resolver.header.firstIndex(of: LeanCloudExport.validity) : nil
        let conditionColumns = query.conditions.map { condition -> Int? in
            let column = named(condition.column, in: .condition)
            if column != nil, column == resolver.column(of: .tags) {
                mistakes.append(resolver.holdsTags(condition.column))
            }
            return column
        }
        let fieldColumns = query.fields.map { field in
            // That an activity's token is missing is said once.
            field.value == query.columns.tokensOfActivity?.rawValue ? activityColumn : named(field, in: .text)
        }
        if let failure = resolver.failure(of: mistakes) { throw failure }

        let further = [serviceColumn, validityColumn] + conditionColumns + fieldColumns
        for case let column? in standards + targetColumns + [activityColumn] + further where !columns.contains(column) {
            columns.append(column)
        }
        let cells = columns
        func cell(_ column: Int?) -> Int { column.flatMap { cells.firstIndex(of: $0) } ?? cells.count }
        devices = (isMixed ? targetColumns : [standards[0]]).map(cell)
        targets = zip(query.services, devices).map { query.activityForm(of: $0) == .target ? cell(activityColumn) : $1 }
        activity = cell(activityColumn)
        token = targets[0]
        service = cell(serviceColumn)
        registrationID = cell(standards[1])
        alias = cell(standards[2])
        tags = cell(standards[3])
        language = cell(standards[4])
        lastActive = cell(standards[5])
        registeredAt = cell(standards[6])
        validity = validityColumn.map(cell)
        conditions = conditionColumns.map(cell)
        fields = fieldColumns.map(cell) + (query.carriesTimezone ? [cell(standards[7])] : [])
    }
}

extension AudienceQuery {
    /// Whether a selector or an exclusion uses tags.
    var usesTags: Bool { !(anyTags.isEmpty && allTags.isEmpty && noneTags.isEmpty && excludedTags.isEmpty) }
}

/// Finds columns by name in one header, and describes what is wrong with a missing name.
struct ColumnResolver {
    let columns: ExportColumns
    let header: [String]
    let file: String

    /// The column of a standard name, through the names that volley.yaml gives.
    func column(of standard: ExportColumns.Standard) -> Int? {
        columns.candidates(for: standard).lazy.compactMap { header.firstIndex(of: $0) }.first
    }

    /// The columns of the targets of several services, in their order. Where a column says which
    /// service reaches a device, targets are in the column of tokens, unless volley.yaml names
    /// another for them.
    func targetColumns(_ forms: [TargetForm]) -> [Int?] {
        forms.map { form in
            if columns.tokensHold(targets: form.column) { return column(of: .token) }
            return columns.candidates(forTargets: form.column).lazy.compactMap { header.firstIndex(of: $0) }.first
        }
    }

    /// An export with targets of no service.
    func missingTargets(_ services: [any PushService]) -> Diagnostic {
        if let targets = targetsInHeader { return noHeader(targets) }
        let names = services.map { "'\(columns.candidates(forTargets: $0.target.column)[0])' (\($0.displayName))" }
        return Diagnostic(
            "the export has no column of \(services.targetNouns), \(columns.service == nil ? names.joined(separator: " or ") : columns.quotedTokens): its columns are \(list)",
            file: file,
            remedy: disguised(services.flatMap { columns.candidates(forTargets: $0.target.column) })
                ?? (columns.service == nil
                    ? "Name the columns in volley.yaml: `columns: {\(services.map { "\($0.target.column): NAME" }.joined(separator: ", "))}`."
                    : "Name the column in volley.yaml: `columns: {token: NAME}`."))
    }

    /// What to do about a column with a name that looks like a wanted one and is another; nil
    /// without one. Either of the two may be in disguise.
    func disguised(_ names: [String]) -> String? {
        for (place, name) in header.enumerated() {
            for wanted in names {
                if let how = Spelling.disguise(of: name, as: wanted) {
                    return
                        "The name of column \(place + 1) looks like '\(wanted)', but it holds \(how). Type it again in the export's first line, or where the export is made."
                }
                if let how = Spelling.disguise(of: wanted, as: name) {
                    return "It looks like '\(name)', but it holds \(how). Type it again where you name it: \(name)."
                }
            }
        }
        return nil
    }

    /// A column of the header, otherwise one by its standard name.
    func column(named name: String) -> Int? {
        header.firstIndex(of: name) ?? ExportColumns.Standard(rawValue: name).flatMap { column(of: $0) }
            ?? ActivityTokens(rawValue: name).flatMap { header.firstIndex(of: columns.name(of: $0)) }
    }

    /// Where a column is named.
    enum Place { case text, condition, settings }

    /// A column that the campaign or volley.yaml names and the export lacks.
    func unknown(_ name: SourceText, in place: Place) -> Diagnostic {
        let standard = ExportColumns.Standard.allCases.filter { column(of: $0) != nil }.map(\.rawValue)
        let nearest = nearestName(to: name.value, among: header.filter { !$0.isEmpty } + standard)
        return Diagnostic(
            "\(file) has no column '\(name.value)'", at: name.position,
            remedy: disguised([name.value]) ?? nearest.map { Self.remedy(meaning: $0, by: name.value, in: place) }
                ?? "Its columns are \(list).")
    }

    /// What to do about a column that has another name: a text names columns without quotes, so not
    /// all names can be in it.
    private static func remedy(meaning column: String, by name: String, in place: Place) -> String {
        if place == .condition, ExportColumns.Standard(rawValue: name) != nil {
            let written = TextFormat.yaml(column)
            return
                "Did you mean '\(column)'? Write `\(written): …` there, or in volley.yaml: `columns: {\(name): \(written)}`."
        }
        let isNameable = column.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "_.-".unicodeScalars.contains($0)
        }
        return isNameable || place != .text
            ? "Did you mean '\(column)'?"
            : "Did you mean '\(column)'? A text cannot name it: rename it to '\(name)' in the export."
    }

    /// A condition on the column of tags.
    func holdsTags(_ name: SourceText) -> Diagnostic {
        Diagnostic(
            "'where' compares whole cells, and a cell of '\(name.value)' can hold several tags", at: name.position,
            remedy: "Select with tags: {all: [...]}, or leave devices out with exclude: {tags: [...]}.")
    }

    /// An export whose rows are in quotes as a whole, as programs write it when they take each row
    /// for one cell.
    var quotedRows: Diagnostic? {
        guard header.count == 1, header[0].contains(where: { ",;\t".contains($0) }) else { return nil }
        return Diagnostic(
            "each row of the export is a single cell in quotes, which holds the whole row", file: file,
            remedy: "Export it again without quotes around whole rows: \(Self.shownRow(header[0])).")
    }

    /// The mistakes in names of columns; nil without any. Where rows are in quotes or the header is
    /// missing, nothing else can be said about columns.
    func failure(of mistakes: [Diagnostic]) -> Diagnostics? {
        guard let first = mistakes.first else { return nil }
        return quotedRows.map { Diagnostics($0) } ?? Diagnostics(targetsInHeader == nil ? mistakes : [first])
    }

    /// The beginning of a row, without targets.
    private static func shownRow(_ row: String) -> String {
        TargetRedaction.possible(row) ?? TextFormat.foreign(SecretText.withoutTokens(row), maximumBytes: 60)
    }

    /// The form of the target that is found where the header should name columns.
    var targetsInHeader: TargetForm? {
        column(of: .token) == nil ? header.lazy.compactMap(TargetRedaction.form).first : nil
    }

    private func noHeader(_ targets: TargetForm) -> Diagnostic {
        Diagnostic(
            "the export has no header row: its first line holds \(targets.aNoun)", file: file,
            remedy: "Its first line must name the columns, for example token,alias,tags.")
    }

    /// An export without tokens of activities.
    func missing(_ tokens: ActivityTokens) -> Diagnostic {
        let name = columns.name(of: tokens),
            what = tokens == .start ? "activities are started with" : "running activities have"
        return Diagnostic(
            "the export has no column '\(name)' of the tokens that \(what): its columns are \(list)", file: file,
            remedy: disguised([name]) ?? "Name the column in volley.yaml: `columns: {\(tokens.rawValue): NAME}`.")
    }

    /// A column that selecting needs and the export lacks.
    func missing(_ standard: ExportColumns.Standard) -> Diagnostic {
        if standard == .token, let targets = targetsInHeader { return noHeader(targets) }
        let candidates = columns.candidates(for: standard)
        let names = candidates.map { "'\($0)'" }.joined(separator: " or ")
        let purpose = standard == .token ? "" : ", which the audience needs"
        let nearest = candidates.lazy.compactMap { nearestName(to: $0, among: header.filter { !$0.isEmpty }) }.first
        if let name = columns.names[standard] {
            return Diagnostic(
                "\(file) has no column \(names)\(purpose): its columns are \(list)", at: name.position,
                remedy: disguised(candidates) ?? nearest.map { "Did you mean '\($0)'?" }
                    ?? "Write the name of one of these columns there, or export the column.")
        }
        return Diagnostic(
            "the export has no column \(names)\(purpose): its columns are \(list)", file: file,
            remedy: disguised(candidates)
                ?? "Name the column in volley.yaml: `columns: {\(standard.rawValue): \(nearest.map { TextFormat.yaml($0) } ?? "NAME")}`."
        )
    }

    /// Columns that are not read, as their names differ from known ones by an invisible character
    /// or a letter of another script; and where no column has the known name, in capitals.
    /// - Parameters:
    ///   - targets: the keys of targets, of an app with several services.
    ///   - looksForRegistration: whether it matters when a device registered.
    func disguisedNames(targets: [String], looksForRegistration: Bool) -> [Diagnostic] {
        // `absentNames` and errors are about names that volley.yaml gives.
        let standards = ExportColumns.Standard.allCases.filter { columns.names[$0] == nil }.map {
            (key: $0.rawValue, names: columns.candidates(for: $0))
        }
        let known =
            standards
            + targets.filter { columns.targets[$0] == nil }.map { (key: $0, names: columns.candidates(forTargets: $0)) }
        let names = Set(known.flatMap(\.names))
        let inCapitals: [ExportColumns.Standard] = [.language] + (looksForRegistration ? [.registeredAt] : [])
        let useful = Set(inCapitals.filter { column(of: $0) == nil }.map(\.rawValue))
        return header.enumerated().compactMap { place, name in
            guard !name.isEmpty, !names.contains(name) else { return nil }
            for (key, wanted) in known.flatMap({ known in known.names.map { (known.key, $0) } }) {
                if let how = Spelling.disguise(of: name, as: wanted) {
                    return .warning(
                        .columnNotFound,
                        message:
                            "the name of column \(place + 1) looks like '\(wanted)', but it holds \(how), so the column is not read",
                        file: file, remedy: "Type it again in the export's first line, or where the export is made.")
                }
                guard useful.contains(key), name.lowercased() == wanted.lowercased() else { continue }
                return .warning(
                    .columnNotFound,
                    message: "it has no column '\(wanted)', but it has '\(name)', which is not read: capitals count",
                    file: file, remedy: "Name it in volley.yaml: `columns: {\(key): \(name)}`.")
            }
            return nil
        }
    }

    /// Names that volley.yaml gives to columns that are useful but not required, where the export
    /// lacks them.
    /// - Parameter looksForRegistration: whether it matters when a device registered.
    func absentNames(looksForRegistration: Bool) -> [Diagnostic] {
        let useful: [ExportColumns.Standard] = [.language, .lastActive] + (looksForRegistration ? [.registeredAt] : [])
        let targets = columns.targets.sorted { $0.key < $1.key }.map(\.value).filter { !header.contains($0.value) }
        return targets.map(absent)
            + useful.compactMap { standard in
                guard let name = columns.names[standard], column(of: standard) == nil else { return nil }
                return absent(name)
            }
    }

    private func absent(_ name: SourceText) -> Diagnostic {
        .warning(
            .columnNotFound, message: "\(file) has no column '\(name.value)'", at: name.position,
            remedy: disguised([name.value])
                ?? nearestName(to: name.value, among: header).map { "Did you mean '\($0)'?" })
    }

    /// The column that devices' own clocks need and the export lacks.
    func noTimezone(at position: SourcePosition) -> Diagnostic {
        let name = columns.candidates(for: .timezone)[0]
        let nearest = nearestName(to: name, among: header.filter { !$0.isEmpty })
        return .warning(
            .timezoneNotFound,
            message: "\(file) has no column '\(name)', so fallback_timezone applies to all of its devices",
            at: position,
            remedy: disguised([name])
                ?? "Name the column in volley.yaml: `columns: {timezone: \(nearest.map { TextFormat.yaml($0) } ?? "NAME")}`."
        )
    }

    /// A column that looks like time zones where quiet hours would use it.
    func otherTimezone(at position: SourcePosition) -> Diagnostic? {
        guard column(of: .timezone) == nil, columns.names[.timezone] == nil else { return nil }
        let others = ["tz", "zone", "zoneinfo"]
        guard
            let name = nearestName(to: "timezone", among: header)
                ?? header.first(where: { others.contains($0.lowercased()) })
        else {
            return nil
        }
        return .warning(
            .timezoneNotFound,
            message:
                "\(file) has no column 'timezone', but it has '\(name)': the quiet hours follow the schedule's clock for all of its devices",
            at: position,
            remedy: disguised(["timezone"])
                ?? "If it holds the devices' zones, name it in volley.yaml: `columns: {timezone: \(TextFormat.yaml(name))}`."
        )
    }

    /// Columns with names that appear literally in texts. Only names of several words joined by `_`
    /// count: others may be ordinary words.
    func names(in texts: [SourceText]) -> [Diagnostic] {
        let names = Dictionary(header.filter { $0.dropFirst().dropLast().contains("_") }.map { ($0.lowercased(), $0) })
        { first, _ in first
        }
        guard !names.isEmpty else { return [] }
        return texts.flatMap { text -> [Diagnostic] in
            let words = text.value.split(whereSeparator: \.isWhitespace).filter { !$0.contains("://") }
                .flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" } }
            var seen: Set<String> = []
            return words.compactMap { word -> Diagnostic? in
                guard let name = names[word.lowercased()], seen.insert(name).inserted else { return nil }
                return .warning(
                    .textNotReady, message: "people would read '\(word)' in this text, but it is the name of a column",
                    at: text.position,
                    remedy: "For the column's value, write {{ \(name) }}.")
            }
        }
    }

    /// Where each person should get one text, but the export lacks aliases or may name them
    /// differently.
    func noAlias(at position: SourcePosition) -> Diagnostic? {
        guard column(of: .alias) == nil else { return nil }
        let usual: Set = [
            "userid", "user", "username", "uid", "customerid", "customer", "accountid", "memberid", "externalid",
            "externaluserid", "email",
            "alias", "aliasid", "aliases",
        ]
        let other = header.first { usual.contains(Self.letters($0)) }
        guard let name = columns.names[.alias]?.value ?? other.map({ _ in ExportColumns.Standard.alias.rawValue })
        else { return nil }
        return .warning(
            .columnNotFound,
            message:
                "\(file) has no column '\(name)'\(other.map { ", but '\($0)'" } ?? ""): variants are assigned by device, so a person may read several texts",
            at: columns.names[.alias]?.position ?? position,
            remedy:
                "\(other.map { "If it names devices' owners, name it in volley.yaml: `columns: {alias: \(TextFormat.yaml($0))}`." } ?? "Correct the name.") "
                + "If each device may read its own text, write by: device below 'variants'.")
    }

    /// A column that by its name may say when a device was last active, where there is no
    /// `last_active`.
    var otherActivity: String? {
        guard column(of: .lastActive) == nil, columns.names[.lastActive] == nil else { return nil }
        let usual: Set = [
            "lastactive", "lastactiveat", "lastactivedate", "lastactivity", "lastactivityat", "lastactivitydate",
            "lastseen", "lastseenat",
            "lastseendate", "lastlogin", "lastloginat", "lastlogindate", "lastsession", "lastsessionat", "lastopen",
            "lastopened",
            "lastopenedat", "lastvisit", "lastused", "lastusedat", "lastupdate", "lastupdated", "lastupdatedat",
            "updated", "updatedat",
            "activeat", "lastmodified", "modifiedat",
        ]
        return header.first { usual.contains(Self.letters($0)) && !Spelling.hasInvisible($0) }
    }

    /// A name without capitals, blanks and signs.
    private static func letters(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    /// The columns that describe a device, other than the token and the registration id that
    /// identify it.
    var describing: Set<String> {
        let naming =
            [column(of: .token), column(of: .registrationID)]
            + columns.targets.values.map { header.firstIndex(of: $0.value) }
        return Set(header.indices.filter { !naming.contains($0) && !header[$0].isEmpty }.map { header[$0] })
    }

    /// Columns that may hold tags that did not fit into the tags' column: `tags_2`, `tags.1`, or
    /// without a name.
    var besideTags: [Int] {
        guard let tags = column(of: .tags) else { return [] }
        let name = Self.letters(header[tags])
        return header.indices.filter { place in
            let other = Self.letters(header[place])
            return place != tags
                && (header[place].isEmpty
                    || other.hasPrefix(name) && other.utf8.count > name.utf8.count
                        && other.dropFirst(name.count).allSatisfy(\.isNumber))
        }
    }

    /// Headers that appear twice: the first counts.
    func duplicateNames() -> [Diagnostic] {
        var seen: Set<String> = []
        return header.filter { !$0.isEmpty && !seen.insert($0).inserted }.map {
            .warning(
                .columnTwice, message: "the header names the column '\($0)' twice; the first one is used",
                at: SourcePosition(file: file, line: 1, column: 1))
        }
    }

    /// The header's names for a message. Without a header row they are a device's data, and its
    /// token must not be shown.
    var list: String { Self.list(header) }

    static func list(_ header: [String]) -> String {
        let shown = header.prefix(40).map {
            "'\(TargetRedaction.possible($0) ?? String(TargetRedaction.withoutTargets($0).prefix(60)))'"
        }
        .joined(separator: ", ")
        return header.count > 40 ? "\(shown) and \(header.count - 40) more" : shown
    }
}
