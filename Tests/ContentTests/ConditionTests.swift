import Base
import Content
import Testing

@Suite("Conditions in templates")
struct ConditionTests {
    private func holds(_ condition: String, _ cells: [String: String] = [:]) throws -> Bool {
        let text = try body("{% if \(condition) %}yes{% else %}no{% endif %}", cells)
        #expect(text == "yes" || text == "no", "\(text)")
        return text == "yes"
    }

    @Test("the first branch that holds is taken")
    func branches() throws {
        let text = "{% if a == 'x' %}X{% elsif a == 'y' %}Y{% elsif b %}B{% else %}E{% endif %}"
        #expect(try body(text, ["a": "x", "b": "1"]) == "X")
        #expect(try body(text, ["a": "y", "b": "1"]) == "Y")
        #expect(try body(text, ["a": "z", "b": "1"]) == "B")
        #expect(try body(text, ["a": "z"]) == "E")
        #expect(try body("a{% if a %}A{% endif %}b") == "ab")
    }

    @Test("a condition stands inside a branch of another")
    func nesting() throws {
        let text = "{% if a %}{% if b %}AB{% else %}A{% endif %}!{% else %}{% if b %}B{% endif %}{% endif %} x"
        #expect(try body(text, ["a": "1", "b": "1"]) == "AB! x")
        #expect(try body(text, ["a": "1"]) == "A! x")
        #expect(try body(text, ["b": "1"]) == "B x")
        #expect(try body(text) == " x")
    }

    @Test("a column alone asks whether there is anything to see in its cell that does not say no")
    func presence() throws {
        for no in ["0", "false", "FALSE", " False ", " 0", "0.0", "00", "0,00"] {
            #expect(try !holds("a", ["a": no]))
            #expect(try holds("a != blank", ["a": no]))
        }
        for yes in ["1", "no", "true", "falsehood", "x", "0.01", "-0", "0 %", ".0", "\"0\""] {
            #expect(try holds("a", ["a": yes]))
        }
        for blank in ["", " ", "\u{A0}\n", "\u{200B}"] {
            #expect(try !holds("a", ["a": blank]))
            #expect(try holds("a == blank", ["a": blank]))
            #expect(try holds("a == empty", ["a": blank]))
            #expect(try holds("a == nil", ["a": blank]))
            #expect(try holds("a == ''", ["a": blank]))
            #expect(try !holds("a != blank", ["a": blank]))
        }
        #expect(try !holds("a == blank", ["a": "x"]))
        #expect(try holds("a != ''", ["a": "x"]))
    }

