import Base
import Testing

@testable import PushServices

@Suite("Targets of FCM")
struct FCMTargetTests {
    private let form = FCM().target
    private static let id = "dPx3abcDEF_-0123456789"
    private static let token = id + ":APA91b" + String(repeating: "xY_-7", count: 27)

    @Test("tokens and installation ids are taken as they are")
    func reads() {
        #expect(Self.id.utf8.count == 22 && Self.token.utf8.count == 164)
        for text in [Self.id, Self.token, "APA91b" + String(repeating: "a", count: 134)] {
            #expect(form.target(text)?.text == text && form.flaw(of: text) == nil && form.shape(of: text) == nil)
            #expect(Array(text.utf8).withUnsafeBufferPointer(form.kept.contains))
        }
    }

    @Test("what lies between the two lengths is neither")
    func gap() {
        for count in [1, 21, 23, 64, 99, 4097] {
            let text = String(repeating: "x", count: count)
            #expect(form.target(text) == nil, "\(count)")
            #expect(!Array(text.utf8).withUnsafeBufferPointer(form.kept.contains))
        }
        #expect(form.flaw(of: String(Self.token.prefix(90))) == "a registration token of 90 characters is too short")
        #expect(
            form.shape(of: String(Self.token.prefix(90))) == .tooShort
                && form.shape(of: Self.token + String(repeating: "x", count: 4000)) == .tooLong)
    }

    @Test("what other services have is named")
    func shapes() {
        let hex = String(repeating: "0f", count: 32)
        #expect(form.shape(of: hex) == .hexDigits)
        #expect(form.clause(of: .hexDigits, length: 64).hasPrefix("it is a device token of APNs"))
        #expect(form.shape(of: "0123abcd-0123-0123-0123-0123456789ab") == .uuid)
        #expect(form.shape(of: "anna@example.com") == .email && form.shape(of: "/topics/news") == .other)
        #expect(form.shape(of: "NULL") == .tooShort && form.shape(of: "n/a") == .word)
        // And the other way round.
        #expect(APNs().target.shape(of: Self.token) == .fcm)
    }

    @Test("names of 22 characters are not taken for installation ids where something else should stand")
    func names() {
        #expect(form.target("last_purchase_category") != nil && !form.recognizes("last_purchase_category"))
        #expect(form.recognizes(Self.token) && form.isCertain(Self.token) && !form.isCertain(Self.id))
    }

    @Test("tokens in a text are shortened, also with a slip, and other texts are not")
    func redaction() {
        let short = "\(Self.token.prefix(4))…\(Self.token.suffix(4))"
        #expect(SecretText.withoutTokens("the token '\(Self.token)' is wrong") == "the token '\(short)' is wrong")
        #expect(form.fewestHidden == 100 && form.resembles(String(Self.token.dropLast(30))))
        #expect(!form.resembles("spring-sale-2026-12-01T09:00:00"))
        #expect(Target(normalized: Self.token).redacted == short)
    }

    @Test("messages about any service shorten them, and not the names around them")
    func messages() {
        let (short, hex) = ("\(Self.token.prefix(4))…\(Self.token.suffix(4))", String(repeating: "0123abcd", count: 8))
        #expect(TargetRedaction.certain(Self.token) == short && TargetRedaction.certain(Self.id) == nil)
        #expect(
            TargetRedaction.possible("last_purchase_category") == nil && TargetRedaction.possible(Self.token) == short)
        #expect(SecretText.withoutTokens("x \(Self.token), y \(hex)!") == "x \(short), y 0123…abcd!")
        #expect(TargetRedaction.line("\(hex);\(Self.token);vip") == "0123…abcd;\(short);vip")
        #expect(TargetRedaction.line(Self.token) == short)
    }

    @Test("what editors check is what the form takes, as far as lengths go")
    func pattern() throws {
        let expression = try Regex(form.pattern)
        for text in [Self.id, Self.token] { #expect(text.wholeMatch(of: expression) != nil) }
        for count in [21, 23, 64, 99] {
            #expect(String(repeating: "x", count: count).wholeMatch(of: expression) == nil)
        }
    }
}
