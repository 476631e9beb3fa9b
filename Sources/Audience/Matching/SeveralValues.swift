import Base

/// Cells that hold several values, `sport;music`, in a column that is compared as a whole.
enum SeveralValues {
    /// The cells in which a text is one of several values.
    static func cells(holding text: String, among cells: [String]) -> [String] {
        let commas = cells.filter { $0.contains(",") }.map { parts(of: $0, ",") }
        return cells.filter { cell in
            guard cell != text else { return false }
            if parts(of: cell, ";|").contains(text) { return true }
            // A comma without a blank stands in lists, and with one in names of places and plans as well.
            return parts(of: cell, ",;|").contains(text) && (!cell.contains(", ") || isList(commas, cells))
        }
    }

    /// Whether what stands between commas are values of their own: one comes in several places, or alone. `France` of `Lyon, France` does not.
    private static func isList(_ cells: [[String]], _ all: [String]) -> Bool {
        var places: [String: Int] = [:]
        for parts in cells {
            for (place, part) in parts.enumerated() where places.updateValue(place, forKey: part).map({ $0 != place }) ?? false {
                return true
            }
        }
        return all.contains { places[$0] ?? 0 > 0 }
    }

    private static func parts(of cell: String, _ marks: String) -> [String] {
        let parts = cell.split { marks.contains($0) }
        return parts.count > 1 || parts.first?.count ?? 0 < cell.count ? parts.map { trimmedText(String($0)) } : []
    }
}
