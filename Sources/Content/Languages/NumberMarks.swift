/// How numbers are written in a place.
public enum NumberMarks {
    /// Whether the decimal mark is a comma; false if the language is not known. Source: CLDR, as in
    /// `LanguageData`.
    /// - Parameter tag: a language tag, `de-DE` or `de_DE`.
    public static func hasDecimalComma(_ tag: String) -> Bool {
        let tables = LanguageTables.shared
        var tag = tag
        guard let number = tag.withUTF8({ tables.find($0) }) else { return false }
        let mark = tables.languages[number].decimal
        return tables.pool[Int(mark.start)..<Int(mark.end)].elementsEqual(",".utf8)
    }
}
