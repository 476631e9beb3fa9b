/// Distinct languages, numbered.
struct LanguageNames {
    private var numbers: [String: Int] = [:]
    private(set) var names: [String] = []

    /// A column that holds something else entirely must not fill the memory.
    private static let limit = 10_000
    /// The name for languages beyond the limit, and for cells that are not a language.
    static let other = "other"

    /// The number of a language.
    mutating func number(of language: String) -> Int {
        if let number = numbers[language] { return number }
        guard names.count < Self.limit else {
            if names.count == Self.limit { names.append(Self.other) }
            return Self.limit
        }
        numbers[language] = names.count
        names.append(language)
        return names.count - 1
    }
}
