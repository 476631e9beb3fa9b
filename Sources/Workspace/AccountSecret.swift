package import Base
import Cryptography
package import PushServices
package import Runs

/// The account that an app names for a service which gives out tokens itself: a document in a file, or in an environment variable.
package struct AccountSecret {
    private let document: SecretDocument
    private let form: CredentialForm
    private let service: any PushService

    /// A secret that was not read yet.
    package init(_ credential: FrozenCredential, _ form: CredentialForm, of service: any PushService) {
        let file = credential[form.files.first], variable = credential[form.variable]
        document = SecretDocument(
            at: file.map { .file($0) } ?? .variable(variable ?? ""), noun: form.noun, origin: form.origin)
        self.form = form
        self.service = service
    }

    /// Reads the account.
    /// - Throws: `Diagnostic`: it cannot be used, or it is not for the app of these settings.
    package func key(_ exchange: TokenExchange, for settings: RunSettings) throws(Diagnostic) -> AssertionKey {
        let json = try document.json()
        let key: AssertionKey
        guard case .assertion(let facts) = exchange.proof else { preconditionFailure("only assertions are signed with a document's key") }
        do throws(Mistake) { key = try facts.read(json) } catch { throw document.mistake(error.message, remedy: error.remedy) }
        try document.check(privateKeyPEM: key.privateKeyPEM)
        if let named = key.topic, service.topic(named, for: settings.pushType) != settings.firstService.topic {
            let topic = service.account.topic
            throw document.mistake(
                "the \(form.noun) is for the \(topic.noun) '\(named)', but the app names '\(SecretText.hidden(in: settings.firstService.topic))'",
                remedy: "Name the \(form.noun) of this app in volley.yaml, or correct its \(topic.key).")
        }
        return key
    }

    /// A warning if other users of the machine may read the file; nil if they may not.
    package var permissionWarning: Diagnostic? { document.permissionWarning }
}
