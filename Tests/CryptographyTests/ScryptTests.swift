import Cryptography
import Testing

@Suite("Passwords' keys and codes of one-time passwords")
struct ScryptTests {
    /// RFC 7914 section 12; the fourth vector needs 1 GB of memory.
    @Test(
        "the keys of RFC 7914",
        arguments: [
            (
                "", "", 4, 1, 1,
                """
                77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442\
                fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906
                """
            ),
            (
                "password", "NaCl", 10, 8, 16,
                """
                fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162\
                2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
                """
            ),
            (
                "pleaseletmein", "SodiumChloride", 14, 8, 1,
                """
                7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2\
                d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887
                """
            ),
        ])
    func known(password: String, salt: String, costBits: Int, blockSize: Int, parallelism: Int, hex: String) throws {
        let scrypt = try #require(Scrypt(costBits: costBits, blockSize: blockSize, parallelism: parallelism))
        #expect(SHA256.hex(try scrypt.key(password: Array(password.utf8), salt: Array(salt.utf8), count: 64)) == hex)
    }

    @Test("parameters that would take all memory are refused")
    func parameters() {
        #expect(Scrypt(costBits: 20, blockSize: 8, parallelism: 1)?.memoryBytes == 1 << 30)
        #expect(Scrypt(costBits: 21, blockSize: 8, parallelism: 1) == nil)
        #expect(Scrypt(costBits: 15, blockSize: 17, parallelism: 1) == nil)
        #expect(Scrypt(costBits: 15, blockSize: 8, parallelism: 0) == nil)
    }

    /// RFC 2202 section 3, the first three and one with a key longer than a block.
    @Test(
        "the HMAC-SHA-1 codes of RFC 2202",
        arguments: [
            ([UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
            ),
            (
                [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
                "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
            ),
            (
                [UInt8](repeating: 0xaa, count: 80),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
        ])
    func hmac(key: [UInt8], message: [UInt8], hex: String) {
        #expect(SHA256.hex(HMACSHA1.code(of: message, key: key)) == hex)
    }

    @Test("values are equal when all of their bytes are")
    func comparison() {
        #expect(ConstantTime.areEqual([], []))
        #expect(ConstantTime.areEqual([1, 2, 3], [1, 2, 3]))
        for place in 0..<3 {
            var other: [UInt8] = [1, 2, 3]
            other[place] ^= 0x80
            #expect(!ConstantTime.areEqual([1, 2, 3], other))
        }
        #expect(!ConstantTime.areEqual([1, 2, 3], [1, 2]))
    }
}
