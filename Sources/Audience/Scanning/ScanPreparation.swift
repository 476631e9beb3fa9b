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
        for path in query.files {
            do throws(Diagnostic) {
                guard var format = ExportFormat(path: path) else { throw ExportFormat.unknown(path: path) }
                guard let header = try Self.header(path, &format, limits) else { continue }
                let resolver = ColumnResolver(columns: query.columns, header: header, file: path)
                warnings += resolver.duplicateNames()
                warnings += resolver.absentNames(looksForRegistration: query.suppressed != nil)
                do throws(Diagnostics) {
                    files.append(ExportFile(path: path, format: format, header: header, plan: try columns(header, path)))
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
    private static func header(
        _ path: String, _ format: inout ExportFormat, _ limits: ReadingLimits
    ) throws(Diagnostic) -> [String]? {
        guard case .delimited(let separator) = format.records else { return try sampleKeys(path: path, format: format, limits: limits) }
        let reader = try DelimitedReader.open(path: path, isGzip: format.isGzip, separator: separator, limits: limits)
        format.records = .delimited(separator: reader.separator)
        return reader.header
    }

    private func columns(_ header: [String], _ path: String) throws(Diagnostics) -> ColumnPlan {
        let needsID = !query.registrationIDs.isEmpty || !query.excludedRegistrationIDs.isEmpty || excluded.hasRegistrationIDs
        return try ColumnPlan(query, header: header, file: path, needsRegistrationID: needsID)
    }
}
