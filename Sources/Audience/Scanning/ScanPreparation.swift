import Base
import PushServices

/// What is done before any row is read: lists of excluded devices are loaded, and the header of
/// every export is read.
struct ScanPreparation {
    let query: AudienceQuery
    let limits: ReadingLimits
    let hash: KeyedHash
    let excluded: ExcludedDevices
    private(set) var files: [ExportFile] = []
    private(set) var warnings: [Diagnostic] = []

    /// - Throws: all mistakes; a column that several files lack is reported once, with the first of
    ///   them.
    init(_ query: AudienceQuery, limits: ReadingLimits) throws(Diagnostics) {
        self.query = query
        self.limits = limits
        hash = query.suppressed?.hash ?? query.capped?.hash ?? query.reached?.hash ?? query.today?.hash ?? .random()
        excluded = try ExcludedDevices(query, hash: hash, limits: limits)
        var mistakes: [Diagnostic] = []
        var places: Set<SourcePosition> = []
        warnings = query.listWarnings
        var lacksTimezone = false
        for path in query.files {
            do throws(Diagnostic) {
                guard var format = ExportFormat(path: path) else { throw ExportFormat.unknown(path: path) }
                guard let (resolver, json) = try header(path, &format) else { continue }
                if query.columns.format == .leanCloud { try LeanCloudExport.check(resolver) }
                warnings += resolver.duplicateNames()
                warnings += resolver.names(in: query.texts).filter { !warnings.contains($0) }
                warnings += resolver.disguisedNames(
                    targets: query.services.count > 1 ? query.services.map(\.target.column) : [],
                    looksForRegistration: query.suppressed != nil)
                warnings += resolver.absentNames(looksForRegistration: query.suppressed != nil)
                if let position = query.variantsPosition, let warning = resolver.noAlias(at: position) {
                    warnings.append(warning)
                }
                if let position = query.timezonePosition, !lacksTimezone, resolver.column(of: .timezone) == nil {
                    warnings.append(resolver.noTimezone(at: position))
                    lacksTimezone = true
                }
                if let position = query.quietHoursPosition, !lacksTimezone,
                    let warning = resolver.otherTimezone(at: position)
                {
                    warnings.append(warning)
                    lacksTimezone = true
                }
                do throws(Diagnostics) {
                    let file = try file(format, json, resolver)
                    if query.usesTags, let warning = MisplacedTags(query, file, resolver, limits).warning {
                        warnings.append(warning)
                    }
                    files.append(file)
                } catch {
                    mistakes += error.all.filter { $0.position.map { places.insert($0).inserted } ?? true }
                }
            } catch {
                mistakes.append(error)
            }
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
        warnings += oddFiles + unfoundTargets
    }

    /// Services, when there are several, for which no export has a column of targets under its
    /// usual name. One that volley.yaml names is warned of in each file.
    private var unfoundTargets: [Diagnostic] {
        guard query.services.count > 1, query.columns.service == nil, let first = files.first else { return [] }
        return query.services.indices.compactMap { number in
            let (service, key) = (query.services[number], query.services[number].target.column)
            guard query.columns.targets[key] == nil, files.allSatisfy({ $0.plan.targets[number] == $0.plan.blankCell })
            else { return nil }
            let names = query.columns.candidates(forTargets: key)
            let nearest = files.lazy.compactMap { nearestName(to: names[0], among: $0.header.filter { !$0.isEmpty }) }
                .first
            let columns = files.count == 1 ? ": its columns are \(ColumnResolver.list(first.header))" : ""
            return .warning(
                .columnNotFound,
                message: "\(files.count == 1 ? "the export has no column" : "no export has a column") "
                    + "\(names.map { "'\($0)'" }.joined(separator: " or ")), so \(service.displayName) reaches no device\(columns)",
                file: first.path,
                remedy:
                    "Name the column in volley.yaml: `columns: {\(key): \(nearest.map { TextFormat.yaml($0) } ?? "NAME")}`."
            )
        }
    }

    /// Files that have nothing in common with the others except devices: probably a list in the
    /// same folder.
    private var oddFiles: [Diagnostic] {
        let columns = files.map { file in
            ColumnResolver(columns: file.columns, header: file.header, file: file.path).describing
        }
        return zip(files, columns).enumerated().compactMap { number, pair in
            let others = columns.enumerated().filter { $0.offset != number }.map(\.element)
            let most = others.map(\.count).max() ?? 0
            guard pair.1.count < most, others.allSatisfy(pair.1.isDisjoint) else { return nil }
            return .warning(
                .oddExport,
                message:
                    "it has none of the other exports' columns, but its devices belong to the audience like theirs",
                file: pair.0.path,
                remedy:
                    "If it lists devices to leave out, move it to another folder and write under 'audience': exclude: {devices: FILE}."
            )
        }
    }

    /// nil for JSON without an object.
    /// - Parameter format: with the separator that the file really has.
    private func header(_ path: String, _ format: inout ExportFormat) throws(Diagnostic) -> (ColumnResolver, JSONForm)?
    {
        guard case .delimited(let separator) = format.records else {
            let sampled = try sampleKeys(path: path, format: format, limits: limits) {
                lacksNothing(names($0, in: path))
            }
            guard let sampled else { return nil }
            let resolver = names(sampled.keys, in: path)
            return (
                resolver,
                JSONForm(hasTypedValues: LeanCloudExport.isFormat(of: resolver.columns), isWrapped: sampled.isWrapped)
            )
        }
        let reader = try DelimitedReader.open(path: path, isGzip: format.isGzip, separator: separator, limits: limits)
        format.records = .delimited(separator: reader.separator)
        return (names(reader.header, in: path), JSONForm())
    }

    private func names(_ keys: [String], in path: String) -> ColumnResolver {
        ColumnResolver(columns: LeanCloudExport.columns(query.columns, keys: keys), header: keys, file: path)
    }

    /// Whether these JSON keys include all that are required by name; others may come later.
    private func lacksNothing(_ resolver: ColumnResolver) -> Bool {
        guard resolver.absentNames(looksForRegistration: query.suppressed != nil).isEmpty else { return false }
        guard query.timezonePosition == nil || resolver.column(of: .timezone) != nil else { return false }
        return (try? plan(resolver)) != nil
    }

    /// Later JSON objects may have keys that the ones read so far lack: columns that are useful but
    /// not required get a place.
    private func file(_ format: ExportFormat, _ json: JSONForm, _ resolver: ColumnResolver) throws(Diagnostics)
        -> ExportFile
    {
        let plan = try plan(resolver)
        let columns = resolver.columns
        guard format.records == .jsonLines || format.records == .jsonArray else {
            return ExportFile(
                path: resolver.file, format: format, header: resolver.header, plan: plan, columns: columns,
                otherActivity: resolver.otherActivity, names: HeaderNames(resolver.header, query.targets))
        }
        let later = ExportColumns.Standard.allCases.filter { resolver.column(of: $0) == nil }
        // Columns of further services are not required in every file either.
        let targets =
            query.services.count > 1 ? query.services.map { columns.candidates(forTargets: $0.target.column)[0] } : []
        var names = later.map { columns.candidates(for: $0)[0] }
        if LeanCloudExport.isFormat(of: columns), !resolver.header.contains(LeanCloudExport.validity) {
            names.append(LeanCloudExport.validity)
        }
        let header = resolver.header + names + targets.filter { !resolver.header.contains($0) && !names.contains($0) }
        return ExportFile(
            path: resolver.file, format: format, header: header,
            plan: try self.plan(ColumnResolver(columns: columns, header: header, file: resolver.file)),
            columns: columns, json: json,
            otherActivity: resolver.otherActivity, names: nil)
    }

    private func plan(_ resolver: ColumnResolver) throws(Diagnostics) -> ColumnPlan {
        let needsID =
            !query.registrationIDs.isEmpty || !query.excludedRegistrationIDs.isEmpty || excluded.hasRegistrationIDs
        return try ColumnPlan(query, resolver, needsRegistrationID: needsID)
    }
}

/// Looks, in the first rows of an export, for tags of the campaign in columns other than that of
/// the tags: a spreadsheet program that splits cells at their separators writes each part into its
/// own column, and only the first is read.
struct MisplacedTags {
    /// The warning; nil where the first rows contain no such tags.
    private(set) var warning: Diagnostic?

