import Workspace
package import Base
import Cryptography
import Glibc
public import PushServices
import Runs

/// A check of whether the key or certificate can be used, as far as this machine can tell.
public struct CredentialsCheck: Sendable {
    let settings: RunSettings
    /// The service that takes them.
    let service: any PushService
    package let now: Timestamp

    private var names: CredentialNames { service.account.names }

    func step() -> CheckStep {
        if let credential = settings.firstService.credential, let form = service.account.credential(credential.form) {
            do {
                if form.kind.isPlainSecret { return try secret(credential, form) }
                switch form.kind {
                case .clientCertificate: return try certificate(credential, form)
                case .signingKey: return try key(credential, form)
                case .fetchedToken(let exchange): return try account(credential, form, exchange)
                case .basic, .signedRequest: preconditionFailure("a plain secret was checked before")
                }
            } catch {
                return .failed(form.key, error)
            }
        }
        let name = names.all[0]
        guard settings.firstService.environment == .simulator else {
            return .failed(name, message: "the app has \(names.none())", remedy: "Add `\(name):` to the app in volley.yaml.")
        }
        return .ok(name, message: "no \(name) is needed: the simulator gets its own for each run")
    }

    private func key(_ credential: FrozenCredential, _ form: CredentialForm) throws(Diagnostic) -> CheckStep {
        let file = credential[form.files.first] ?? "", id = credential[form.keyID] ?? ""
        _ = try SigningKey(file: file, KeyFileWords(of: service))
        var found = Findings("\(file): P-256, \(names.keyID) \(id), \(names.issuer) \(credential[form.issuer] ?? "")")
        found.add(SigningKey.permissionWarning(file: file))
        if let named = Self.keyID(inName: file, of: service), named != id {
            found.message += "; the file is named after the key \(named)"
            found.remedies.append("Check `\(names.keyID)` in volley.yaml: it must be the \(names.keyID) of this key.")
        }
        return found.step(form)
    }

    private func account(_ credential: FrozenCredential, _ form: CredentialForm, _ exchange: TokenExchange) throws(Diagnostic) -> CheckStep
    {
        let secret = AccountSecret(credential, form, of: service)
        let key = try secret.key(exchange, for: settings)
        let place = credential[form.files.first] ?? credential[form.variable] ?? ""
        var found = Findings("\(place): \(key.issuer), key \(key.keyID)")
        found.add(secret.permissionWarning)
        return found.step(form)
    }

    private func secret(_ credential: FrozenCredential, _ form: CredentialForm) throws(Diagnostic) -> CheckStep {
        let secret = credential.plainSecret(form)
        _ = try secret.text()
        let place = credential[form.files.first] ?? credential[form.variable].map { "the variable \($0)" } ?? ""
        let names =
            [(service.account.topic.noun, settings.firstService.topic)]
            + form.fieldsBeside.map { ($0.noun, credential[$0] ?? "") }
        var found = Findings("\(place): for the \(names.map { "\($0.0) \($0.1)" }.joined(separator: ", "))")
        found.add(secret.permissionWarning)
        return found.step(form)
    }

    /// The key id in the name of a key file, as the service names such files; nil if it has none.
    public static func keyID(inName file: String, of service: any PushService) -> String? {
        service.account.credentials.lazy.compactMap { $0.file?.id(inName: file) }.first
    }

    private func certificate(_ credential: FrozenCredential, _ form: CredentialForm) throws(Diagnostic) -> CheckStep {
        let file = credential[form.files.first] ?? ""
        let certificate = try ClientCertificate(
            file: file, passphrase: credential.passphrase(form), now: now, words: KeyFileWords(of: service))
        if let step = wrongTopic(certificate) { return step }
        var found = Findings("\(file): '\(certificate.commonName)', valid until \(certificate.notAfter)")
        found.add(ClientCertificate.permissionWarning(file: file))
        found.add(certificate.expiryWarning(now: now))
        return found.step(form)
    }

    private func wrongTopic(_ certificate: ClientCertificate) -> CheckStep? {
        let (key, topic) = (service.account.topic.key, settings.firstService.topic)
        let named = service.topic(ofCertificate: certificate.commonName, userID: certificate.userID)
        guard !named.isEmpty, named != topic, !topic.hasPrefix(named + ".") else { return nil }
        return .failed(
            names.certificate, message: "the certificate is for \(named), but the app's \(key) is \(topic)",
            remedy: "Name the certificate of this app in volley.yaml, or correct its \(key).")
    }
}

/// What was found about a credential that can be used.
private struct Findings {
    var message: String
    var remedies: [String] = []

    init(_ message: String) { self.message = message }

    mutating func add(_ warning: Diagnostic?) {
        guard let warning else { return }
        message += "; \(warning.message)"
        if let remedy = warning.remedy { remedies.append(remedy) }
    }

    func step(_ form: CredentialForm) -> CheckStep {
        .ok(form.key, message: message, remedy: remedies.isEmpty ? nil : remedies.joined(separator: " "))
    }
}
