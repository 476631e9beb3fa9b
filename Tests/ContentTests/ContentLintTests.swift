import Base
import Content
import PushServices
import TestSupport
import Testing

@Suite("Lint of what a campaign says")
struct ContentLintTests {
    private func warnings(_ content: MessageContent, variants: [MessageVariant] = []) throws -> [Diagnostic] {
        try MessageCatalog(content, variants: variants, campaign: "c").warnings
    }

    private func names(_ fill: (inout MessageContent) -> Void) throws -> [String] {
        try warnings(
            content {
                $0.title = plain("Hi")
                fill(&$0)
            }
        ).compactMap(\.name?.rawValue)
    }

    private func byHand(_ json: String) throws -> [String] {
        let payload = try node(json)
        return try warnings(content { $0.payload = payload }).map {
            "\($0.position?.line ?? 0) \($0.name?.rawValue ?? "")"
        }
    }

    @Test("of phones of several makers only what is true of all is said")
    func otherSystems() throws {
        func said(_ service: any PushService, _ fill: (inout MessageContent) -> Void) throws -> [String] {
            let content = content {
                $0.title = plain("Hi")
                fill(&$0)
            }
            return try MessageCatalog(content, for: [service]).warnings.map(\.message)
        }
        let other = OtherService()
        #expect(
            try said(APNs()) { $0.sound = plain("bell.ogg") } == [
                "the sound 'bell.ogg' is not in a format that iOS plays, so phones play their usual one"
            ])
        for sound in ["bell.ogg", "bell"] { #expect(try said(other) { $0.sound = plain(sound) }.isEmpty) }
        #expect(try said(other) { $0.sound = plain("Default") } == ["the sound 'Default' is read as a file's name"])
        let media = try node(#"{"photo": "http://example.com/a.jpg"}"#)
        #expect(try said(other) { $0.data = media } == ["'photo' is loaded over http, which phones refuse"])
        #expect(try said(APNs()) { $0.data = media }.contains("'photo' is loaded over http, which iOS refuses"))
    }

    @Test("texts that a lock screen cuts off are named with their length")
    func textCutOff() throws {
        let long = try warnings(
            content {
                $0.title = plain(String(repeating: "x", count: 51))
                $0.body = quoted("{{ store }}" + String(repeating: "x", count: 179), line: 2)
            })
        #expect(
            long.map(\.description) == [
                "c.yaml:1:1: warning: the title has at least 51 characters, and a lock screen shows about 50. Shorten it, or let the part that matters come first. [text-cut-off]",
                "c.yaml:2:8: warning: the body has at least 179 characters, and a lock screen shows about 178. Shorten it, or let the part that matters come first. [text-cut-off]",
            ])
        #expect(
            try names {
                $0.title = plain(String(repeating: "x", count: 50))
                $0.body = plain(String(repeating: "字", count: 89))
            } == [])
        #expect(try names { $0.body = plain(String(repeating: "字", count: 90)) } == ["text-cut-off"])
        #expect(try names { $0.subtitle = plain(String(repeating: "x", count: 51)) } == ["text-cut-off"])
    }

    @Test(
        "two blanks in a row are odd, but not at the beginning of a line or around a column",
        arguments: [
            ("a  b", true), ("a b", false), ("a\n  b", false), ("{{ a }} {{ b }}", false), ("{{ a }}  b", true),
            ("a   ", true),
        ])
    func doubleBlank(_ text: String, isOdd: Bool) throws {
        #expect(try names { $0.body = quoted(text) } == (isOdd ? ["double-blank"] : []))
    }

    @Test(
        "a text does not begin or end with a blank because a tag prints nothing",
        arguments: [
            (
                "Sale in ", "Sale in {{ city | default: '' }}",
                "the body ends with 'in', as the tag after it prints nothing"
            ),
            (
                " points", "{% if points %}{{ points }}{% endif %} points",
                "the body begins with a blank, as the tag before it prints nothing"
            ),
            ("Sale in Lyon", "Sale in {{ city | default: '' }}", nil), ("Sale ", "Sale {{ city }}", nil),
            ("Sale ", "Sale ", nil),
        ] as [(String, String, String?)])
    func edges(text: String, template: String, message: String?) {
        let found = ShownText.warnings("body", text: text, isWhole: true, template: template, at: at(1))
        #expect(found.map(\.message) == (message.map { [$0] } ?? []))
        #expect(found.allSatisfy { $0.name == .doubleBlank })
    }

    @Test(
        "a link needs a scheme",
        arguments: [
            ("shop://sale", true), ("https://example.com", true), ("mailto:a@example.com", true),
            ("tel:+49301234", true),
            ("example.com/sale", false), ("www.example.com", false), ("/sale", false), ("localhost:8080/x", false),
            ("{{ link }}", true),
            ("sale/{{ id }}", true),
        ])
    func link(_ link: String, isFine: Bool) throws {
        #expect(try names { $0.link = quoted(link) } == (isFine ? [] : ["link-without-scheme"]))
    }

    @Test(
        "a web address leads to a host that phones reach",
        arguments: [
            ("https://shop.example.com:8443/a?b=[1]#c", ""), ("https://user@shop.example/a", ""),
            ("https://8.8.8.8/", ""),
            ("https://[2001:db8::1]:443/a", ""), ("https://172.32.0.1", ""), ("https://xn--mller-kva.de", ""),
            ("https://{{ host }}/a", ""),
            ("https://localhost:3000/a", "host-not-reachable"), ("https://10.0.0.5", "host-not-reachable"),
            ("https://172.16.0.1/a", "host-not-reachable"), ("https://192.168.0.1:80", "host-not-reachable"),
            ("http://mac.local/a", "host-not-reachable"), ("https://[::1]/a", "host-not-reachable"),
            ("https://[fd00::1]", "host-not-reachable"), ("https://shop/a", "host-not-reachable"),
            ("https://shop.example/[id]", "text-not-ready"), ("https://shop.example/?id=<id>", "text-not-ready"),
        ])
    func reachable(_ link: String, name: String) throws {
        #expect(try names { $0.link = quoted(link) } == (name.isEmpty ? [] : [name]))
    }

    @Test(
        "what is no web address is a mistake, with the one that may be meant",
        arguments: [
            ("https://exa mple.com", "it holds a space"),
            ("https://shop.example:80a/b", "Leave it out: https://shop.example/b."),
            ("https://-shop.example", "hyphen"), ("https://shop.example.", "it ends with a dot"),
            ("https://müller.de/ü", "Write https://xn--mller-kva.de/ü,"),
            ("https://mu\u{308}ller.de", "writes it with xn--"),
            (#"shop:\\sale"#, "Write shop://sale."),
        ])
    func noAddress(_ link: String, words: String) {
        do throws(Diagnostics) {
            _ = try MessageCatalog(content { ($0.title, $0.link) = (plain("Hi"), quoted(link)) })
            Issue.record("accepted")
        } catch {
            #expect(error.all.count == 1 && error.all.allSatisfy { $0.description.contains(words) }, "\(error.all)")
        }
    }

    @Test(
        "the remedy of a link without a scheme is an address only where the link names one",
        arguments: [
            ("www.shop.example/a", "https://www.shop.example/a"), ("//shop.example/a", "https://shop.example/a"),
            ("<https://shop.example>", "https://shop.example"),
            ("[a](https://shop.example/b)", "https://shop.example/b"),
            ("#sale", "https://www.example.com/sale"), ("/sale", "https://www.example.com/sale"),
            ("sale", "https://www.example.com/sale"),
        ])
    func scheme(_ link: String, meant: String) throws {
        let found = try warnings(content { ($0.title, $0.link) = (plain("Hi"), quoted(link)) })
        #expect(found.compactMap(\.remedy) == ["Write, for example, \(meant) or shop://sale."])
    }

    @Test("media among own keys need a mutable push and https")
    func media() throws {
        let data = try node(
            #"{"a": "https://x.example/a.jpg?w=3", "b": "http://x.example/b.MP4", "c": "https://x.example/page"}"#)
        #expect(try names { $0.data = data } == ["media-not-mutable", "media-not-https", "media-not-mutable"])
        #expect(
            try names {
                $0.data = data
                $0.image = plain("https://x.example/c.jpg")
            } == [])
        #expect(try warnings(content { ($0.isSilent, $0.data) = (true, data) }).isEmpty)
        #expect(try byHand(#"{"aps": {"alert": "Hi"}, "pic": "https://x.example/a.png"}"#) == ["13 media-not-mutable"])
        #expect(
            try byHand(#"{"aps": {"alert": "Hi", "mutable-content": 1}, "pic": "http://x.example/a.png"}"#) == [
                "14 media-not-https"
            ])
    }

    @Test("a payload by hand is looked at as well")
    func handWritten() throws {
        #expect(
            try byHand(#"{"aps": {"alert": "Hi"}, "sound": "default", "mutable-content": 1}"#) == [
                "13 outside-aps", "14 outside-aps",
            ])
        #expect(try byHand(#"{"aps": {"content-available": 1, "sound": "x"}}"#) == ["12 silent-and-visible"])
        #expect(try byHand(#"{"aps": {"content-available": 1, "alert": "x"}}"#) == [])
        #expect(
            try byHand(#"{"aps": {"alert": "x", "interruption-level": "time-sensitive"}}"#) == ["13 time-sensitive"])
        #expect(try byHand(#"{"aps": {"alert": "x", "interruption-level": "critical"}}"#) == ["13 critical-alert"])
        #expect(try byHand(#"{"aps": {"alert": "x", "sound": {"critical": 1, "name": "x"}}}"#) == ["14 critical-alert"])
        #expect(
            try byHand(#"{"aps": {"alert": {"title": "a  b", "body": "c  d"}}}"#) == [
                "13 double-blank", "14 double-blank",
            ])
    }

    @Test(
        "a level that few pushes should have is warned of, by whatever key",
        arguments: [("time-sensitive", "time-sensitive"), ("critical", "critical-alert")])
    func interruption(level: String, warning: String) throws {
        let found = try warnings(content { ($0.title, $0.interruption) = (plain("Hi"), plain(level)) })
        #expect(found.map { $0.name?.rawValue } == [warning])
        #expect(found.allSatisfy { $0.remedy?.contains("interruption-level") == false })
        #expect(try names { ($0.title, $0.interruption) = (plain("Hi"), plain("passive")) } == [])
    }

    @Test("variants that differ in how phones show them are not the same")
    func presentation() throws {
        func variant(_ name: String, _ change: (inout MessageContent) -> Void) -> MessageVariant {
            MessageVariant(name: plain(name), share: 2500, content: content(change))
        }
        let variants = [
            variant("a") { $0.interruption = plain("passive") }, variant("b") { $0.relevance = .double(0.5, at(1)) },
            variant("c") { $0.filter = plain("work") },
            variant("d") { $0.localized = [.body: LocalizedText(key: plain("SALE"))] },
        ]
        #expect(
            try warnings(content { $0.title = plain("Hi") }, variants: variants).filter { $0.name == .sameVariants }
                .isEmpty)
    }

    @Test("variants that say the same in every language are one")
    func sameVariants() throws {
        func variant(_ name: String, _ body: String?, _ german: String? = nil, line: Int) -> MessageVariant {
            var content = MessageContent(position: at(line))
            content.body = body.map { plain($0, line: line) }
            if let german {
                var translated = MessageContent(position: at(line))
                translated.body = plain(german, line: line)
                content.languages = [Translation(language: plain("de", line: line), content: translated)]
            }
            return MessageVariant(
                name: SourceText(name, at: at(line)), share: 2500, content: body == nil && german == nil ? nil : content
            )
        }
        func found(_ variants: [MessageVariant]) throws -> [String] {
            try warnings(content { $0.title = plain("Hi") }, variants: variants).filter { $0.name == .sameVariants }.map
            {
                "\($0.position?.line ?? 0) \($0.message)"
            }
        }
        #expect(
            try found([
                variant("a", nil, line: 9), variant("b", "x", line: 10), variant("c", "x", line: 11),
                variant("d", nil, line: 12),
            ])
                == [
                    "11 the variant 'c' says the same as 'b'", "12 the variant 'd' says the same as 'a'",
                ])
        #expect(
            try found([variant("a", "x", line: 9), variant("b", "x", "y", line: 10), variant("holdout", nil, line: 11)])
                .isEmpty)
    }

    @Test(
        "a translation whose plural forms are not all there is named, with those that are missing",
        arguments: [
            ("pl", "one: 'a', other: 'b'", "few, many"), ("ru", "'a', 'b'", "few, many"),
            ("pl", "one: 'a', few: 'b', many: 'c', other: 'd'", nil),
            ("de", "'a', 'b'", nil), ("ja", "other: 'a'", nil), ("fr", "one: 'a', other: 'b'", nil),
            ("en-GB", "other: 'b'", "one"),
            ("ar", "one: 'a', other: 'b'", "zero, two, few, many"), ("tlh", "'a', 'b'", nil),
        ] as [(String, String, String?)])
    func plurals(language: String, words: String, missing: String?) throws {
        let found = try warnings(
            content {
                $0.title = plain("Hi")
                var translated = $0
                translated.title = plain("{% if n > 1 %}{{ n | pluralize: \(words) }}{% else %}x{% endif %}", line: 7)
                $0.languages = [Translation(language: plain(language, line: 6), content: translated)]
            }
        ).filter { $0.name == .pluralFormMissing }
        #expect(found.map(\.position?.line) == (missing == nil ? [] : [7]))
        if let missing { #expect(found.first?.message.hasSuffix("there: \(missing)") == true, "\(found)") }
    }
}
