import Cryptography
import Testing

@Suite struct SHA256Tests {
    @Test(
        "the digests of FIPS 180-4's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func knownDigests(text: String, hex: String) {
        #expect(SHA256.hex(SHA256.digest(of: Array(text.utf8))) == hex)
    }

    @Test("a digest does not depend on how its bytes are cut")
    func streaming() {
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var hash = SHA256()
        var start = 0
        var length = 0
        while start < bytes.count {
            let end = min(bytes.count, start + length)
            hash.update(Array(bytes[start..<end]))
            start = end
            length += 1
        }
        let digest = hash.finalize()
        #expect(digest == SHA256.digest(of: bytes))
    }

    @Test("text counts as its UTF-8")
    func text() {
        var hash = SHA256()
        hash.update("grün ")
        hash.update("🟢")
        let hex = hash.finalizeHex()
        #expect(hex == SHA256.hex(SHA256.digest(of: Array("grün 🟢".utf8))))
    }
}
