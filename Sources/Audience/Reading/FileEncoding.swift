import Base

/// What the first bytes of a file show.
enum FileEncoding {
    /// Bytes to look at.
    static let markSize = LeanCloudExport.bsonMarkSize

    /// Refuses files that are not UTF-8 text at all.
    /// - Returns: where the text begins: after a byte order mark.
    static func check(_ bytes: UnsafeBufferPointer<UInt8>, file: String) throws(Diagnostic) -> Int {
        if bytes.isEmpty { throw Diagnostic("the file is empty", file: file, remedy: "Check whether the export finished.") }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw Diagnostic(
                "the file is encoded as UTF-16", file: file,
                remedy: "Save or export it as UTF-8; spreadsheet programs call that 'CSV UTF-8'.")
        }
        if bytes.starts(with: [0x1F, 0x8B]) {
            throw Diagnostic("the file is compressed, but its name does not say so", file: file, remedy: "Rename it to \(file).gz.")
        }
        if bytes.starts(with: [UInt8(ascii: "P"), UInt8(ascii: "K"), 3, 4]) {
            throw Diagnostic("this is a zip archive or a spreadsheet", file: file, remedy: "Export it as CSV, UTF-8.")
        }
        if LeanCloudExport.isBSON(bytes) { throw LeanCloudExport.bson(file) }
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }
}
