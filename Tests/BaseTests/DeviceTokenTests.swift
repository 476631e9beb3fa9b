import Base
import Testing

@Suite struct DeviceTokenTests {
    @Test("hex of either case is read and kept in lower case")
    func reads() {
        #expect(DeviceToken("0123456789abcdefABCDEF")?.hex == "0123456789abcdefabcdef")
        #expect(DeviceToken("AAbbCC00") == DeviceToken("aabbcc00"))
    }

    @Test(
        "what cannot be a token is refused",
        arguments: [
            "", "abcdef0", "abcdef", "abcdef0g", "abcdef 0", " abcdef01", "<abcdef01>", "abcdef0\u{FF11}\u{FF11}", "abcdefé0", "@bcdef01",
            "`bcdef01", "/bcdef01", ":bcdef01", "Gbcdef01",
        ])
    func refuses(text: String) {
        #expect(DeviceToken(text) == nil)
    }

    @Test("its length is not fixed, within limits")
    func lengths() {
        for count in [8, 64, 160, 512] { #expect(DeviceToken(String(repeating: "a", count: count)) != nil) }
        for count in [7, 9, 63, 511, 513, 514] { #expect(DeviceToken(String(repeating: "a", count: count)) == nil) }
    }

    @Test("it never prints more than its first and last four digits")
    func redaction() {
        let token = DeviceToken(normalized: "7276" + String(repeating: "0", count: 56) + "89f1")
        #expect(token.redacted == "7276…89f1")
        #expect("\(token)" == "7276…89f1")
        #expect("\([token])" == "[7276…89f1]")
        #expect(DeviceToken.redact("12345678") == "…")
        #expect(DeviceToken.redact("123456789") == "1234…6789")
    }
}
