import Foundation
import Testing

@testable import Base

@Suite("base64")
struct Base64Tests {
    @Test(
        "base64 and base64url follow RFC 4648",
        arguments: [
            ("", "", ""), ("f", "Zg==", "Zg"), ("fo", "Zm8=", "Zm8"), ("foo", "Zm9v", "Zm9v"),
            ("foob", "Zm9vYg==", "Zm9vYg"), ("??>>", "Pz8+Pg==", "Pz8-Pg"),
        ])
    func texts(plain: String, padded: String, url: String) {
        #expect(Base64.text(Array(plain.utf8)) == padded)
        #expect(Base64URL.text(Array(plain.utf8)) == url)
    }

    @Test("base64url is read back", arguments: ["", "AA", "AAA", "AAAA", "-_-_", "Zm9vYmE"])
    func bytes(text: String) throws {
        let bytes = try #require(Base64URL.bytes(text))
        #expect(Base64URL.text(bytes) == text)
        #expect(text.isEmpty || Data(base64Encoded: Base64.text(bytes)).map(Array.init) == bytes)
    }

    @Test(
        "base64url has one form for each value: others are not read",
        arguments: ["A", "AB", "ABC", "AA==", "A A", "+/+/", "AAAAA"])
    func otherForms(text: String) { #expect(Base64URL.bytes(text) == nil) }
}
