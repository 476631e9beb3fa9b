package import Base
package import Campaigns
import Content
import Cryptography
import Delivery
import Runs

/// What a plan freezes about the way of a campaign: everything that sending needs beside the recipients. Credentials are named
/// by their files, never kept.
package struct RunSettings: Hashable, Sendable {
    package var environment: FrozenEnvironment
    package var topic: String
    package var key: FrozenKey?
    package var certificate: FrozenCertificate?
    var pushType: PushType
    package var priority: PushPriority
    package var expiry: Expiry?
    package var collapseID: String?
    var pace: Pace?
    /// The app's own, which all its runs keep together; `pace` is never faster.
    var appPace: Pace?
    package var unknownPolicy: UnknownPolicy
    var stopLimits: StopLimits?
    /// Where its waves come from; nil when all go out at once.
    var schedule: FrozenSchedule?
    /// How many pushes its devices may get; empty when that does not matter.
    var frequencyCaps: [FrequencyCap] = []
    /// Whether somebody must approve what is sent.
    var needsApproval: Bool
    /// The folder of runs it was planned into, by its absolute path: it is sent from there. nil in plans of older versions.
    var runsFolder: String?
    /// Of a retry: the life that the run had that it retries. It is void once that run went on.
    var parentLife: String?
    /// Of a retry: which outcomes of the run that it retries it is for; nil in plans of older versions.
    var retriedOutcomes: Set<Outcome>?
    /// The campaign's file with its symbolic links resolved, as it was when it was planned; nil in plans of older versions.
    var realCampaignFile: String?
    /// Whether `volley schedule` planned it, for the time of its schedule.
    var isOfScheduler = false
    /// Where in the order of beginnings it was planned; nil in retries, and in plans of older versions.
    var place: LifeSequence.Place?
    /// Runs of the campaign that were being sent when it was planned.
    var beside: [String] = []
    /// By which rules its payloads were measured (`MessageCatalog.renderingRules`).
    var renderingRules = MessageCatalog.renderingRules
}

/// Where a run goes.
package enum FrozenEnvironment: Hashable, Sendable {
    case production, sandbox, simulator
    case server(host: String, port: Int, certificateAuthority: String?)
}

/// A .p8 by its absolute path, symbolic links kept.
package struct FrozenKey: Hashable, Sendable {
    var file: String, keyID: String, teamID: String
    /// SHA-256 of its public half; nil when the file could not be read, and in plans of older versions.
    var fingerprint: String?

    /// A key that was not read yet.
    package init(file: String, keyID: String, teamID: String, fingerprint: String? = nil) {
        self.file = file
        self.keyID = keyID
        self.teamID = teamID
        self.fingerprint = fingerprint
    }

    /// With the fingerprint of what the file holds now, if it can be read.
    func fingerprinted() -> FrozenKey {
        var key = self
        key.fingerprint = (try? SigningKey(file: file))?.verificationKey.fingerprint
        return key
    }
}

/// A client certificate by its absolute path, symbolic links kept.
package struct FrozenCertificate: Hashable, Sendable {
    var file: String, passphraseVariable: String?

    /// - Parameter passphraseVariable: the environment variable that holds its passphrase; nil when it needs none.
    package init(file: String, passphraseVariable: String?) {
        self.file = file
        self.passphraseVariable = passphraseVariable
    }
}

extension RunSettings {
    /// Settings of no app yet: production, without topic and credentials.
    package init(pushType: PushType) {
        self.init(
            environment: .production, topic: "", pushType: pushType, priority: pushType == .background ? .normal : .high,
            unknownPolicy: .resend, needsApproval: false)
    }

    /// The settings of a campaign that is about to be planned.
    package init(_ context: CampaignContext) throws {
        let (campaign, app) = (context.campaign, context.app)
        try self.init(app, projectFile: context.project.file, pushType: context.messages.pushType)
        if let priority = campaign.delivery.priority { self.priority = priority }
        expiry = campaign.delivery.expiry
        collapseID = campaign.delivery.collapseID?.value
        pace = context.pace
        unknownPolicy = campaign.delivery.unknownPolicy
        stopLimits = campaign.delivery.stopLimits
        // Nobody notices a background push.
        frequencyCaps = pushType == .background ? [] : context.frequencyCaps
    }

    /// The settings of an app, with everything else as usual.
    package init(_ app: App, projectFile: String, pushType: PushType) throws {
        func path(_ text: SourceText) -> String { FilePaths.anchored(FilePaths.resolve(text.value, besideFile: projectFile)) }
        environment = try FrozenEnvironment(app.environment, path)
        // The suffix that a type needs is Volley's business, unless whoever runs the app wrote it already.
        topic = app.topic.value.hasSuffix(pushType.topicSuffix) ? app.topic.value : app.topic.value + pushType.topicSuffix
        key = app.key.map { FrozenKey(file: path($0.file), keyID: $0.keyID.value, teamID: $0.teamID.value) }
        certificate = app.certificate.map { FrozenCertificate(file: path($0.file), passphraseVariable: $0.passphraseVariable?.value) }
        self.pushType = pushType
        priority = pushType == .background ? .normal : .high
        pace = app.pace
        appPace = app.pace
        unknownPolicy = .resend
        needsApproval = app.needsApproval
    }

    /// The headers of a run that begins at `start`.
    func headers(startingAt start: Timestamp) -> PushHeaders {
        PushHeaders(topic: topic, pushType: pushType, priority: priority, expiration: expiration(startingAt: start), collapseID: collapseID)
    }

    /// apns-expiration for a run that begins at `start`, in epoch seconds.
    func expiration(startingAt start: Timestamp) -> Int64? {
        switch expiry {
        case nil: nil
        case .immediately: 0
        case .after(let seconds): start.epochSeconds + Int64(seconds)
        case .at(let moment): moment.epochSeconds
        }
    }

    /// After this moment a push is no longer wanted, so none is sent.
    func deadline(startingAt start: Timestamp) -> Timestamp? {
        guard let expiration = expiration(startingAt: start), expiration > 0 else { return nil }
        return Timestamp(epochSeconds: expiration)
    }
}

extension FrozenEnvironment {
    fileprivate init(_ environment: Environment, _ path: (SourceText) -> String) throws {
        switch environment {
        case .production: self = .production
        case .sandbox: self = .sandbox
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

    /// One server has one name: capitals do not count in it, nor does the dot at the end that a whole name may have (RFC 4343, RFC 1034 section 3.1).
    static func normalized(host: String) -> String { String((host.hasSuffix(".") ? host.dropLast() : host[...]).lowercased()) }

    /// For people.
    package var name: String {
        switch self {
        case .production: "production"
        case .sandbox: "sandbox"
        case .simulator: "simulator"
        case .server(let host, let port, _): "\(host):\(port)"
        }
    }
}

extension App {
    /// Where its pushes go, for people.
    package var destination: String {
        switch environment {
        case .production: "production"
        case .sandbox: "sandbox"
        case .simulator: "simulator"
        case .server(let url, _): url.value
        }
    }
}
