import Base
import Content

/// Languages by their tags, as people call them.
enum LanguageNames {
    /// Those that are offered, by their tags.
    static let all = [
        ("ar", "Arabic"), ("cs", "Czech"), ("da", "Danish"), ("de", "German"), ("el", "Greek"), ("en", "English"), ("es", "Spanish"),
        ("fi", "Finnish"), ("fr", "French"), ("he", "Hebrew"), ("hi", "Hindi"), ("hu", "Hungarian"), ("id", "Indonesian"),
        ("it", "Italian"),
        ("ja", "Japanese"), ("ko", "Korean"), ("ms", "Malay"), ("nb", "Norwegian"), ("nl", "Dutch"), ("pl", "Polish"), ("pt", "Portuguese"),
        ("pt-BR", "Portuguese of Brazil"), ("ro", "Romanian"), ("ru", "Russian"), ("sv", "Swedish"), ("th", "Thai"), ("tr", "Turkish"),
        ("uk", "Ukrainian"), ("vi", "Vietnamese"), ("zh", "Chinese"), ("zh-Hans", "Chinese, simplified"),
        ("zh-Hant", "Chinese, traditional"),
    ]

    private static let names = Dictionary(
        uniqueKeysWithValues: all.compactMap { tag, name in LanguageTag.normalized(tag).map { ($0, name) } })

    /// `German (de)`, `English (en-ZA)`; the tag alone for a language without a name here.
    static func words(_ tag: String) -> String {
        guard let name = LanguageTag.fallbacks(of: tag).lazy.compactMap({ names[$0] }).first else { return tag }
        return "\(name) (\(tag))"
    }

    /// The first of some tags that is offered, as it is written here.
    static func offered(_ tags: [String]) -> String? {
        tags.lazy.compactMap { tag in all.first { LanguageTag.normalized($0.0) == tag }?.0 }.first
    }
}

/// How much of a text phones show at their usual text size: where Volley's own warnings are about these, the same numbers.
enum ShownTextLimits {
    static let line = ShownText.lineCharacters, body = ShownText.bodyCharacters
    /// Of the text on Android before the push is opened: one line.
    static let androidLine = ShownText.lineCharacters
}
