public import Base
import COpenSSL

/// HMAC with SHA-256 (RFC 2104): proves that a message comes from a sender that has a secret.
public enum HMACSHA256 {
    /// The 32 bytes of the code.
    /// - Parameter key: the secret, of any length but 0.
    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(!key.isEmpty, "a code without a secret shows nothing")
        return [UInt8](unsafeUninitializedCapacity: SHA256.digestBytes) { buffer, filled in
            var length = 0
            let result = EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, buffer.baseAddress,
                buffer.count, &length)
            guard result != nil, length == SHA256.digestBytes else { fatalError("OpenSSL failed: HMAC") }
            filled = length
        }
    }
}

/// HMAC with SHA-1 (RFC 2104), which one-time passwords are made with (RFC 4226): apps that show
/// them know nothing else for certain.
public enum HMACSHA1 {
    /// The 20 bytes of the code.
    /// - Parameter key: the secret, of any length but 0.
    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(!key.isEmpty, "a code without a secret shows nothing")
        return [UInt8](unsafeUninitializedCapacity: SHA1.digestBytes) { buffer, filled in
            var length = 0
            let result = EVP_Q_mac(
                nil, "HMAC", nil, "SHA1", nil, key, key.count, message, message.count, buffer.baseAddress, buffer.count,
                &length)
            guard result != nil, length == SHA1.digestBytes else { fatalError("OpenSSL failed: HMAC") }
            filled = length
        }
    }
}

/// SHA-1 (FIPS 180-4), which one service's signatures are made with. It protects nothing else here.
public enum SHA1 {
    /// Bytes of a digest.
    public static let digestBytes = 20

    /// The 20 bytes of the digest.
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestBytes) { buffer, filled in
            guard EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, EVP_sha1(), nil) == 1 else {
                fatalError("OpenSSL failed: SHA-1")
            }
            filled = digestBytes
        }
    }

    /// The digest of a text in UTF-8, as 40 lower-case hex digits.
    public static func hex(of text: String) -> String { SHA256.hex(digest(of: Array(text.utf8))) }
}

/// SHA-256 (FIPS 180-4) over bytes that arrive in pieces.
public struct SHA256: ~Copyable {
    private let context: OpenSSLHandle
    private var isFinished = false

    /// Bytes of a digest.
    public static let digestBytes = 32

    /// A hash of nothing yet.
    public init() {
        context = require(OpenSSLHandle.digestContext(), "digest context")
        guard EVP_DigestInit_ex(context.pointer, EVP_sha256(), nil) == 1 else { fatalError("OpenSSL failed: SHA-256") }
    }

    /// Hashes more bytes. Not allowed after `finalize`.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        precondition(!isFinished, "a digest takes nothing more once it is finished")
        guard EVP_DigestUpdate(context.pointer, bytes.baseAddress, bytes.count) == 1 else {
            fatalError("OpenSSL failed: SHA-256")
        }
    }

    /// Hashes more bytes. Not allowed after `finalize`.
    public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Hashes a text in UTF-8. Not allowed after `finalize`.
    public mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// The 32 bytes of the digest. Call it only once.
    public mutating func finalize() -> [UInt8] {
        precondition(!isFinished, "a digest is finished once")
        isFinished = true
        return [UInt8](unsafeUninitializedCapacity: Self.digestBytes) { buffer, filled in
            guard EVP_DigestFinal_ex(context.pointer, buffer.baseAddress, nil) == 1 else {
                fatalError("OpenSSL failed: SHA-256")
            }
            filled = Self.digestBytes
        }
    }

    /// The digest as 64 lower-case hex digits. Call it only once.
    public mutating func finalizeHex() -> String { Self.hex(finalize()) }

    /// The digest of `bytes` in one go.
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }

    /// Any bytes as lower-case hex digits.
    public static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// Comparisons in a time that tells nothing about what is compared.
public enum ConstantTime {
    /// Whether two values are equal. Only their lengths show in the time that it takes.
    public static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}

/// Unpredictable bytes from the system's generator (getrandom(2)).
public enum RandomBytes {
    /// - Parameter count: at least 0.
    public static func make(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}

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
