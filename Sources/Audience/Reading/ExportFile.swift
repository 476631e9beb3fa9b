import Base

/// An export whose columns are known.
struct ExportFile: Sendable {
    let path: String
    let format: ExportFormat
    /// The header's names, or the keys of the first objects of JSON.
    let header: [String]
    let plan: ColumnPlan
    /// What columns are called in it.
    let columns: ExportColumns
    /// What is special about its JSON.
    var json = JSONForm()
    /// Where there is no `last_active`: a column that holds it, judging by its name.
    let otherActivity: String?
    /// What a second header looks like; nil for JSON.
    let names: HeaderNames?

    /// Where its blocks may end.
    var cutter: BlockCutter {
        switch format.records {
        case .delimited(let separator): .delimited(separator: separator, columnCount: header.count)
        case .jsonLines: .lines
        case .jsonArray: .array(firstKey: Array((header.first ?? "").utf8))
        }
    }

    /// The expected state at the beginning of any block but the first.
    var stateOfBlocks: ReadingState { .record }

    /// The expected state at the beginning of the file.
    var stateOfFile: ReadingState { format.records == .jsonLines ? .record : .start }
}
