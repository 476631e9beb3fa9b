import Base
import Campaigns
import Cryptography
import Planning
import PushServices
import Simulators
import Workspace

/// The credentials that a simulator trusts: those of volley.yaml, or one in a file that `volley simulate` makes.
struct SimulatedCredential {
    private enum Kind {
        case keys([TrustedKey])
        case madeKey(SigningKey, keyID: String, teamID: String)
        case account(SimulatedServiceAccount)
    }

    /// The file with the credential; nil if volley.yaml names credentials.
    let file: String?
    private let kind: Kind

    /// Reads the credentials, or makes one. A credential that exists is trusted and never overwritten: a service hands it out only once.
    init(_ settings: SimulateCommand.Settings, options: CommonOptions, console: Console) throws {
        let name = settings.keyFile ?? settings.service.keyFile
        switch settings.service.credential {
        case .signingKey(let keyID, let teamID):
            let keys = try Self.trustedKeys(settings.service, options, console)
            guard keys.isEmpty else {
                (file, kind) = (nil, .keys(keys))
                return
            }
            let key = FilePaths.exists(name) ? try SigningKey(file: name, KeyFileWords(of: PushServices.standard)) : .generate()
            (file, kind) = (name, .madeKey(key, keyID: keyID, teamID: teamID))
        case .serviceAccount(let project):
            file = name
            guard FilePaths.exists(name) else {
                kind = .account(.generate(project: project))
                return
            }
            let text = String(decoding: try FilePaths.read(name), as: UTF8.self)
            do throws(Mistake) { kind = .account(try SimulatedServiceAccount(json: text)) } catch {
                var diagnostic = Diagnostic(error, file: name)
                diagnostic.remedy = diagnostic.remedy ?? "Name another one with --key, which is made if it does not exist."
                throw diagnostic
            }
        }
    }

    /// Makes a simulator trust the credentials.
    func trust(in configuration: inout SimulatorConfiguration) {
        switch kind {
        case .keys(let keys): configuration.keys = keys
        case .madeKey(let key, let keyID, let teamID):
            configuration.keys = [TrustedKey(keyID: keyID, teamID: teamID, key: key.verificationKey)]
        case .account(let account): configuration.fcm.accounts = [account.trusted]
        }
    }

    /// The text of the file.
    func text(url: String) -> String {
        switch kind {
        case .keys: ""
        case .madeKey(let key, _, _): key.pem
        case .account(let account): account.json(tokenURI: "\(url)/token")
        }
    }

    /// The lines of volley.yaml that name the file.
    func settings(file: String) -> [String] {
        switch kind {
        case .keys: []
        case .madeKey(_, let keyID, let teamID): ["key: {file: \(file), id: \(keyID), team: \(teamID)}"]
        case .account(let account): ["project: \(account.project)", "service_account: {file: \(file)}"]
        }
    }

    /// The keys of all apps in volley.yaml, so that the simulator recognises their pushes.
    private static func trustedKeys(_ standIn: StandIn, _ options: CommonOptions, _ console: Console) throws -> [TrustedKey] {
        guard let project = try Project.find(with: options.project) else { return [] }
        return project.apps.filter { $0.service.name == standIn.service }.compactMap { app in
            guard let reference = app.key else { return nil }
            do {
                let key = try SigningKey(
                    file: FilePaths.resolve(reference.file.value, besideFile: project.file), KeyFileWords(of: app.service))
                return TrustedKey(keyID: reference.keyID.value, teamID: reference.teamID.value, key: key.verificationKey)
            } catch {
                console.say("Pushes of '\(app.name.value)' will be refused: \(error)")
                return nil
            }
        }
    }
}