    @Test(
        "numbers, versions and dates in quotes are equal in all ways to write them, as in 'where'; codes and telephone numbers only to the letter"
    )
    func otherForms() throws {
        let same = [
            ("a", "3", "3.0"), ("a", "1500.5", "1500.50"), ("app_version", "3.10", "3.10.0"), ("a", "3.2.0", "v3.2"),
            ("a", "2026-11-01", "2026-11-01T00:00:00Z"),
        ]
        for (column, value, cell) in same {
            #expect(
                try holds("\(column) == '\(value)'", [column: cell])
                    && !holds("\(column) != '\(value)'", [column: cell]), "\(value)")
        }
        let others = [
            ("a", "3.10", "3.10.0"), ("app_version", "3.10", "3.1"), ("a", "1067", "01067"), ("a", "01067", "1067"),
            ("a", "+49", "49"),
        ]
        for (column, value, cell) in others {
            #expect(
                try !holds("\(column) == '\(value)'", [column: cell])
                    && holds("\(column) != '\(value)'", [column: cell]), "\(value)")
        }
    }

    @Test("texts in quotes are compared letter by letter, white space around them left out")
    func texts() throws {
        #expect(try holds("a == 'Köln'", ["a": "Köln"]))
        #expect(try holds("a == 'Köln'", ["a": " Köln\n"]))
        #expect(try holds("a == ' Köln '", ["a": "Köln"]))
        #expect(try !holds("a == 'Köln'", ["a": "köln"]))
        #expect(try holds(#"a == 'say "x"'"#, ["a": #"say "x""#]))
        #expect(try holds(#"a == "it's""#, ["a": "it's"]))
        #expect(try holds("a == 'x\\y'", ["a": "x\\y"]))
        #expect(try holds("a != 'x'", ["a": "y"]))
    }

    @Test("a blank cell is equal to nothing, smaller than nothing, and different from everything")
    func blankCells() throws {
        for value in ["'x'", "3", "true"] {
            #expect(try holds("a != \(value)"))
            #expect(try !holds("a == \(value)"))
        }
        for sign in ["<", "<=", ">", ">="] {
            #expect(try !holds("a \(sign) 3"))
            #expect(try !holds("a \(sign) '2026-11-01'"))
        }
        #expect(try !holds("a contains 'x'"))
    }

    @Test(
        "numbers without quotes compare as numbers",
        arguments: [
            ("10", "> 9"), ("3.0", "== 3"), ("03", "== 3"), ("-5", "< -4.5"), ("0.1", "< 0.25"), ("1.50", "== 1.5"),
            (" 7 ", ">= 7"),
            ("-0", "== 0"), ("99999999999999999999", "> 99999999999999999998"), ("1e3", "!= 1000"), ("abc", "!= 1"),
        ])
    func numbers(cell: String, condition: String) throws {
        #expect(try holds("a \(condition)", ["a": cell]))
    }

    @Test(
        "what is no number is neither less nor more than one",
        arguments: ["abc", "1,000", "1e3", "12 %", "٣", "1.2.3", "--1", "."])
    func notNumbers(cell: String) throws {
        for sign in ["<", "<=", ">", ">=", "=="] { #expect(try !holds("a \(sign) 5", ["a": cell])) }
        #expect(try holds("a != 5", ["a": cell]))
    }

    @Test(
        "less and more than a text in quotes is what it is in where: numbers as numbers, versions by number, dates as dates",
        arguments: [
            ("3.10.0", ">= '3.9.0'"), ("10.25", "< '10.5'"), ("-5", "< '0'"), ("4.0.0-beta", "< '4.0.0'"),
            ("v3.2", ">= '3.2.0'"),
            ("2026-11-01", "< '2026-11-02'"),
            ("2026-11-01T23:00:00Z", "> '2026-11-01'"), ("10", "> '9'"), ("1000", ">= 1.0000"),
        ])
    func versions(cell: String, condition: String) throws {
        #expect(try holds("a \(condition)", ["a": cell]))
    }

    @Test(
        "in a column that is called a version numbers are versions",
        arguments: ["app_version >= '3.9'", "app_version >= 3.9"])
    func versionColumn(condition: String) throws {
        #expect(try holds(condition, ["app_version": "3.10.0"]) && !holds(condition, ["app_version": "3.8.9"]))
    }

    @Test("a cell that is no version has no order among versions, nor one that is no date among dates")
    func notVersions() throws {
        for sign in ["<", "<=", ">", ">="] {
            #expect(try !holds("a \(sign) '3.2.0'", ["a": "latest"]))
            #expect(try !holds("a \(sign) '2026-11-01'", ["a": "soon"]))
        }
    }

    @Test("true and false are what exports write for them, in any case")
    func truth() throws {
        #expect(try holds("a == true", ["a": "TRUE"]))
        #expect(
            try holds("a == true", ["a": "yes"]) && holds("a == true", ["a": "1"]) && holds("a == false", ["a": "No"]))
        #expect(try holds("a != true", ["a": "maybe"]) && holds("a != false", ["a": "maybe"]))
        #expect(try holds("a == false", ["a": "False"]))
        #expect(try !holds("a == true", ["a": "tru"]))
        // As in where, quotes make no difference.
        #expect(
            try holds("a == 'true'", ["a": "YES"]) && holds("a != 'False'", ["a": "1"])
                && !holds("a != 'true'", ["a": "y"]))
    }

    @Test(
        "what has no order, or may be two things, is refused by the rule of where",
        arguments: [
            ("points >= 1.000", "'1.000' may be 1000 or a decimal number. For 1000, write points >= 1000."),
            ("points >= '10.500'", "For 10500, write points >= 10500."),
            ("birthday > '24.12.1990'", "the year comes first. Write birthday > '1990-12-24'."),
            ("birthday < '12/24/1990'", "Write birthday < '1990-12-24'."),
            (
                "last_active > '2026‑11‑01'",
                "'2026‑11‑01' has a dash ('‑') instead of a hyphen. Write last_active > '2026-11-01', with the hyphen of the keyboard."
            ),
            (
                "last_active > 1990",
                "'1990' is a year, and dates are compared with a day. Write last_active >= '1991-01-01'."
            ),
            ("level > 'bronze'", "'bronze' is not a number, a version or a date"),
            ("app_version < 'latest'", "'latest' is not a version. Write it as app_version < '3.2.0'."),
            (
                "language == 'German'",
                "'German' is not a language. Write a language tag such as de, pt-BR or zh-Hans; 'German' is 'de'."
            ),
            ("a == 'NULL'", "a cell that reads 'NULL' counts as blank. Write a == blank."),
            ("points > 1,000", "a number has no commas. Write points > 1000."),
            ("birthday == today", "templates do not know what day it is: 'today'."),
        ])
    func noOrder(condition: String, words: String) {
        let said = mistakes("{% if \(condition) %}x{% endif %}")
        #expect(said.contains(words), "\(said)")
    }

    @Test("contains looks for a part of the text, not of how it is written in JSON")
    func contains() throws {
        #expect(try holds("tags contains 'daily'", ["tags": "discount;daily"]))
        #expect(try !holds("tags contains 'Daily'", ["tags": "discount;daily"]))
        #expect(try holds("a contains 5", ["a": "4567"]))
        #expect(try holds("a contains '\"'", ["a": "5\" pipe"]))
        #expect(try !holds("a contains 'n'", ["a": "a\nb"]))
        #expect(try !holds("a contains 'u00'", ["a": "a\u{1}b"]))
        #expect(try !holds("a contains '\\'", ["a": "a\tb\""]))
        #expect(try holds("a contains '小'", ["a": "李小明"]))
    }

    @Test("and and or are read from the right, as in Liquid")
    func connectors() throws {
        for (a, b, c) in [
            (false, false, false), (true, false, false), (false, true, true), (true, true, false), (false, false, true),
            (true, false, true),
        ] {
            let cells = ["a": a ? "1" : "", "b": b ? "1" : "", "c": c ? "1" : ""]
            #expect(try holds("a and b and c", cells) == (a && b && c))
            #expect(try holds("a or b or c", cells) == (a || b || c))
            #expect(try holds("a or b and c", cells) == (a || (b && c)))
            #expect(try holds("a and b or c", cells) == (a && (b || c)))
        }
    }

    @Test("and beside or, which few people read from the right, is worth a warning")
    func order() throws {
        let template = try PayloadTemplate(content { $0.body = plain("{% if a and b or c %}x{% endif %}") })
        #expect(
            template.warnings.map(\.description) == [
                "c.yaml:1:1: warning: 'and' before 'or' is read from the right: a and b or c means a and (b or c). "
                    + "Put one '{% if %}' inside another to make it clear. [mixed-conditions]"
            ])
        let other = try PayloadTemplate(content { $0.body = plain("{% if a or b and c %}x{% endif %}") })
        #expect(
            other.warnings.map(\.message) == [
                "'or' before 'and' is read from the right: a or b and c means a or (b and c)"
            ])
    }

    @Test("only what is printed must be there")
    func printedOnly() throws {
        let text = "{% if a %}Hi {{ a }}{% else %}Hi{% endif %}"
        #expect(try body(text) == "Hi")
        #expect(try body("{% if b %}Hi {{ a }}{% endif %}", ["b": "1"]) == "c.yaml:1:17: a is blank")
        #expect(try body("x{% if b %} {{ a }}{% endif %}!") == "x!")
    }

    @Test("white space beside a hyphen goes")
    func whiteSpace() throws {
        #expect(try body("a  {%- if x -%}  b  {%- endif -%}  c", ["x": "1"]) == "abc")
        #expect(try body("a \n{{- x -}}\n\t b", ["x": " y "]) == "a y b")
        #expect(try body("a {{- x }} b", ["x": "y"]) == "ay b")
        #expect(try body("a {{ x -}} b", ["x": "y"]) == "a yb")
        #expect(try body("{%- comment -%} x {%- endcomment -%} b") == "b")
        #expect(try body("{{ x | default: '-' }}") == "-")
    }

    @Test("a comment is not sent, whatever stands in it")
    func comments() throws {
        #expect(try body("a{% comment %} {{ {% if }} x {% endcomment %}b") == "ab")
        #expect(try body("a{%comment%}{%  endcomment  %}b") == "ab")
    }

    @Test("raw text is sent as it stands")
    func raw() throws {
        #expect(try body("{% raw %}{{ x }} {% if %} {y}{% endraw %}!") == "{{ x }} {% if %} {y}!")
        #expect(try body("{%- raw -%} a {%- endraw -%} b") == "ab")
    }

    @Test("conditions work wherever templates do: in links, data and payloads by hand")
    func everywhere() throws {
        let rendered = try payload(
            content {
                $0.body = plain("x")
                $0.link = plain("shop://{% if a %}{{ a }}{% else %}sale{% endif %}")
                $0.data = try node(#"{"list": ["{% if a == 'x' %}1{% else %}2{% endif %}"]}"#)
            }, ["a": "x"])
        #expect(rendered == #"{"aps":{"alert":{"body":"x"}},"link":"shop://x","list":["1"]}"#)
        let hand = try node(#"{"aps": {"alert": "{% if a %}A{% endif %}x"}}"#)
        #expect(try payload(content { $0.payload = hand }) == #"{"aps":{"alert":"x"}}"#)
    }

    @Test("the smallest payload counts the shorter branches")
    func leastBytes() throws {
        let long = String(repeating: "x", count: 4000)
        #expect(mistakes("{% if a %}\(long)\(long){% else %}y{% endif %}").isEmpty)
        #expect(mistakes("{% if a %}\(long){% if b %}\(long){% endif %}{% endif %}").isEmpty)
        #expect(
            mistakes("{% if a %}\(long)\(long){% elsif b %}\(long)\(long)z{% else %}\(long)\(long){% endif %}")
                .contains(
                    "at least 8029 bytes"))
    }

    @Test("an image may begin in any branch, but each must be https")
    func image() throws {
        func mistakes(_ image: String) -> String {
            ContentTests.mistakes(
                content {
                    $0.body = plain("x")
                    $0.image = plain(image)
                })
        }
        #expect(mistakes("{% if a %}https://a{% else %}https://b{% endif %}/c.jpg").isEmpty)
        #expect(mistakes("https://{% if a %}a{% endif %}").isEmpty)
        #expect(mistakes("{% if a %}http{% endif %}s://x").contains("must be a web address"))
        #expect(mistakes("{% if a %}http://a{% else %}https://b{% endif %}").contains("not 'http://a'"))
    }

    @Test(
        "a language holds for its regions and scripts, however the export writes them; other columns compare letter by letter"
    )
    func language() throws {
        for tag in ["de", "DE", "de-AT", "de_CH", "De-Latn-AT", "de_DE.UTF-8", " de "] {
            #expect(try holds("language == 'de'", ["language": tag]), "\(tag)")
            #expect(try !holds("language != 'DE'", ["language": tag]), "\(tag)")
        }
        for tag in ["den", "en", "d", "nl-de", ""] {
            #expect(try !holds("language == 'de'", ["language": tag]), "\(tag)")
        }
        #expect(try holds("language == 'zh_Hans'", ["language": "zh-hans-CN"]))
        #expect(try !holds("language == 'zh-Hans'", ["language": "zh"]))
        #expect(try !holds("spoken == 'de'", ["spoken": "de-AT"]))
        #expect(try holds("language == 'not a tag'", ["language": "not a tag"]))
    }
}
