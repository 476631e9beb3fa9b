package import Base
package import Cryptography
import PushServices
import Glibc
package import Runs

/// The credentials that identify Volley to a service: what the files in an app's settings hold now.
package struct AppCredentials {
    package enum Kind {
        case certificate(ClientCertificate)
        case key(SigningKey, id: String, team: String)
        /// The built-in simulator accepts any key.
        case none
    }

    package let kind: Kind
    /// Warnings about the files.
    package let warnings: [Diagnostic]

    /// Reads the key or the certificate, and no other file.
    /// - Throws: `Diagnostic`: it cannot be used, or there is neither.
    package init(_ settings: RunSettings, now: Timestamp) throws {
        let service = settings.service
        if let reference = settings.certificate {
            let certificate = try ClientCertificate(
                file: reference.file, passphrase: reference.passphrase(), now: now, words: KeyFileWords(of: service))
            kind = .certificate(certificate)
            warnings = [SigningKey.permissionWarning(file: reference.file), certificate.expiryWarning(now: now)].compactMap { $0 }
        } else if let reference = settings.key {
            kind = .key(
                try SigningKey(file: reference.file, KeyFileWords(of: service)), id: reference.keyID, team: reference.teamID)
            warnings = [SigningKey.permissionWarning(file: reference.file)].compactMap { $0 }
        } else {
            guard settings.environment == .simulator else {
                let names = service.account.names
                throw Diagnostic(
                    "the app has \(names.none(TextFormat.withArticle))", remedy: "Add `\(names.all[0]):` to the app in volley.yaml.")
            }
            kind = .none
            warnings = []
        }
    }

    /// Checks all files that sending with these settings would need.
    /// - Returns: warnings about them.
    /// - Throws: `Diagnostic`: one of them cannot be used.
    public static func check(_ settings: RunSettings, now: Timestamp) throws -> [Diagnostic] {
        let credentials = try AppCredentials(settings, now: now)
        if case .server(_, _, let authority?) = settings.environment { try CertificateAuthorityFile.check(authority) }
        return credentials.warnings
    }
}

extension FrozenCertificate {
    /// Reads the passphrase from the environment; nil when the certificate needs none.
    /// - Throws: `Diagnostic` when the variable is not set.
    package func passphrase() throws(Diagnostic) -> String? {
        guard let name = passphraseVariable else { return nil }
        guard let value = getenv(name) else {
            throw Diagnostic(
                "the environment variable \(name), which should hold the passphrase, is not set", file: file,
                remedy: "Set it, for example with `read -s \(name); export \(name)`.")
        }
        return String(cString: value)
    }
}
