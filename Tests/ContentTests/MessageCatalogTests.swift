import Base
import Content
import Testing

@Suite("Messages by variant and language")
struct MessageCatalogTests {
    private func translation(_ language: String, line: Int = 3, _ fill: (inout MessageContent) -> Void) -> Translation {
        var content = MessageContent(position: at(line))
        fill(&content)
        return Translation(language: SourceText(language, at: at(line, 5)), content: content)
    }

    private func variant(_ name: String, _ share: Int, _ content: MessageContent? = nil) -> MessageVariant {
        MessageVariant(name: SourceText(name, at: at(9)), share: share * 100, content: content)
    }

    private func text(
        _ catalog: MessageCatalog, token: String = "aa", variant: Int? = nil, language: String, cells: [String] = []
    )
        -> String
    {
        var chooser = MessageChooser(catalog)
        let language = Array(language.utf8)
        let message = language.withUnsafeBufferPointer { language in
            variant.map { chooser.message(variant: $0, language: language) }
                ?? Array(token.utf8).withUnsafeBufferPointer {
                    chooser.message(variant: chooser.variant(of: $0, alias: noAlias), language: language)
                }
        }
        guard let message else { return "nothing" }
        var bytes: [UInt8] = []
        if let failure = catalog.messages[message].template.render(cells, into: &bytes) { return "\(failure)" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "a device reads the text of the nearest language",
        arguments: [
            ("zh-Hans-CN", "简"), ("zh_CN", "简"), ("zh-Hans", "简"), ("zh-Hant-TW", "中"), ("zh-TW", "中"), ("zh", "中"),
            ("zh-SG", "简"),
            ("pt-BR", "Oi"),
            ("pt-PT", "Hi"), ("pt", "Hi"), ("en", "Hi"), ("", "Hi"), ("?", "Hi"), ("DE-at", "Hallo"), ("de", "Hallo"),
        ])
    func fallback(_ language: String, _ title: String) throws {
        let catalog = try MessageCatalog(
            content {
                $0.title = plain("Hi")
                $0.languages = [
                    translation("zh") { $0.title = plain("中") }, translation("zh-Hans") { $0.title = plain("简") },
                    translation("pt-BR") { $0.title = plain("Oi") }, translation("de") { $0.title = plain("Hallo") },
                ]
            })
        #expect(text(catalog, language: language) == #"{"aps":{"alert":{"title":"\#(title)"}}}"#)
        #expect(catalog.messages.map(\.language) == ["", "zh", "zh-Hans", "pt-BR", "de"])
    }

    @Test("a key that a language leaves out comes from the more general one, then from the text above")
    func perKey() throws {
        let catalog = try MessageCatalog(
            content {
                $0.title = plain("Hi")
                $0.body = plain("Body")
                $0.sound = plain("ping.caf")
                $0.languages = [
                    translation("zh") {
                        $0.title = plain("中")
                        $0.body = plain("文")
                    },
                    translation("zh-Hans") { $0.title = plain("简") },
                ]
            })
        #expect(
            text(catalog, language: "zh-Hans-SG") == #"{"aps":{"alert":{"title":"简","body":"文"},"sound":"ping.caf"}}"#)
        #expect(catalog.warnings.isEmpty)
    }

    @Test("half a translation is worth a warning")
    func halfTranslated() throws {
        let catalog = try MessageCatalog(
            content {
                $0.title = plain("Hi")
                $0.body = plain("Body")
                $0.languages = [translation("de") { $0.title = plain("Hallo") }]
            })
        #expect(
            Diagnostics(catalog.warnings).description
                == "c.yaml:3:5: warning: de has no 'body' of its own, so those devices read two languages in one push. Add 'body' to de. [partly-translated]"
        )
    }

