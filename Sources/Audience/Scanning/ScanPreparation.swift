import Base

/// What is done before any row is read: lists of excluded devices are loaded, and the header of every export is looked at.
struct ScanPreparation {
    let query: AudienceQuery
    let limits: ReadingLimits
    let hash: KeyedHash
    let excluded: ExcludedDevices
    private(set) var files: [ExportFile] = []
    private(set) var warnings: [Diagnostic] = []

    /// - Throws: all mistakes; a column that several files lack is reported once, with the first of them.
    init(_ query: AudienceQuery, limits: ReadingLimits) throws(Diagnostics) {
        self.query = query
        self.limits = limits
        hash = query.suppressed?.hash ?? query.capped?.hash ?? .random()
        excluded = try ExcludedDevices(query, hash: hash, limits: limits)
        var mistakes: [Diagnostic] = []
        var places: Set<SourcePosition> = []
        var lacksTimezone = false
        for path in query.files {
            do throws(Diagnostic) {
                guard var format = ExportFormat(path: path) else { throw ExportFormat.unknown(path: path) }
                guard let header = try header(path, &format) else { continue }
                let resolver = ColumnResolver(columns: query.columns, header: header, file: path)
                warnings += resolver.duplicateNames()
                warnings += resolver.names(in: query.texts).filter { !warnings.contains($0) }
                warnings += resolver.absentNames(looksForRegistration: query.suppressed != nil)
                if let position = query.timezonePosition, !lacksTimezone, resolver.column(of: .timezone) == nil {
                    warnings.append(resolver.noTimezone(at: position))
                    lacksTimezone = true
                }
                if let position = query.quietHoursPosition, !lacksTimezone, let warning = resolver.otherTimezone(at: position) {
                    warnings.append(warning)
                    lacksTimezone = true
                }
                do throws(Diagnostics) {
                    files.append(try file(path, format, resolver))
                } catch {
                    mistakes += error.all.filter { $0.position.map { places.insert($0).inserted } ?? true }
                }
            } catch {
                mistakes.append(error)
            }
        }
        if !mistakes.isEmpty { throw Diagnostics(mistakes) }
    }

    /// nil for JSON without an object.
    /// - Parameter format: with the separator that the file turns out to have.
    private func header(_ path: String, _ format: inout ExportFormat) throws(Diagnostic) -> [String]? {
        guard case .delimited(let separator) = format.records else {
            return try sampleKeys(path: path, format: format, limits: limits) { lacksNothing($0, path) }
        }
        let reader = try DelimitedReader.open(path: path, isGzip: format.isGzip, separator: separator, limits: limits)
        format.records = .delimited(separator: reader.separator)
        return reader.header
    }

    /// Whether keys of JSON are all that is asked for by name; others may come later.
    private func lacksNothing(_ keys: [String], _ path: String) -> Bool {
        let resolver = ColumnResolver(columns: query.columns, header: keys, file: path)
        guard resolver.absentNames(looksForRegistration: query.suppressed != nil).isEmpty else { return false }
        guard query.timezonePosition == nil || resolver.column(of: .timezone) != nil else { return false }
        return (try? columns(keys, path)) != nil
    }

    /// The objects of JSON behind those that were looked at may have keys that these lack: what is of use without being needed has its place.
    private func file(_ path: String, _ format: ExportFormat, _ resolver: ColumnResolver) throws(Diagnostics) -> ExportFile {
        let plan = try columns(resolver.header, path)
        guard format.records == .jsonLines || format.records == .jsonArray else {
            return ExportFile(path: path, format: format, header: resolver.header, plan: plan)
        }
        let later = ExportColumns.Standard.allCases.filter { resolver.column(of: $0) == nil }
        let header = resolver.header + later.map { query.columns.candidates(for: $0)[0] }
        return ExportFile(path: path, format: format, header: header, plan: try columns(header, path))
    }

    private func columns(_ header: [String], _ path: String) throws(Diagnostics) -> ColumnPlan {
        let needsID = !query.registrationIDs.isEmpty || !query.excludedRegistrationIDs.isEmpty || excluded.hasRegistrationIDs
        return try ColumnPlan(query, header: header, file: path, needsRegistrationID: needsID)
    }
}
