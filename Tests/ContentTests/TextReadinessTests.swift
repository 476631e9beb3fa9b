import Base
import Content
import Testing

@Suite("Texts hold what people should read")
struct TextReadinessTests {
    private func warnings(_ text: String) throws -> [Diagnostic] {
        try MessageCatalog(content { $0.body = quoted(text) }, campaign: "c").warnings.filter {
            $0.name == .textNotReady
        }
    }

    @Test(
        "signs of templates, markup, escapes and drafts are warned of",
        arguments: [
            ("Hi $name", "'$name'"), ("Hi <<First Name>>", "'<<First Name>>'"), ("Hi [[이름]]", "'[[이름]]'"),
            ("Hi {昵称}", "'{昵称}'"),
            ("Hi ｛名前｝", "'｛名前｝'"), ("Gate {A}", "'{A}'"), ("Save {20 % off}", "'{20 % off}'"),
            ("Hi {{ name }}.}", "'}'"),
            ("Hi <first_name>", "'<first_name>'"), ("Hi <your name>", "'<your name>'"), ("<b>Sale</b>", "'<b>'"),
            ("Now<br/>or never", "'<br/>'"), ("<!-- note -->Sale", "'<!-- note -->'"), ("20&nbsp;%", "'&nbsp;'"),
            ("&#x27;Sale", "'&#x27;'"),
            ("%SALE% now", "'%SALE%'"), ("%Sale% now", "'%Sale%'"), ("The [[old|new]] one", "'[[old|new]]'"),
            ("Hi %имя%", "'%имя%'"),
            ("You have %d points", "'%d'"), ("%@, come back", "'%@'"),
            ("%1$s wartet", "'%1$s'"), ("Hi #name#", "'#name#'"), ("Hi [Name]", "'[Name]'"),
            ("Bonjour [Prénom]", "'[Prénom]'"),
            ("Hi [firstname | friend]", "'[firstname | friend]'"), ("[name], only today", "'[name]'"),
            ("Sale [Smile]", "'[Smile]'"),
            ("A [link](https://shop.example/a)", "'[link](https://shop.example/a)'"), ("**Sale**", "'**Sale**'"),
            ("~~20~~ 10", "'~~20~~'"),
            ("Dear ____,", "'____'"), ("Hi __first__", "'__'"), ("20 % off /* now */", "'/* now */'"),
            ("Sale :tada:", "':tada:'"),
            ("Hi XXX", "'XXX'"), ("TODO: text", "'TODO'"), ("TBD", "'TBD'"), ("[TEST] Sale", "'[TEST]'"),
            ("DRAFT: Sale", "'DRAFT'"),
        ])
    func signs(text: String, sign: String) throws {
        let said = try warnings(text)
        #expect(said.map(\.message) == ["the body holds \(sign), which people would read as written"])
        #expect(said.first?.remedy?.hasPrefix("Write what people should read") == true)
    }

