import Base

/// Numbers as a spreadsheet program shows long ones, `1.23E+15`: the digits that are missing told people apart.
enum RoundedNumber {
    /// What to say of a name or value that is one; nil for others.
    static func complaint(about text: String) -> Complaint? {
        guard TextFormat.isRounded(text) else { return nil }
        return Complaint(
            "\(quoted(text)) is a number that a spreadsheet program has rounded: it may stand for many",
            remedy: "Write all of its digits; format the column as text before the export is opened there.")
    }

    /// Zeros from which on they are no chance.
    private static let suspiciousZeros = 3

    /// What is odd about a name or value that ends in zeros where a spreadsheet program keeps no digits; nil for others.
    static func doubt(about text: String) -> Complaint? {
        guard let zeros = TextFormat.zerosOfRounding(text), zeros >= suspiciousZeros else { return nil }
        return Complaint(
            "\(quoted(text)) seems to be rounded, as a spreadsheet program keeps \(TextFormat.keptDigits) digits of a number",
            remedy: "Compare it with where it comes from; format the column as text before it is opened in a spreadsheet program.")
    }
}
