import Workspace
import Base
import Campaigns
import PushServices
import Runs
import Planning
import Sending

extension PushCommand {
    /// The destination and the credentials of a single push: from an app of volley.yaml, from these
    /// options alone, or from an app with some values replaced.
    public struct Target: Sendable {
        /// The name of an app under `apps` in volley.yaml; may be omitted if there is only one.
        public var app: String?
        /// The name of one of the app's services; may be omitted if the target can only be one of
        /// one of them.
        public var service: String?
        /// The environment: production, sandbox or simulator.
        public var environment: String?
        /// The bundle id.
        public var topic: String?
        /// A .p8 file, the key's id and its team; the id may be omitted if the file is named after
        /// it.
        public var keyFile: String?, keyID: String?, teamID: String?
        /// A .p12, or a PEM with certificate and key, and the environment variable that holds its
        /// passphrase.
        public var certificateFile: String?, passphraseVariable: String?

        /// Creates a target without any values.
        public init() {}

        /// Whether the options suffice without volley.yaml.
        private var isComplete: Bool {
            app == nil && topic != nil && (keyFile != nil || certificateFile != nil || environment == "simulator")
        }

        /// The settings of the push, with defaults for all but the credentials and the destination,
        /// and the app's proxy.
        /// - Parameter service: takes the push.
        func settings(
            _ pushType: PushType, _ service: any PushService, _ options: CommonOptions, _ console: Console
        ) throws -> (settings: RunSettings, proxy: ProxySetting?) {
            guard keyFile == nil || certificateFile == nil else {
                throw Diagnostic("--key and --certificate cannot be combined")
            }
            let app = isComplete ? nil : try appOfProject(options, console)
            var settings =
                try app.map { app in
                    let all = try RunSettings(app.app, projectFile: app.file, pushType: pushType)
                    return all.ofService(all.services.firstIndex { $0.serviceName == service.name } ?? 0)
                } ?? RunSettings(pushType: pushType)
            if let topic { settings.firstService.topic = service.topic(topic, for: pushType) }
            if let environment { settings.firstService.environment = try Self.environment(environment, of: service) }
            if let credential = try key(of: service) ?? certificate(of: service) {
                settings.firstService.credential = credential
            }
            return (settings, app?.app.proxy)
        }

        /// Checks the values that become headers.
        /// - Throws: a `Diagnostic` if a value cannot become a header, or part of one.
        func checkHeaders(for service: any PushService) throws(Diagnostic) {
            for (value, option) in [(topic, "--topic"), (keyID, "--key-id"), (teamID, "--team")] {
                try HeaderText.check(value, of: option, for: service)
            }
        }

        /// The service that takes the push: the one that was named, or the app's first one that has
        /// such targets; the standard service without an app. Mistakes in volley.yaml are reported
        /// later, when it is needed.
        /// - Parameter target: as it was typed.
        /// - Throws: a `Diagnostic` if the app has no such service.
        func service(for target: String, _ options: CommonOptions) throws(Diagnostic) -> any PushService {
            guard !isComplete, let path = options.project.file ?? Project.find(startingAt: "."),
                let project = try? Project.read(file: path).0,
                let app = try? project.app(calledOrOnly: app)
            else { return PushServices.standard }
            if let service { return try app.service(called: service).service }
            return (app.services.first { $0.service.target.target(target) != nil } ?? app.main).service
        }

        private func appOfProject(_ options: CommonOptions, _ console: Console) throws -> (app: App, file: String) {
            guard let path = options.project.file ?? Project.find(startingAt: ".") else {
                throw Diagnostic(
                    "there is no volley.yaml here or above",
                    remedy:
                        "Name one with --config, run `volley init`, or give everything here: --topic, and --key or --certificate."
                )
            }
            let (project, warnings) = try Project.read(file: path)
            console.show(warnings)
            return (try project.app(calledOrOnly: app), project.file)
        }

        private static func environment(_ name: String, of service: any PushService) throws -> FrozenEnvironment {
            if name == Environment.simulatorName { return .simulator }
            let choices = service.account.environments.choices
            guard let environment = choices.first(where: { $0.name == name }) else {
                let names = choices.map(\.name) + [Environment.simulatorName]
                let nearest = nearestName(to: name, among: names).map { "Did you mean '\($0)'?" }
                throw Diagnostic(
                    "'\(name)' is not an environment",
                    remedy: nearest
                        ?? "It must be \(names.dropLast().joined(separator: ", ")) or \(Environment.simulatorName).")
            }
            return .named(environment)
        }

