import Base

/// What LeanCloud exports of `_Installation`, its devices: JSON Lines, or what a query of its REST
/// API answers. Read as it is, and also where a person or a program has made a CSV of it.
///
/// Its documentation: "Data export" and "Push" of docs.leancloud.cn, as of January 2026.
enum LeanCloudExport {
    /// What it calls the columns that Volley needs. `updatedAt` is renewed whenever the app starts.
    static let names: [ExportColumns.Standard: String] = [
        .token: "deviceToken", .registrationID: "objectId", .tags: "channels", .timezone: "timeZone",
        .lastActive: "updatedAt",
        .registeredAt: "createdAt",
    ]
    /// `false` for a device that cannot be reached any more, or that gets no pushes by its owner's
    /// choice.
    static let validity = "valid"
    /// Keys or columns that all its objects have, and those of other exports do not.
    private static let marks = ["installationId", "deviceType"]

    /// The first line of a file, which says what it holds: `#filetype:JSON-streaming
    /// {"type":"Class","class":"_Installation"}`.
    static let firstLine: StaticString = "#filetype:JSON-streaming"

    /// The columns of an export, judging by the keys of its first objects, or by its header.
    static func columns(_ columns: ExportColumns, keys: [String]) -> ExportColumns {
        guard marks.allSatisfy(keys.contains) else { return columns }
        var columns = columns
        columns.namesOfFormat = names
        return columns
    }

    /// Whether `columns` are those of such an export.
    static func isFormat(of columns: ExportColumns) -> Bool { !columns.namesOfFormat.isEmpty }

    /// Checks an export for which volley.yaml names the format.
    static func check(_ resolver: ColumnResolver) throws(Diagnostic) {
        guard let missing = marks.first(where: { !resolver.header.contains($0) }) else { return }
        throw Diagnostic(
            "this is no export of LeanCloud's _Installation, though volley.yaml says so: it has no '\(missing)', "
                + "its columns are \(ColumnResolver.list(resolver.header))", file: resolver.file,
            remedy:
                "Export the class _Installation as JSON Lines, or remove `format: \(ExportColumns.Format.leanCloud.rawValue)` "
                + "below 'columns' in volley.yaml.")
    }

    /// Whether a file begins like a BSON document: its length in four bytes, the first of them the
    /// lowest, and the kind of its first value.
    static func isBSON(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count >= bsonMarkSize, bytes[3] == 0, bytes[0] > 4 || bytes[1] > 0 || bytes[2] > 0 else {
            return false
        }
        return 1...0x13 ~= bytes[4] && bytes[4] != 0x09 && bytes[4] != 0x0A && bytes[4] != 0x0D
    }

    /// How many bytes `isBSON` looks at.
    static let bsonMarkSize = 5

    /// The mistake of a file in that format.
    static func bson(_ path: String) -> Diagnostic {
        Diagnostic(
            "this is a backup of a database, in BSON", file: path,
            remedy: "Export JSON Lines. LeanCloud's console has both: choose its data export, not its backup.")
    }
}

/// Whether a cell says that a device is valid, which a blank one does; nil for a cell that says
/// neither, which is not guessed.
func isValid(_ cell: UnsafeBufferPointer<UInt8>) -> Bool? { truthValue(of: cell) ?? (Blank.isCell(cell) ? true : nil) }