    @Test("of variant and language the translation counts, and the variant's own translation most")
    func combination() throws {
        var short = MessageContent(position: at(20))
        short.body = plain("short")
        short.badge = 3
        short.languages = [translation("fr") { $0.body = plain("court") }]
        let catalog = try MessageCatalog(
            content {
                $0.body = plain("long")
                $0.languages = [
                    translation("de") { $0.body = plain("lang") }, translation("fr") { $0.body = plain("longue") },
                ]
            }, variants: [variant("a", 50, short), variant("holdout", 10), variant("b", 40)], campaign: "c")
        func body(_ variant: Int, _ language: String) -> String { text(catalog, variant: variant, language: language) }
        #expect(body(0, "en") == #"{"aps":{"alert":{"body":"short"},"badge":3}}"#)
        #expect(body(0, "de") == #"{"aps":{"alert":{"body":"lang"},"badge":3}}"#)
        #expect(body(0, "fr") == #"{"aps":{"alert":{"body":"court"},"badge":3}}"#)
        #expect(body(1, "fr") == "nothing")
        // What comes behind the holdout, which has no texts, has its own.
        #expect(body(2, "en") == #"{"aps":{"alert":{"body":"long"}}}"#)
        #expect(body(2, "fr") == #"{"aps":{"alert":{"body":"longue"}}}"#)
        #expect(catalog.variantNames == ["a", "holdout", "b"])
        #expect(
            catalog.messages.map { "\($0.variant) \($0.language)" } == ["a ", "a de", "a fr", "b ", "b de", "b fr"])
        #expect(
            Diagnostics(catalog.warnings).description.hasPrefix(
                "c.yaml:9:1: warning: the variant 'a' has no 'body' for de, so its devices read the same as in every other variant."
            ))
    }

    @Test("the cells of all texts come in one order, each column once")
    func columns() throws {
        var other = MessageContent(position: at(20))
        other.body = plain("{{ c }} {{ a }}", line: 5)
        let catalog = try MessageCatalog(
            content {
                $0.title = plain("{{ b }}", line: 2)
                $0.body = plain("{{ a }}", line: 3)
                $0.languages = [translation("de") { $0.title = plain("{{ d }}", line: 4) }]
            }, variants: [variant("x", 50), variant("y", 50, other)], campaign: "c")
        #expect(catalog.columns.map(\.value) == ["b", "a", "d", "c"])
        let cells = ["B", "A", "D", "C"]
        #expect(
            text(catalog, variant: 0, language: "de", cells: cells) == #"{"aps":{"alert":{"title":"D","body":"A"}}}"#)
        #expect(
            text(catalog, variant: 1, language: "", cells: cells) == #"{"aps":{"alert":{"title":"B","body":"C A"}}}"#)
    }

    @Test("a mistake that several messages share is said once")
    func mistakesOnce() throws {
        let content = content {
            $0.title = plain("{{ a | nonsense }}")
            $0.body = plain("x")
            $0.languages = [translation("de") { $0.body = plain("{{ }}") }, translation("fr") { $0.body = plain("y") }]
        }
        var said: [Diagnostic] = []
        do throws(Diagnostics) {
            _ = try MessageCatalog(content, variants: [variant("a", 50), variant("b", 50)])
        } catch {
            said = error.all
        }
        #expect(said.count == 2)
    }

    @Test("a visible and a background push cannot go out in one campaign")
    func oneType() throws {
        let content = try content { (content) throws in
            content.payload = try node(#"{"aps":{"alert":"Hi"}}"#)
            let silent = try node(#"{"aps":{"content-available":1}}"#)
            content.languages = [translation("de") { $0.payload = silent }]
        }
        #expect(throws: Diagnostics.self) { try MessageCatalog(content) }
    }

    @Test("shares hold within half a percent among 100,000 devices, and another campaign deals anew")
    func shares() throws {
        let variants = [variant("a", 45), variant("b", 45), variant("holdout", 10)]
        var dealt: [[Int]] = []
        for campaign in ["spring-sale", "summer-sale", ""] {
            let chooser = MessageChooser(
                try MessageCatalog(content { $0.title = plain("Hi") }, variants: variants, campaign: campaign))
            var random = SplitMix(seed: 7)
            let numbers = (0..<100_000).map { _ in
                let token = Array((0..<4).map { _ in String(random.next() | 1 << 63, radix: 16) }.joined().utf8)
                return token.withUnsafeBufferPointer { chooser.variant(of: $0, alias: noAlias) }
            }
            for (number, share) in [0.45, 0.45, 0.1].enumerated() {
                #expect(abs(Double(numbers.count { $0 == number }) / 100_000 - share) < 0.005, "\(campaign) \(number)")
            }
            dealt.append(numbers)
        }
        // Of two independent draws 0.45² + 0.45² + 0.1² = 41.5 % agree.
        for other in dealt.dropFirst() {
            #expect(abs(Double(zip(dealt[0], other).count { $0 == $1 }) / 100_000 - 0.415) < 0.005)
        }
    }

    @Test("without the holdout its devices would be dealt like all others, in proportion to the shares")
    func withoutHoldout() throws {
        let variants = [variant("a", 60), variant("holdout", 20), variant("b", 20)]
        let chooser = MessageChooser(
            try MessageCatalog(content { $0.title = plain("Hi") }, variants: variants, campaign: "spring-sale"))
        var random = SplitMix(seed: 7)
        var instead = [0, 0, 0]
        while instead.reduce(0, +) < 20_000 {
            let token = Array((0..<4).map { _ in String(random.next() | 1 << 63, radix: 16) }.joined().utf8)
            token.withUnsafeBufferPointer {
                if chooser.variant(of: $0, alias: noAlias) == 1 {
                    instead[chooser.variantWithoutHoldout(of: $0, alias: noAlias)] += 1
                }
            }
        }
        #expect(
            abs(Double(instead[0]) / 20_000 - 0.75) < 0.01 && instead[1] == 0
                && abs(Double(instead[2]) / 20_000 - 0.25) < 0.01)
    }

    @Test("the same device always falls into the same variant: these do so in every version")
    func stable() throws {
        let variants = [variant("a", 50), variant("b", 50)]
        let chooser = MessageChooser(
            try MessageCatalog(content { $0.title = plain("Hi") }, variants: variants, campaign: "spring-sale"))
        let dealt = (0..<16).map { number in
            Array((String(repeating: "0", count: 63) + String(number, radix: 16)).utf8).withUnsafeBufferPointer {
                chooser.variant(of: $0, alias: noAlias)
            }
        }
        // Computed by a separate program from the rule in MessageChooser.
        #expect(dealt == [0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0])
    }

    @Test("a person's devices fall into one variant, unless devices are dealt; those without alias go by their token")
    func aliases() throws {
        let variants = [variant("a", 45), variant("b", 45), variant("holdout", 10)]
        func chooser(_ dealing: VariantDealing) throws -> MessageChooser {
            MessageChooser(
                try MessageCatalog(
                    content { $0.title = plain("Hi") }, variants: variants, campaign: "spring-sale", dealing: dealing))
        }
        let (byAlias, byDevice) = (try chooser(.alias), try chooser(.device))
        func recipient(_ number: Int, _ alias: String) -> Recipient {
            let token = String(repeating: "0", count: 61) + String(1000 + number)
            return Recipient(token: Target(normalized: token.suffix(64).description), alias: alias)
        }
        for person in 0..<200 {
            let dealt = Set((0..<5).map { byAlias.variant(of: recipient($0 + 5 * person, "user\(person)")) })
            #expect(dealt.count == 1)
            #expect(
                Set((0..<5).map { byAlias.variantWithoutHoldout(of: recipient($0 + 5 * person, "user\(person)")) })
                    .count == 1)
        }
        #expect(Set((0..<200).map { byDevice.variant(of: recipient($0, "user1")) }) == [0, 1, 2])
        for blank in ["", " ", "NULL", "-"] {
            #expect(
                (0..<200).allSatisfy {
                    byAlias.variant(of: recipient($0, blank)) == byDevice.variant(of: recipient($0, ""))
                })
        }
        // Computed by a separate program from the rule in MessageChooser.
        #expect(
            (0..<16).map { byAlias.variant(of: recipient(0, "user\($0)")) } == [
                0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1,
            ])
    }
}

private var noAlias: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: nil, count: 0) }
