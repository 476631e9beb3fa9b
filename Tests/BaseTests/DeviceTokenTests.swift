import Base
import Testing

@Suite struct DeviceTokenTests {
    @Test("a token is shortened in a text wherever it stands, in capitals or small letters, and nothing else is")
    func inText() throws {
        let token = try #require(DeviceToken("aabbccdd00112233aabbccdd00112233"))
        let text = "é aabbccdd00112233aabbccdd00112233, AABBCCDD00112233AABBCCDD00112233aabb"
        #expect(token.redacted(in: text) == "é aabb…2233, aabb…2233aabb")
        for other in ["", "aabbccdd", "aabbccdd00112233aabbccdd0011223", "P`bbccdd00112233aabbccdd00112233"] {
            #expect(token.redacted(in: other) == other)
        }
    }

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
