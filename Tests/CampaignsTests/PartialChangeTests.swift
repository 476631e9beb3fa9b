import Base
import Testing

@testable import Campaigns

@Suite("Changes that reach only a part of a campaign's texts")
struct PartialChangeTests {
    private static let before = """
        content:
          title: Sale
          body: 20 % off.
          link: https://example.com/a
          languages:
            de: {title: Aktion, body: 20 % auf alles.}
            fr: {title: Soldes}
          services: {apns: {body: 20 % off for you.}}
        variants:
          short: {share: 50, content: {body: 20 %., languages: {de: {body: 20 Prozent.}}}}
          long: {share: 50}

        """

    /// `body: 'de', …` of each key that changed in part.
    private func changes(_ edits: (String, String)...) throws -> [String] {
        let after = edits.reduce(Self.before) { $0.replacing($1.0, with: $1.1) }
        #expect(after != Self.before || edits.isEmpty)
        func read(_ text: String) throws -> CampaignDraft {
            Campaign.draft(text: completed(text), file: "c.yaml", now: now)
        }
        let found = try PartialChange.all(from: read(Self.before), to: read(after))
        return found.map { "\($0.key.rawValue): \($0.names)" }
    }

    @Test("name the languages, services and variants that keep their own")
    func kept() throws {
        #expect(
            try changes(("  body: 20 % off.\n", "  body: 30 % off.\n")) == [
                "body: 'de', APNs, the variant 'short' and the variant 'short' in 'de'"
            ])
        #expect(try changes(("title: Sale", "title: Bargains")) == ["title: 'de' and 'fr'"])
    }

    @Test("do not name what changed too, nor what has none of its own")
    func changedToo() throws {
        #expect(
            try changes(("title: Sale", "title: Bargains"), ("title: Aktion", "title: Angebote")) == ["title: 'fr'"])
        #expect(try changes(("title: Sale", "title: X"), ("Aktion", "Y"), ("Soldes", "Z")).isEmpty)
        #expect(try changes(("com/a", "com/b")).isEmpty)
    }

    @Test("are not seen where only white space or a language itself changed")
    func others() throws {
        #expect(try changes(("title: Sale", "title: \" Sale \"")).isEmpty)
        #expect(try changes(("title: Aktion", "title: Angebote")).isEmpty)
        #expect(try changes().isEmpty)
    }

    @Test("a text that is removed is changed, too")
    func removed() throws {
        #expect(try changes(("  title: Sale\n", "")) == ["title: 'de' and 'fr'"])
    }

    @Test("say where each text that stayed is in the file")
    func places() throws {
        func read(_ text: String) throws -> CampaignDraft {
            Campaign.draft(text: completed(text), file: "c.yaml", now: now)
        }
        let after = Self.before.replacing("  body: 20 % off.\n", with: "  body: 30 % off.\n")
        let changes = try PartialChange.all(from: read(Self.before), to: read(after))
        #expect(
            changes.flatMap(\.kept).map { $0.path.joined(separator: ".") } == [
                "content.languages.de.body", "content.services.apns.body", "variants.short.content.body",
                "variants.short.content.languages.de.body",
            ])
        let edit = try #require(YAMLEdit(after))
        for kept in changes.flatMap(\.kept) { #expect(try edit.value(at: kept.path) == .text(kept.text.value)) }
    }
}
