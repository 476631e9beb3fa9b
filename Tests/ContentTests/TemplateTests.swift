import Base
import Content
import Testing

@Suite struct TemplateTests {
    @Test(
        "a title or body that comes out blank is not sent",
        arguments: [
            ("{% if vip == 'x' %}only vip{% endif %}", nil), ("{{ a | default: '' }}", nil),
            ("{{ a | default: ' ' }} ", nil),
            ("{% if vip == 'x' %}a{% else %} {% endif %}", nil), ("{% if vip == 'x' %}a{% else %}b{% endif %}", "b"),
            ("{{ a | default: '' }} b", " b"),
        ] as [(String, String?)])
    func blankText(body: String, shown: String?) throws {
        let alone = content { $0.body = plain(body, line: 3) }
        #expect(
            try payload(alone) == shown.map { #"{"aps":{"alert":{"body":"\#($0)"}}}"# }
                ?? "c.yaml:3:1: the text comes out blank")
        let both = content {
            $0.title = plain("Hi")
            $0.body = plain(body, line: 3)
        }
        #expect(
            try payload(both) == shown.map { #"{"aps":{"alert":{"title":"Hi","body":"\#($0)"}}}"# }
                ?? "c.yaml:3:1: the text comes out blank")
        let byHand = try node(#"{"aps":{"alert":{"title":"Hi","body":"\#(body)"}}}"#)
        #expect(try payload(content { $0.payload = byHand }).contains("comes out blank") == (shown == nil))
    }

    @Test("a subtitle may come out blank beside another text, as phones then show none")
    func blankSubtitle() throws {
        let subtitle = plain("{% if vip == 'x' %}only vip{% endif %}", line: 2)
        #expect(
            try payload(
                content {
                    $0.subtitle = subtitle
                    $0.body = plain("Hi")
                }) == #"{"aps":{"alert":{"subtitle":"","body":"Hi"}}}"#)
        #expect(try payload(content { $0.subtitle = subtitle }) == "c.yaml:2:1: the text comes out blank")
    }

    @Test(
        "nobody reads punctuation around what is missing",
        arguments: [
            "Hi {{ a | default: '' }}, welcome", "Hi {% if a %}{{ a }}{% endif %}, welcome",
            "{{ a | default: '' }}, welcome",
            "Hi {{ a | default: '' }}!", "Hi, {{ a | default: '' }}!", "Welcome back, {{ a | default: '' }}",
            "Bonjour {{ a | default: '' }} !",
            "({{ a | default: '' }}) Hi", "Hi {% if a %}{{ a }}{% else %}{% endif %} , you", "¡{{ a | default: '' }}!",
            "Code: {{ a | default: '' }}",
            "您好 {{ a | default: '' }}，欢迎", "Hi {{ a | default: '' }} {{ b | default: '' }}, you",
            "One\n{{ a | default: '' }}, two",
            "Say “{{ a | default: '' }}”", "{{ a | default: '' }}'s cart",
            "Hi {% if a %}x{% elsif b %}y{% endif %}. Bye",
            "Hi{% if a %} {{ a }}{% endif %} {{ b | default: '' }}, x",
            "{% if c %}Hi {{ a | default: '' }}, x{% endif %} y",
            "Hi {{ a | default: '' }}... x {{ b | default: '' }} y", "Hi {{ a | default: '' | upcase }}, you",
        ])
    func gaps(_ text: String) throws {
        #expect(try body(text, ["c": "1"]).hasPrefix("c.yaml:1:"), "\(text)")
        #expect(try body(text, ["c": "1"]).hasSuffix("punctuation is left over"))
        let byHand = content {
            $0.payload = .object(
                [ContentMember(plain("aps"), .object([ContentMember(plain("alert"), .text(plain(text)))], at(1)))],
                at(1))
        }
        #expect(try payload(byHand, ["c": "1"]).hasSuffix("punctuation is left over"))
        let full = try body(text, ["a": "Ann", "b": "Bob", "c": "1"])
        #expect(!full.hasSuffix("punctuation is left over"), "\(full)")
    }

    @Test(
        "what reads well without the missing part is sent",
        arguments: [
            ("Hi{% if a %} {{ a }}{% endif %}, welcome", "Hi, welcome"),
            ("Bonjour{% if a %} {{ a }}{% endif %} !", "Bonjour !"),
            ("Until Sunday{% if a %} in {{ a }}{% endif %}.", "Until Sunday."),
            ("{% if a %}{{ a }}, {% endif %}welcome", "welcome"),
            ("{{ a | default: '' }} welcome", " welcome"), ("Hi {{ a | default: '' }} :)", "Hi  :)"),
            ("你好{{ a | default: '' }}，欢迎", "你好，欢迎"),
            ("Use {{ a | default: '' }} .NET", "Use  .NET"), ("Hello,{% if a %} dear {{ a }}{% endif %}", "Hello,"),
            ("Hi {{ a | default: '' }} – welcome", "Hi  – welcome"), ("1 item{{ n | default: '' }}, 2", "1 item, 2"),
        ])
    func fineGaps(_ text: String, _ shown: String) throws { #expect(try body(text) == shown) }

    @Test("a text that no push can hold, or that holds nothing but mistakes, is refused at once")
    func hostileTexts() {
        #expect(mistakes(String(repeating: "a", count: 60_000)).contains("no push holds that many"))
        #expect(mistakes(String(repeating: "{% if a %}", count: 1900)).contains("nest deeper than 20 levels"))
        #expect(mistakes(String(repeating: "{{ ", count: 5000)).split(separator: "\n").count == 20)
    }

    @Test("a column's cell stands where its tag stood")
    func columns() throws {
        #expect(try body("Hi {{ name }}!", ["name": "Anna"]) == "Hi Anna!")
        #expect(try body("{{name}}{{  name\n}}", ["name": "A"]) == "AA")
        #expect(try body("{{ a.b-c_1 }}, {{ _x }}", ["a.b-c_1": "1", "_x": "2"]) == "1, 2")
        #expect(try body("{{\u{A0}name\u{3000}}}", ["name": "A"]) == "A")
    }

    @Test("a default stands for a blank cell only")
    func defaults() throws {
        #expect(try body("Hi {{ name | default: 'there' }}!", ["name": "Anna"]) == "Hi Anna!")
        #expect(try body("Hi {{ name | default: 'there' }}!") == "Hi there!")
        #expect(try body("Hi {{ name|default:\"it's\" }}!") == "Hi it's!")
        #expect(try body(#"{{ name | default: 'a "b" \n }} {{ |' }}"#) == #"a "b" \n }} {{ |"#)
        #expect(try body("{{ n | default: 12 }} {{ n | default: -0.5 }}") == "12 -0.5")
        #expect(try body("a{{ n | default: '' }}b") == "ab")
        #expect(try body("{{ n | default: '“你好”：｜' }}") == "“你好”：｜")
    }

    @Test(
        "a cell in which nobody would see anything is blank",
        arguments: [
            "", " ", "\t\r\n", "-", " – ", "NULL", "null", #"\N"#, "N/A", "n/a", "#N/A", " NULL ", "NaN", "nan", "None",
            "undefined",
            "(null)", "[NULL]", "<null>", "#NAME?", "#REF!", "#DIV/0!", "#NV", "#BEZUG!", "#¿NOMBRE?", " #N/D ", "--",
            "---", "\u{A0}",
            "\u{3000}\u{2003}", "\u{200B}",
            "\u{FEFF} \u{200E}", "\u{0}", "\u{7F}",
        ])
    func blanks(cell: String) throws {
        #expect(try body("Hi {{ name }},", ["name": cell]) == "c.yaml:1:7: name is blank")
        #expect(try body("Hi {{ name | default: 'you' }},", ["name": cell]) == "Hi you,")
    }

    @Test(
        "a cell with anything to see is not blank and stays as it is",
        arguments: [
            "0", " a ", "-->", "-5", "Null", "Nan", "none", "None!", "Undefined", "NA", "(x)", "[new]", "<3", "#1",
            "Una", "nul", "N/A!",
            "\u{3000}名", "\u{200D}👩‍🚀", "\u{E9}", "~",
        ])
    func notBlank(cell: String) throws {
        #expect(try body("{{ name }}", ["name": cell]) == cell)
    }

    @Test(
        "braces that make no tag are text",
        arguments: [
            "{", "}", "a } b { c", "{\"a\":1}", "100 %", "50%off%", "%a%", "[x]", "<3", "｛限时｝", "{限时}", "{ 1 }",
            "“quoted”", "*|*",
        ])
    func plainBraces(text: String) throws {
        #expect(try body(text) == text)
    }

    @Test("columns are named once each, with the place of their first use in the file")
    func columnPlaces() throws {
        let template = try PayloadTemplate(
            content {
                $0.title = quoted("é {{ b }} {{ a }}", line: 3)
                $0.body = quoted("{{ a }}", line: 2)
                $0.link = SourceText("x://{{ c }}", at: at(4, 7))
            })
        #expect(template.columns.map(\.value) == ["b", "a", "c"])
        #expect(template.columns.map(\.position) == [at(3, 14), at(2, 12), at(4, 14)])
    }

    @Test("all mistakes of all texts come at once, in the order of their places")
    func allAtOnce() {
        let text = mistakes(
            content {
                $0.title = quoted("{{ }} }} {{ a b }}", line: 3)
                $0.sound = quoted("{{ a | upkase }}", line: 2)
            })
        #expect(
            text.split(separator: "\n").map { String($0.prefix(12)) } == [
                "c.yaml:2:16:", "c.yaml:3:9: ", "c.yaml:3:15:", "c.yaml:3:21:",
            ])
    }

    @Test("a place in a block of several lines is its line")
    func blockText() {
        let text = SourceText("Hello\n{{ }}\n", at: at(5, 9), style: .literal)
        #expect(mistakes(content { $0.body = text }).hasPrefix("c.yaml:7:1: '{{ }}' is empty"))
    }

    @Test("random texts never crash, and a text without mistake renders")
    func randomTexts() throws {
        let parts = [
            "{{", "}}", "{%", "%}", "{", "}", "|", ":", "'", "\"", " ", "a", "default", "if", "｛｛", "｝｝", "‘", "é", "1",
            ",", "👍",
            "{{ a }}",
            "{% if a %}", "{% else %}", "{% endif %}", "{%- raw -%}", "{% endraw %}", "{% comment %}",
            "{% endcomment %}", "| upcase", "==",
            "'x'",
        ]
        var accepted = 0
        for _ in 0..<4000 {
            let text = (0..<Int.random(in: 1...9)).map { _ in parts.randomElement() ?? "" }.joined()
            let content = content {
                $0.title = plain("Hi")
                $0.body = plain(text)
            }
            guard let template = try? PayloadTemplate(content) else { continue }
            var bytes: [UInt8] = []
            let failure = template.render(template.columns.map { _ in "x" }, into: &bytes)
            // A text that has only punctuation left is not sent.
            if failure?.skipReason == .renderError { continue }
            #expect(throws: Never.self) { try JSONValue(parsing: bytes) }
            accepted += 1
        }
        #expect(accepted > 20)
    }
}
