import Base
import PushServices
import Testing

@testable import Content

/// What a tracked push says of itself: whole payloads, to be read next to docs/services.md.
@Suite("Tracked pushes")
struct TrackingTests {
    private static let run = "20261201-090000-spring-7f3a", id = "00000000-0000-8000-8000-000000000000"
    private static let own = #"{"run":"\#(run)","campaign":"spring","id":"\#(id)"}"#
    /// The same as the inside of a JSON string.
    private static let ownAsText = own.replacing("\"", with: "\\\"")

    private func tracking(_ run: String = Self.run, silent: Bool = false, campaign: String = "spring") -> PushTracking {
        PushTracking(run: run, campaign: campaign, includesSilent: silent, place: at(20, 10))
    }

    private func catalog(
        _ content: MessageContent, _ services: [any PushService] = [APNs()], _ variants: [MessageVariant] = [],
        silent: Bool = false
    ) throws -> MessageCatalog {
        try MessageCatalog(
            content, for: services, variants: variants, campaign: "spring", tracking: tracking(silent: silent))
    }

    private func payload(_ catalog: MessageCatalog, _ message: Int = 0, cells: [String] = []) -> String {
        var bytes: [UInt8] = []
        if let failure = catalog.messages[message].template.render(cells, into: &bytes) { return "\(failure)" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private let plainContent = content { ($0.title, $0.body) = (quoted("Hi"), quoted("Sale", line: 2)) }

    @Test("APNs has it next to aps, and the app's extension runs")
    func apns() throws {
        #expect(
            payload(try catalog(plainContent))
                == #"{"aps":{"alert":{"title":"Hi","body":"Sale"},"mutable-content":1},"volley":\#(Self.own)}"#)
    }

    @Test("FCM has it in data, as a text, and labels the message with the run")
    func fcm() throws {
        #expect(
            payload(try catalog(plainContent, [FCM()]))
                == #"{"message":{"apns":{"headers":{},"payload":{"aps":{"mutable-content":1}}},"#
                + #""notification":{"title":"Hi","body":"Sale"},"data":{"volley":"\#(Self.ownAsText)"},"#
                + #""fcm_options":{"analytics_label":"\#(Self.run)"},"android":{}}}"#)
    }

    @Test("Getui has it where a tap and a running app get data")
    func getui() throws {
        let click = #""click_type":"payload","payload":"{\"volley\":\#(Self.ownAsText)}""#
        let shown = #"{"title":"Hi","body":"Sale",\#(click)}"#
        #expect(
            payload(try catalog(plainContent, [Getui()]))
                == #"{"settings":{"strategy":{"default":1,"ios":2}},"push_channel":{"ios":{"type":"notify","aps":{"alert":{"title":"Hi","body":"Sale"},"#
                + #""sound":"com.gexin.ios.silence"},"payload":"{\"volley\":\#(Self.ownAsText)}"},"android":{"ups":{"notification":\#(shown)}}},"#
                + #""push_message":{"notification":\#(shown)}}"#)
        var inApp = plainContent
        inApp.own = [.init(plain("in_app"), try node(#"{"title":"Hi","body":"Sale"}"#))]
        #expect(
            payload(try catalog(inApp, [Getui()])).contains(
                #""push_message":{"transmission":"{\"title\":\"Hi\",\"body\":\"Sale\",\"volley\":\#(Self.ownAsText)}"}"#
            ))
        // The phone opens a link that is alone, and the app is not asked.
        var web = plainContent
        web.link = quoted("https://example.com/sale")
        #expect(
            payload(try catalog(web, [Getui()])).contains(
                #""click_type":"url","url":"https://example.com/sale?utm_source=volley&"#))
    }

    @Test("JPush has it in the extras of each system")
    func jpush() throws {
        let extras = #""extras":{"volley":\#(Self.own)}"#
        #expect(
            payload(try catalog(plainContent, [JPush()]))
                == #"{"notification":{"android":{"alert":"Sale","title":"Hi",\#(extras)},"#
                + #""ios":{"alert":{"title":"Hi","body":"Sale"},"mutable-content":true,\#(extras)}},"platform":"all","options":{}}"#
        )
    }

    @Test("RongCloud has it in the extras of each system, as a text")
    func rongCloud() throws {
        let extras = #"{"extras":{"volley":"\#(Self.ownAsText)"}}"#
        #expect(
            payload(try catalog(plainContent, [RongCloud()]))
                == #"{"notification":{"ios":\#(extras),"android":\#(extras),"harmonyOS":\#(extras),"title":"Hi","pushContent":"Sale"}}"#
        )
    }

    @Test(
        "links to web pages get utm_*, encoded, in front of the fragment, and none that they have",
        arguments: [
            ("https://example.com/sale", "https://example.com/sale?UTM"),
            ("HTTP://example.com", "HTTP://example.com?UTM"),
            ("https://example.com/a?b=1#top", "https://example.com/a?b=1&UTM#top"),
            ("https://example.com/?", "https://example.com/?UTM"),
            ("https://example.com/#/a?utm_source=x", "https://example.com/?UTM#/a?utm_source=x"),
            ("shop://sale", "shop://sale"), ("intent://sale#Intent;end", "intent://sale#Intent;end"),
            ("{{ page }}", "https://example.com/%E2%82%AC?UTM"),
            ("https://example.com/{{ page | upcase }}", "https://example.com/HTTPS://EXAMPLE.COM/%E2%82%AC?UTM"),
        ])
    func links(link: String, expected: String) throws {
        let utm = "utm_source=volley&utm_medium=push&utm_campaign=spring&utm_id=\(Self.run)"
        let said = content { ($0.title, $0.link) = (quoted("Hi"), quoted(link, line: 2)) }
        let payload = payload(try catalog(said), cells: ["https://example.com/€"])
        #expect(payload.contains("\"link\":\"\(expected.replacing("UTM", with: utm))\","), "\(payload)")
    }

    @Test("parameters that a link has stay as they are, in a constant and in a cell", arguments: [false, true])
    func presentParameters(isCell: Bool) throws {
        let link = "https://example.com/?utm_campaign=mine&utm_source=mail"
        let said = content { ($0.title, $0.link) = (quoted("Hi"), quoted(isCell ? "{{ link }}" : link, line: 2)) }
        #expect(
            payload(try catalog(said), cells: [link]).contains(
                "\"link\":\"\(link)&utm_medium=push&utm_id=\(Self.run)\""))
    }

    @Test("a variant's name is encoded in links, and whole for the app")
    func variant() throws {
        let variants = ["ä & b", "b"].map { name in
            MessageVariant(name: plain(name), share: 5000, content: content { $0.body = quoted(name) })
        }
        let said = content { ($0.title, $0.link) = (quoted("Hi"), quoted("https://example.com", line: 2)) }
        let payload = payload(try catalog(said, [APNs()], variants))
        #expect(payload.contains("utm_campaign=spring&utm_content=%C3%A4%20%26%20b&utm_id="), "\(payload)")
        #expect(payload.contains(#""campaign":"spring","variant":"ä & b","id":"#), "\(payload)")
    }

    @Test("where requests share a body, only variants are named that cannot have the text of another one")
    func sharedBodies() throws {
        func named(_ service: any PushService, _ bodies: [(String, String)]) throws -> [String] {
            let variants = bodies.map { name, body in
                MessageVariant(
                    name: plain(name), share: 10_000 / bodies.count, content: content { $0.body = quoted(body) })
            }
            let catalog = try catalog(content { $0.title = quoted("Hi") }, [service], variants)
            return catalog.messages.compactMap { $0.content.tracking?.variant }
        }
        let clear = [("a", "Hello {{ name }}"), ("b", "Good day {{ name }}")]
        let doubtful = [("a", "Hello {{ name }}"), ("b", "Hello Ada")]
        let mixed = [("a", "Hello {{ name }}"), ("b", "Hello Ada"), ("c", "Sale"), ("d", "Sale!")]
        for service in [JPush() as any PushService, RongCloud(), Getui().switched(on: ["lists"])] {
            #expect(try named(service, clear) == ["a", "b"])
            #expect(try named(service, doubtful) == ["", ""])
            #expect(try named(service, mixed.map { ($0.0, $0.1) }) == ["", "", "c", "d"])
        }
        for service in [APNs() as any PushService, FCM(), Getui()] {
            #expect(try named(service, doubtful) == ["a", "b"])
        }
    }

    @Test(
        "tracking makes no two payloads different that were the same",
        arguments: [JPush() as any PushService, RongCloud()])
    func distinctPayloads(service: any PushService) throws {
        let variants = [("a", "Hi {{ name }}"), ("b", "Hi Ada"), ("c", "Sale")].map { name, body in
            MessageVariant(
                name: plain(name), share: name == "c" ? 3334 : 3333, content: content { $0.body = quoted(body) })
        }
        let said = content { ($0.title, $0.link) = (quoted("Hi"), quoted("https://example.com/{{ name }}", line: 2)) }
        func payloads(_ tracking: PushTracking?) throws -> Set<[UInt8]> {
            let catalog = try MessageCatalog(
                said, for: [service], variants: variants, campaign: "spring", tracking: tracking)
            var payloads: Set<[UInt8]> = []
            for message in catalog.messages.indices {
                for name in ["Ada", "Ben", "Ada"] {
                    var cells = EscapedCells(), bytes: [UInt8] = []
                    let json = Array(#"["\#(name)"]"#.utf8)
                    json.withUnsafeBufferPointer { json in
                        _ = cells.locate(in: json)
                        #expect(catalog.messages[message].template.append(cells, to: &bytes) == nil)
                    }
                    payloads.insert(bytes)
                }
            }
            return payloads
        }
        #expect(try payloads(tracking()).count == payloads(nil).count)
        #expect(try payloads(nil).count == 5)
    }

    @Test("payloads are measured with it: a preview's are as long as a run's, and what no longer fits is a mistake")
    func sizes() throws {
        let sample = try MessageCatalog(
            plainContent, for: [APNs()], campaign: "spring", tracking: tracking("00000000-000000-spring-0000"))
        #expect(payload(sample).utf8.count == payload(try catalog(plainContent)).utf8.count)
        let long = content { $0.body = quoted(String(repeating: "x", count: 4000)) }
        #expect(throws: Never.self) { try MessageCatalog(long, for: [APNs()], campaign: "spring") }
        do {
            _ = try catalog(long)
            Issue.record("a payload over the limit was taken")
        } catch {
            #expect("\(error)".hasPrefix("c.yaml:1:1: the payload has at least 41"), "\(error)")
            #expect("\(error)".contains("but APNs takes at most 4096"), "\(error)")
        }
    }

    @Test("the app's own key of that name is a mistake, with every service", arguments: PushServices.all.map(\.name))
    func ownKey(name: String) throws {
        let service = try #require(PushServices.named(name))
        var said = plainContent
        said.data = .object([.init(SourceText("volley", at: at(5, 3)), .text(quoted("x")))], at(5))
        do {
            _ = try catalog(said, [service])
            Issue.record("the key was taken")
        } catch {
            #expect(
                "\(error)"
                    == "c.yaml:5:3: 'data' holds 'volley', which 'track' writes. Rename it, here and in the app; or write track: false under 'delivery'."
            )
        }
        #expect(throws: Never.self) { try MessageCatalog(said, for: [service]) }
    }

    @Test("silent pushes say it on request only, and payloads by hand never; a warning says so")
    func untracked() throws {
        let silent = content { $0.isSilent = true }
        let without = try catalog(silent)
        #expect(payload(without) == #"{"aps":{"content-available":1}}"#)
        #expect(
            without.warnings.map(\.description) == [
                "c.yaml:20:10: warning: no one sees or opens a silent push, so these are not tracked. Write track: silent if the app should report that it got them, otherwise track: false. [not-tracked]"
            ])
        let with = try catalog(silent, silent: true)
        #expect(payload(with) == #"{"aps":{"content-available":1},"volley":\#(Self.own)}"# && with.warnings.isEmpty)
        let byHand = try content { $0.payload = try node(#"{"aps":{"alert":"Hi"}}"#) }
        let written = try catalog(byHand)
        #expect(payload(written) == #"{"aps":{"alert":"Hi"}}"#)
        #expect(
            written.warnings.map(\.description) == [
                "c.yaml:10:1: warning: a payload written by hand is sent as it is written, so these pushes are not tracked. Write the push with the keys of 'content'; or write track: false under 'delivery'. [not-tracked]"
            ])
    }

    @Test("a run's id that is too long for a label of FCM is shortened, and keeps its moment and its digits")
    func label() throws {
        let name = String(repeating: "n", count: 64), run = "20261201-090000-\(name)-7f3a"
        let catalog = try MessageCatalog(
            plainContent, for: [FCM()], campaign: name, tracking: tracking(run, campaign: name))
        let label = "20261201-090000-" + String(repeating: "n", count: 29) + "-7f3a"
        #expect(label.count == 50 && payload(catalog).contains(#""analytics_label":"\#(label)""#))
    }
}
