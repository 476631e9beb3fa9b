/// Language tags as exports and campaigns write them: `zh-Hans-CN`, `pt_BR`, `de`.
/// Source: RFC 5646 (the shape of a tag), RFC 4647 3.4 (lookup by leaving out subtags from the
/// end).
///
/// ```swift
/// let tag = LanguageTag.normalized("zh_hant_tw")  // zh-hant-tw
/// let fallbacks = LanguageTag.fallbacks(of: "pt-BR")  // pt-br, pt
/// ```
public enum LanguageTag {
    /// Bytes of language, script, region and variants. Longer tags are not used (RFC 5646, 4.4.1).
    public static let longestTag = 35

    /// Lower case, with hyphens, without an encoding after a dot or a modifier after @; nil if it
    /// cannot be a language tag.
    public static func normalized(_ tag: some StringProtocol) -> String? {
        var text: [UInt8] = []
        for byte in tag.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): text.append(byte | 0x20)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): text.append(byte)
            case UInt8(ascii: "-"), UInt8(ascii: "_"): text.append(UInt8(ascii: "-"))
            case UInt8(ascii: "."), UInt8(ascii: "@"):
                if text.isEmpty { return nil }
                return check(text)
            default: return nil
            }
        }
        return check(text)
    }

    private static func check(_ text: [UInt8]) -> String? {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard text.count <= longestTag, let language = parts.first, (2...3).contains(language.count),
            language.allSatisfy({ $0 >= UInt8(ascii: "a") }), parts.allSatisfy({ (1...8).contains($0.count) })
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    /// The tags that a text for a device may have, nearest first: `zh-hans-cn`, `zh-hans`, `zh`. A
    /// region that implies a script counts as that script, and old codes of a language count as the
    /// new ones.
    /// - Parameter tag: the device's tag, as in its export.
    /// - Returns: normalised tags; none if the device's text is not a tag.
    public static func fallbacks(of tag: some StringProtocol) -> [String] {
        guard let normal = normalized(tag) else { return [] }
        var chain = shortened(normal)
        let parts = normal.split(separator: "-")
        if parts[0] == "zh", parts.count > 1, parts[1].count != 4 {
            // zh-TW is written in Hant; its text is looked up under zh-Hant before zh.
            let script = ["tw", "hk", "mo"].contains(parts[1]) ? "zh-hant" : "zh-hans"
            chain.insert(contentsOf: ["\(script)-\(parts[1])", script], at: chain.count - 1)
        }
        // Chinese without a script or region is usually written in simplified characters.
        if normal == "zh" { chain.append("zh-hans") }
        if let other = synonyms[String(parts[0])] { chain += shortened(other + normal.dropFirst(parts[0].count)) }
        return chain
    }

    private static func shortened(_ tag: String) -> [String] {
        var chain = [tag]
        while let last = chain.last, let hyphen = last.lastIndex(of: "-") { chain.append(String(last[..<hyphen])) }
        return chain
    }

    /// Codes for the same language. Source: IANA language subtag registry (deprecated subtags with
    /// a preferred value). Nearly everybody writes Norwegian `no` as Bokmål.
    private static let synonyms = [
        "iw": "he", "he": "iw", "in": "id", "id": "in", "ji": "yi", "yi": "ji", "tl": "fil", "fil": "tl", "no": "nb",
        "nb": "no",
        "mo": "ro",
    ]

    /// What a wrong tag probably means, or a tag of a language that is rarely meant: country codes,
    /// and codes of three letters.
    public static func meant(by tag: String) -> String? {
        guard let normal = normalized(tag) else { return nil }
        if normal == "en-uk" { return "en-GB" }
        return typos[normal.split(separator: "-")[0].description]
    }

    private static let typos = [
        "jp": "ja", "cn": "zh", "kr": "ko", "cz": "cs", "dk": "da", "gr": "el", "ua": "uk", "vn": "vi", "eng": "en",
        "deu": "de",
        "ger": "de",
        "fra": "fr", "fre": "fr", "spa": "es", "ita": "it", "por": "pt", "zho": "zh", "chi": "zh", "jpn": "ja",
        "kor": "ko", "rus": "ru",
    ]

    /// The tag for a language's name, written out in English or in the language itself; nil if it
    /// is not a common one.
    public static func named(_ name: String) -> String? { names[name.lowercased()] }

    private static let names = [
        "english": "en", "german": "de", "deutsch": "de", "french": "fr", "français": "fr", "spanish": "es",
        "español": "es",
        "italian": "it", "italiano": "it", "portuguese": "pt", "português": "pt", "dutch": "nl", "nederlands": "nl",
        "chinese": "zh",
        "simplified chinese": "zh-Hans", "traditional chinese": "zh-Hant", "中文": "zh", "简体中文": "zh-Hans",
        "繁體中文": "zh-Hant",
        "japanese": "ja", "日本語": "ja", "korean": "ko", "한국어": "ko", "russian": "ru", "русский": "ru", "turkish": "tr",
        "türkçe": "tr",
        "polish": "pl", "polski": "pl", "arabic": "ar", "العربية": "ar", "swedish": "sv", "danish": "da",
        "norwegian": "nb",
        "finnish": "fi",
        "czech": "cs", "greek": "el", "hebrew": "he", "hindi": "hi", "indonesian": "id", "thai": "th",
        "ukrainian": "uk",
        "vietnamese": "vi",
    ]
}
