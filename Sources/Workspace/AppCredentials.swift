package import Base
package import Cryptography
import Glibc
package import PushServices
package import Runs

/// The credentials that identify Volley to a service: what the files in an app's settings hold now.
package struct AppCredentials {
    package enum Kind {
        case certificate(ClientCertificate)
        case key(SigningKey, id: String, issuer: String)
        /// What signs for the tokens that the service's own server gives out.
        case account(AssertionKey, TokenExchange)
        /// A text that the service gave the app, and how it is used.
        case secret(AppSecret, CredentialForm.Kind)
        /// The built-in simulator accepts any key.
        case none
    }

    package let kind: Kind
    /// Warnings about the files.
    package let warnings: [Diagnostic]

    /// Reads the credential that the settings name, and no other file.
    /// - Parameter service: takes it; nil for the one that the settings name.
    /// - Throws: `Diagnostic`: it does not exist or cannot be used.
    package init(_ settings: RunSettings, of service: (any PushService)? = nil, now: Timestamp) throws(Diagnostic) {
        let service = service ?? settings.service
        guard let credential = settings.firstService.credential, let form = service.account.credential(credential.form)
        else {
            guard settings.firstService.environment == .simulator else {
                let names = service.account.names
                throw Diagnostic(
                    "the app has \(names.none(TextFormat.withArticle))",
                    remedy: "Add `\(names.all[0]):` to the app in volley.yaml.")
            }
            kind = .none
            warnings = []
            return
        }
        let file = credential[form.files.first] ?? "", words = KeyFileWords(of: service)
        if form.kind.isPlainSecret {
            let secret = credential.plainSecret(form)
            let app = AppSecret(
                topic: settings.firstService.topic, names: credential.names(beside: form), secret: try secret.text())
            kind = .secret(app, form.kind)
            warnings = [secret.permissionWarning].compactMap { $0 }
            return
        }
        switch form.kind {
        case .clientCertificate:
            let certificate = try ClientCertificate(
                file: file, passphrase: credential.passphrase(form), now: now, words: words)
            kind = .certificate(certificate)
            warnings = [SigningKey.permissionWarning(file: file), certificate.expiryWarning(now: now)].compactMap { $0 }
        case .signingKey:
            kind = .key(
                try SigningKey(file: file, words), id: credential[form.keyID] ?? "",
                issuer: credential[form.issuer] ?? "")
            warnings = [SigningKey.permissionWarning(file: file)].compactMap { $0 }
        case .fetchedToken(let exchange):
            let secret = AccountSecret(credential, form, of: service)
            kind = .account(try secret.key(exchange, for: settings), exchange)
            warnings = [secret.permissionWarning].compactMap { $0 }
        case .basic, .signedRequest: preconditionFailure("a plain secret was read before")
        }
    }

    /// Checks all files that sending with these settings would need.
    /// - Returns: warnings about them.
    /// - Throws: `Diagnostic`: one of them cannot be used.
    public static func check(_ settings: RunSettings, now: Timestamp) throws -> [Diagnostic] {
        try settings.services.indices.flatMap { number throws(Diagnostic) in
            try check(settings, ofService: number, now: now)
        }
    }

    /// Why nothing can be sent through services, by their numbers: their credentials cannot be
    /// used, while those of another one can.
    /// - Throws: `Diagnostic`: those of no service can be used.
    package static func obstacles(_ settings: RunSettings, now: Timestamp) throws(Diagnostic) -> [Int: Diagnostic] {
        var obstacles: [Int: Diagnostic] = [:]
        for number in settings.services.indices {
            do throws(Diagnostic) { _ = try check(settings, ofService: number, now: now) } catch {
                obstacles[number] = error
            }
        }
        guard obstacles.count < settings.services.count else {
            throw obstacles[0] ?? Diagnostic("the app has no service")
        }
        return obstacles
    }

    /// Checks all files that sending through one of the services would need.
    /// - Returns: warnings about them.
    /// - Throws: `Diagnostic`: one of them cannot be used.
    package static func check(_ settings: RunSettings, ofService number: Int, now: Timestamp) throws(Diagnostic)
        -> [Diagnostic]
    {
        let settings = settings.ofService(number)
        let credentials = try AppCredentials(settings, now: now)
        if case .server(_, _, let authority?) = settings.firstService.environment {
            try CertificateAuthorityFile.check(authority)
        }
        return credentials.warnings
    }
}

extension Diagnostic {
    /// The warning that nothing is sent through one of several services, for this reason.
    package static func credentialsUnusable(_ why: Diagnostic, of service: any PushService) -> Diagnostic {
        var warning = why
        (warning.severity, warning.name) = (.warning, .credentialsUnusable)
        warning.message =
            "nothing can be sent through \(service.displayName), only through the other services: \(why.message)"
        return warning
    }
}

extension FrozenCredential {
    /// The secret text that it names.
    package func plainSecret(_ form: CredentialForm) -> PlainSecret {
        let place: SecretDocument.Place =
            self[form.files.first].map { .file($0) } ?? .variable(self[form.variable] ?? "")
        return PlainSecret(at: place, noun: form.noun)
    }

    /// The settings next to it in volley.yaml, by keys.
    package func names(beside form: CredentialForm) -> [String: String] {
        let keys = form.fieldsBeside.map(\.key)
        return values.filter { keys.contains($0.key) }
    }

    /// Reads a certificate's passphrase from the environment; nil when it needs none.
    /// - Throws: `Diagnostic` when the variable is not set.
    package func passphrase(_ form: CredentialForm) throws(Diagnostic) -> String? {
        guard let name = self[form.passphraseVariable] else { return nil }
        guard let value = EnvironmentVariables[name] else {
            throw Diagnostic(
                "the environment variable \(SecretText.variable(name)), which should hold the passphrase, is not set",
                file: self[form.files.first],
                remedy: SecretText.remedy(
                    forUnset: name, noun: "passphrase", "Set it, for example with `read -s \(name); export \(name)`."))
        }
        return value
    }
}

/// The account that an app names for a service which gives out tokens itself: a document in a file,
/// or in an environment variable.
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
        guard case .assertion(let facts) = exchange.proof else {
            preconditionFailure("only assertions are signed with a document's key")
        }
        do throws(Mistake) { key = try facts.read(json) } catch {
            throw document.mistake(error.message, remedy: error.remedy)
        }
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
