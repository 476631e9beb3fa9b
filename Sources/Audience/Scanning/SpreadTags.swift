import Base

/// Looks, in the first rows of an export, for tags of the campaign in columns other than that of the tags: a spreadsheet program that
/// splits cells at their separators writes each part into its own column, and only the first is read.
struct SpreadTags {
    /// The warning; nil where the first rows contain no such tags.
    private(set) var warning: Diagnostic?

    private static let mostRows = 2_000

    init(_ query: AudienceQuery, _ file: ExportFile, _ resolver: ColumnResolver, _ limits: ReadingLimits) {
        let columns = resolver.besideTags
        guard !columns.isEmpty, case .delimited(let separator) = file.format.records,
            var reader = try? DelimitedReader.open(path: file.path, isGzip: file.format.isGzip, separator: separator, limits: limits)
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
        let name = resolver.header[column].isEmpty ? "column \(column + 1), which has no name," : "the column '\(resolver.header[column])'"
        return .warning(
            .columnTwice, message: "\(name) also holds the tag '\(tag)', but Volley reads tags only from '\(tags)'",
            at: SourcePosition(file: resolver.file, line: 1, column: 1),
            remedy: "Put all tags of a device into one cell of '\(tags)'. A spreadsheet program may have split them.")
    }
}
