/// Distinct languages, numbered.
struct LanguageNames {
    private var numbers: [String: Int] = [:]
    private(set) var names: [String] = []

    /// A column that holds something else altogether must not fill the memory.
    private static let limit = 10_000
    private static let beyondLimit = "other"

    /// The number of a language.
    mutating func number(of language: String) -> Int {
        if let number = numbers[language] { return number }
        guard names.count < Self.limit else {
            if names.count == Self.limit { names.append(Self.beyondLimit) }
            return Self.limit
        }
        numbers[language] = names.count
        names.append(language)
        return names.count - 1
    }
}
