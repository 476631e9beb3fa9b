public import Base

extension AudienceQuery {
    /// Checks the header of every export (for JSON: the keys of the first objects) and the lists of excluded devices, without
    /// reading the rows.
    /// - Throws: every file that cannot be read and every column that is missing.
    /// - Returns: warnings, such as a column that appears twice.
    public func checkColumns() throws(Diagnostics) -> [Diagnostic] {
        var limits = ReadingLimits(targets: targets)
        // Exports may change until they are read.
        limits.sources = sources.anew()
        return try ScanPreparation(self, limits: limits).warnings
    }
}
