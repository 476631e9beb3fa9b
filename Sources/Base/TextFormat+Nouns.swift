/// Nouns and names as sentences need them.
extension TextFormat {
    /// `a device token`, `an installation id`; a noun that begins with u is read as in `user`.
    public static func withArticle(_ noun: String) -> String {
        (noun.first.map("aeioAEIO".contains) ?? false ? "an " : "a ") + noun
    }

    /// `Volley’s`, `Services’`
    public static func possessive(_ name: String) -> String { name + (name.hasSuffix("s") ? "’" : "’s") }

    /// The beginning of a sentence: `Device token`.
    public static func capitalized(_ words: String) -> String { words.prefix(1).uppercased() + words.dropFirst() }
}
