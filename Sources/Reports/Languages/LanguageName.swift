public import Base

/// What a language tag means, in English.
public enum LanguageName {
    /// `Portuguese (Brazil)` for `pt-BR`; nil when a part of the tag has no name here.
    public static func english(_ tag: String) -> String? {
        guard let normal = LanguageTag.normalized(tag) else { return nil }
        let parts = normal.split(separator: "-")
        // Old codes are known by the new ones (`iw`, `in`).
        let codes = LanguageTag.fallbacks(of: parts[0]).map { $0.prefix { $0 != "-" } }
        guard let language = codes.lazy.compactMap({ LanguageNames.languages[$0] }).first else { return nil }
        var details: [Substring] = []
        for part in parts.dropFirst() {
            guard let name = part.count == 4 ? LanguageNames.scripts[part] : LanguageNames.regions[part] else { return nil }
            details.append(name)
        }
        return details.isEmpty ? String(language) : "\(language) (\(details.joined(separator: ", ")))"
    }

    /// The name with the tag behind it, as a page shows it; the tag alone where it has no name.
    public static func html(_ tag: String) -> HTML {
        guard let name = english(tag) else { return "<span dir=\"auto\">\(tag)</span>" }
        return "\(name) <span class=\"code\">\(tag)</span>"
    }
}
