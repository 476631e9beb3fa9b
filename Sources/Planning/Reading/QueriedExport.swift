import Audience
import Base
import Runs

/// The rows that a query found in a database, as an export next to the runs: it exists as long as
/// this value.
final class QueriedExport {
    private let query: DatabaseQuery
    private let folder: ScratchFolder
    private let path: String

    /// Makes a file for the rows.
    /// - Throws: `Diagnostic`: it cannot be made.
    private init(_ query: DatabaseQuery, _ catalog: RunsFolder) throws {
        self.query = query
        folder = try catalog.scratchFolder()
        path = FilePaths.join(folder.path, name: "\(Self.fileName(query.database.name)).csv")
    }

    /// Has an audience read it.
    private func supply(_ audience: inout AudienceQuery) {
        audience.files = [path]
        audience.sources.trust([path])
    }

    /// Runs the query in its database, and has an audience read the rows.
    /// - Throws: `Diagnostic`: the database cannot be reached, or refuses the query; it found
    ///   nothing; `CancellationError`.
    static func of(
        _ query: DatabaseQuery?, for audience: inout AudienceQuery, in catalog: RunsFolder, _ options: PlanOptions
    ) throws -> QueriedExport? {
        guard let query else { return nil }
        let export = try QueriedExport(query, catalog)
        defer { options.observer(.readingEnds) }
        try query.run(into: SpoolFile(path: export.path), options.cancellation) { options.observer(.querying($0)) }
        export.supply(&audience)
        return export
    }

    /// The columns that a query would find, checked as those of an export. Nothing is executed.
    /// - Returns: warnings.
    static func checkColumns(
        of query: DatabaseQuery, for audience: AudienceQuery, in catalog: RunsFolder, _ cancellation: Cancellation
    ) throws -> [Diagnostic] {
        let columns = try query.columns(cancellation)
        let export = try QueriedExport(query, catalog)
        var header = Array(
            (columns.map { "\"\($0.replacing(scalar: "\"", with: "\"\""))\"" }.joined(separator: ",") + "\n").utf8)
        try SpoolFile(path: export.path).write(&header)
        var audience = audience
        export.supply(&audience)
        return try export.placing { try audience.checkColumns() }.map(export.placed)
    }

    /// Names the query where errors name the file of its rows; exports that are files do not
    /// change.
    static func placing<Value>(_ export: QueriedExport?, _ body: () throws -> Value) throws -> Value {
        try export.map { try $0.placing(body) } ?? body()
    }

    /// Names the query where a trace names the file of its rows.
    func placed(_ trace: AudienceTrace) -> AudienceTrace {
        var trace = trace
        for number in trace.rows.indices {
            trace.rows[number].position.file = shownName
            trace.rows[number].decidedBy?.file = shownName
            trace.rows[number].stoodForBy?.position.file = shownName
        }
        return trace
    }

    /// Names the query where errors name the file.
    func placing<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as Diagnostics {
            throw Diagnostics(error.all.map(placed))
        } catch let error as Diagnostic {
            throw placed(error)
        }
    }

    /// A mistake of the columns belongs to the query; one of a row has the row's number.
    func placed(_ mistake: Diagnostic) -> Diagnostic {
        var placed = mistake
        placed.message = mistake.message.replacing(path, with: shownQuery)
        placed.remedy = mistake.remedy?.replacing(path, with: shownQuery)
        guard mistake.file == path || mistake.position?.file == path else { return placed }
        if let position = mistake.position, position.line > 1 {
            placed.position?.file = shownName
            placed.file = shownName
        } else {
            (placed.position, placed.file) = (query.sql.position, query.sql.position.file)
            placed.message = "\(shownQuery): \(placed.message)"
        }
        return placed
    }

    private var shownQuery: String { PreviewWords.query(to: query.database.name) }

    /// The file of a row, in place of a path that is gone.
    private var shownName: String { "rows of \(query.database.name)" }

    /// A database may have any name; a file may not.
    private static func fileName(_ name: String) -> String {
        let plain = name.unicodeScalars.map {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || "-_".unicodeScalars.contains($0) ? $0 : "_"
        }
        return String(String.UnicodeScalarView(plain.prefix(40)))
    }
}
