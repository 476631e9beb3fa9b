import Base
import Content
import PushServices
import Testing

@Suite("Messages by service")
struct ServiceMessageTests {
    private func translation(_ language: String, _ title: String) -> Translation {
        var content = MessageContent(position: at(3))
        content.title = plain(title)
        return Translation(language: SourceText(language, at: at(3, 5)), content: content)
    }

    @Test(
        "a device reads what its service says: its translation, then the campaign's, then its text, then the campaign's"
    )
    func services() throws {
        let ofFCM = try content { own in
            (own.title, own.sound) = (plain("Android"), plain("ding.caf"))
            own.languages = [translation("fr", "Androïde")]
            own.own = [ContentMember(plain("android"), try node("{\"channel\": \"offers\"}"))]
        }
        let all = content { content in
            (content.title, content.badge) = (plain("Hi"), 1)
            content.languages = [translation("de", "Hallo"), translation("fr", "Salut")]
            content.services = [ServiceContent(service: plain("fcm"), content: ofFCM)]
        }
        let catalog = try MessageCatalog(all, for: [APNs(), FCM()])
        #expect(catalog.messages.map(\.service) == [0, 0, 0, 1, 1, 1] && catalog.messagesOfService == 3)
        #expect(
            catalog.byteLimit(ofMessage: 0) == APNs().payloadLimit(of: .alert)
                && catalog.byteLimit(ofMessage: 3) == FCM().payloadLimit(of: .alert))
        var chooser = MessageChooser(catalog)
        func title(_ language: String, _ service: Int) -> String? {
            chooser.message(of: Recipient(token: Target(normalized: "aa"), language: language), service: service)
                .flatMap {
                    catalog.messages[$0].content.title?.value
                }
        }
        #expect(["en", "de", "fr"].map { title($0, 0) } == ["Hi", "Hallo", "Salut"])
        #expect(["en", "de", "fr"].map { title($0, 1) } == ["Android", "Hallo", "Androïde"])
        var bytes: [UInt8] = []
        #expect(catalog.messages[3].template.render([], into: &bytes) == nil)
        #expect(
            String(decoding: bytes, as: UTF8.self).contains(
                #""android":{"notification":{"channel_id":"offers","sound":"ding"}}"#))
        #expect(catalog.messages[0].content.own.isEmpty)
    }

    @Test(
        "what a service removes stays away in every variant and language, except where its own translation brings it back"
    )
    func removed() throws {
        let ofFCM = content { own in
            own.removed = [.image, .badge]
            own.languages = [translation("fr", "Salut")]
            own.languages[0].content.image = plain("https://a.example/fr.png")
        }
        let all = content { content in
            (content.title, content.badge, content.image) = (plain("Hi"), 1, plain("https://a.example/all.png"))
            content.languages = [translation("de", "Hallo"), translation("fr", "Salut")]
            content.languages[0].content.image = plain("https://a.example/de.png")
            content.services = [ServiceContent(service: plain("fcm"), content: ofFCM)]
        }
        let variant = content { $0.image = plain("https://a.example/variant.png") }
        let catalog = try MessageCatalog(
            all, for: [APNs(), FCM()], variants: [MessageVariant(name: plain("a"), share: 10_000, content: variant)])
        let images = catalog.messages.map { $0.content.image?.value.split(separator: "/").last.map(String.init) ?? "" }
        #expect(images == ["variant.png", "de.png", "variant.png", "", "", "fr.png"])
        #expect(catalog.messages.map(\.content.badge) == [1, 1, 1, nil, nil, nil])
    }

