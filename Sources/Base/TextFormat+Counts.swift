/// Counted things, and how they change the words around them.
extension TextFormat {
    /// `1 device`, `1,096,469 devices`
    /// - Parameters:
    ///   - one: of a single thing; what follows it in the sentence may be part of both words: `row holds`.
    ///   - many: of none or several; nil for the first with an s.
    public static func counted(_ number: Int, one: String, many: String? = nil) -> String {
        "\(count(number)) \(plural(number, one: one, many: many))"
    }

    /// `1 device`, `1,096,469 devices`
    public static func devices(_ number: Int) -> String { counted(number, one: "device") }

    /// The word that fits a number which stands elsewhere: `is` or `are`.
    /// - Parameter many: nil for the first with an s.
    public static func plural(_ number: some BinaryInteger, one: String, many: String? = nil) -> String {
        number == 1 ? one : many ?? one + "s"
    }
}
