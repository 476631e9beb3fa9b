public import Base
import COpenSSL
import Glibc

/// A file of certificate authorities in PEM form, which volley.yaml may name: `ca`.
///
/// OpenSSL stops at the first certificate that it cannot read, and trusts those before it. Which
/// servers are trusted must not depend on where the damage is, so every certificate is read before
/// the file is used.
public enum CertificateAuthorityFile {
    /// All authorities of a system are a quarter of this.
    private static let mostBytes = 1 << 20
    private static let copyAgain = "Copy the file again from where you got it, or remove this certificate."

    /// Checks the file before anything relies on it.
    /// - Parameter now: when its certificates must be valid; a file in which some are not is
    ///   accepted, as bundles of authorities keep old ones.
    /// - Throws: a `Diagnostic` with the line: it cannot be read, it holds no certificate, one of
    ///   them is damaged, or all have expired.
    public static func check(_ file: String, now: Timestamp = .now()) throws(Diagnostic) {
        let bytes = try read(file)
        if bytes.isEmpty {
            throw Diagnostic("the file of certificate authorities is empty", file: file, remedy: "Copy it again.")
        }
        if let other = TextEncoding.foreign(bytes) {
            throw Diagnostic("the file is written in \(other), not in UTF-8", file: file, remedy: TextEncoding.remedy)
        }
        let blocks = try blocks(bytes, file: file)
        var ends: [Timestamp] = []
        for block in blocks where block.isCertificate {
            guard let certificate = block.bytes.withUnsafeBytes(certificate) else {
                throw Diagnostic(
                    "the certificate that begins here is damaged: it cannot be decoded",
                    at: SourcePosition(file: file, line: block.line, column: 1), remedy: copyAgain)
            }
            ends.append(certificate.notAfter)
        }
        guard let last = ends.max() else { throw noCertificate(bytes, blocks.first, file: file) }
        guard now < last else {
            throw Diagnostic(
                ends.count == 1
                    ? "the certificate expired at \(last)"
                    : "all certificates of the file have expired, the last one at \(last)",
                file: file, remedy: "Copy the authority's current certificate into it.")
        }
    }

    /// The file as OpenSSL and libcurl read it: without byte order marks, each line ended by LF.
    /// Empty if it cannot be read.
    public static func pem(of file: String) -> [UInt8] {
        guard let bytes = try? RegularFile.bytes(of: file, atMost: mostBytes) else { return [] }
        return SecretBytes(bytes).withBytes { Array($0) }
    }

    private static func read(_ file: String) throws(Diagnostic) -> [UInt8] {
        do throws(FileError) { return try RegularFile.bytes(of: file, atMost: mostBytes) } catch {
            let remedy = "Check `ca` in volley.yaml."
            switch error {
            case .system(ENOENT), .system(ENOTDIR):
                throw Diagnostic("there is no such file of certificate authorities", file: file, remedy: remedy)
            case .system(EACCES), .system(EPERM):
                throw Diagnostic(
                    "this user may not read the file of certificate authorities", file: file, remedy: remedy)
            case .system(let code):
                throw Diagnostic(
                    "the certificate authority cannot be read: \(SecretFile.systemMessage(code))", file: file,
                    remedy: remedy)
            case .notAFile(let kind): throw kind.refusal(file, remedy: remedy)
            }
        }
    }

    /// The text between two armour lines, with them.
    private struct Block {
        let label: String
        let line: Int
        var bytes: [UInt8] = []

        var isCertificate: Bool { ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"].contains(label) }
    }

    private static func blocks(_ bytes: [UInt8], file: String) throws(Diagnostic) -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        let text = SecretBytes(bytes).withBytes { String(decoding: $0, as: UTF8.self) }
        for (number, part) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = String(part), place = SourcePosition(file: file, line: number + 1, column: 1)
            let begins = line.hasPrefix("-----BEGIN "), ends = line.hasPrefix("-----END ")
            if begins || (ends && open == nil)
                || !(begins || ends) && (line.contains("BEGIN CERTIFICATE") || line.contains("END CERTIFICATE"))
            {
                guard begins, open == nil else { throw brokenFrame(line, at: place, open) }
                let label = line.dropFirst("-----BEGIN ".count)
                guard let dashes = label.firstRange(of: "-----") else { throw brokenFrame(line, at: place, nil) }
                open = Block(label: String(label[..<dashes.lowerBound]), line: number + 1)
            }
            open?.bytes.append(contentsOf: Array((line + "\n").utf8))
            if ends, let block = open {
                blocks.append(block)
                open = nil
            }
        }
        if let open { throw brokenFrame("", at: SourcePosition(file: file, line: open.line, column: 1), open) }
        return blocks
    }

    private static func brokenFrame(_ line: String, at place: SourcePosition, _ open: Block?) -> Diagnostic {
        if let open {
            return Diagnostic(
                "the \(open.label.lowercased()) that begins here is cut off: it has no line -----END \(open.label)-----",
                at: SourcePosition(file: place.file, line: open.line, column: 1), remedy: copyAgain)
        }
        if line.hasPrefix("-----END ") {
            return Diagnostic(
                "a certificate ends here, and its line -----BEGIN CERTIFICATE----- is missing", at: place,
                remedy: copyAgain)
        }
        return Diagnostic(
            "this line is damaged: five hyphens belong in front of the words and after them", at: place,
            remedy: copyAgain)
    }

    private static func certificate(_ bytes: UnsafeRawBufferPointer) -> X509Certificate? {
        defer { ERR_clear_error() }
        guard let source = OpenSSLHandle.reader(bytes) else { return nil }
        return X509Certificate(PEM_read_bio_X509_AUX(source.pointer, nil, nil, nil))
    }

    private static func noCertificate(_ bytes: [UInt8], _ block: Block?, file: String) -> Diagnostic {
        if let block {
            return Diagnostic(
                "this is \(TextFormat.withArticle(block.label.lowercased())), not a certificate",
                at: SourcePosition(file: file, line: block.line, column: 1),
                remedy: "Name the file with the authority's certificate, which begins with -----BEGIN CERTIFICATE-----."
            )
        }
        let isBinary = bytes.withUnsafeBytes { bytes in
            var start = bytes.bindMemory(to: UInt8.self).baseAddress
            defer { ERR_clear_error() }
            return X509Certificate(d2i_X509(nil, &start, bytes.count)) != nil
        }
        if isBinary {
            return Diagnostic(
                "this certificate is binary (DER), and Volley reads PEM", file: file,
                remedy:
                    "Run: openssl x509 -inform der -in \(shellQuoted(file)) -out authority.pem; then name authority.pem."
            )
        }
        return Diagnostic(
            "this is not a certificate in PEM form", file: file,
            remedy: "A PEM file begins with -----BEGIN CERTIFICATE-----.")
    }
}
