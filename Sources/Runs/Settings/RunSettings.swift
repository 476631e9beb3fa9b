public import Base
public import PushServices

/// What a plan freezes about sending a campaign: everything that sending needs other than the
/// recipients. Credentials are named by their files, never kept.
///
/// ```swift
/// let settings = try run.plan.settings.get()
/// print(settings.services.map(\.topic), settings.needsApproval)
/// ```
public struct RunSettings: Hashable, Sendable {
    /// The services that take its pushes, at least one. Segments know a service by its place among
    /// them (`RunSegment.service`).
    public var services: [ServiceSettings]
    /// What its pushes are for.
    public var pushType: PushType
    /// How urgent its pushes are.
    public var priority: PushPriority
    /// When its pushes are no longer wanted; nil leaves that to the service.
    public var expiry: Expiry?
    /// Under which id a device replaces a push by a later one; nil when it shows them all.
    public var collapseID: String?
    /// The broadcast channel that its only call goes to; nil for runs to devices, and for calls of
    /// other services.
    public var channel: String?
    /// What to do with pushes whose answers were lost.
    public var unknownPolicy: UnknownPolicy = .resend
    /// Never more devices than this through all services together; nil where each service has its
    /// own pace, as in plans of older versions.
    public var devicePace: Pace?
    /// The same for all runs of the app together.
    public var appDevicePace: Pace?
    /// Shares of bad answers beyond which the run stops; nil for only those shares that stop every
    /// run.
    public var stopLimits: StopLimits?
    /// Where its waves come from; nil when everything is sent at once.
    public var schedule: FrozenSchedule?
    /// How many pushes its devices may get; empty when that does not matter.
    public var frequencyCaps: [FrequencyCap] = []
    /// Whether sending needs an approval.
    public var needsApproval = false
    /// The folder of runs it was planned into, by its absolute path: it is sent from there. nil in
    /// plans of older versions.
    public var runsFolder: String?
    /// For a retry: the epoch of the run that it retries. The retry is void once that run was
    /// resumed.
    public var parentEpoch: String?
    /// For a retry: the outcomes of the retried run that it is for; nil in plans of older versions.
    public var retriedOutcomes: Set<Outcome>?
    /// The campaign's file with its symbolic links resolved, as it was when it was planned; nil in
    /// plans of older versions.
    public var realCampaignFile: String?
    /// Whether `volley schedule` planned it, for the time of its schedule.
    public var isOfScheduler = false
    /// Where in the order of beginnings it was planned; nil in retries, and in plans of older
    /// versions.
    public var place: EpochSequence.Place?
    /// When it was planned by the clock of the store of several machines, which alone tells what of
    /// theirs came before: this machine's may have been wrong. nil without a store, where it could
    /// not be reached, and in plans of older versions.
    public var plannedInStore: Timestamp?
    /// Runs of the campaign that were being sent when it was planned.
    public var beside: [String] = []
    /// The version of the rules that its payloads were measured by: it grows when the same campaign
    /// yields other payload bytes.
    public var renderingRules: Int

    /// Settings with everything else as usual.
    /// - Parameter services: at least one.
    public init(services: [ServiceSettings], pushType: PushType, renderingRules: Int) {
        precondition(!services.isEmpty, "some service takes the pushes")
        self.services = services
        self.pushType = pushType
        priority = pushType == .background ? .normal : .high
        self.renderingRules = renderingRules
    }

    /// Settings of a run that one service takes, with everything else as usual.
    public init(environment: FrozenEnvironment, topic: String, pushType: PushType, renderingRules: Int) {
        self.init(
            services: [ServiceSettings(environment: environment, topic: topic)], pushType: pushType,
            renderingRules: renderingRules)
    }
}

extension RunSettings {
    /// The first service, which is the only one of most runs.
    public var firstService: ServiceSettings {
        get { services[0] }
        set { services[0] = newValue }
    }

    /// The settings as one of its services sees them, as if it were the only one.
    /// - Parameter number: of the service.
    public func ofService(_ number: Int) -> RunSettings {
        var settings = self
        settings.services = [services[number]]
        settings.unknownPolicy = services[number].unknownPolicy ?? unknownPolicy
        return settings
    }

    /// The first service's facts.
    public var service: any PushService { firstService.service }

    /// Whether no device gets it.
    public var isRehearsal: Bool { services.allSatisfy(\.environment.isSimulator) }

    /// The names of its services' lists.
    public var lists: Set<String> { Set(services.map(\.listName)) }

    /// The names of its services' lists in one.
    public var listName: String { services.map(\.listName).joined(separator: "+") }

    /// Whether some device may get pushes of this run and of another one: an app may get or lose a
    /// service between them.
    /// - Parameter name: the other run's `listName`.
    public func sharesList(with name: String) -> Bool {
        name.split(separator: "+").contains { lists.contains(String($0)) }
    }
}

/// Where a run goes.
public enum FrozenEnvironment: Hashable, Sendable {
    /// One of the service's own servers.
    case named(ServiceEnvironment)
    /// A stand-in that Volley starts.
    case simulator
    /// Another server; `certificateAuthority` is the absolute path of its CA file, nil where the
    /// system's authorities vouch for it.
    case server(host: String, port: Int, certificateAuthority: String?)

    /// One server has one name: capitals do not count in it, nor does the dot at the end that a
    /// whole name may have (RFC 4343, RFC 1034 section 3.1).
    public static func normalized(host: String) -> String {
        String((host.hasSuffix(".") ? host.dropLast() : host[...]).lowercased())
    }

    /// For people: `production`, `sandbox`, `simulator`, or host and port.
    public var name: String {
        switch self {
        case .named(let environment): environment.name
        case .simulator: "simulator"
        case .server(let host, let port, _): "\(host):\(port)"
        }
    }

    /// Host and port of a server elsewhere; nil for the simulator inside this process, which no
    /// proxy leads to.
    public var address: (host: String, port: Int)? {
        switch self {
        case .named(let environment): (environment.host, environment.port)
        case .server(let host, let port, _): (host, port)
        case .simulator: nil
        }
    }

    /// Whether no device gets it.
    public var isSimulator: Bool { if case .simulator = self { true } else { false } }
}

/// A credential as an app names it, with the absolute paths of its files, symbolic links kept. It
/// holds no secret.
public struct FrozenCredential: Hashable, Sendable {
    /// The key of its form below the app: `key`.
    public var form: String
    /// The values below it, by the keys of the form's fields. What the app leaves out is missing.
    public var values: [String: String]
    /// SHA-256 of a signing key's public half; nil for other credentials, when the file could not
    /// be read, and in plans of older versions.
    public var fingerprint: String?

    /// A credential that was not read yet.
    public init(form: String, values: [String: String], fingerprint: String? = nil) {
        self.form = form
        self.values = values
        self.fingerprint = fingerprint
    }

    /// The value of a field; nil if the form has no such field, or the app leaves it out.
    public subscript(field: AccountField?) -> String? { field.flatMap { values[$0.key] } }
}
