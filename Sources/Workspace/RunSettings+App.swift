public import Base
public import Campaigns
package import Content
public import Cryptography
public import PushServices
public import Runs

extension KeyFileWords {
    /// The words of a service.
    public init(of service: any PushService) {
        let account = service.account
        let file = account.credentials.lazy.compactMap(\.file).first
        self =
            file.map { KeyFileWords(service: service.displayName, source: $0.description, fileName: $0.name()) }
            ?? .plain
        (key, certificate) = (account.signingKey?.key, account.certificate?.key)
        if let variable = account.certificate?.passphraseVariable { passphrase = variable.key }
    }
}

extension FrozenCredential {
    /// The credential with the fingerprint of what its file holds now, if it is a signing key that
    /// can be read.
    package func fingerprinted(_ service: any PushService) -> FrozenCredential {
        guard let form = service.account.credential(form), case .signingKey = form.kind,
            let file = self[form.files.first]
        else {
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
        func path(_ text: SourceText) -> String {
            FilePaths.anchored(FilePaths.resolve(text.value, besideFile: projectFile))
        }
        self.init(
            services: try app.services.map { try ServiceSettings($0, of: app, path, pushType) }, pushType: pushType,
            renderingRules: MessageCatalog.renderingRules)
        needsApproval = app.needsApproval
        if !app.hasPaceOfItsService { appDevicePace = app.pace }
    }
}

extension ServiceSettings {
    /// The settings of an app's service, with defaults for everything else.
    /// - Parameter path: the absolute path of a file that volley.yaml names.
    fileprivate init(_ account: AppService, of app: App, _ path: (SourceText) -> String, _ pushType: PushType) throws {
        // Volley adds the suffix that a push type needs, unless volley.yaml already has it.
        self.init(
            environment: try FrozenEnvironment(account.environment, path),
            topic: account.service.topic(account.topic.value, for: pushType))
        serviceName = account.service.name
        switchedOn = account.service.switchedOn
        if let reference = account.credential, let form = account.credentialForm {
            credential = FrozenCredential(reference, form, path)
        }
        pace = app.pace(of: account)
        appPace = pace
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

extension RunSettings {
    /// The settings with the fingerprints of what the files of their signing keys hold now.
    package var fingerprinted: RunSettings {
        var settings = self
        for number in services.indices {
            settings.services[number].credential = services[number].credential?.fingerprinted(services[number].service)
        }
        return settings
    }
}

extension App {
    /// Whether the app's pace is that of its only service. Otherwise it counts the devices of all
    /// services together, in addition to their own paces. A limit that does not count devices
    /// stays: a pace of devices does not say how many calls the app bought.
    public var hasPaceOfItsService: Bool {
        guard services.count == 1, let service = services.first?.service else { return false }
        return !service.batching.isPacedByCalls || !(service.usualPace?.isLimit ?? false)
    }

    /// The pace that no run is faster than with one of its services, in what the service's own pace
    /// counts.
    public func pace(of service: AppService) -> Pace? {
        hasPaceOfItsService ? Pace.slower(service.pace, pace) : service.pace
    }

    /// Where its pushes go, for people: each destination once.
    public var destination: String {
        services.map(\.destination).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.joined(
            separator: " and ")
    }
}

extension AppService {
    /// Where its pushes go, for people.
    public var destination: String {
        switch environment {
        case .named(let environment): environment.name
        case .simulator: Environment.simulatorName
        case .server(let url, _): url.value
        }
    }
}

extension MessageCatalog {
    /// The messages of a run's campaign, as planned.
    package init(frozenIn plan: RunPlan) throws(Diagnostics) {
        let (campaign, _) = try Campaign.read(
            source: plan.campaignSource, file: plan.campaignFile, services: plan.services, now: plan.plannedAt)
        try self.init(campaign, for: plan.services, run: plan.id, isPlanned: true)
    }

    /// The messages of a campaign.
    /// - Parameter run: the id that tracked pushes name; nil for that of a preview.
    package init(
        _ campaign: Campaign, for services: [any PushService] = [PushServices.standard], run: String? = nil,
        isPlanned: Bool = false
    ) throws(Diagnostics) {
        try self.init(
            campaign.content, for: services, variants: campaign.variants, campaign: campaign.name.value,
            dealing: campaign.variantDealing, tracking: PushTracking(campaign, run: run), isPlanned: isPlanned)
    }

    /// The variant of each device; nil when all get the same.
    package var variantsOfDevices: VariantNames? {
        guard !variantNames.isEmpty else { return nil }
        let chooser = MessageChooser(self)
        return VariantNames(variantNames) { chooser.variant(of: $0.token, alias: $0.alias) }
    }
}

extension PushTracking {
    /// nil for a campaign whose pushes are not tracked.
    /// - Parameter run: nil for a preview.
    package init?(_ campaign: Campaign, run: String? = nil) {
        guard let pushes = campaign.delivery.tracking, let place = campaign.delivery.trackingPosition else {
            return nil
        }
        self.init(
            run: run ?? RunID.sample(campaign: campaign.name.value), campaign: campaign.name.value,
            includesSilent: pushes == .silentToo,
            place: place)
    }
}
