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
            ("Hi <<First Name>>", "'<<First Name>>'", "{{ first_name }}"), ("Hallo «Vorname»", "'«Vorname»'", "{{ first_name }}"),
            ("Hi [firstname | friend]", "'[firstname | friend]'", "{{ firstname | default: 'there' }}"),
            ("You have %d points", "'%d'", "{{ points }}"),
            ("%@, come back", "'%@'", "{{ points }}"), ("%1$s wartet", "'%1$s'", "{{ points }}"),
            ("Hi XXX", "'XXX'", "Write what you mean"),
            ("Dear ____,", "'____'", "Write what you mean"), ("TODO: text", "'TODO'", "Write what you mean"),
            ("TBD", "'TBD'", "Write what you mean"),
            ("Lorem ipsum dolor", "'Lorem ipsum'", "Write what you mean"), ("特卖[庆祝]", "'[庆祝]'", "Write an emoji itself"),
            ("Sale [Smile]", "'[Smile]'", "Write an emoji itself"), ("Sale :tada:", "':tada:'", "Write the emoji itself"),
            ("Hi [First Name]", "'[First Name]'", "{{ first_name }}"), ("Hi <your name>", "'<your name>'", "{{ first_name }}"),
            ("Hi %First Name%", "'%First Name%'", "{{ first_name }}"), ("Hi % first_name %", "'%first_name%'", "{{ first_name }}"),
            ("Hi (first name)", "'(first name)'", "{{ first_name }}"), ("Hi [Name here]", "'[Name here]'", "{{ first_name }}"),
            ("Hi ((first_name))", "'first_name'", "{{ first_name }}"), ("Hi __first_name__", "'first_name'", "{{ first_name }}"),
            ("Hi ~first_name~", "'first_name'", "{{ first_name }}"), ("Hi @@first_name@@", "'first_name'", "{{ first_name }}"),
            ("Hi %(first_name)s", "'first_name'", "{{ first_name }}"), ("Hi |*FNAME*|", "'FNAME'", "{{ first_name }}"),
            ("Hi FIRST_NAME", "'FIRST_NAME'", "{{ first_name }}"), ("Hi {{ name }}.}", "this '}' has no '{'", "Remove it"),
            ("Hi INSERT NAME", "'INSERT NAME'", "Write what you mean"), ("[TEST] Sale", "'[TEST]'", "Write what you mean"),
            ("TEST TEST please ignore", "'TEST TEST'", "Write what you mean"), ("Until DD.MM.", "'DD.MM'", "Write the day"),
            ("Until ??", "'Until ??'", "Write the day"), ("Bis 31.11.2026", "'31.11.2026'", "No calendar"),
            ("Until 2026-02-29", "'2026-02-29'", "No calendar"),
            ("Hi {{ name | default: '[Name]' }}", "'[Name]' for a blank cell", "default: 'there'"),
            ("Hi {{ name | default: 'first_name' }}", "'first_name' for a blank cell", "default: 'there'"),
            ("Hi {{ name | default: 'first name' }}", "'first name' for a blank cell", "default: 'there'"),
            ("Hi {{ name | default: 'Customer Name' }}", "'Customer Name' for a blank cell", "default: 'there'"),
            ("In [CITY]", "'[CITY]'", "as in {{ first_name }}"), ("Bonjour [Prénom]", "'[Prénom]'", "as in {{ first_name }}"),
            ("Say (placeholder)", "'(placeholder)'", "as in {{ first_name }}"), ("Hallo VORNAME", "'VORNAME'", "as in {{ first_name }}"),
            ("NAME, only today", "'NAME'", "as in {{ first_name }}"), ("Hi firstname,", "'firstname'", "{{ firstname }}"),
            ("Hi FirstName", "'FirstName'", "as in {{ first_name }}"), ("<insert text> now", "'<insert text>'", "as in {{ first_name }}"),
            ("Hi XX", "'XX'", "Write what you mean"), ("Save XX %", "'XX %'", "Write what you mean"),
            ("Only €__", "'€__'", "Write what you mean"), ("Code: XXXX", "'XXXX'", "Write what you mean"),
            ("DRAFT: Sale", "'DRAFT:'", "Write what you mean"), ("Final v2", "'Final v2'", "Write what you mean"),
            ("Your text here", "'Your text here'", "Write what you mean"), ("Test.", "'Test.'", "Write what you mean"),
            ("Bitte ignorieren!", "'Bitte ignorieren'", "Write what you mean"), ("Until MM/DD/YYYY", "'MM/DD'", "Write the day"),
            ("Ends 30.02.", "'30.02.'", "No calendar"), ("Ends Feb 30", "'Feb 30'", "No calendar"),
            ("Until 31 June", "'31 June'", "No calendar"), ("Until 32.12.2026", "'32.12.2026'", "No calendar"),
            ("Until 2026-13-01", "'2026-13-01'", "No calendar"), ("Until 25:00", "'25:00'", "No clock"),
            ("Gate {A}", "'{A}'", "{% raw %}"),
            ("Hi {{ name | default: '{first_name}' }}", "'{first_name}' for a blank cell", "default: 'there'"),
        ])
    func warned(text: String, found: String, remedy: String) throws {
        let said = try warnings(text)
        #expect(said.count == 1 && said[0].message.contains(found) && said[0].remedy?.contains(remedy) == true, "\(said)")
    }

    @Test("several are one warning")
    func several() throws {
        let said = try warnings("Dear ____, TODO text, Lorem ipsum, TBD")
        #expect(said.map(\.message) == ["the body holds 'Lorem ipsum', '____', 'TBD', 'TODO', which people would read as written"])
    }

    @Test(
        "what texts use otherwise is left alone",
        arguments: [
            "Follow @myshop", "Mail anna@name.com", "Save $20 today", "US$name", "Only $ 5", "«Frühling» ist da", "« Name der Rose »",
            "50 %discount", "20 %d'achat", "100%s", "50 % d", "¡TODO al 50 %!", "XXL", "Super XXXL", "_new_", "[红包]您有一个红包", "[限时]特卖",
            "[New] Sale", "[Update]", "a << b", "1 < 2 >> 0", "% ist %", "10% @ home", "[Limited Offer]", "[New Store] opens",
            "(from Monday on)",
            "Save 20 % today and 10 % tomorrow", "20 % first come first served", "https://shop.example/first_name?first_name=1",
            "my_name@example.com",
            "first name", "Your name is in the draw", "at 12:30:00", "a:b:c", "Vraiment ??", "Really??", "test drive", "29.02.2028",
            "31.12.2026",
            "Version 31.11.2", "Say hi :}", "{{ name }} :}", "{}", "{...}", "{ 1 }", "Save {20} %", "{20 % off}", "{50%}",
            "{{ name | default: 'there' }}",
            "{{ name | default: 'Name' }}",
            "Please ignore the noise next door", "please ignore our last message", "XXX-Lutz", "Hugs XXX", "<<SALE>>", "<SALE>",
            "Open from ?? to be announced", "Test our app", "[NEW] Sale", "[SOLD OUT]", "NAME YOUR PRICE", "BRAND NAME SALE", "Hi Name,",
            "ratio 32:15", "Only 25:00 left", "Just 30.02 €", "APR 31%", "Only $30.02.", "31 July", "Feb 29", "Order 2026-99-12",
            "Deals in {{ city | default: 'your city' }}", "XXXL in stock", "Size XX", "First draft: beers of the season", "Dummy texts",
            "#sale_2026", "by the way, ADD NAME TAGS", "the first (last) name",
        ])
    func silent(text: String) throws {
        let said = try warnings(text)
        #expect(said.isEmpty, "\(said)")
    }
}
