import Base
import Testing

@Suite struct TargetTests {
    @Test("a token is shortened in a text wherever it stands, in capitals or small letters, and nothing else is")
    func inText() {
        let token = Target(normalized: "aabbccdd00112233aabbccdd00112233")
        let text = "é aabbccdd00112233aabbccdd00112233, AABBCCDD00112233AABBCCDD00112233aabb"
        #expect(token.redacted(in: text) == "é aabb…2233, aabb…2233aabb")
        for other in ["", "aabbccdd", "aabbccdd00112233aabbccdd0011223", "P`bbccdd00112233aabbccdd00112233"] {
            #expect(token.redacted(in: other) == other)
        }
    }

    @Test("it never prints more than its first and last four digits")
    func redaction() {
        let token = Target(normalized: "7276" + String(repeating: "0", count: 56) + "89f1")
        #expect(token.redacted == "7276…89f1")
        #expect("\(token)" == "7276…89f1")
        #expect("\([token])" == "[7276…89f1]")
        #expect(Target.redact("12345678") == "…")
        #expect(Target.redact("123456789") == "1234…6789")
    }
}
