import Base
import Content
import Testing

@Suite struct TemplateTests {
    private func body(_ text: String, _ cells: [String: String] = [:]) throws -> String {
        let rendered = try payload(content { $0.body = plain(text) }, cells)
        return (try? JSONValue(parsing: rendered))?["aps"]?["alert"]?["body"]?.stringValue ?? rendered
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
        #expect(try body("[{{ n | default: '' }}]") == "[]")
        #expect(try body("{{ n | default: '“你好”：｜' }}") == "“你好”：｜")
    }

    @Test(
        "a cell in which nobody would see anything is blank",
        arguments: ["", " ", "\t\r\n", "\u{A0}", "\u{3000}\u{2003}", "\u{200B}", "\u{FEFF} \u{200E}", "\u{0}", "\u{7F}"])
    func blanks(cell: String) throws {
        #expect(try body("Hi {{ name }},", ["name": cell]) == #"blank(column: "name")"#)
        #expect(try body("Hi {{ name | default: 'you' }},", ["name": cell]) == "Hi you,")
    }

    @Test(
        "a cell with anything to see is not blank and stays as it is",
        arguments: ["0", " a ", "-", "\u{3000}名", "\u{200D}👩‍🚀", "\u{E9}", "~"])
    func notBlank(cell: String) throws {
        #expect(try body("{{ name }}", ["name": cell]) == cell)
    }

    @Test(
        "braces that make no tag are text",
        arguments: ["{ x }", "{", "}", "a } b { c", "{\"a\":1}", "100 %", "{ { x } }", "｛x｝", "“quoted”"])
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

    @Test(
        "every mistake in a tag is named at its place with its remedy",
        arguments: [
            ("Hi {{ name", "c.yaml:1:4: '{{' is never closed. Write '}}' after the column's name."),
            ("{{ a, {{ b }}", "c.yaml:1:1: '{{' is never closed. Write '}}' after the column's name."),
            ("Hi {{ }}", "c.yaml:1:4: '{{ }}' is empty. Name a column in it, for example: {{ first_name }}."),
            ("Hi {{}}", "c.yaml:1:4: '{{ }}' is empty. Name a column in it, for example: {{ first_name }}."),
            ("Hi name }}!", "c.yaml:1:9: '}}' stands here without '{{'. Write '{{' before the column's name, or remove '}}'."),
            (
                "é {{ first name }}",
                "c.yaml:1:6: a column's name cannot hold spaces: 'first name'. Rename the column in the export, for example to 'first_name'."
            ),
            (
                "{{ größe! }}",
                "c.yaml:1:4: 'größe!' cannot be a column's name. Names hold letters, digits, '_', '.' and '-', "
                    + "and begin with a letter or '_'; rename the column in the export."
            ),
            (
                "{{ 1st }}",
                "c.yaml:1:4: '1st' cannot be a column's name. Names hold letters, digits, '_', '.' and '-', "
                    + "and begin with a letter or '_'; rename the column in the export."
            ),
            ("{{ 'text' }}", "c.yaml:1:4: '{{ }}' takes a column, not a text in quotes. Name a column, for example: {{ first_name }}."),
            ("{{ | default: 'a' }}", "c.yaml:1:4: the column is missing before '|'. For example: {{ first_name | default: 'there' }}."),
            ("{{ a | }}", "c.yaml:1:8: no filter stands after '|'. For example: {{ a | default: 'text' }}."),
            ("{{ a | defualt: 'x' }}", "c.yaml:1:8: there is no filter 'defualt'. Did you mean 'default'?"),
            ("{{ a | Upcase }}", "c.yaml:1:8: there is no filter 'Upcase'. Did you mean 'upcase'?"),
            ("{{ a | markdownify }}", "c.yaml:1:8: there is no filter 'markdownify'. This version of Volley has one filter: default."),
            ("{{ a default: 'x' }}", "c.yaml:1:6: '|' is missing before 'default'. For example: {{ a | default: 'text' }}."),
            ("{{ a | default }}", "c.yaml:1:16: 'default' needs a text after ':'. For example: {{ a | default: 'text' }}."),
            ("{{ a | default: }}", "c.yaml:1:17: 'default' needs a text after ':'. For example: {{ a | default: 'text' }}."),
            ("{{ a | default: there }}", "c.yaml:1:17: the text after 'default:' needs quotes. For example: {{ a | default: 'text' }}."),
            ("{{ a | default: 1.2.3 }}", "c.yaml:1:17: the text after 'default:' needs quotes. For example: {{ a | default: 'text' }}."),
            ("{{ a | default: 'there }}", "c.yaml:1:17: the quote ' is never closed. For example: {{ a | default: 'text' }}."),
            ("{{ a | default: 'x', 'y' }}", "c.yaml:1:20: 'default' takes one text only. Remove what follows the first."),
            (
                #"{{ a | default: 'it\'s' }}"#,
                #"c.yaml:1:22: something follows the text of 'default'. A text that holds ' stands between "…"; there are no escapes."#
            ),
            (
                "{{ a | default: 'x' y }}",
                "c.yaml:1:21: something follows the text of 'default'. Remove it, or put it inside the quotes."
            ),
            ("{{ a | default: 'x' | default: 'y' }}", "c.yaml:1:23: 'default' stands twice. Keep one of them."),
            ("{{ a | default: ‘x’ }}", "c.yaml:1:17: the quote ‘ does not work inside '{{ }}'. Write straight quotes: 'text' or \"text\"."),
            ("{{ a | default: “x” }}", "c.yaml:1:17: the quote “ does not work inside '{{ }}'. Write straight quotes: 'text' or \"text\"."),
            ("{{ a ｜ default: 'x' }}", "c.yaml:1:6: the full-width sign ｜ does not work inside '{{ }}'. Write the plain sign |."),
            ("{{ a | default： 'x' }}", "c.yaml:1:15: the full-width sign ： does not work inside '{{ }}'. Write the plain sign :."),
            ("你好 ｛｛ name ｝｝!", "c.yaml:1:4: full-width braces '｛｛' make no template. Write plain braces, as in {{ first_name }}."),
            ("name ｝｝", "c.yaml:1:6: full-width braces '｝｝' make no template. Write plain braces, as in {{ first_name }}."),
            ("{{ name ｝｝", "c.yaml:1:9: '{{' is closed by full-width braces '｝｝'. Write '}}' with plain braces."),
            (
                "{{{ name }}}",
                "c.yaml:1:3: '{ name' cannot be a column's name. Names hold letters, digits, '_', '.' and '-', "
                    + "and begin with a letter or '_'; rename the column in the export."
            ),
        ])
    func mistake(text: String, expected: String) {
        #expect(mistakes(text) == expected)
    }

