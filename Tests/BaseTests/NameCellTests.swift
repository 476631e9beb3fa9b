import Base
import Testing

@Suite("Names of people, and of hosts")
struct NameCellTests {
    private func isNoName(_ text: String) -> Bool { Array(text.utf8).withUnsafeBufferPointer(NameCell.isNoName) }

    @Test("what cannot be a name is known")
    func cells() {
        for cell in ["?", ".", "12345", "+49170123", "a@b.c"] { #expect(isNoName(cell), "\(cell)") }
        for cell in ["Anna", "Łukasz", "王芳", "Ömer", "J.", "Test", "Unknown", "X Æ A-12", "a@b"] {
            #expect(!isNoName(cell), "\(cell)")
        }
    }

    @Test("columns of names are known by their own")
    func columns() {
        for name in ["first_name", "FirstName", "Vorname", "name", "last name"] {
            #expect(NameCell.isColumn(name), "\(name)")
        }
        for name in ["city", "username_count", "plan_name", "store"] { #expect(!NameCell.isColumn(name), "\(name)") }
    }

    @Test(
        "a host in other letters has its spelling in ASCII",
        // Source: RFC 3492, 7.1, and what registries show.
        arguments: [
            ("müller.de", "xn--mller-kva.de"), ("Bücher.example", "xn--bcher-kva.example"), ("例え.jp", "xn--r8jz45g.jp"),
            ("россия.рф", "xn--h1alffa9f.xn--p1ai"), ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("example.com", "example.com"),
            ("ليهمابتكلموشعربي؟", "xn--egbpdaj6bu4bxfgehfvwxn"),
        ])
    func hosts(host: String, spelling: String) { #expect(Punycode.host(host) == spelling) }

    @Test("a host whose letters would have to be composed first has none")
    func open() {
        #expect(Punycode.host("mu\u{308}ller.de") == nil)
        #expect(Punycode.host("ｓhop.example") == nil)
    }
}
