public import Base
public import Campaigns
import Content
public import Cryptography
public import PushServices
public import Runs

extension KeyFileWords {
    /// The words of a service.
    public init(of service: any PushService) {
        let account = service.account
        let file = account.credentials.lazy.compactMap(\.file).first
        self = file.map { KeyFileWords(service: service.displayName, source: $0.description, fileName: $0.name()) } ?? .plain
        (key, certificate) = (account.signingKey?.key, account.certificate?.key)
        if let variable = account.certificate?.passphraseVariable { passphrase = variable.key }
    }
}

extension FrozenCredential {
    /// The credential with the fingerprint of what its file holds now, if it is a signing key that can be read.
    package func fingerprinted(_ service: any PushService) -> FrozenCredential {
        guard let form = service.account.credential(form), case .signingKey = form.kind, let file = self[form.files.first] else {
            return self
        }
        var credential = self
        credential.fingerprint = (try? SigningKey(file: file))?.verificationKey.fingerprint
        return credential
    }

    fileprivate init(_ reference: CredentialReference, _ form: CredentialForm, _ path: (SourceText) -> String) {
        let files = form.files.map(\.key)
        let values = reference.values.map { ($0.key, files.contains($0.key) ? path($0.value) : $0.value.value) }
        self.init(form: form.key, values: Dictionary(uniqueKeysWithValues: values))
    }
}

extension RunSettings {
    /// Settings that belong to no app yet: production, without topic and credentials.
    public init(pushType: PushType) {
        self.init(
            environment: .named(PushServices.standard.account.environments.choices[0]), topic: "", pushType: pushType,
            renderingRules: MessageCatalog.renderingRules)
    }

    /// The settings of an app, with defaults for everything else.
    public init(_ app: App, projectFile: String, pushType: PushType) throws {
        func path(_ text: SourceText) -> String { FilePaths.anchored(FilePaths.resolve(text.value, besideFile: projectFile)) }
        self.init(
            services: [try ServiceSettings(app, path, pushType)], pushType: pushType, renderingRules: MessageCatalog.renderingRules)
        needsApproval = app.needsApproval
    }
}

extension ServiceSettings {
    /// The settings of an app's service, with defaults for everything else.
    /// - Parameter path: the absolute path of a file that volley.yaml names.
    fileprivate init(_ app: App, _ path: (SourceText) -> String, _ pushType: PushType) throws {
        // Volley adds the suffix that a push type needs, unless volley.yaml already has it.
        self.init(
            environment: try FrozenEnvironment(app.environment, path), topic: app.service.topic(app.topic.value, for: pushType))
        serviceName = app.service.name
        if let reference = app.credential, let form = app.credentialForm { credential = FrozenCredential(reference, form, path) }
        pace = app.pace
        appPace = app.pace
    }
}

extension FrozenEnvironment {
    fileprivate init(_ environment: Environment, _ path: (SourceText) -> String) throws {
        switch environment {
        case .named(let environment): self = .named(environment)
        case .simulator: self = .simulator
        case .server(let url, let authority):
            let (host, port) = try Self.parts(of: url)
            self = .server(host: Self.normalized(host: host), port: port, certificateAuthority: authority.map(path))
        }
    }

    /// Host and port of `https://host[:port][/]`, IPv6 addresses in brackets.
    private static func parts(of url: SourceText) throws -> (String, Int) {
        var rest = url.value.dropFirst("https://".count)
        if rest.last == "/" { rest.removeLast() }
        var port = 443
        if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
            guard let number = Int(rest[rest.index(after: colon)...]), (1...65535).contains(number) else {
                throw Diagnostic("the port in '\(url.value)' is not a number from 1 to 65535", at: url.position)
            }
            port = number
            rest = rest[..<colon]
        }
        return (String(rest), port)
    }
}

extension App {
    /// Where its pushes go, for people.
    public var destination: String {
        switch environment {
        case .named(let environment): environment.name
        case .simulator: Environment.simulatorName
        case .server(let url, _): url.value
        }
    }
}
