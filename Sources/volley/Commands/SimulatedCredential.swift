import Base
import Campaigns
import Cryptography
import Planning
import PushServices
import Runs
import Sending
import Simulators
import Workspace

/// The credentials that a simulator trusts: those of volley.yaml, or one in a file that
/// `volley simulate` makes.
struct SimulatedCredential {
    private enum Kind {
        case keys([TrustedKey])
        case madeKey(SigningKey, keyID: String, teamID: String)
        case accounts([TrustedServiceAccount])
        case madeAccount(SimulatedServiceAccount)
        case secrets([TrustedSecret])
        /// With the keys of its parts in volley.yaml.
        case madeSecret(TrustedSecret, names: [StandInName], key: String)
    }

    /// The file with the credential; nil if volley.yaml names credentials.
    let file: String?
    private let kind: Kind
    /// The service that the simulator simulates.
    private let service: String

    /// Reads the credentials, or makes one. A credential that exists is trusted and never
    /// overwritten: a service hands it out only once.
    init(_ settings: SimulateCommand.Settings, options: CommonOptions, console: Console) throws {
        let name = settings.keyFile ?? settings.service.keyFile
        let awaiting = FilePaths.exists(name) ? nil : try Self.account(at: settings.service, awaiting: name, options)
        service = settings.service.service
        switch settings.service.credential {
        case .signingKey(let keyID, let teamID):
            // Then it is trusted under the names that volley.yaml gives it.
            if awaiting != nil { try Self.make(name, SigningKey.generate().pem, console) }
            let keys = try Self.trusted(settings.service, options, console).keys
            guard keys.isEmpty else {
                (file, kind) = (nil, .keys(keys))
                return
            }
            let key =
                FilePaths.exists(name)
                ? try SigningKey(file: name, KeyFileWords(of: PushServices.standard)) : .generate()
            (file, kind) = (name, .madeKey(key, keyID: keyID, teamID: teamID))
        case .serviceAccount(let project):
            let accounts = try Self.trusted(settings.service, options, console, besides: awaiting).issuer.accounts
            guard accounts.isEmpty else {
                // A file that it makes can only hold a separate account.
                if awaiting != nil { _ = try Self.trusted(settings.service, options, console) }
                (file, kind) = (nil, .accounts(accounts))
                return
            }
            file = name
            guard FilePaths.exists(name) else {
                kind = .madeAccount(.generate(project: awaiting?.topic.value ?? project))
                return
            }
            let text = String(decoding: try FilePaths.read(name), as: UTF8.self)
            do throws(Mistake) { kind = .madeAccount(try SimulatedServiceAccount(json: text)) } catch {
                var diagnostic = Diagnostic(error, file: name)
                diagnostic.remedy =
                    diagnostic.remedy ?? "Name another one with --key, which is made if it does not exist."
                throw diagnostic
            }
        case .secret(let app, let names, let key):
            if awaiting != nil { try Self.make(name, Self.madeSecret() + "\n", console) }
            let secrets = try Self.trusted(settings.service, options, console).secrets
            guard secrets.isEmpty else {
                (file, kind) = (nil, .secrets(secrets))
                return
            }
            file = name
            let secret =
                FilePaths.exists(name) ? try PlainSecret(at: .file(name), noun: "secret").text() : Self.madeSecret()
            let trusted = TrustedSecret(
                app: app.value, names: Dictionary(uniqueKeysWithValues: names.map { ($0.key, $0.value) }),
                secret: secret)
            kind = .madeSecret(trusted, names: [app] + names, key: key)
        }
    }

    /// The account in volley.yaml whose credential will be in a file that does not exist yet.
    private static func account(at standIn: StandIn, awaiting file: String, _ options: CommonOptions) throws
        -> AppService?
    {
        guard let project = try Project.find(with: options.project) else { return nil }
        for app in project.apps {
            guard let account = app.service(named: standIn.service), let form = account.credentialForm else { continue }
            let settings = try? RunSettings(app, projectFile: project.file, pushType: .alert)
            let frozen = settings?.services.first { $0.serviceName == standIn.service }?.credential
            if frozen?[form.files.first].map(FilePaths.anchored) == FilePaths.anchored(file) { return account }
        }
        return nil
    }

    private static func make(_ file: String, _ text: String, _ console: Console) throws {
        try FilePaths.create(file, bytes: Array(text.utf8), mode: 0o600)
        console.say("Made \(file), which volley.yaml names.")
    }

    private static func madeSecret() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<24).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }.joined()
    }

    /// Makes a simulator trust the credentials.
    func trust(in configuration: inout SimulatorConfiguration) {
        switch kind {
        case .keys(let keys): configuration.keys = keys
        case .madeKey(let key, let keyID, let teamID):
            configuration.keys = [TrustedKey(keyID: keyID, teamID: teamID, key: key.verificationKey)]
        case .accounts(let accounts): for account in accounts { configuration.trust(account) }
        case .madeAccount(let account): configuration.trust(account.trusted)
        case .secrets(let secrets): configuration.secrets = secrets
        case .madeSecret(let secret, _, _): configuration.secrets = [secret]
        }
    }

    /// The text of the file.
    func text(url: String) -> String {
        switch kind {
        case .keys, .accounts, .secrets: ""
        case .madeSecret(let secret, _, _): secret.secret + "\n"
        case .madeKey(let key, _, _): key.pem
        case .madeAccount(let account): account.json(tokenURI: "\(url)/token")
        }
    }

    /// The lines of volley.yaml that name the file.
    func settings(file: String) -> [String] {
        switch kind {
        case .keys, .accounts, .secrets: []
        case .madeSecret(_, let names, let key):
            ["service: \(service)"] + names.map { "\($0.key): \($0.value)" } + ["\(key): {file: \(file)}"]
        case .madeKey(_, let keyID, let teamID): ["key: {file: \(file), id: \(keyID), team: \(teamID)}"]
        case .madeAccount(let account):
            ["service: \(service)", "project: \(account.project)", "service_account: {file: \(file)}"]
        }
    }

    /// The credentials of all apps in volley.yaml that go to the simulator's service.
    /// - Parameter awaiting: one whose credential is about to be made.
    private static func trusted(
        _ standIn: StandIn, _ options: CommonOptions, _ console: Console, besides awaiting: AppService? = nil
    ) throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        guard let project = try Project.find(with: options.project) else { return configuration }
        for app in project.apps {
            guard let account = app.service(named: standIn.service), account.credential != nil,
                account.position != awaiting?.position
            else { continue }
            do { try configuration.trust(app, of: standIn.service, projectFile: project.file) } catch {
                console.say("Pushes of '\(app.name.value)' will be refused: \(error)")
            }
        }
        return configuration
    }
}
