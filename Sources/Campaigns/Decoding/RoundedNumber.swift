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
}
