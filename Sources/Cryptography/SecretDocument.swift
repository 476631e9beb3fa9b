public import Base
import Glibc

/// A JSON document with a private key, as a service gives it out for an account. It is in a file,
/// or in an environment variable.
public struct SecretDocument: Sendable {
    /// Where it is.
    public enum Place: Hashable, Sendable {
        /// In the file of this path.
        case file(String)
        /// In the environment variable of this name.
        case variable(String)
    }

    private let place: Place
    private let noun: String
    private let origin: String

    /// A document that was not read yet.
    /// - Parameters:
    ///   - noun: what messages call it: "service account".
    ///   - origin: where people get it: "from …".
    public init(at place: Place, noun: String, origin: String) {
        self.place = place
        self.noun = noun
        self.origin = origin
    }

    /// Reads the document.
    /// - Throws: a `Diagnostic` that does not repeat anything of the secret: it is missing, cut
    ///   off, or something else.
    public func json() throws(Diagnostic) -> JSONValue {
        let bytes = try bytes()
        let start = bytes.first { !isSpace($0) }
        if start != UInt8(ascii: "{"), let what = foreign(bytes, start: start) { throw notThis(what) }
        do throws(Mistake) { return try JSONValue(parsing: bytes) } catch {
            let message = "the \(noun) is damaged: \(error.message)"
            guard case .file(let file) = place else { throw mistake(message, remedy: remedyToCopy) }
            throw Diagnostic(
                message, at: SourcePosition(file: file, utf8Offset: error.utf8Offset, in: bytes), remedy: remedyToCopy)
        }
    }

    /// Checks that a private key which the document holds is one, and that it can sign with RSA.
    /// - Throws: a `Diagnostic`: it is not.
    public func check(privateKeyPEM: String) throws(Diagnostic) {
        if Array(privateKeyPEM.utf8).withUnsafeBytes({ PEMLabels($0).hasPrivateKey }) {
            guard let flaw = RSASigningKey.flaw(ofReadable: privateKeyPEM) else { return }
            throw mistake(
                "the private key in the \(noun) \(flaw)",
                remedy: "Get a new \(noun)\(origin.isEmpty ? "" : " \(origin)"), and store it unchanged.")
        }
        if let flaw = PEMArmour.flaw(in: privateKeyPEM) {
            throw mistake("the private key in the \(noun) is not one: \(flaw.message)", remedy: flaw.remedy)
        }
        throw mistake(
            "the private key in the \(noun) is not one: it has no line -----BEGIN PRIVATE KEY-----",
            remedy: remedyToCopy)
    }

    /// A mistake in the document.
    /// - Parameter remedy: nil for "copy it again".
    public func mistake(_ message: String, remedy: String? = nil) -> Diagnostic {
        switch place {
        case .file(let file): Diagnostic(message, file: file, remedy: remedy ?? remedyToCopy)
        case .variable(let name):
            Diagnostic("in the environment variable \(name), \(message)", remedy: remedy ?? remedyToCopy)
        }
    }

    /// A warning if other users of the machine may read the file, with the command that prevents
    /// this; nil if they may not.
    public var permissionWarning: Diagnostic? {
        guard case .file(let file) = place else { return nil }
        return SecretFile.permissionWarning(file)
    }

    private func bytes() throws(Diagnostic) -> [UInt8] {
        switch place {
        case .file(let file): return try SecretFile.read(file, kind: noun).withBytes { Array($0) }
        case .variable(let name):
            guard let value = EnvironmentVariables[name] else {
                throw Diagnostic(
                    "the environment variable \(SecretText.variable(name)), which should hold the \(noun), is not set",
                    remedy: SecretText.remedy(forUnset: name, noun: noun, remedyToCopy))
            }
            let all = value.utf8
            let bytes = Array(all.dropFirst(TextEncoding.markBytes(all)))
            guard bytes.contains(where: { !isSpace($0) }) else {
                throw Diagnostic(
                    "the environment variable \(name), which should hold the \(noun), is empty", remedy: remedyToCopy)
            }
            return bytes
        }
    }

    /// What is there instead of the document; nil for JSON, which may be damaged.
    private func foreign(_ bytes: [UInt8], start: UInt8?) -> String? {
        let labels = bytes.withUnsafeBytes { PEMLabels($0) }
        if labels.hasPrivateKey { return "a private key alone" }
        if labels.hasCertificate { return "a certificate" }
        if String(validating: bytes, as: UTF8.self) == nil { return "binary data" }
        if start == UInt8(ascii: "<") { return "a web page" }
        let text = String(decoding: bytes, as: UTF8.self)
        if case .variable = place, isPath(text) { return "the name of a file" }
        // What base64 makes of an object's start: of `{"` and of `{` before white space.
        if text.hasPrefix("ey") || text.hasPrefix("ew") { return "text in base64" }
        return (try? JSONValue(parsing: bytes)) == nil ? "text" : "JSON of another kind"
    }

    private func notThis(_ what: String) -> Diagnostic {
        switch place {
        case .file(let file):
            let remedy = "Name the \(noun) file" + (origin.isEmpty ? "." : " \(origin).")
            return Diagnostic("this is \(what), not \(TextFormat.withArticle(noun))", file: file, remedy: remedy)
        case .variable(let name):
            return Diagnostic(
                "the environment variable \(name) holds \(what), not \(TextFormat.withArticle(noun))",
                remedy: remedyToCopy)
        }
    }

    private var remedyToCopy: String {
        switch place {
        case .file: "Copy the file again from where you downloaded it, as a file, not as text."
        case .variable(let name): "Set it, for example with `export \(name)=\"$(cat FILE)\"`."
        }
    }

    private func isPath(_ text: String) -> Bool {
        !text.utf8.contains { $0 == 0x0A || $0 == 0x0D }
            && (["/", "./", "../", "~/"].contains(where: text.hasPrefix) || text.hasSuffix(".json"))
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
