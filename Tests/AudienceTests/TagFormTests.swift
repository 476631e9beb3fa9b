import Base
import Testing

@testable import Audience

/// Tags with a separator other than the one that counts, or in another spelling.
@Suite struct TagFormTests {
    private let folder = TemporaryFolder()

    private func query(_ cells: [String], quoted: Bool = true, _ change: (inout AudienceQuery) -> Void) -> AudienceQuery
    {
        let rows = cells.enumerated().map { number, cell in
            "\(token(number + 1)),r\(number + 1),\(quoted ? "\"\(cell.replacing("\"", with: "\"\""))\"" : cell)\n"
        }
        return AudienceQuery(folder.file("a.csv", "token,registration_id,tags\n" + rows.joined())).with(change)
    }

    private func refusal(_ cells: [String], excluding tag: String = "unsubscribed") -> String {
        query(cells) { ($0.everyone, $0.excludedTags) = (true, [tag]) }.mistakes().map { "\($0)" }.joined(
            separator: "\n")
    }

    @Test(
        "a tag behind another separator is refused with the line that says so",
        arguments: [
            (",", "','", "\",\""), ("|", "'|'", "\"|\""), (" ", "a blank", "\" \""), ("\t", "a tab", "\"\\t\""),
        ])
    func otherSeparator(mark: String, name: String, yaml: String) {
        let said = refusal(["news", "news\(mark)unsubscribed", "", "unsubscribed\(mark)news\(mark)vip"])
        #expect(
            said.contains(
                "the column 'tags' seems to separate tags by \(name), not by ';': 2 rows hold 'unsubscribed' only in this form"
            ),
            "\(said)")
        #expect(said.contains("`columns: {tags: {column: tags, separator: \(yaml)}}`"), "\(said)")
    }

    @Test("a column with two separators is refused, unless the campaign allows it")
    func twoSeparators() throws {
        let cells = ["news;vip", "news,unsubscribed", "vip"]
        #expect(
            refusal(cells).contains(
                "separates tags by ';', and also by ',': 1 row holds 'unsubscribed' only in this form, as in 'news,unsubscribed'"
            ))
        let allowed = query(cells) {
            ($0.everyone, $0.excludedTags, $0.allowed) = (true, ["unsubscribed"], [.tagSeparator])
        }
        let result = try allowed.run().result
        #expect(result.audience == 3 && result.warnings.map(\.name).contains(.tagSeparator))
    }

    @Test(
        "a blank in a tag is a warning where the column uses its separator, and other marks in tags are nothing to say")
    func partsOfTags() throws {
        let blank = try query(["new customer;vip", "customer"]) { $0.anyTags = ["customer"] }.run()
        #expect(blank.sink.ids == ["r2"] && blank.result.warnings.map(\.name) == [.tagSeparator])
        let other = try query(["food, drink;vip", "sports"]) { $0.anyTags = ["sports"] }.run()
        #expect(other.sink.ids == ["r2"] && other.result.warnings.isEmpty)
        let named = try query(["food, drink;vip", "drink"]) { $0.anyTags = ["food, drink"] }.run()
        #expect(named.sink.ids == ["r1"] && named.result.warnings.isEmpty)
    }

    @Test("blanks behind the separator are no mark")
    func blanksBehind() throws {
        let result = try query(["news; unsubscribed", "news;  vip ; daily"]) {
            ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"])
        }
        .run()
        #expect(result.sink.ids == ["r2"] && result.result.warnings.isEmpty)
    }

    @Test("the mark is found in any row, far behind the first ones, and beyond 64 bytes of a cell")
    func farBehind() {
        let cells = Array(repeating: "news", count: 5000) + [String(repeating: "x", count: 100) + ",unsubscribed"]
        #expect(refusal(cells).contains("1 row holds 'unsubscribed' only in this form"))
    }

    @Test(
        "a list in a cell is read",
        arguments: [
            #"["news","unsubscribed"]"#, #"[ "unsubscribed" ]"#, "['news', 'unsubscribed']", "{news,unsubscribed}",
            #"{"a b",unsubscribed}"#,
            "[news, unsubscribed]", #"["un\u0073ubscribed"]"#, #"["a;b","unsubscribed"]"#, "{NULL,unsubscribed}",
        ])
    func lists(cell: String) throws {
        let query = query([cell, "[]", "{}", #"["news"]"#, "news"]) {
            ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"])
        }
        let result = try query.run()
        #expect(result.sink.ids == ["r2", "r3", "r4", "r5"] && result.result.skipped[.excluded] == 1)
        #expect(result.result.warnings.isEmpty, "\(result.result.warnings)")
        #expect(try query.trace(TraceSubject(token(1))).rows.map(\.exclusions) == [["tag:unsubscribed"]])
    }

    @Test(
        "what looks like a list and is none is refused where a tag of the campaign is in it",
        arguments: [
            "[news;unsubscribed]", "{unsubscribed", "[\"news\",\"unsubscribed", "\"unsubscribed\"", "(unsubscribed)",
            "“unsubscribed”",
            "`unsubscribed`", "`unsubscribed", "„unsubscribed“", "«unsubscribed»", "<unsubscribed>", "″unsubscribed″",
            "「unsubscribed」",
            "‘unsubscribed’",
            "\u{A0}\"unsubscribed\"",
        ])
    func brokenLists(cell: String) {
        #expect(
            refusal([cell, "news;vip"]).contains("'unsubscribed' only in this form"), "\(refusal([cell, "news;vip"]))")
    }

    @Test("elements of a JSON list that hold a separator are refused")
    func elements() {
        let path = folder.file("a.jsonl", "{\"token\":\"\(token(1))\",\"tags\":[\"news,unsubscribed\"]}\n")
        let mistakes = AudienceQuery(path).with { ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"]) }.mistakes()
        #expect(
            mistakes.map(\.message) == [
                "an element of the lists in 'tags' has ',' in it: 1 row holds 'unsubscribed' only in this form, as in 'news,unsubscribed'"
            ])
    }

    @Test("tags that differ in capitals or blanks only are warned of by name, with the number of rows")
    func spellings() throws {
        let cells =
            ["news", "News", "NEWS;vip", "news\u{A0}", "newsletter", "ne ws;x"] + Array(repeating: "News", count: 300)
        let result = try query(cells) { $0.anyTags = ["news", "Vip"] }.run(chunkSize: 700).result
        #expect(
            result.warnings.map(\.message) == [
                "no row in the exports has the tag 'Vip'",
                "304 rows carry 'News', 'NEWS', 'ne ws' and 1 other spelling, which is the tag 'news' apart from capitals or blanks but does not count as it",
            ], "\(result.warnings)")
        #expect(result.warnings.map(\.remedy).first == "Did you mean 'vip'? 1 row carries 'vip'.")
        #expect(try query(["news", "News"]) { $0.anyTags = ["news", "News"] }.run().result.warnings.isEmpty)
    }

    @Test(
        "blanks that look like a space, or like nothing, do not hide a tag of the campaign",
        arguments: ["\u{A0}", "\u{3000}", "\u{200B}", "\u{2028}", "\u{2009}", "\u{0B}", "\u{1F}"])
    func otherBlanks(mark: String) {
        #expect(refusal(["news\(mark)unsubscribed", "unsubscribed"]).contains("'unsubscribed' only in this form"))
    }

    @Test(
        "separators of other scripts are refused, with what to write where there is but one",
        arguments: ["，", "、", "；", "｜", "؛", "،", "·", "•"])
    func otherScripts(mark: String) {
        let only = refusal(["news\(mark)unsubscribed", "unsubscribed"])
        #expect(
            only.contains(
                "seems to separate tags by '\(mark)', not by ';': 1 row holds 'unsubscribed' only in this form"),
            "\(only)")
        #expect(only.contains("separator: \"\(mark)\""), "\(only)")
        let both = refusal(["vip;news\(mark)unsubscribed", "unsubscribed"])
        #expect(both.contains("separates tags by ';', and also by '\(mark)'"), "\(both)")
    }

    @Test(
        "marks that are often part of a tag are warned of, and so is what stands around one",
        arguments: [
            ("news/unsubscribed", "may also separate tags by '/'"),
            ("news+unsubscribed", "may also separate tags by '+'"),
            ("a > unsubscribed", "may also separate tags by '>'"),
            ("news~unsubscribed", "may also separate tags by '~'"),
            ("news:unsubscribed", "may also separate tags by ':'"),
            ("#unsubscribed", "follow a '#'"), ("^unsubscribed", "have a sign before or after them"),
            ("\\unsubscribed", "have a sign before or after them"),
            ("vip;$unsubscribed", "have a sign before or after them"),
            ("@unsubscribed", "have a sign before or after them"),
            ("!unsubscribed", "have a sign before or after them"),
            ("vip;unsubscribed*", "have a sign before or after them"),
            ("vip;#unsubscribed", "follow a '#'"), ("unsubscribed=true", "have values attached"),
            ("news:1;unsubscribed:1", "have values attached"),
        ])
    func oftenParts(cell: String, words: String) throws {
        let query = query([cell, "vip;unsubscribed", "vip"]) {
            ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"])
        }
        let warnings = try query.run().result.warnings
        #expect(
            warnings.map(\.name) == [.tagSeparator] && warnings.first?.message.contains(words) == true, "\(warnings)")
        #expect(warnings.first?.message.contains("1 row holds 'unsubscribed' only in this form") == true, "\(warnings)")
    }

    @Test(
        "a tag of the campaign is found in a longer text whatever separates or surrounds it",
        arguments: [
            ("vip#unsubscribed", "may also separate tags by '#'"),
            ("vip – unsubscribed", "may also separate tags by '–'"),
            ("vip–unsubscribed", "may also separate tags by '–'"),
            ("vip→unsubscribed", "may also separate tags by '→'"),
            ("vip\\unsubscribed", "may also separate tags by '\\'"),
            ("unsubscribed@2024-01-01", "may also separate tags by '@'"),
            ("<b>unsubscribed</b>", "may also separate tags by '>'"),
            ("vip.unsubscribed", "may also separate tags by '.'"),
            ("vip?unsubscribed", "may also separate tags by '?'"),
            ("vip😀unsubscribed", "may also separate tags by '😀'"),
            ("vip&unsubscribed", "may also separate tags by '&'"),
            ("vip%20unsubscribed", "may also separate tags by '%20'"),
            ("⭐unsubscribed", "have a sign before or after them"),
            ("vip→𝐮nsubscribed", "may also separate tags by '→'"),
            ("vip→Unsub-scribed", "may also separate tags by '→'"),
        ])
    func unforeseenMarks(cell: String, words: String) throws {
        let query = query([cell, "unsubscribed", "vip"]) { ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"]) }
        let warnings = try query.run().result.warnings
        #expect(
            warnings.map(\.name) == [.tagSeparator] && warnings.first?.message.contains(words) == true, "\(warnings)")
        #expect(warnings.first?.message.contains("1 row holds 'unsubscribed' only in this form") == true, "\(warnings)")
        #expect(warnings.first?.position?.line == 2, "\(warnings)")
    }

    @Test(
        "what a program wrote out is decoded before a text is cut",
        arguments: [
            ("vip\\u003bunsubscribed", "by '\\u003b'"), ("vip&#124;unsubscribed", "by '&#124;'"),
            ("unsubscribed&#59;vip", "by '&#59;'"),
            ("vip&amp;#x7c;unsubscribed", "by '&amp;#x7c;'"), ("vip%3Bunsubscribed", "by '%3B'"),
            ("vip%EF%BC%8Cunsubscribed", "by '%EF%BC%8C'"),
            ("vip%u003bunsubscribed", "by '%u003b'"), ("vip=3Bunsubscribed", "by '=3B'"),
            ("vip=EF=BC=8Cunsubscribed", "by '=EF=BC=8C'"),
            ("vip\\073unsubscribed", "by '\\073'"), ("=75nsubscribed", "have characters that a program wrote out"),
            ("vip\\x2cunsubscribed", "by '\\x2c'"), ("vip\\nunsubscribed", "by '\\n'"),
            ("&quot;unsubscribed&quot;", "brackets or quotes"),
            ("%22unsubscribed%22", "brackets or quotes"),
            ("\\u0075nsubscribed", "have characters that a program wrote out"),
            ("&#117;nsubscribed", "have characters that a program wrote out"),
        ])
    func writtenOut(cell: String, words: String) {
        for separator in [";", "||"] {
            let mistakes = query(["news", cell, "unsubscribed"]) {
                ($0.everyone, $0.excludedTags, $0.columns.tagSeparator) = (true, ["unsubscribed"], separator)
            }.mistakes()
            // The semicolon of the reference separates the tag, which counts.
            if separator == ";", cell.contains("&"), cell.hasSuffix(";unsubscribed") {
                #expect(mistakes.isEmpty, "\(mistakes)")
                continue
            }
            #expect(
                mistakes.count == 1 && mistakes[0].message.contains(words) && mistakes[0].position?.line == 3,
                "\(mistakes)")
        }
    }

    @Test("a longer text says nothing where its device has the tag itself, or where it only begins or ends like one")
    func otherWords() throws {
        let cells = [
            "city:Berlin;Berlin", "Berlin;x,Berlin", "news-weekly;berlin_mitte", "news-berlin;unsubscribed2",
            "c#;v1.2;1.5", "city:Hamburg",
            "خبر\u{200C}ها",
        ]
        let names = ["Berlin", "news", "c", "2", "5", "unsubscribed", "خبر", "Mitte"]
        let result = try query(cells) { ($0.everyone, $0.excludedTags) = (true, names) }.run().result
        #expect(result.warnings.allSatisfy { $0.name == .tagNotFound }, "\(result.warnings)")
        let path = folder.file("b.jsonl", "{\"token\":\"\(token(1))\",\"tags\":[\"city:Berlin\",\"Berlin\"]}\n")
        #expect(try AudienceQuery(path).with { $0.anyTags = ["Berlin"] }.run().result.warnings.isEmpty)
    }

    @Test(
        "a part of a separator of several characters separates nothing, and is said",
        arguments: [("||", "a|unsubscribed"), (", ", "a,unsubscribed")])
    func partsOfSeparators(separator: String, cell: String) {
        let mistakes = query([cell, "a\(separator)unsubscribed"]) {
            ($0.everyone, $0.excludedTags, $0.columns.tagSeparator) = (true, ["unsubscribed"], separator)
        }.mistakes()
        #expect(
            mistakes.count == 1 && mistakes[0].message.contains("1 row holds 'unsubscribed' only in this form"),
            "\(mistakes)")
    }

    @Test(
        "names with signs, blanks or no letter at all are found as they are written",
        arguments: ["c++", "new customer", "#top", "🔥", "a.b"])
    func namesWithSigns(name: String) throws {
        #expect(
            refusal(["x,\(name)", "\(name),x"], excluding: name).contains("2 rows hold '\(name)' only in this form"))
        let other = try query(["c#,x;new,customer", "top,x", "a,b"]) { ($0.everyone, $0.excludedTags) = (true, [name]) }
            .run().result
        #expect(other.warnings.map(\.name) == [.tagNotFound], "\(other.warnings)")
    }

    @Test(
        "letters of other scripts and styles that look like a tag's are its spelling",
        arguments: ["𝐮nsubscribed", "υnsubscribed", "unſubscribed", "ⓤⓝⓢubscribed"])
    func otherStyles(cell: String) throws {
        let warnings = try query([cell, "unsubscribed"]) { ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"]) }
            .run().result.warnings
        #expect(warnings.map(\.name) == [.tagSpelling], "\(warnings)")
    }

    @Test("objects in cells are refused where they hold a tag of the campaign, but for what they say is false")
    func objects() throws {
        for cell in Self.objects {
            #expect(
                refusal([cell, "vip;news"]).contains(
                    "holds objects with names and values: 1 row holds 'unsubscribed' only in this form"),
                "\(cell): \(refusal([cell]))")
        }
        for cell in [
            #"{"unsubscribed":"false"}"#, #"{"tags":{"unsubscribed":false,"vip":1}}"#,
            #"{"tags":["news-unsubscribed","unsubscribed2"]}"#,
            #"[{"unsubscribed":null}]"#, #"{"tags":[],"name":"subscribed"}"#,
            #"{"tags":["unsubscribed"]};unsubscribed"#, "unsubscribed=0",
        ] {
            let query = query([cell, "unsubscribed"]) { ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"]) }
            #expect(try query.run().result.warnings.isEmpty, "\(cell)")
        }
    }

    private static let objects = [
        #"{"unsubscribed":"true","vip":"1"}"#, #"{"vip":"1", "unsubscribed": 1}"#, #"{"tags":["news","unsubscribed"]}"#,
        #"{"push":"unsubscribed"}"#, #"{"x":{"unsubscribed":1}}"#, #"{"list":"news,unsubscribed"}"#,
        #"{"list":"news;unsubscribed"}"#,
        #"news;{"tags":["unsubscribed"]}"#, #"[{"tag":"unsubscribed"}]"#, #"{"a":[{"b":["x",{"c":"Unsubscribed"}]}]}"#,
        #"{"tags":"[\"unsubscribed\"]"}"#, #"{"tags":"vip%3Bunsubscribed"}"#, #"{"tags":["\u0075nsubscribed"]}"#,
        #"{"news":true,"why":["unsubscribed"]}"#, #"[{"list":"news;unsubscribed"}]"#,
    ]

    @Test("the same in a text of JSON Lines and in an element of its list")
    func objectsInJSONLines() throws {
        for cell in Self.objects where !cell.hasPrefix("news;") {
            for value in [JSONValue.string(cell), .array([.string("news"), .string(cell)])] {
                let path = folder.file("o.jsonl", "{\"token\":\"\(token(1))\",\"tags\":\(value.text)}\n")
                let mistakes = AudienceQuery(path).with { ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"]) }
                    .mistakes()
                #expect(
                    mistakes.contains { $0.message.contains("'unsubscribed' only in this form") },
                    "\(value.text): \(mistakes)")
            }
        }
    }

    @Test(
        "tags with characters that nobody sees, in other forms of letters or with other hyphens are warned of",
        arguments: [
            ("unsubscribed", "\u{200B}unsubscribed", "an invisible character (U+200B)"),
            ("unsubscribed", "\u{FEFF}unsubscribed", "(U+FEFF)"),
            ("unsubscribed", "\u{A0}unsubscribed", "(U+00A0)"), ("unsubscribed", "un\u{AD}subscribed", "(U+00AD)"),
            ("VIP", "ＶＩＰ", "form of its letters"), ("indirim", "İndirim", "form of its letters"),
            ("indirim", "İNDİRİM", "form of its letters"),
            ("opt-out", "opt_out", "hyphens"), ("opt-out", "opt out", "hyphens"), ("opt-out", "opt–out", "hyphens"),
            ("opt-out", "optout", "hyphens"),
            ("unsubscribed", "unsubs\u{441}ribed", "U+0441, which looks like 'c'"),
            ("vip", "v\u{3B9}p", "U+03B9, which looks like 'i'"),
            ("opt_out", "Opt-Out", "hyphens"), ("optout", "opt-out", "hyphens"),
            ("unsubscribed", "Unsubscribed.", "hyphens"),
        ])
    func alike(tag: String, cell: String, words: String) throws {
        for cells in [[tag, cell, "x;news"], [tag, "x;\(cell)", "x;news"]] {
            let warnings = try query(cells) { ($0.everyone, $0.excludedTags) = (true, [tag]) }.run().result.warnings
            #expect(
                warnings.map(\.name) == [.tagSpelling] && warnings.first?.message.contains(words) == true, "\(warnings)"
            )
        }
        let unseen = try query([cell]) { ($0.everyone, $0.excludedTags) = (true, [tag]) }.run().result.warnings
        #expect(unseen.map(\.name) == [.tagNotFound] && unseen.first?.remedy != nil, "\(unseen)")
        if words.hasPrefix("(U+") { #expect(unseen.first?.remedy?.contains(words) == true, "\(unseen)") }
    }

    @Test("other tags with such marks are nothing to say, however many there are")
    func otherTags() throws {
        let cells = (0..<3000).map {
            ["折扣，新\($0)", "city:berlin-\($0);a/b", "1-2;un·known", "c++;#x\($0)", "v1.2;12;opt-in"][$0 % 5]
        }
        let result = try query(cells) { ($0.everyone, $0.excludedTags) = (true, ["unsubscribed", "opt-out", "12"]) }
            .run(chunkSize: 2000)
            .result
        #expect(result.warnings.map(\.name) == [.tagNotFound, .tagNotFound], "\(result.warnings)")
    }

    @Test("keys of JSON objects that are like a used one, in objects that lack it, are counted")
    func lookalikes() throws {
        let lines = [
            #""tags":["a"]"#, #""Tags":["unsubscribed"]"#, #""tag":["unsubscribed"]"#,
            #""tags":["unsubscribed"],"Tags":["x"]"#,
            #""tag":"x""#,
        ].enumerated().map { "{\"token\":\"\(token($0.offset + 1))\",\($0.element)}" }
        for (name, text) in [
            ("k.jsonl", lines.joined(separator: "\n")), ("k.json", "[\(lines.joined(separator: ","))]"),
        ] {
            let query = AudienceQuery(folder.file(name, text)).with {
                ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"])
            }
            let result = try query.run(chunkSize: 100).result
            #expect(
                result.warnings.map(\.message) == [
                    "1 object names the key 'Tags', which is not read, and lacks the similar one that other objects have",
                    "2 objects name the key 'tag', which is not read, and lack the similar one that other objects have",
                ], "\(result.warnings)")
        }
    }
}