    @Test(
        "what one of several services leaves out is a warning with its remedy, and a mistake where it is the only one")
    func losses() throws {
        let image = content {
            ($0.title, $0.body, $0.image) = (plain("Hi"), plain("Sale"), plain("https://a.example/b.png", line: 4))
        }
        let warnings = try MessageCatalog(image, for: [APNs(), RongCloud()]).warnings
        #expect(
            Diagnostics(warnings).description == """
                c.yaml:4:1: warning: RongCloud passes an image to iPhones only together with a category, so iPhones get the push without it. \
                Add the category for which the app loads images, for example category: rich. If that is fine, write below 'content' \
                services: {rongcloud: {image: null}}. [not-carried]
                """)
        let followed = content { content in
            (content.title, content.body, content.image) = (
                plain("Hi"), plain("Sale"), plain("https://a.example/b.png")
            )
            content.services = [ServiceContent(service: plain("rongcloud"), content: Self.without(.image))]
        }
        #expect(try MessageCatalog(followed, for: [APNs(), RongCloud()]).warnings.isEmpty)
        do {
            _ = try MessageCatalog(image, for: [RongCloud()])
            Issue.record("nobody gets the image")
        } catch {
            #expect(
                error.description == """
                    c.yaml:4:1: RongCloud passes an image to iPhones only together with a category. Add the category for which the app loads \
                    images, for example category: rich.
                    """)
        }
        // The warnings of the plan do not come again when a part of the run is sent again.
        #expect(throws: Never.self) { try MessageCatalog(image, for: [RongCloud()], isPlanned: true) }
    }

    @Test("what reaches phones of one system only is a warning also where the service is the only one")
    func partialLosses() throws {
        let own = try content { content in
            content.own = [ContentMember(plain("in_app"), try node(#"{"body": "Sale"}"#))]
        }
        let all = content { content in
            (content.title, content.body) = (plain("Hi", line: 4), plain("Sale"))
            content.services = [ServiceContent(service: plain("getui"), content: own)]
        }
        for services in [[Getui()], [APNs(), Getui()]] as [[any PushService]] {
            #expect(
                Diagnostics(try MessageCatalog(all, for: services).warnings).description == """
                    c.yaml:4:1: warning: Getui gives a running app on Android only what is below 'in_app', so it does not get this 'title'. \
                    Write title below 'in_app' as well. If that is fine, allow it: allow: [{warning: not-carried, reason: "…"}]. [not-carried]
                    """)
        }
    }

    private static func without(_ key: ContentKey) -> MessageContent { content { $0.removed = [key] } }

    @Test("a text that is too long for one of several services names it, its limit, and where to write a shorter one")
    func limits() throws {
        let long = content { ($0.title, $0.body) = (plain(String(repeating: "x", count: 51), line: 2), plain("Sale")) }
        func mistakes(_ services: [any PushService]) -> String {
            do throws(Diagnostics) {
                _ = try MessageCatalog(long, for: services)
                return ""
            } catch { return error.description }
        }
        #expect(mistakes([APNs()]).isEmpty)
        #expect(
            mistakes([Getui()]) == "c.yaml:2:1: the title has 51 characters, and Getui takes at most 50. Shorten it.")
        #expect(
            mistakes([RongCloud()])
                == "c.yaml:2:1: the title has 51 characters, and RongCloud takes at most 50. Shorten it.")
        #expect(
            mistakes([APNs(), Getui()]) == """
                c.yaml:2:1: the title has 51 characters, and Getui takes at most 50. Shorten it, or write shorter texts for Getui below \
                'content': services: {getui: {title: …}}.
                """)
        let parts = try MessageCatalog(
            content { ($0.title, $0.body) = (plain("{{ a }}"), plain("{{ b }}")) }, for: [APNs(), Getui(), RongCloud()]
        ).limitedParts
        #expect(
            parts.map { "\($0.service): \($0.noun), \($0.amount)" } == [
                "Getui: part for iPhones, 4,096 bytes", "Getui: title, 50 characters", "Getui: body, 256 characters",
                "RongCloud: title, 50 characters",
            ])
    }

    @Test("what only Android has is checked at its place")
    func android() throws {
        func mistakes(_ json: String) throws -> [String] {
            let own = try content { content in
                content.title = plain("Hi")
                content.own = [ContentMember(plain("android"), try node(json))]
            }
            let all = content { content in
                content.title = plain("Hi")
                content.services = [ServiceContent(service: plain("fcm"), content: own)]
            }
            do throws(Diagnostics) {
                _ = try MessageCatalog(all, for: [FCM()])
                return []
            } catch { return error.all.map(\.message) }
        }
        #expect(try mistakes(##"{"channel": "a", "color": "#FF8800", "icon": "b", "tag": "c"}"##).isEmpty)
        #expect(try mistakes(#"{"chanel": "a"}"#) == ["unknown key 'chanel' in 'android'"])
        #expect(try mistakes(#"{"color": "red"}"#) == ["'color' must be a colour like #FF8800, not the text 'red'"])
        #expect(try mistakes(#"{"tag": 5}"#) == ["'tag' must be a text"])
        #expect(try mistakes(#"["a"]"#) == ["'android' must be a group of keys"])
    }
}