    @Test("an escape is to be put in double quotes")
    func escapes() throws {
        for text in [#"Now\nor never"#, #"Caf\u00e9"#, #"Say \"hi\""#] {
            #expect(
                try warnings(text).map { $0.remedy?.hasPrefix("Put the text in double quotes") } == [true], "\(text)")
        }
    }

    @Test("several are one warning, in the order of the text")
    func several() throws {
        let said = try warnings("Dear ____, <b>XXX</b> in [City]")
        #expect(
            said.map(\.message) == ["the body holds '____', '<b>', 'XXX', '[City]', which people would read as written"]
        )
    }

    @Test("what raw encloses is meant, and what a comment encloses is not sent")
    func meant() throws {
        #expect(try warnings("Gate {% raw %}{A} <b>{% endraw %}{% comment %}TODO: more{% endcomment %}").isEmpty)
        #expect(
            try warnings("{% raw %}{A}{% endraw %} {B}").map(\.message) == [
                "the body holds '{B}', which people would read as written"
            ])
    }

    @Test(
        "what texts use otherwise is left alone",
        arguments: [
            "Follow @myshop", "Mail anna@name.com", "Save $20 today", "US$name", "Only $ 5", "«Frühling» ist da",
            "« Name der Rose »",
            "50 %discount", "20 %d'achat", "100%s", "50 % d", "¡TODO al 50 %!", "XXL", "Super XXXL", "_new_",
            "[红包]您有一个红包", "[限时]特卖",
            "[New] Sale", "[Update]", "a << b", "1 < 2 >> 0", "% ist %", "10% @ home", "[Limited Offer]",
            "[New Store] opens",
            "(from Monday on)", "Save 20 % today and 10 % tomorrow", "50%off%",
            "https://shop.example/first_name?first_name=1", "I <3 you",
            "my_name@example.com", "at 12:30:00", "a:b:c", "Vraiment ??", "test drive", "Test our app", "{}", "{...}",
            "{ 1 }",
            "Save {20} %", "{50%}", "{{ name | default: 'there' }}", "{{ name | default: 'Name' }}", "XXX-Lutz",
            "AT&T; R&D;", "Hi Name,",
            "Deals in {{ city | default: 'your city' }}", "First draft: beers of the season", "#sale_2026", "2 * 3 * 4",
            "100 % / 50 %",
        ])
    func silent(text: String) throws {
        let said = try warnings(text)
        #expect(said.isEmpty, "\(said)")
    }

    @Test(
        "a text for blank cells is no sign, no name of its column, and nothing that programs write",
        arguments: [
            "[Name]", "first_name", "first name", "First Name", "{first_name}", "XXX", "-", "null", "TODO", "KÃ¼nde",
        ])
    func fallback(text: String) throws {
        let said = try warnings("Hi {{ first_name | default: '\(text)' }}")
        #expect(said.count == 1 && said[0].message.hasPrefix("people would read '\(text)' for a blank cell"), "\(said)")
    }

    @Test(
        "characters that people cannot see are named, where no script needs them",
        arguments: [
            ("Spring\u{200B} sale", "U+200B"), ("20\u{AD}% off", "U+00AD"), ("20 % off\u{202E}", "U+202E"),
            ("\u{FEFF}Sale", "U+FEFF"),
            ("Sale\u{200E}", "U+200E"), ("Sale \u{2068}now\u{2069}", "U+2068"), ("Sale\u{7}", "U+0007"),
            ("👩\u{200D}👧 sale", nil),
            ("नि\u{200D}न", nil), ("שלום\u{200F} 20", nil), ("مرحبا \u{2067}20\u{2069}", nil),
            ("🏴\u{E0067}\u{E0062}\u{E007F}", nil),
            ("a\tb\nc", nil),
        ] as [(String, String?)])
    func invisible(text: String, code: String?) throws {
        let found = ShownText.warnings("body", text: text, isWhole: true, at: at(1)).map(\.message)
        #expect(found == (code.map { ["the body holds an invisible character (\($0))"] } ?? []))
    }

    @Test(
        "letters in the wrong encoding are named",
        arguments: [
            ("FrÃ¼hling", "Ã¼"), ("itâ€™s", "â€"), ("ðŸŽ‰ Sale", "ðŸ"), ("M\u{FFFD}ller", "\u{FFFD}"),
            ("ÐŸÑ€Ð¸Ð²ÐµÑ‚", "ÐŸÑ€"),
            ("AMANHÃ… tudo", nil), ("“BOA MANHÃ” Café", nil), ("Dès Noël, là où ça vaut", nil),
            ("São Paulo, AÇÃO", nil),
        ] as [(String, String?)])
    func garbled(text: String, letters: String?) throws {
        #expect(
            try warnings(text).map(\.message)
                == (letters.map { ["the body holds '\($0)', letters that were read in the wrong encoding"] } ?? []))
    }

    @Test(
        "of signs that a cell brings, the text says that they come from the export; those of the template are not said again"
    )
    func rendered() {
        let found = ShownText.warnings(
            "body", text: "**Hi** {x}", isWhole: true, template: "**Hi** {{ name }}", at: at(1))
        #expect(found.map(\.message) == ["the body holds '{x}', which people would read as written"])
        #expect(found.map(\.remedy) == ["It comes from the export; check the columns of this text."])
    }

    @Test(
        "a day with its year exists, and is not over",
        arguments: [
            ("Until 31.11.2026", "'31.11.2026' is a day that no calendar has"),
            ("Until 2026-02-29", "'2026-02-29' is a day that no calendar has"),
            ("Until 2026-13-01", "'2026-13-01' is a day that no calendar has"),
            ("Until 24.12.2025", "'24.12.2025' is a day in the past"),
            ("Only 1.6.2026", "'1.6.2026' is a day in the past"), ("29.02.2028", nil), ("Until 31.12.2026", nil),
            ("Today, 15.6.2026", nil),
            ("Yesterday, 14.6.2026", nil), ("The day before, 13.6.2026", "'13.6.2026' is a day in the past"),
            ("Version 31.11.2", nil),
            ("Only 30.02 €", nil), ("{% raw %}24.12.2025{% endraw %}", nil),
        ] as [(String, String?)])
    func days(text: String, message: String?) throws {
        let texts = try MessageCatalog(content { $0.body = quoted(text) }, campaign: "c").texts
        let found = TextReadiness.days(in: texts, now: Timestamp(epochMilliseconds: 1_781_524_799_999))
        #expect(found.map(\.message) == (message.map { [$0] } ?? []))
        #expect(found.allSatisfy { $0.name == .textNotReady })
    }

    @Test("a day is over as soon as it is over everywhere, and with a time of sending when it is over then")
    func lastDays() throws {
        let texts = try MessageCatalog(content { $0.body = quoted("Until 2026-06-14") }, campaign: "c").texts
        // Noon in UTC on the 15th, when the 14th ends in the last time zone.
        let noon = Timestamp(epochMilliseconds: 1_781_524_800_000),
            before = Timestamp(epochMilliseconds: 1_781_524_799_999)
        func messages(_ now: Timestamp, _ sending: String? = nil) -> [String] {
            TextReadiness.days(in: texts, now: now, sending: sending.flatMap { LocalTime($0) }).map(\.message)
        }
        let past = "'2026-06-14' is a day in the past",
            over = "'2026-06-14' is a day that is over when the campaign goes out"
        #expect(messages(before).isEmpty && messages(noon) == [past])
        #expect(messages(before, "2026-06-14 23:59").isEmpty && messages(before, "2026-06-15 00:00") == [over])
        #expect(messages(noon, "2026-06-10 09:00") == [past])
    }
}
