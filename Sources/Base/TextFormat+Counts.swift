/// Counts, and the words that change with them.
extension TextFormat {
    /// `1 device`, `1,096,469 devices`
    /// - Parameters:
    ///   - one: for a single thing; it may include the words that follow in the sentence: `row holds`.
    ///   - many: for none or several; nil for `one` with an s.
    public static func counted(_ number: Int, one: String, many: String? = nil) -> String {
        "\(count(number)) \(plural(number, one: one, many: many))"
    }

    /// `1 device`, `1,096,469 devices`
    public static func devices(_ number: Int) -> String { counted(number, one: "device") }

    /// The word that fits a number elsewhere in the sentence: `is` or `are`.
    /// - Parameter many: nil for `one` with an s.
    public static func plural(_ number: some BinaryInteger, one: String, many: String? = nil) -> String {
        number == 1 ? one : many ?? one + "s"
    }
}
