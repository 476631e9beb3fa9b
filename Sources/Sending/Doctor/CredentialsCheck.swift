import Workspace
package import Base
import Cryptography
import Glibc
public import PushServices
import Runs

/// A check of whether the key or certificate can be used, as far as this machine can tell.
public struct CredentialsCheck: Sendable {
    let settings: RunSettings
    /// Who takes them.
    let service: any PushService
    package let now: Timestamp

    private var names: CredentialNames { service.account.names }

    func step() -> CheckStep {
        if let certificate = settings.certificate { return step(certificate) }
        if let key = settings.key { return step(key) }
        guard settings.environment == .simulator else {
            let name = names.all[0]
            return .failed(name, message: "the app has \(names.none())", remedy: "Add `\(name):` to the app in volley.yaml.")
        }
        return .ok(names.signingKey, message: "no \(names.signingKey) is needed: the simulator gets its own for each run")
    }

    private func step(_ reference: FrozenKey) -> CheckStep {
        do {
            _ = try SigningKey(file: reference.file, KeyFileWords(of: service))
            var message = "\(reference.file): P-256, \(names.keyID) \(reference.keyID), \(names.issuer) \(reference.teamID)"
            var remedies: [String] = []
            if let warning = SigningKey.permissionWarning(file: reference.file) {
                message += "; \(warning.message)"
                if let remedy = warning.remedy { remedies.append(remedy) }
            }
            if let named = Self.keyID(inName: reference.file, of: service), named != reference.keyID {
                message += "; the file is named after the key \(named)"
                remedies.append("Check `\(names.keyID)` in volley.yaml: it must be the \(names.keyID) of this key.")
            }
            return .ok(names.signingKey, message: message, remedy: remedies.isEmpty ? nil : remedies.joined(separator: " "))
        } catch {
            return .failed(names.signingKey, error)
        }
    }

    /// The key id in the name of a key file, as the service names such files; nil if it has none.
    public static func keyID(inName file: String, of service: any PushService) -> String? {
        service.account.credentials.lazy.compactMap { $0.file?.id(inName: file) }.first
    }

    private func step(_ reference: FrozenCertificate) -> CheckStep {
        do {
            let certificate = try ClientCertificate(
                file: reference.file, passphrase: reference.passphrase(), now: now, words: KeyFileWords(of: service))
            if let step = wrongTopic(certificate) { return step }
            var message = "\(reference.file): '\(certificate.commonName)', valid until \(certificate.notAfter)"
            var remedies: [String] = []
            for warning in [ClientCertificate.permissionWarning(file: reference.file), certificate.expiryWarning(now: now)] {
                guard let warning else { continue }
                message += "; \(warning.message)"
                if let remedy = warning.remedy { remedies.append(remedy) }
            }
            return .ok(names.certificate, message: message, remedy: remedies.isEmpty ? nil : remedies.joined(separator: " "))
        } catch {
            return .failed(names.certificate, error)
        }
    }

    private func wrongTopic(_ certificate: ClientCertificate) -> CheckStep? {
        let (key, topic) = (service.account.topic.key, settings.topic)
        let named = service.topic(ofCertificate: certificate.commonName, userID: certificate.userID)
        guard !named.isEmpty, named != topic, !topic.hasPrefix(named + ".") else { return nil }
        return .failed(
            names.certificate, message: "the certificate is for \(named), but the app's \(key) is \(topic)",
            remedy: "Name the certificate of this app in volley.yaml, or correct its \(key).")
    }
}
