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

    @Test("a device reads what its service says: its translation, then the campaign's, then its text, then the campaign's")
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
            chooser.message(of: Recipient(token: Target(normalized: "aa"), language: language), service: service).flatMap {
                catalog.messages[$0].content.title?.value
            }
        }
        #expect(["en", "de", "fr"].map { title($0, 0) } == ["Hi", "Hallo", "Salut"])
        #expect(["en", "de", "fr"].map { title($0, 1) } == ["Android", "Hallo", "Androïde"])
        var bytes: [UInt8] = []
        #expect(catalog.messages[3].template.render([], into: &bytes) == nil)
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""android":{"notification":{"channel_id":"offers","sound":"ding"}}"#))
        #expect(catalog.messages[0].content.own.isEmpty)
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
        #expect(try mistakes(#"{"color": "red"}"#) == ["'color' must be a colour like #FF8800, not 'red'"])
        #expect(try mistakes(#"{"tag": 5}"#) == ["'tag' must be a text"])
        #expect(try mistakes(#"["a"]"#) == ["'android' must be a group of keys"])
    }
}
