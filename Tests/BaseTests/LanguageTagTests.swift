import Base
import Testing

@Suite("Language tags")
struct LanguageTagTests {
    @Test(
        "are compared in small letters with hyphens",
        arguments: [
            ("de", "de"), ("pt_BR", "pt-br"), ("zh-Hans-CN", "zh-hans-cn"), ("EN-us", "en-us"),
            ("de_DE.UTF-8", "de-de"),
            ("ca@valencia", "ca"), ("fil", "fil"),
        ])
    func normalized(_ written: String, _ normal: String) { #expect(LanguageTag.normalized(written) == normal) }

    @Test(
        "what is none is known as such",
        arguments: [
            "", "d", "german", "de-", "-de", "de--AT", "1e", "de/AT", "de AT", "中文", "@x", "en-abcdefghi",
            String(repeating: "a-", count: 30),
        ])
    func none(_ text: String) {
        #expect(LanguageTag.normalized(text) == nil)
        #expect(LanguageTag.fallbacks(of: text).isEmpty)
    }

    @Test(
        "fall back from the special to the general",
        arguments: [
            ("zh-Hans-CN", ["zh-hans-cn", "zh-hans", "zh"]), ("de", ["de"]), ("zh", ["zh", "zh-hans"]),
            ("pt_BR", ["pt-br", "pt"]),
            // The region implies the script.
            ("zh-TW", ["zh-tw", "zh-hant-tw", "zh-hant", "zh"]), ("zh_CN", ["zh-cn", "zh-hans-cn", "zh-hans", "zh"]),
            // Old codes and new ones, and Norwegian.
            ("iw-IL", ["iw-il", "iw", "he-il", "he"]), ("he", ["he", "iw"]), ("nb-NO", ["nb-no", "nb", "no-no", "no"]),
            ("no", ["no", "nb"]),
        ])
    func fallbacks(_ tag: String, _ chain: [String]) { #expect(LanguageTag.fallbacks(of: tag) == chain) }

    @Test("a country's code is known for the language that was meant")
    func meant() {
        #expect(LanguageTag.meant(by: "jp") == "ja")
        #expect(LanguageTag.meant(by: "en-UK") == "en-GB")
        #expect(LanguageTag.meant(by: "en-GB") == nil)
    }

    @Test("a language that is written out has a tag")
    func named() {
        #expect(LanguageTag.named("Deutsch") == "de")
        #expect(LanguageTag.named("simplified Chinese") == "zh-Hans")
        #expect(LanguageTag.named("klingon") == nil)
    }
}
