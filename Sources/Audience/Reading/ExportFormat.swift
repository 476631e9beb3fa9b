import Base

/// What a file of devices is, told by its name: `.csv`, `.tsv`, `.json`, `.jsonl` or `.ndjson`, each also with `.gz`.
struct ExportFormat: Hashable, Sendable {
    /// How records are written.
    enum Records: Hashable, Sendable {
        case delimited(separator: UInt8)
        case jsonArray
        case jsonLines
    }

    var records: Records
    var isGzip: Bool

    /// nil when the name ends in nothing that Volley reads.
    init?(path: String) {
        var name = path.lowercased()
        isGzip = name.hasSuffix(".gz")
        if isGzip { name.removeLast(3) }
        switch name {
        case _ where name.hasSuffix(".csv"): records = .delimited(separator: UInt8(ascii: ","))
        case _ where name.hasSuffix(".tsv"): records = .delimited(separator: UInt8(ascii: "\t"))
        case _ where name.hasSuffix(".jsonl") || name.hasSuffix(".ndjson"): records = .jsonLines
        case _ where name.hasSuffix(".json"): records = .jsonArray
        default: return nil
        }
    }

    /// The mistake of a name that `init` refuses.
    static func unknown(path: String) -> Diagnostic {
        let name = path.lowercased()
        if [".xlsx", ".xls", ".ods", ".numbers"].contains(where: name.hasSuffix) {
            return Diagnostic(
                "this is a spreadsheet, and Volley reads text", file: path,
                remedy: "In the spreadsheet program save it as 'CSV UTF-8', and name that file here.")
        }
        if name.hasSuffix(".zip") {
            return Diagnostic(
                "this is a zip archive", file: path, remedy: "Unpack it, and name the file that it holds; .csv.gz is read as it is.")
        }
        return Diagnostic(
            "its name does not tell what the file holds", file: path,
            remedy: "Exports end in .csv, .tsv, .json or .jsonl, and may be compressed: .csv.gz.")
    }
}
