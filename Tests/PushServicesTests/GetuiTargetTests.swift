import Base
import Testing

@testable import PushServices

@Suite("Targets of Getui")
struct GetuiTargetTests {
    private let form = Getui().target
    private static let cid = "7d3f0a1b2c3d4e5f60718293a4b548b3"

    @Test("client ids are 32 hex digits, kept in lower case")
    func reads() throws {
        #expect(form.target(Self.cid)?.text == Self.cid && form.target(Self.cid.uppercased())?.text == Self.cid)
        #expect(form.flaw(of: Self.cid) == nil && form.shape(of: Self.cid) == nil && form.isCertain(Self.cid))
        for text in [
            String(Self.cid.dropLast()), Self.cid + "0", Self.cid + Self.cid, "", Self.cid.replacing("7", with: "g"),
        ] {
            #expect(form.target(text) == nil, "\(text)")
        }
        let expression = try Regex(form.pattern)
        #expect(Self.cid.wholeMatch(of: expression) != nil && Self.cid.dropLast().wholeMatch(of: expression) == nil)
    }

    @Test("a device token of APNs in their place is named")
    func shapes() {
        let hex = Self.cid + Self.cid
        #expect(
            form.shape(of: hex) == .hexDigits
                && form.clause(of: .hexDigits, length: 64).contains("device token of APNs"))
        #expect(
            form.shape(of: String(hex.dropLast(2))) == .tooLong
                && form.shape(of: String(Self.cid.dropLast(2))) == .tooShort)
        #expect(APNs().target.shape(of: String(hex.dropLast())) == .oddDigits && FCM().target.target(Self.cid) == nil)
    }

    @Test("client ids in messages about any service are shortened")
    func redaction() {
        #expect(SecretText.withoutTokens("the cid \(Self.cid) is wrong") == "the cid 7d3f…48b3 is wrong")
        #expect(Target(normalized: Self.cid).redacted == "7d3f…48b3")
    }
}
