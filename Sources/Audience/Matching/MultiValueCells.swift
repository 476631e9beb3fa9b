import Base

/// Cells that hold several values, `sport;music`, in a column that is compared as a whole.
enum MultiValueCells {
    /// The cells in which a text is one of several values.
    /// - Parameter leavesOut: whether cells that are not the text meet the condition: it is meant
    ///   to leave out `Lyon, France` too.
    static func cells(holding text: String, among cells: [String], leavesOut: Bool) -> [String] {
        let commas = cells.filter { $0.contains(",") }.map { parts(of: $0, marks: ",") }
        return cells.filter { cell in
            guard cell != text else { return false }
            if parts(of: cell, marks: ";|").contains(text) { return true }
            // A comma without a blank is used in lists; with a blank, also in names of places and
            // plans.
            return parts(of: cell, marks: ",;|").contains(text)
                && (leavesOut || !cell.contains(", ") || isList(commas, all: cells))
        }
    }

    /// Whether the texts between commas are separate values: one of them appears in several
    /// positions, or alone. `France` of `Lyon, France` does not.
    private static func isList(_ cells: [[String]], all: [String]) -> Bool {
        var places: [String: Int] = [:]
        for parts in cells {
            for (place, part) in parts.enumerated()
            where places.updateValue(place, forKey: part).map({ $0 != place }) ?? false {
                return true
            }
        }
        return all.contains { places[$0] ?? 0 > 0 }
    }

    private static func parts(of cell: String, marks: String) -> [String] {
        let parts = cell.split { marks.contains($0) }
        return parts.count > 1 || parts.first?.count ?? 0 < cell.count ? parts.map { trimmedText(String($0)) } : []
    }
}
