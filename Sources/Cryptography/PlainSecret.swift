public import Base
import Glibc

/// A secret text that a service gives out once, in a file of its own or in an environment variable.
public struct PlainSecret: Sendable {
    /// No service's secret is longer.
    private static let longest = 256

    private let place: SecretDocument.Place
    private let noun: String

    /// A secret that was not read yet.
    /// - Parameter noun: what messages call it: "master secret".
    public init(at place: SecretDocument.Place, noun: String) {
        self.place = place
        self.noun = noun
    }

    /// Reads it. White space around it and byte order marks in front do not count: editors write
    /// both.
    /// - Throws: a `Diagnostic` that does not repeat anything of the secret: it is missing, or
    ///   something else.
    public func text() throws(Diagnostic) -> String {
        let bytes: [UInt8]
        switch place {
        case .file(let file): bytes = try SecretFile.read(file, kind: noun).withBytes { Array($0) }
        case .variable(let name):
            guard let value = EnvironmentVariables[name] else {
                throw mistake("which should hold the \(noun), is not set", joint: ", ")
            }
            bytes = Array(value.utf8)
        }
        let trimmed = bytes.dropFirst(TextEncoding.markBytes(bytes)).drop(while: Self.isSpace)
        let end = trimmed.lastIndex { !Self.isSpace($0) }
        guard let end else { throw mistake("is blank") }
        let secret = trimmed[...end]
        if let hidden = String(decoding: secret, as: UTF8.self).unicodeScalars.first(where: {
            $0.value > 0x20 && Blank.isInvisible($0)
        }) {
            throw mistake("holds an invisible character (\(TextFormat.codePoint(hidden))) next to the \(noun)")
        }
        if let flaw = Self.surrounding(String(decoding: secret, as: UTF8.self)) {
            throw mistake(
                "holds more than the \(noun): \(flaw)",
                remedy: "Write the value alone into it, without its name and without quotes.")
        }
        guard secret.count <= Self.longest, secret.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw mistake("holds something else than the \(noun), which is one word")
        }
        return String(decoding: secret, as: UTF8.self)
    }

    /// A warning if other users of the machine may read the file, with the command that prevents
    /// this; nil if they may not.
    public var permissionWarning: Diagnostic? {
        guard case .file(let file) = place else { return nil }
        return SecretFile.permissionWarning(file)
    }

    /// What is around a secret in the way of shells and other files; nil for a secret alone.
    private static func surrounding(_ text: String) -> String? {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last else { return nil }
        // A secret in base64 ends with `=`.
        if text.contains(/^(?:export\s+)?[A-Za-z_]{3,}\s*=\s*[^=\s]/) { return "a name and a '=' in front of it" }
        if text.contains(/^[A-Za-z_ ]{3,}:\s+\S/) { return "a name and a colon in front of it" }
        guard isQuote(first) || isQuote(last) else { return nil }
        return isQuote(first) && isQuote(last) ? "quotes around it" : "a quote next to it"
    }

    private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return "\"'`\u{B4}\u{201E}\u{201A}".unicodeScalars.contains(scalar) || category == .initialPunctuation
            || category == .finalPunctuation
    }

    /// - Parameter remedy: nil for "copy it".
    private func mistake(_ clause: String, joint: String = " ", remedy: String? = nil) -> Diagnostic {
        switch place {
        case .file(let file):
            Diagnostic(
                "this file \(clause)", file: file,
                remedy: remedy ?? "Copy the \(noun) from the service's console into it, and nothing else.")
        case .variable(let name):
            Diagnostic(
                "the environment variable \(SecretText.variable(name))\(joint)\(clause)",
                remedy: remedy?.replacing("into it", with: "into the variable")
                    ?? SecretText.remedy(
                        forUnset: name, noun: noun,
                        "Set it to the \(noun) from the service's console, for example with `read -s \(name); export \(name)`."
                    ))
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
