import Base

/// Recognizes cells in an export's language column that are not a language tag.
enum LanguageCell {
    /// Whether a cell is filled in, but not with the tag of a language that people speak.
    static func isNoTag(_ cell: String) -> Bool {
        guard !Blank.isCell(cell) else { return false }
        return LanguageTag.normalized(cell) == nil || LanguageTag.meant(by: cell) != nil
            || words.contains(cell.lowercased())
            || isCountry(cell)
    }

    /// Whether a cell is the code of a country and not of a language. Source: ISO 3166-1 and ISO
    /// 639-1.
    static func isCountry(_ cell: String) -> Bool { countries.contains(cell.lowercased()) }

    /// Whether a cell is the code of a country and also of a language that few phones are set to,
    /// such as `CH` and `BE`.
    static func mayBeCountry(_ cell: String) -> Bool { countriesAndLanguages.contains(cell.lowercased()) }

    private static let countries: Set = [
        "us", "gb", "at", "au", "nz", "mx", "cl", "ec", "pe", "hk", "ph", "eg", "ma", "qa", "il", "jo", "iq", "by",
        "rs", "md", "ge", "pk",
        "bd", "lk", "np", "gh", "ke", "uy", "py", "gt", "hn", "cu", "pr",
    ]
    private static let countriesAndLanguages: Set = ["ch", "be", "se", "br", "co", "za", "tw", "sg", "sa", "ae", "ie"]

    /// Words for a missing value that have the shape of a tag; `nan` is also the code of Southern
    /// Min, which no phone is set to.
    private static let words: Set = ["nan", "und", "nil", "na"]

    /// The tag that was meant, in its usual spelling; nil where it is not known.
    static func meant(by cell: String) -> String? {
        if let tag = LanguageTag.named(cell) ?? LanguageTag.meant(by: cell) { return tag }
        // Android's Locale.toString: language, region, script after a number sign.
        let parts = cell.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].first == "#", let script = parts[2].dropFirst().split(separator: "-").first
        else { return nil }
        let tag = parts[1].isEmpty ? "\(parts[0])-\(script)" : "\(parts[0])-\(script)-\(parts[1])"
        return LanguageTag.normalized(tag) == nil ? nil : tag
    }
}
