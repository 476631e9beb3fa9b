import Accounts
import Automation
import Base
import Campaigns
import Foundation
import PushServices
import Testing

@testable import volley_console

/// What the question about other texts says that devices then read.
@Suite("the question about texts that stay")
struct ChangeQuestionTests {
    typealias Office = OrderPageTests.Office

    private static let head = "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\n"
    private static let services = [PushServices.standard] + PushServices.all.filter { $0.accountName == "fcm" }

    /// The words for each text that stays if `Old` of the source becomes `New`, by the keys that
    /// lead to it.
    private static func outcomes(_ source: String) throws -> [String: String] {
        func draft(_ text: String) -> CampaignDraft {
            Campaign.draft(text: text, file: "x.yaml", now: .now()) { _ in services }
        }
        let (old, new) = (draft(head + source), draft((head + source).replacing("body: Old", with: "body: New")))
        try #require(old.content != nil && new.content != nil, "\(old.findings)")
        let readers = TextReaders(draft: new, services: services)
        return PartialChange.all(from: old, to: new).reduce(into: [:]) { words, change in
            for kept in change.kept {
                words[kept.path.joined(separator: ".")] = readers.afterRemoval(of: kept, change).markup
            }
        }
    }

    @Test("a language, a variant and a service without a text of their own get the new text")
    func newTexts() throws {
        let new = "these devices get the new text, “New”"
        #expect(
            try Self.outcomes("content: {body: Old, languages: {de: {body: Alt}}}\n") == [
                "content.languages.de.body": new
            ])
        #expect(
            try Self.outcomes(
                "content: {body: Old}\nvariants: {short: {share: 50, content: {body: Brief}}, usual: {share: 50}}\n")
                == ["variants.short.content.body": new])
        #expect(
            try Self.outcomes("content: {body: Old, services: {fcm: {body: Droid}}}\n") == [
                "content.services.fcm.body": new
            ])
    }

    @Test(
        "a language of a variant gets the campaign's text in that language, which may be as it was, and only then the variant's"
    )
    func languageOfVariant() throws {
        let words = try Self.outcomes(
            """
            content: {body: Old, languages: {de: {body: Alt}}}
            variants:
              short: {share: 50, content: {body: Brief, languages: {de: {body: Kurz}}}}
              usual: {share: 50}

            """)
        #expect(
            words["variants.short.content.languages.de.body"]
                == "these devices read the text of German (de), “Alt”, which is as it was (without that one, too, these devices read the text of variant short, “Brief”, which is as it was (without that one, too, these devices get the new text, “New”))"
        )
        // The variant's German devices have a text that comes before it.
        #expect(words["content.languages.de.body"] == "these devices get the new text, “New”")
        #expect(words["variants.short.content.body"] == "these devices get the new text, “New”")
    }

    @Test("devices of one text that then read different ones are named")
    func groups() throws {
        let words = try Self.outcomes(
            """
            content: {body: Old, languages: {de: {body: Alt}}}
            variants: {short: {share: 50, content: {body: Brief}}, usual: {share: 50}}

            """)
        let german = try #require(words["content.languages.de.body"])
        #expect(
            german.contains(
                "<i>variant short, German (de), APNs · variant short, German (de), FCM</i> read the text of variant short, “Brief”"
            ))
        #expect(
            german.contains(
                "; <i>variant usual, German (de), APNs · variant usual, German (de), FCM</i> get the new text, “New”"))
    }

    @Test("a service's language gets the campaign's, and a text that no device reads changes nothing")
    func languageOfService() throws {
        let words = try Self.outcomes(
            "content: {body: Old, languages: {de: {body: Alt}}, services: {fcm: {body: Droid, languages: {de: {body: Roboter}}}}}\n"
        )
        let german = try #require(words["content.services.fcm.languages.de.body"])
        #expect(german.hasPrefix("these devices read the text of German (de), “Alt”, which is as it was"))
        let unread = try Self.outcomes(
            """
            content: {body: Old, languages: {de: {body: Alt}}}
            variants:
              a: {share: 50, content: {body: Eins, languages: {de: {body: Kurz}}}}
              b: {share: 50, content: {body: Zwei, languages: {de: {body: Lang}}}}

            """)
        #expect(unread["content.languages.de.body"] == "nothing changes, as no device reads it")
    }

    @Test("the page says for each answer what devices then read, and what it says is what is saved")
    func page() async throws {
        let office = try Office()
        let source =
            Self.head + "content:\n  title: Hi\n  body: Old\n  languages:\n    de: {title: Hallo, body: Alt}\n"
            + "variants:\n  short: {share: 50, content: {body: Brief, languages: {de: {body: Kurz}}}}\n  usual: {share: 50}\n"
        try office.folder.write("spring-sale.yaml", source)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let form = [
                ("digest", ShownFile.digest(of: Array(source.utf8))), ("content.body", "New"),
                ("shown.content.body", "Old"),
            ]
            let page = try server.form("/campaign/form?file=spring-sale.yaml", session: edith, form).body
            let change = try #require(
                page.firstMatch(of: #/<li[^>]*>You changed the text, but not that of ([^<]*)\.<\/li>/#))
            #expect(
                change.1.contains("variant short, German (de)") && !change.1.contains("“")
                    && !change.1.contains("&#39;"))
            let fields = page.matches(of: #/<fieldset(?s:.*?)<\/fieldset>/#).map { String($0.output) }
            let short = try #require(fields.first { $0.contains("variant short, German (de)</legend>") })
            #expect(short.contains("<b>Keep it</b>, because it is still right: these devices read “Kurz”."))
            #expect(short.contains("<b>Mark it</b>: these devices read “Kurz”, and the form"))
            #expect(
                short.contains(
                    "<b>Remove it</b>: these devices read the text of German (de), “Alt”, which is as it was"))
            #expect(!short.contains("<b>Remove it</b>: these devices get the new text"))
            #expect(fields.contains { $0.contains("<b>Remove it</b>: these devices get the new text, “New”.") })
        }
    }
}
