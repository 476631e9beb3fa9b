import Base
import Content
import Testing

@Suite struct PayloadTests {
    @Test("a visible push has exactly the keys that are set, own keys beside aps")
    func visible() throws {
        let content = try content {
            $0.title = plain("Hi {{ name | default: 'there' }}")
            $0.subtitle = plain("Only until Sunday")
            $0.body = plain("{{ store }} has 20 % off")
            $0.sound = plain("default")
            $0.badge = 1
            $0.category = plain("SALE")
            $0.thread = plain("spring")
            $0.image = plain("https://cdn.example.com/{{ store }}.jpg")
            $0.link = plain("shop://sale")
            $0.data = try node(
                #"{"campaign": "spring", "list": [1, 2.5, true, null, {"to": "{{ name | default: 'x' }}"}]}"#)
            $0.wakesApp = true
        }
        #expect(
            try payload(content, ["store": "Köln"])
                == #"{"aps":{"alert":{"title":"Hi there","subtitle":"Only until Sunday","body":"Köln has 20 % off"},"badge":1,"sound":"default","#
                + #""thread-id":"spring","category":"SALE","mutable-content":1,"content-available":1},"image":"https://cdn.example.com/K%C3%B6ln.jpg","#
                + #""link":"shop://sale","campaign":"spring","list":[1,2.5,true,null,{"to":"x"}]}"#)
        #expect(try PayloadTemplate(content).pushType == .alert)
    }

    @Test("the smallest visible pushes")
    func smallest() throws {
        #expect(try payload(content { $0.body = plain("Hi") }) == #"{"aps":{"alert":{"body":"Hi"}}}"#)
        #expect(try payload(content { $0.badge = 0 }) == #"{"aps":{"badge":0}}"#)
        #expect(try payload(content { $0.sound = plain("default") }) == #"{"aps":{"sound":"default"}}"#)
    }

    @Test("a silent push has content-available and data, and goes as background")
    func silent() throws {
        let content = try content {
            $0.isSilent = true
            $0.data = try node(#"{"sync": "{{ what }}"}"#)
        }
        #expect(try payload(content, ["what": "cart"]) == #"{"aps":{"content-available":1},"sync":"cart"}"#)
        #expect(try PayloadTemplate(content).pushType == .background)
    }

    @Test("texts and cells are escaped, and nothing else is changed")
    func escapes() throws {
        let hostile = "\"\\/\n\r\t\u{0}\u{1}\u{1F}\u{7F}\u{2028}👩‍🚀é"
        let expected = #"\"\\/\n\r\t\u0000\u0001\u001f"# + "\u{7F}\u{2028}👩‍🚀é"
        let rendered = try payload(
            content { $0.body = plain("\(hostile){{ a }}{{ b | default: '\"' }}") }, ["a": hostile])
        #expect(rendered == #"{"aps":{"alert":{"body":""# + expected + expected + #"\""}}}"#)
    }

    @Test("names in data are escaped")
    func names() throws {
        let content = try content {
            $0.body = plain("x")
            $0.data = try node(#"{"a\"b\n": 1}"#)
        }
        #expect(try payload(content) == #"{"aps":{"alert":{"body":"x"}},"a\"b\n":1}"#)
    }

    @Test("whatever the cells hold, the payload is JSON and gives them back")
    func roundTrip() throws {
        let template = try PayloadTemplate(
            content {
                $0.title = plain("<{{ a }}|{{ b | default: 'none' }}>")
                $0.body = plain("{{ b | default: 'none' }}")
                $0.data = try node(#"{"deep": [{"x": "{{ a }}!"}]}"#)
            })
        #expect(template.columns.map { $0.value } == ["a", "b"])
        var bytes: [UInt8] = []
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let a = "." + randomText(&random), b = randomText(&random)
            #expect(template.render([a, b], into: &bytes) == nil)
            let value = try JSONValue(parsing: bytes)
            let shown =
                !Blank.isSign(b)
                    && b.unicodeScalars.contains {
                        !$0.properties.isWhitespace && ![.control, .format].contains($0.properties.generalCategory)
                    }
                ? b : "none"
            #expect(sameScalars(value["aps"]?["alert"]?["title"], "<\(a)|\(shown)>"))
            #expect(sameScalars(value["aps"]?["alert"]?["body"], shown))
            guard case .array(let deep)? = value["deep"] else { throw Diagnostic("no data") }
            #expect(sameScalars(deep.first?["x"], a + "!"))
        }
    }

    /// String's == would treat differently composed characters as equal.
    private func sameScalars(_ value: JSONValue?, _ text: String) -> Bool {
        value?.stringValue.map { Array($0.utf8) } == Array(text.utf8)
    }

    private func randomText(_ random: inout SystemRandomNumberGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let limit: UInt32 = [0x20, 0x80, 0x3000, 0x10FFFF].randomElement(using: &random) ?? 0x80
            if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &random)) { text.append(scalar) }
        }
        return String(text)
    }

