import Base
import Content
import Testing

@Suite("Placeholders of other tools")
struct TextPlaceholderTests {
    private func warnings(_ text: String) throws -> [Diagnostic] {
        try MessageCatalog(content { $0.body = quoted(text) }, campaign: "c").warnings.filter { $0.name == .placeholderInText }
    }

    @Test(
        "are warned of, with the column to write",
        arguments: [
            ("Hi @first_name!", "'@first_name'", "{{ first_name }}"), ("Hi $name", "'$name'", "{{ name }}"),
            ("Hi <<First Name>>", "'<<First Name>>'", "{{ first_name }}"), ("Hallo «Vorname»", "'«Vorname»'", "{{ vorname }}"),
            ("Hi [firstname | friend]", "'[firstname | friend]'", "{{ firstname | default: 'there' }}"),
            ("You have %d points", "'%d'", "{{ points }}"),
            ("%@, come back", "'%@'", "{{ points }}"), ("%1$s wartet", "'%1$s'", "{{ points }}"),
            ("Hi XXX", "'XXX'", "Write what is meant"),
            ("Dear ____,", "'____'", "Write what is meant"), ("TODO: text", "'TODO'", "Write what is meant"),
            ("TBD", "'TBD'", "Write what is meant"),
            ("Lorem ipsum dolor", "'Lorem ipsum'", "Write what is meant"), ("特卖[庆祝]", "'[庆祝]'", "Write an emoji itself"),
            ("Sale [Smile]", "'[Smile]'", "Write an emoji itself"),
        ])
    func warned(text: String, found: String, remedy: String) throws {
        let said = try warnings(text)
        #expect(said.count == 1 && said[0].message.contains(found) && said[0].remedy?.contains(remedy) == true, "\(said)")
    }

    @Test("several are one warning")
    func several() throws {
        let said = try warnings("Dear ____, TODO text, Lorem ipsum, TBD")
        #expect(said.map(\.message) == ["the body holds 'Lorem ipsum', '____', 'TBD', 'TODO', which people would read as they stand"])
    }

    @Test(
        "what texts use otherwise is left alone",
        arguments: [
            "Follow @myshop", "Mail anna@name.com", "Save $20 today", "US$name", "Only $ 5", "«Frühling» ist da", "« Name der Rose »",
            "50 %discount", "20 %d'achat", "100%s", "50 % d", "¡TODO al 50 %!", "XXL", "Super XXXL", "_new_", "[红包]您有一个红包", "[限时]特卖",
            "[New] Sale", "[Update]", "a << b", "1 < 2 >> 0", "% ist %", "10% @ home",
        ])
    func silent(text: String) throws {
        let said = try warnings(text)
        #expect(said.isEmpty, "\(said)")
    }
}
