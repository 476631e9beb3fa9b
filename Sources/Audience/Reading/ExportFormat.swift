import Base

/// The format of a file of devices, by its name: `.csv`, `.tsv`, `.json`, `.jsonl` or `.ndjson`, each also with `.gz`.
struct ExportFormat: Hashable, Sendable {
    /// How records are written.
    enum Records: Hashable, Sendable {
        case delimited(separator: UInt8)
        case jsonArray
        case jsonLines
    }

    var records: Records
    var isGzip: Bool

    /// nil when Volley cannot read files with this ending.
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
                "this is a spreadsheet, but Volley reads text files", file: path,
                remedy: "Save it as 'CSV UTF-8' in the spreadsheet program, and name that file here.")
        }
        if name.hasSuffix(".zip") {
            return Diagnostic(
                "this is a zip archive", file: path, remedy: "Unpack it and name the file in it. Volley reads .csv.gz directly.")
        }
        if [".tar.gz", ".tgz", ".tar"].contains(where: name.hasSuffix) {
            return Diagnostic(
                "this is an archive of files", file: path,
                remedy: "Unpack it with `tar -xf`, and name the .jsonl files in it. Volley reads .jsonl.gz directly.")
        }
        if [".bson", ".bson.gz"].contains(where: name.hasSuffix) { return LeanCloudExport.bson(path) }
        return Diagnostic(
            "the file's name does not say what it holds", file: path,
            remedy: "Exports end in .csv, .tsv, .json or .jsonl, and may be compressed: .csv.gz.")
    }
}
