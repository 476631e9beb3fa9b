import Base

/// Numbers as a spreadsheet program shows long ones, `1.23E+15`: the missing digits are what told
/// people apart.
enum RoundedNumber {
    /// What to say about a name or value that is a rounded number; nil for others.
    /// - Parameter shown: what may be shown of it; nil for all.
    static func mistake(about text: String, shown: String? = nil) -> Mistake? {
        guard TextFormat.isRounded(text) else { return nil }
        return Mistake(
            "\(shown ?? quoted(text)) is a number that a spreadsheet program has rounded: it could be any of many numbers",
            remedy: "Write all of its digits; format the column as text before you open the export there.")
    }

    /// This many zeros or more are not a coincidence.
    private static let suspiciousZeros = 3

    /// What is odd about a name or value that ends in zeros where a spreadsheet program keeps no
    /// digits; nil for others.
    /// - Parameter shown: what may be shown of it; nil for all.
    static func doubt(about text: String, shown: String? = nil) -> Mistake? {
        guard let zeros = TextFormat.zerosOfRounding(text), zeros >= suspiciousZeros else { return nil }
        return Mistake(
            "\(shown ?? quoted(text)) seems to be rounded: a spreadsheet program keeps only \(TextFormat.keptDigits) digits of a number",
            remedy: "Compare it with its source; format the column as text before you open it in a spreadsheet program."
        )
    }
}
