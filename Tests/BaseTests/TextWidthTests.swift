import Base
import Testing

@Suite struct TextWidthTests {
    @Test(
        "letters take a column, wide characters and emoji two, marks none",
        arguments: [
            ("", 0), ("Hi", 2), ("Großmann", 8), ("Zoe\u{308}", 3), ("双十一", 6), ("，！", 4), ("한국", 4), ("🎉", 2),
            ("👨‍👩‍👧", 2), ("❤️", 2),
            ("a\u{200B}b", 2),
        ])
    func columns(_ text: String, _ columns: Int) { #expect(TextWidth.columns(text) == columns) }

    @Test("text breaks between words, within long ones, and anywhere in Chinese")
    func wrapped() {
        #expect(TextWidth.wrapped("Lyon has 20 % off everything.", to: 12) == ["Lyon has 20", "% off", "everything."])
        #expect(TextWidth.wrapped("a\n\nb", to: 12) == ["a", "", "b"])
        #expect(TextWidth.wrapped("https://example.com/x", to: 8) == ["https://", "example.", "com/x"])
        #expect(TextWidth.wrapped("全场五折，仅限今天。", to: 9) == ["全场五折", "，仅限今", "天。"])
        #expect(TextWidth.wrapped("", to: 5) == [""])
    }

    @Test("no line is wider than asked, and nothing but blanks is lost", arguments: 2..<40)
    func fits(width: Int) {
        let text = "今天 everything is 20 % off 🎉 at https://shop.example.com/spring-sale, 仅限今天，before midnight"
        let lines = TextWidth.wrapped(text, to: width)
        #expect(lines.allSatisfy { TextWidth.columns($0) <= width })
        #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " })
    }
}
