import Base

/// What the first bytes of a file show.
enum FileEncoding {
    /// Bytes to look at, so that all readers of a file see the same.
    static let markSize = max(LeanCloudExport.bsonMarkSize, 4 * TextEncoding.mark.count)

    /// Refuses files that are not UTF-8 text at all.
    /// - Returns: where the text begins: after the byte order marks.
    static func check(_ bytes: UnsafeBufferPointer<UInt8>, file: String) throws(Diagnostic) -> Int {
        if bytes.isEmpty { throw Diagnostic("the file is empty", file: file, remedy: "Check whether the export finished.") }
        let bytes = UnsafeBufferPointer(rebasing: bytes.prefix(markSize))
        if LeanCloudExport.isBSON(bytes) { throw LeanCloudExport.bson(file) }
        // A workbook of Excel before 2007 (.xls) is a compound file. Source: [MS-CFB], 2.2.
        if bytes.starts(with: [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
            throw Diagnostic("this is a spreadsheet (.xls)", file: file, remedy: "Save it as 'CSV UTF-8' in the spreadsheet program.")
        }
        if let other = TextEncoding.foreign(bytes) {
            throw Diagnostic(
                "the file is encoded as \(other)", file: file,
                remedy: "Save or export it as UTF-8; spreadsheet programs call that 'CSV UTF-8'.")
        }
        if bytes.starts(with: [0x1F, 0x8B]) {
            throw Diagnostic("the file is compressed, but its name does not say so", file: file, remedy: "Rename it to \(file).gz.")
        }
        if bytes.starts(with: [UInt8(ascii: "P"), UInt8(ascii: "K"), 3, 4]) {
            throw Diagnostic("this is a zip archive or a spreadsheet", file: file, remedy: "Export it as CSV, UTF-8.")
        }
        return TextEncoding.markBytes(bytes)
    }
}
