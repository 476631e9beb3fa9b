import Foundation
import Testing

@testable import Cryptography

@Suite("Public keys from the numbers of JSON Web Keys")
struct PublicKeyNumbersTests {
    private static func bytes(_ text: String) -> [UInt8] {
        let padded = text.replacing("-", with: "+").replacing("_", with: "/")
        return Array(Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)) ?? Data())
    }

    // RFC 7515, appendix A.2: RS256.
    private static let modulus = """
        ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs\
        D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV\
        MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
        """
    private static let rsaSigned = """
        eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ
        """
    private static let rsaSignature = """
        cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ\
        cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-e\
        OkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
        """

    @Test("the RSA key of RFC 7515, A.2, checks its signature, and no other")
    func rsa() throws {
        let key = try #require(RSAVerificationKey(modulus: Self.bytes(Self.modulus), exponent: Self.bytes("AQAB")))
        let signature = Self.bytes(Self.rsaSignature)
        #expect(key.isValid(signature, for: Array(Self.rsaSigned.utf8)))
        #expect(!key.isValid(signature, for: Array((Self.rsaSigned + "A").utf8)))
        #expect(!key.isValid(Array(signature.dropLast()), for: Array(Self.rsaSigned.utf8)))
        // Zeros before a number change nothing.
        #expect(
            RSAVerificationKey(modulus: [0, 0] + Self.bytes(Self.modulus), exponent: [0, 1, 0, 1])?.pem == key.pem)
    }

    @Test("the key of RFC 7515, A.3, checks its signature: 64 bytes, r then s")
    func p256() throws {
        let key = try #require(
            VerificationKey(
                x: Self.bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
                y: Self.bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")))
        let signed = Array(
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
                .utf8)
        let signature = Self.bytes(
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        #expect(key.isValid(signature, for: signed))
        #expect(!key.isValid(signature.reversed(), for: signed))
        #expect(!key.isValid([UInt8](repeating: 0, count: 64), for: signed))
    }

    @Test("numbers that are no key, and keys that are too small or too large, make none")
    func none() {
        let modulus = Self.bytes(Self.modulus)
        #expect(RSAVerificationKey(modulus: [], exponent: [1, 0, 1]) == nil)
        #expect(RSAVerificationKey(modulus: Array(modulus.prefix(128)), exponent: [1, 0, 1]) == nil)
        #expect(RSAVerificationKey(modulus: modulus + [UInt8](repeating: 1, count: 1024), exponent: [1, 0, 1]) == nil)
        for exponent: [UInt8] in [[], [0], [1], [2], [1, 0], [UInt8](repeating: 255, count: 9)] {
            #expect(RSAVerificationKey(modulus: modulus, exponent: exponent) == nil, "\(exponent)")
        }
        #expect(VerificationKey(x: [UInt8](repeating: 1, count: 32), y: [UInt8](repeating: 1, count: 32)) == nil)
        #expect(VerificationKey(x: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(VerificationKey(x: [1], y: [1]) == nil)
    }
}
