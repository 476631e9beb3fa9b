/// Dashes that word processors write in place of a hyphen, and that look like one.
enum WrittenDash {
    /// Whether a character is one of them.
    static func isDash(_ character: Character) -> Bool {
        "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}\u{FE58}\u{FE63}\u{FF0D}".contains(character)
    }

    /// A text with hyphens in place of such dashes.
    static func replaced(_ text: some StringProtocol) -> String { String(text.map { isDash($0) ? "-" : $0 }) }
}
