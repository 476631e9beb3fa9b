import Base
import Testing

@Suite("Counted things, and digits")
struct CountedTextTests {
    @Test(
        "only one is one",
        arguments: [
            (0, "0 devices are"), (1, "1 device is"), (2, "2 devices are"), (-1, "-1 devices are"),
            (1_234_567, "1,234,567 devices are"),
        ])
    func counted(number: Int, text: String) {
        #expect(TextFormat.counted(number, one: "device is", many: "devices are") == text)
        #expect("\(TextFormat.devices(number)) \(TextFormat.plural(number, one: "is", many: "are"))" == text)
    }

    @Test("nouns have their article, names their possessive, and sentences their capital")
    func nouns() {
        #expect(
            ["device token", "installation id", "user id"].map(TextFormat.withArticle) == [
                "a device token", "an installation id", "a user id",
            ])
        #expect(["APNs", "Toypush"].map(TextFormat.possessive) == ["APNs’", "Toypush’s"])
        #expect(TextFormat.capitalized("device token") == "Device token" && TextFormat.capitalized("").isEmpty)
    }

    @Test("numbers are filled up with zeros, and never cut")
    func digits() {
        #expect(
            TextFormat.zeroPadded(7) == "07" && TextFormat.zeroPadded(0, digits: 4) == "0000"
                && TextFormat.zeroPadded(12_345, digits: 4) == "12345")
        #expect(
            TextFormat.hex(UInt64(0xBEEF), digits: 8) == "0000beef"
                && TextFormat.hex(UInt8(10), digits: 2, uppercase: true) == "0A")
        #expect(TextFormat.hex(UInt64.max, digits: 4) == "ffffffffffffffff")
        #expect(TextFormat.codePoint("\u{AD}") == "U+00AD" && TextFormat.codePoint("\u{1F600}") == "U+1F600")
    }
}