    private static let mostRows = 2_000

    init(_ query: AudienceQuery, _ file: ExportFile, _ resolver: ColumnResolver, _ limits: ReadingLimits) {
        let columns = resolver.besideTags
        guard !columns.isEmpty, case .delimited(let separator) = file.format.records,
            var reader = try? DelimitedReader.open(
                path: file.path, isGzip: file.format.isGzip, separator: separator, limits: limits)
        else { return }
        let tags = NameTable([query.anyTags, query.allTags, query.noneTags, query.excludedTags])
        reader.use(columns: columns)
        var rows = 0
        // Unreadable rows are reported when the rows are counted.
        while rows < Self.mostRows, let event = try? reader.next(), event != .end {
            guard event == .row else {
                if event == .needsMore, (try? reader.refill()) == nil { return }
                continue
            }
            rows += 1
            for (cell, column) in columns.enumerated() {
                let parts = reader.row.text(cell, separator: []).split(separator: query.columns.tagSeparator).map {
                    trimmedText(String($0))
                }
                guard let tag = parts.first(where: { !tags.numbers(of: [$0]).isEmpty }) else { continue }
                warning = Self.warning(tag, resolver, column: column)
                return
            }
        }
    }

    private static func warning(_ tag: String, _ resolver: ColumnResolver, column: Int) -> Diagnostic {
        let tags = resolver.column(of: .tags).map { resolver.header[$0] } ?? "tags"
        let name =
            resolver.header[column].isEmpty
            ? "column \(column + 1), which has no name," : "the column '\(resolver.header[column])'"
        return .warning(
            .columnTwice, message: "\(name) also holds the tag '\(tag)', but Volley reads tags only from '\(tags)'",
            at: SourcePosition(file: resolver.file, line: 1, column: 1),
            remedy: "Put all tags of a device into one cell of '\(tags)'. A spreadsheet program may have split them.")
    }
}
