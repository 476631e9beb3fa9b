import Base
import Testing

@Suite struct TargetTests {
    @Test("a token is shortened in a text wherever it stands, in capitals or small letters, and nothing else is")
    func inText() {
        let token = Target(normalized: "aabbccdd00112233aabbccdd00112233")
        let text = "é aabbccdd00112233aabbccdd00112233, AABBCCDD00112233AABBCCDD00112233aabb"
        #expect(token.redacted(in: text) == "é aabb…2233, aabb…2233aabb")
        for other in ["", "aabbccdd", "P`bb"] { #expect(token.redacted(in: other) == other) }
    }

    @Test("so is each longer part of it, as a filter cuts it: no more is left than its short form shows")
    func parts() {
        let digits = Array("0f1e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdeffedcba9876543210")
        let token = Target(normalized: String(digits))
        for start in digits.indices {
            for end in start...digits.count where end - start >= 12 {
                let shown = token.redacted(in: "x \(String(digits[start..<end]).uppercased()) y")
                #expect(
                    shown == "x \(start == 0 ? "0f1e" : "")…\(end == digits.count ? "3210" : "") y", "\(start)..<\(end)"
                )
            }
        }
        #expect(token.redacted(in: "0f1e2d3c4b5 and 0f1e2d3c4b5") == "0f1e2d3c4b5 and 0f1e2d3c4b5")
        #expect(Target(normalized: "user42").redacted(in: "Hi user42, user4") == "Hi …, user4")
    }

    @Test("so it is with signs between its digits, and in base64; what JSON needs stays")
    func inOtherWritings() {
        let token = Target(normalized: "0f1e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdeffedcba9876543210")
        for sign in [" ", "-", ":", "\u{A0}", "\u{200B} "] {
            let groups = stride(from: 0, to: 64, by: 8).map { String(token.text.dropFirst($0).prefix(8)) }.joined(
                separator: sign)
            #expect(token.redacted(in: #"{"a":"<\#(groups)>"}"#) == #"{"a":"<0f1e…3210>"}"#)
            #expect(token.redacted(in: groups.uppercased().prefix(40) + "!").hasPrefix("0f1e…"))
        }
        let base64 = "Dx4tPEtaaXiHlqW0w9Lh8AEjRWeJq83v/ty6mHZUMhA"
        #expect(token.redacted(in: "x \(base64)= y") == "x 0f1e…3210= y")
        #expect(token.redacted(in: base64.replacing("/", with: "_")) == "0f1e…3210")
        #expect(token.redacted(in: #"["0f1e2d","3c4b5a69"]"#) == #"["0f1e2d","3c4b5a69"]"#)
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
