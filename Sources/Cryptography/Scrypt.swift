public import Base
import COpenSSL

/// scrypt (RFC 7914): a key from a password, so that each guess of the password costs time and
/// memory.
public struct Scrypt: Hashable, Sendable {
    /// log2 of N, the cost: 1 to 20. A key takes 128 · r · N bytes of memory.
    public var costBits: Int
    /// r, the size of a block: 1 to 16.
    public var blockSize: Int
    /// p, how often it is done: 1 to 16.
    public var parallelism: Int

    /// Parameters; nil outside of the ranges, beyond which they take more memory (2 GB) and work
    /// than is useful.
    public init?(costBits: Int, blockSize: Int, parallelism: Int) {
        guard (1...20).contains(costBits), (1...16).contains(blockSize), (1...16).contains(parallelism) else {
            return nil
        }
        self.costBits = costBits
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// The bytes of memory that a key takes, about.
    public var memoryBytes: Int { 128 * blockSize << costBits }

    /// The key of a password.
    /// - Parameters:
    ///   - salt: random bytes, others for each password. May be empty, as in the RFC's vectors.
    ///   - count: bytes of the key, at least 1.
    /// - Throws: a `Diagnostic` without anything of the password: there is not enough memory.
    public func key(password: [UInt8], salt: [UInt8], count: Int) throws(Diagnostic) -> [UInt8] {
        var isMade = false
        // OpenSSL takes nil, which an empty array may give it, for a question about the parameters
        // alone.
        let text = password.map { CChar(bitPattern: $0) } + [0]
        let key = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // OpenSSL refuses to take more memory than it is allowed here; it needs a little more
            // than the large block.
            isMade =
                EVP_PBE_scrypt(
                    text, password.count, salt, salt.count, UInt64(1) << UInt64(costBits), UInt64(blockSize),
                    UInt64(parallelism),
                    UInt64(memoryBytes * 2 + (1 << 20)), buffer.baseAddress, count) == 1
            filled = isMade ? count : 0
        }
        guard isMade else { throw .openSSLCannotMake("the key of a password") }
        return key
    }
}
