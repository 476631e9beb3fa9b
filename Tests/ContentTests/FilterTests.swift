import Base
import Content
import Testing

@Suite("Filters of texts")
struct FilterTests {
    @Test("upcase, downcase and capitalize know all of Unicode")
    func cases() throws {
        #expect(try body("{{ a | upcase }}", ["a": "Straße ÿ ŉ ŝi привет ά"]) == "STRASSE Ÿ ʼN ŜI ПРИВЕТ Ά")
        #expect(try body("{{ a | downcase }}", ["a": "ÄÖÜ ÇÉ ПРИВЕТ Ǆ"]) == "äöü çé привет ǆ")
        #expect(try body("{{ a | capitalize }}", ["a": "mary JANE o'neil"]) == "Mary jane o'neil")
        #expect(try body("{{ a | capitalize }}", ["a": "ǆungla ÉCOLE"]) == "ǅungla école")
        #expect(try body("{{ a | upcase }}", ["a": "李小明 ab さくら"]) == "李小明 AB さくら")
        #expect(try body("{{ a | upcase }}", ["a": "abc-xyz_09~"]) == "ABC-XYZ_09~")
    }

    @Test("a sigma at the end of a word has a form of its own")
    func sigma() throws {
        #expect(try body("{{ a | downcase }}", ["a": "ΣΊΣΥΦΟΣ, ΟΔΟΣ Σ."]) == "σίσυφος, οδος σ.")
    }

    @Test("letters change their case as the device's language has it")
    func languages() throws {
        #expect(try body("{{ a | upcase }}", ["a": "istanbul ısı"], language: "tr") == "İSTANBUL ISI")
        #expect(try body("{{ a | upcase }}", ["a": "istanbul"], language: "az-Latn") == "İSTANBUL")
        #expect(try body("{{ a | upcase }}", ["a": "istanbul"], language: "en") == "ISTANBUL")
        #expect(try body("{{ a | downcase }}", ["a": "ISI İI I\u{307}"], language: "tr-TR") == "ısı iı i")
        #expect(try body("{{ a | capitalize }}", ["a": "izmir"], language: "tr") == "İzmir")
        #expect(try body("{{ a | upcase }}", ["a": "Άννα καΐκι"], language: "el") == "ΑΝΝΑ ΚΑΪΚΙ")
        #expect(try body("{{ a | capitalize }}", ["a": "άννα"], language: "el") == "Άννα")
        #expect(try body("{{ a | capitalize }}", ["a": "ijsland"], language: "nl") == "IJsland")
        #expect(try body("{{ a | capitalize }}", ["a": "ijsland"], language: "de") == "Ijsland")
    }

    @Test("strip takes white space away at both ends")
    func strip() throws {
        #expect(try body("[{{ a | strip }}]", ["a": " \u{A0}\t a b \n\u{3000}\u{200B}"]) == "[a b]")
        #expect(try body("[{{ a | strip }}]", ["a": "x"]) == "[x]")
        #expect(try body("[{{ a | strip | default: '-' }}]", ["a": " "]) == "[-]")
    }

    @Test(
        "truncate counts user-visible characters and the ellipsis, and cuts none",
        arguments: [
            ("truncate: 8", "Hello world", "Hello..."), ("truncate: 11", "Hello world", "Hello world"),
            ("truncate: 8, '…'", "Hello world", "Hello w…"), ("truncate: 5, ''", "Hello world", "Hello"),
            ("truncate: 3", "Hello", "..."), ("truncate: 4, '…'", "👩‍👩‍👧‍👦👍🏽🇩🇪🇫🇷e\u{301}", "👩‍👩‍👧‍👦👍🏽🇩🇪…"),
            ("truncate: 5, '…'", "👩‍👩‍👧‍👦👍🏽🇩🇪🇫🇷e\u{301}", "👩‍👩‍👧‍👦👍🏽🇩🇪🇫🇷e\u{301}"), ("truncate: 4, '…'", "李小明你好", "李小明…"),
            ("truncate: 4, '…'", "a\r\n\r\nbcd", "a\r\n\r\n…"), ("truncate: 4, '\"'", "abcdefg", "abc\""),
            ("truncate: 2, '👩‍👩‍👧‍👦'", "abcd", "a👩‍👩‍👧‍👦"),
        ])
    func truncate(filter: String, cell: String, expected: String) throws {
        #expect(try body("{{ a | \(filter) }}", ["a": cell]) == expected)
    }

    @Test("filters work one after the other, on the text and not on its JSON")
    func chains() throws {
        #expect(try body("{{ a | strip | upcase | truncate: 5, '' }}", ["a": "  say \"x\"\n"]) == "SAY \"")
        #expect(try body("{{ a | downcase | capitalize }}", ["a": "A\\B\tC\u{1}D"]) == "A\\b\tc\u{1}d")
        #expect(try body("{{ a | truncate: 3, '' | upcase }}", ["a": "a\nbcd"]) == "A\nB")
    }

    @Test("a default stands for a blank cell at its place among the filters")
    func defaults() throws {
        #expect(try body("{{ a | default: 'you' | upcase }}") == "YOU")
        #expect(try body("{{ a | upcase | default: 'you' }}") == "you")
        #expect(try body("{{ a | upcase | default: 'you' }}", ["a": "x"]) == "X")
        #expect(try body("a{{ a | default: '' | truncate: 3 }}b") == "ab")
        #expect(try body("{{ d | date: 'long' | default: 'soon' }}") == "soon")
        #expect(try body("a{{ n | default: '' | number }}b") == "ab")
        #expect(try body("{{ n | default: 1000 | number }}") == "1,000")
    }

    @Test("a blank cell without default is a failure that names column and place")
    func blank() throws {
        #expect(try body("Hi {{ name | upcase }}") == "c.yaml:1:7: name is blank")
        let template = try PayloadTemplate(
            content {
                $0.title = quoted("{{ b }}", line: 2)
                $0.body = quoted("{{ a }} {{ b | truncate: 3 }}", line: 3)
            })
        var bytes: [UInt8] = []
        #expect(template.render(["x", ""], into: &bytes) == .blank(column: "a", place: at(3, 12)))
        #expect(template.render(["", "x"], into: &bytes) == .blank(column: "b", place: at(2, 12)))
    }
}