    @Test("a buffer is replaced, whatever it held")
    func buffer() throws {
        let template = try PayloadTemplate(content { $0.body = plain("{{ a }}") })
        var bytes = Array("rubbish".utf8)
        #expect(template.render(["x"], into: &bytes) == nil)
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"aps":{"alert":{"body":"x"}}}"#)
        #expect(template.render([""], into: &bytes) == .blank(column: "a", place: at(1, 4)))
        #expect(bytes.isEmpty)
        #expect(RenderFailure.blank(column: "a", place: at(1)).skipReason == .renderError)
    }

    @Test("a payload of 4096 bytes goes, one of 4097 is too large")
    func size() throws {
        let template = try PayloadTemplate(content { $0.body = plain("{{ a }}") })
        var bytes: [UInt8] = []
        let frame = #"{"aps":{"alert":{"body":""}}}"#.utf8.count
        #expect(template.render([String(repeating: "x", count: 4096 - frame)], into: &bytes) == nil)
        #expect(bytes.count == 4096)
        #expect(template.render([String(repeating: "x", count: 4097 - frame)], into: &bytes) == .tooLarge(bytes: 4097))
        // An escape counts as rendered, not as in the export.
        #expect(template.render([String(repeating: "\"", count: 2100)], into: &bytes) == .tooLarge(bytes: 4200 + frame))
        #expect(RenderFailure.tooLarge(bytes: 1).skipReason == .payloadTooLarge)
    }

    @Test("content that is too large for every device is a mistake of the campaign")
    func constantSize() {
        let frame = #"{"aps":{"alert":{"body":""}}}"#.utf8.count
        #expect(mistakes(content { $0.body = plain(String(repeating: "x", count: 4096 - frame)) }) == "")
        #expect(
            mistakes(content { $0.body = plain(String(repeating: "x", count: 4097 - frame)) })
                == "c.yaml:1:1: the payload has at least 4097 bytes, but APNs takes at most 4096. Shorten its texts.")
    }

    @Test(
        "an image that can never be https is refused",
        arguments: ["http://a/b.jpg", "http://{{ a }}", "ftp{{ a }}", "{{ a | default: 'http://x' }}", "", "https:/x"])
    func badImages(image: String) {
        #expect(
            mistakes(
                content {
                    $0.body = plain("x")
                    $0.image = plain(image, line: 2)
                }
            ).hasPrefix("c.yaml:2:1: 'image' must be a web address that begins with https://, not '"))
    }

    @Test(
        "an image whose start is or may become https is accepted",
        arguments: [
            "https://a/b.jpg", "HTTPS://a", "{{ a }}", "http{{ s }}://x", "https://{{ a }}",
            "{{ a | default: 'https://x' }}",
            "{{ a | default: 'https' }}://x",
        ])
    func goodImages(image: String) {
        #expect(
            mistakes(
                content {
                    $0.body = plain("x")
                    $0.image = plain(image)
                }) == "")
    }

    @Test("combinations that APNs or the app would not understand are refused")
    func kinds() throws {
        #expect(mistakes(content { _ in }).hasPrefix("c.yaml:1:1: the content shows nothing"))
        #expect(
            mistakes(content { $0.image = plain("https://x", line: 2) }).hasPrefix(
                "c.yaml:2:1: an image needs a text with it"))
        #expect(
            mistakes(
                content {
                    $0.isSilent = true
                    $0.body = plain("x", line: 2)
                    $0.sound = plain("x", line: 3)
                    $0.badge = 1
                })
                    == """
                    c.yaml:1:1: a silent push has no badge. Remove it, or remove 'silent'.
                    c.yaml:2:1: a silent push has no text, sound, category, thread or image. Remove it, or remove 'silent'.
                    c.yaml:3:1: a silent push has no text, sound, category, thread or image. Remove it, or remove 'silent'.
                    """)
        #expect(
            mistakes(
                content {
                    $0.sound = plain("default")
                    $0.badge = -1
                }) == "c.yaml:1:1: a badge cannot be negative. Write 0 to remove the badge.")
    }

    @Test("data keeps away from the keys that Volley writes")
    func dataKeys() throws {
        let message = try mistakes(
            content {
                $0.body = plain("x")
                $0.link = plain("a://b")
                $0.data = try node(#"{"aps": {}, "link": "x", "image": "fine", "twice": 1, "twice": 2}"#)
            })
        #expect(
            message == """
                c.yaml:11:3: 'data' must not hold 'aps', which belongs to APNs. Use the keys of 'content', or write the whole push as 'payload'.
                c.yaml:12:3: 'data' holds 'link', which 'content' sets too. Keep one of them.
                c.yaml:15:3: the key 'twice' appears here twice. Keep one of them.
                """)
    }

    @Test("keys in data that APNs looks for inside aps give a warning")
    func dataWarnings() throws {
        let template = try PayloadTemplate(
            content {
                $0.body = plain("x")
                $0.data = try node(
                    #"{"sound": "a", "category": "b", "badge": 1, "alert": "c", "thread-id": "d", "own": 1}"#)
            })
        #expect(
            template.warnings.map(\.description) == [
                "c.yaml:11:3: warning: 'sound' is next to aps, where APNs does not look for it. If APNs should use it, write it as 'sound' directly under 'content'. [outside-aps]",
                "c.yaml:12:3: warning: 'category' is next to aps, where APNs does not look for it. If APNs should use it, write it as 'category' directly under 'content'. [outside-aps]",
                "c.yaml:13:3: warning: 'badge' is next to aps, where APNs does not look for it. If APNs should use it, write it as 'badge' directly under 'content'. [outside-aps]",
                "c.yaml:14:3: warning: 'alert' is next to aps, where APNs does not look for it. If APNs should use it, write it as 'body' directly under 'content'. [outside-aps]",
                "c.yaml:15:3: warning: 'thread-id' is next to aps, where APNs does not look for it. If APNs should use it, write it as 'thread' directly under 'content'. [outside-aps]",
            ])
    }

    @Test(
        "what no web address may hold is percent-encoded, what may is left alone",
        arguments: [
            ("shop://sale?name={{ a }}&x=1", "José & Co", "shop://sale?name=Jos%C3%A9%20&%20Co&x=1"),
            ("shop://sale?name={{ a }}", "plain-text_1.0~%20", "shop://sale?name=plain-text_1.0~%20"),
            ("{{ a }}", "https://x.example/ä?q=a+b#[1]", "https://x.example/%C3%A4?q=a+b#[1]"),
            ("shop://{{ a }}", "\"\\<>^`{|}\n", "shop://%22%5C%3C%3E%5E%60%7B%7C%7D"),
            ("shop://{{ a }}?x=100%", "50% off %2F%zz", "shop://50%25%20off%20%2F%25zz?x=100%25"),
            ("shop://größe", "", "shop://gr%C3%B6%C3%9Fe"), (" {{ a }}", " https://x.example ", "https://x.example"),
        ])
    func addresses(link: String, cell: String, expected: String) throws {
        let rendered = try payload(
            content {
                $0.body = plain("Hi")
                $0.link = plain(link)
            }, ["a": cell])
        #expect(try JSONValue(parsing: rendered)["link"]?.stringValue == expected)
    }

    @Test("an image from a column must be at a https address")
    func imageFromColumn() throws {
        func image(_ text: String, _ cell: String) throws -> String {
            let rendered = try payload(
                content {
                    $0.body = plain("Hi")
                    $0.image = plain(text)
                }, ["a": cell])
            return (try? JSONValue(parsing: rendered))?["image"]?.stringValue ?? rendered
        }
        #expect(try image("{{ a }}", "https://x.example/a b.jpg") == "https://x.example/a%20b.jpg")
        #expect(try image("{{ a }}", "HTTPS://x.example/a.jpg") == "HTTPS://x.example/a.jpg")
        #expect(try image("https://{{ a }}/a.jpg", "x.example") == "https://x.example/a.jpg")
        for wrong in ["http://x.example/a.jpg", "x.example/a.jpg", "https://", "httpsx//x", "ftp://x"] {
            #expect(try image("{{ a }}", wrong) == "c.yaml:1:4: a does not make an address that begins with https://")
        }
    }
}
