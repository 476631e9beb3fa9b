import Base

extension RecipientBatch {
    /// Appends the recipient that a row describes.
    /// - Parameters:
    ///   - token: the row's, normalised.
    ///   - service: the number of its service among the app's.
    ///   - separator: of tags, between the elements of an array.
    @inline(__always) mutating func append(
        _ row: CellRow, _ columns: ColumnPlan, token: UnsafeBufferPointer<UInt8>, service: UInt8, separator: [UInt8]
    ) {
        bytes.append(contentsOf: token)
        let token = bytes.count
        append(row, cell: columns.registrationID, separator: separator)
        let registrationID = bytes.count
        append(row, cell: columns.alias, separator: separator)
        let alias = bytes.count
        append(row, cell: columns.language, separator: separator)
        let language = bytes.count
        appendFields(row, cells: columns.fields, separator: separator)
        complete(
            Ends(token: token, registrationID: registrationID, alias: alias, language: language, fields: bytes.count),
            service: service)
    }

    /// Placeholders for nothing (`NULL`, `N/A`) are blank.
    @inline(__always) private mutating func append(_ row: CellRow, cell: Int, separator: [UInt8]) {
        let text = row.bytes(cell)
        guard !Blank.isCell(text) else { return }
        if row.isArray(cell) {
            row.appendText(cell, separator: separator, to: &bytes)
        } else {
            bytes.append(contentsOf: text)
        }
    }

    @inline(__always) private mutating func appendFields(_ row: CellRow, cells: [Int], separator: [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            if row.isArray(cell) {
                var text: [UInt8] = []
                row.appendText(cell, separator: separator, to: &text)
                text.withUnsafeBufferPointer { JSONWriter.appendEscaped($0, to: &bytes) }
            } else {
                JSONWriter.appendEscaped(row.bytes(cell), to: &bytes)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "]"))
    }
}