    @Test(
        "the filters to come are refused by name",
        arguments: ["upcase", "downcase", "capitalize", "strip", "truncate: 5", "date: '%d'", "number", "pluralize: 'a', 'b'"])
    func laterFilters(filter: String) {
        let name = filter.prefix { $0 != ":" }
        #expect(
            mistakes("{{ a | \(filter) }}")
                == "c.yaml:1:8: the filter '\(name)' is part of the language, but this version of Volley cannot do it yet. "
                + "Prepare the text in a column of the export.")
        #expect(mistakes("{{ a | default: 'x' | \(filter) }}").contains("the filter '\(name)' is part of the language"))
    }

    @Test("a condition is refused by name, once for all its parts")
    func conditions() {
        #expect(
            mistakes("{% if a == 'x' %}A{% elsif b %}B{% else %}C{% endif %}")
                == "c.yaml:1:1: '{% if %}' is part of the language, but this version of Volley cannot do it yet. "
                + "Put the finished text into a column of the export, or use {{ column | default: 'text' }}.")
        #expect(mistakes("a {% else %}").hasPrefix("c.yaml:1:3: '{% else %}' is part of the language"))
        #expect(mistakes("{%- if a -%}").hasPrefix("c.yaml:1:1: '{% if %}' is part of the language"))
    }

    @Test("other blocks are refused")
    func otherBlocks() {
        #expect(mistakes("{% elseif x %}") == "c.yaml:1:1: templates have no '{% elseif %}'. Did you mean '{% elsif %}'?")
        #expect(
            mistakes("{% assign x = 1 %}")
                == "c.yaml:1:1: templates have no '{% assign %}'. Use {{ column }} or {{ column | default: 'text' }}.")
        #expect(mistakes("50 {% off") == "c.yaml:1:4: '{%' is never closed. Write '%}' at its end.")
    }

    @Test("all mistakes of all texts come at once, in the order of their places")
    func allAtOnce() {
        let text = mistakes(
            content {
                $0.title = quoted("{{ }} }} {{ a b }}", line: 3)
                $0.sound = quoted("{{ a | upcase }}", line: 2)
            })
        #expect(
            text.split(separator: "\n").map { String($0.prefix(12)) } == ["c.yaml:2:16:", "c.yaml:3:9: ", "c.yaml:3:15:", "c.yaml:3:21:"])
    }

    @Test("a place in a block of several lines is its line")
    func blockText() {
        let text = SourceText("Hello\n{{ }}\n", at: at(5, 9), style: .literal)
        #expect(mistakes(content { $0.body = text }).hasPrefix("c.yaml:7:1: '{{ }}' is empty"))
    }

    @Test("random texts never crash, and a text without mistake renders")
    func randomTexts() throws {
        let parts = ["{{", "}}", "{%", "%}", "{", "}", "|", ":", "'", "\"", " ", "a", "default", "if", "｛｛", "｝｝", "‘", "é", "1", ",", "👍"]
        var accepted = 0
        for _ in 0..<4000 {
            let text = (0..<Int.random(in: 1...9)).map { _ in parts.randomElement() ?? "" }.joined()
            guard let template = try? PayloadTemplate(content { $0.body = plain(text) }) else { continue }
            var bytes: [UInt8] = []
            _ = template.render(template.columns.map { _ in "x" }, into: &bytes)
            #expect(throws: Never.self) { try JSONValue(parsing: bytes) }
            accepted += 1
        }
        #expect(accepted > 20)
    }
}
