import Base
import COpenSSL

/// What the armour lines of a PEM text (RFC 7468) show, before anything is decoded.
struct PEMLabels {
    /// The words between `-----BEGIN ` and `-----`, in order.
    let all: [String]
    /// Whether a block in the old format says that it is encrypted.
    let hasEncryptionHeader: Bool

    init(_ bytes: UnsafeRawBufferPointer) {
        var labels: [String] = []
        var encrypted = false
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let text = String(
                decoding: line.dropFirst(Self.marginBytes(UnsafeRawBufferPointer(rebasing: line))), as: UTF8.self)
            if text.hasPrefix("-----BEGIN "), let end = text.dropFirst(11).firstRange(of: "-----") {
                labels.append(String(text.dropFirst(11)[..<end.lowerBound]))
            }
            if text.hasPrefix("Proc-Type:"), text.hasSuffix("ENCRYPTED") { encrypted = true }
        }
        all = labels
        hasEncryptionHeader = encrypted
    }

    /// How many bytes in front of a line do not belong to it: blanks and byte order marks.
    static func marginBytes(_ line: UnsafeRawBufferPointer) -> Int {
        var place = 0
        while place < line.count {
            let mark = TextEncoding.markBytes(line[place...])
            guard mark > 0 || line[place] == 0x20 || line[place] == 0x09 else { break }
            place += max(mark, 1)
        }
        return place
    }

    var isPEM: Bool { !all.isEmpty }
    var hasPrivateKey: Bool { all.contains { $0.hasSuffix("PRIVATE KEY") } }
    var hasCertificate: Bool { all.contains("CERTIFICATE") || all.contains("TRUSTED CERTIFICATE") }
    var isEncrypted: Bool { hasEncryptionHeader || all.contains("ENCRYPTED PRIVATE KEY") }
}

/// The data for OpenSSL's passphrase callback. Without a callback, OpenSSL would ask on the
/// terminal.
struct PassphraseRequest {
    /// The passphrase in UTF-8; nil without one.
    var passphrase: [UInt8]?
    /// Whether OpenSSL requested the passphrase: the key is encrypted.
    var wasAsked = false

    init(_ passphrase: String?) { self.passphrase = passphrase.map { Array($0.utf8) } }

    static let callback:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            buffer, size, _, user in
            guard let buffer, let request = user?.assumingMemoryBound(to: PassphraseRequest.self) else { return -1 }
            request.pointee.wasAsked = true
            guard let passphrase = request.pointee.passphrase, passphrase.count <= Int(size) else { return -1 }
            UnsafeMutableRawPointer(buffer).copyMemory(from: passphrase, byteCount: passphrase.count)
            return Int32(passphrase.count)
        }
}

/// Reads the first private key of a PEM text, of any kind; nil if the text has no such key or it
/// cannot be decoded.
/// - Parameter context: the library context with the algorithms that decrypt it; nil for the
///   default one.
func readPrivateKey(_ bytes: UnsafeRawBufferPointer, _ request: inout PassphraseRequest, context: OpaquePointer? = nil)
    -> OpenSSLHandle?
{
    let source = require(OpenSSLHandle.reader(bytes), "BIO")
    defer { ERR_clear_error() }
    return OpenSSLHandle.key(
        withUnsafeMutablePointer(to: &request) {
            PEM_read_bio_PrivateKey_ex(source.pointer, nil, PassphraseRequest.callback, $0, context, nil)
        })
}