        /// The key of the options; nil if they name none.
        func key(of service: any PushService) throws -> FrozenCredential? {
            guard let keyFile else { return nil }
            guard let form = service.account.signingKey else { throw Self.takesNone("--key", of: service) }
            let names = service.account.names
            guard let id = keyID ?? CredentialsCheck.keyID(inName: keyFile, of: service) else {
                throw Diagnostic(
                    "the \(names.signingKey)'s \(names.keyID) is missing", file: keyFile,
                    remedy: "Add --key-id, \(form.keyID?.whatToAdd ?? "the key's id").")
            }
            guard let teamID else {
                throw Diagnostic(
                    "the \(names.signingKey)'s \(names.issuer) is missing", file: keyFile,
                    remedy: "Add --team, \(form.issuer?.whatToAdd ?? "who signs").")
            }
            let texts = [(form.files.first, FilePaths.absolute(keyFile)), (form.keyID, id), (form.issuer, teamID)]
            return FrozenCredential(form, texts)
        }

        /// The certificate of the options; nil if they name none.
        func certificate(of service: any PushService) throws -> FrozenCredential? {
            guard let certificateFile else { return nil }
            guard let form = service.account.certificate else { throw Self.takesNone("--certificate", of: service) }
            return FrozenCredential(
                form,
                [
                    (form.files.first, FilePaths.absolute(certificateFile)),
                    (form.passphraseVariable, passphraseVariable),
                ])
        }

        private static func takesNone(_ option: String, of service: any PushService) -> Diagnostic {
            let keys = service.account.names.all.map(TextFormat.withArticle).joined(separator: " or ")
            return Diagnostic(
                "\(option) is not for \(service.displayName), which takes \(keys)",
                remedy: "Name an app of volley.yaml with --app.")
        }
    }
}

extension App {
    /// The service of that name.
    /// - Throws: a `Diagnostic` that names those of the app.
    func service(called name: String) throws(Diagnostic) -> AppService {
        if let service = service(named: name) { return service }
        let names = services.map(\.service.name)
        let nearest = nearestName(to: name, among: names).map { "Did you mean '\($0)'?" }
        throw Diagnostic(
            "the app '\(self.name.value)' has no service '\(name)'",
            remedy: nearest ?? "It has: \(names.joined(separator: ", ")).")
    }
}

extension FrozenCredential {
    fileprivate init(_ form: CredentialForm, _ texts: [(field: AccountField?, text: String?)]) {
        let values = texts.compactMap { field, text in field.flatMap { field in text.map { (field.key, $0) } } }
        self.init(form: form.key, values: Dictionary(uniqueKeysWithValues: values))
    }
}

/// A check of text from the command line that becomes a header of a push.
enum HeaderText {
    /// Checks a value.
    /// - Throws: a `Diagnostic` if it is blank, is too long, holds a control character (text after
    ///   a line break would be another header), or begins or ends with a space, which HTTP/2 does
    ///   not accept.
    static func check(
        _ value: String?, of option: String, for service: any PushService, maximumBytes: Int = .max
    ) throws(Diagnostic) {
        guard let value else { return }
        if value.isEmpty { throw Diagnostic("\(option) is blank", remedy: "Omit it, or write a value.") }
        let trimmed = HeaderSpace.trimmed(value)
        guard trimmed.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw Diagnostic(
                "\(option) holds a line break or another control character, which a push's headers must not",
                remedy: "Write it as one line of visible text.")
        }
        guard trimmed == value else {
            throw Diagnostic(
                "\(option) begins or ends with a space, which \(service.displayName) does not take",
                remedy: trimmed.isEmpty ? "Omit it, or write a value." : "Write \(option) '\(trimmed)'.")
        }
        guard value.utf8.count <= maximumBytes else {
            throw Diagnostic(
                "\(option) has \(value.utf8.count) bytes, and \(service.displayName) takes at most \(maximumBytes) bytes"
            )
        }
    }
}
