public import Base

extension AudienceQuery {
    /// Looks at the header of every export (of JSON: at the keys of the first objects) and at the lists of excluded devices, without
    /// reading the rows.
    /// - Throws: every file that cannot be read and every column that is missing.
    /// - Returns: warnings, such as a column that is there twice.
    public func checkColumns() throws(Diagnostics) -> [Diagnostic] {
        try ScanPreparation(self, limits: ReadingLimits(targets: targets)).warnings
    }
}
