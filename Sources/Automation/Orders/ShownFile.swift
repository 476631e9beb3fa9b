import Base
import Cryptography

/// A campaign file as a page showed it.
public enum ShownFile {
    /// Larger files are no campaigns.
    static let longestFile = 16 << 20

    /// What an order about a campaign file carries: SHA-256 of the file's bytes, 64 lower-case hex digits. One byte more, less or different gives another.
    public static func digest(of bytes: [UInt8]) -> String { SHA256.hex(SHA256.digest(of: bytes)) }

    /// The bytes of a file, if they are those that were shown.
    /// - Returns: nil if they are others, or there is no such file any more.
    static func bytes(of file: String, digest: String) -> [UInt8]? {
        guard let bytes = try? RegularFile.bytes(of: file, atMost: longestFile), self.digest(of: bytes) == digest else { return nil }
        return bytes
    }
}
