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

/// What a plan freezes about one of the services that take its pushes: where they go, what they are
/// sent with, and how fast.
public struct ServiceSettings: Hashable, Sendable {
    /// The service's name: the standard one's in plans of older versions, which know none.
    public var serviceName = PushServices.standard.name
    /// The service's switches that the app had on.
    public var switchedOn: Set<String> = []
    /// Where pushes go.
    public var environment: FrozenEnvironment
    /// With the suffix that the push type needs.
    public var topic: String
    /// What pushes are sent with; nil to the simulator, where an app need not have one.
    public var credential: FrozenCredential?
    /// Never faster than this; nil for none of its own. It counts what the service's own pace
    /// counts (`Batching.paceUnit`).
    public var pace: Pace?
    /// The one that all runs of the app keep together at this service, in place of what the service
    /// takes from everybody.
    public var appPace: Pace?

    /// What to do with pushes whose answers were lost; nil for what the run's settings say.
    public var unknownPolicy: UnknownPolicy?

    /// Settings with everything else as usual.
    public init(environment: FrozenEnvironment, topic: String) {
        self.environment = environment
        self.topic = topic
    }

    /// The service's facts.
    public var service: any PushService {
        (PushServices.named(serviceName) ?? PushServices.standard).switched(on: switchedOn)
    }

    /// The list of suppressed devices that counts for it: targets of different services and servers
    /// have nothing to do with one another. A service's own servers have one list each, however
    /// they are named; one that an authority of the project's own vouches for is another server
    /// under the service's name. The standard service's lists have the names that they had when it
    /// was the only one.
    public var listName: String {
        let prefix = serviceName == PushServices.standard.name ? "" : serviceName + ":"
        guard case .server(let host, _, nil) = environment else { return prefix + environment.name }
        return prefix + (service.account.environments.choices.first { $0.isAt(host) }?.name ?? environment.name)
    }

    /// Whether a text can be the names of lists, joined as in `RunSettings.listName`.
    static func areLists(_ text: String) -> Bool {
        text.split(separator: "+", omittingEmptySubsequences: false).allSatisfy { name in
            PushServices.ofRuns.contains { service in
                let prefix = service.name == PushServices.standard.name ? "" : service.name + ":"
                guard name.hasPrefix(prefix) else { return false }
                let environment = name.dropFirst(prefix.count)
                return environment == "simulator" || service.account.environments.named(String(environment)) != nil
                    || isServer(environment)
            }
        }
    }

    /// `host:port`; an IPv6 address may have no brackets.
    private static func isServer(_ text: Substring) -> Bool {
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
            let port = Int(text[text.index(after: colon)...])
        else {
            return false
        }
        return (1...65_535).contains(port) && text[..<colon].utf8.allSatisfy(isOfHost)
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"), UInt8(ascii: "%"), 0x80...:
            true
        default: false
        }
    }
}

/// The paces of a run to its first service: settings of one service, or as one service sees them
/// (`ofService`).
extension RunSettings {
    /// The service's own pace, if none that was chosen takes its place. A limit holds together with
    /// all others, except one given with the service's keys, as only that one says what the app
    /// bought.
    public var usualPace: ServicePace? {
        guard let usual = firstService.service.usualPace, firstService.appPace == nil else { return nil }
        let isChosen = firstService.pace != nil || devicePace != nil || appDevicePace != nil
        return usual.isLimit || !isChosen ? usual : nil
    }

    /// After how many seconds the rate reaches the pace that runs of the app share at the service,
    /// which is the app's for it or the service's own; 0 for at once. A slower pace is reached
    /// sooner, as the rate never rises faster than to the service's own pace; one of less than a
    /// tenth of that takes no service by surprise.
    public var rampSeconds: Double {
        guard let usual = firstService.service.usualPace else { return 0 }
        guard let own = firstService.appPace else { return usualPace?.rampSeconds ?? 0 }
        let part = own.perSecond / usual.pace.perSecond
        return part < 0.1 ? 0 : usual.rampSeconds * min(1, part)
    }

    /// The paces that hold for the service, whatever other services take.
    public var servicePaces: RequestPaces {
        let unit = firstService.service.batching.paceUnit
        var paces = RequestPaces(firstService.service.batching)
        for pace in [firstService.pace, firstService.appPace, usualPace?.pace] { paces.keep(pace, counting: unit) }
        return paces
    }

    /// All paces that requests to the service keep.
    public var paces: RequestPaces {
        var paces = servicePaces
        for pace in [devicePace, appDevicePace] { paces.keep(pace, counting: .targets) }
        return paces
    }
}

/// What a plan freezes of its campaign's schedule, other than the waves.
public struct FrozenSchedule: Hashable, Sendable {
    /// The occurrence that it was planned for; nil when it is sent by hand.
    public var occurrence: LocalTime?
    /// `recipient`, or the name of a zone.
    public var timezone: String
    /// When nothing may go out; nil for no quiet hours.
    public var quietHours: QuietHours?
    /// What to do when it could not be sent at its time.
    public var late: LatePolicy
    /// The delay between the intended and the actual time of planning: it makes no device late. nil
    /// in plans of older versions.
    public var planning: Range<Timestamp>?

    /// What a plan keeps of a schedule.
    /// - Parameter occurrence: what it is planned for; nil when it is sent by hand.
    public init(_ schedule: Schedule, _ occurrence: Occurrence?) {
        self.occurrence = occurrence?.localTime
        timezone = schedule.zone.isRecipient ? "recipient" : schedule.zone.fallback.name
        quietHours = schedule.quietHours
        // A run without a time cannot be late.
        late = occurrence == nil ? .send : schedule.late
    }

    var json: JSONValue {
        var seconds: JSONValue = .null
        if case .skip(let limit) = late { seconds = .integer(Int64(limit)) }
        return .object(pairs: [
            ("occurrence", occurrence.map { .string($0.description) } ?? .null), ("timezone", .string(timezone)),
            ("quiet_hours", quietHours.map { .string($0.description) } ?? .null), ("late_seconds", seconds),
            (
                "planning_ms",
                .array((planning.map { [$0.lowerBound, $0.upperBound] } ?? []).map { .integer($0.epochMilliseconds) })
            ),
        ])
    }

    init?(json: JSONValue) {
        guard let timezone = json["timezone"]?.stringValue, let late = json["late_seconds"] else { return nil }
        self.timezone = timezone
        if let name = json["occurrence"]?.stringValue {
            guard let time = LocalTime(name) else { return nil }
            occurrence = time
        }
        if let text = json["quiet_hours"]?.stringValue {
            guard let hours = try? QuietHours(text) else { return nil }
            quietHours = hours
        }
        switch late {
        case .null: self.late = .send
        default:
            guard let seconds = late.integerValue, seconds >= 0 else { return nil }
            self.late = .skip(afterSeconds: Int(seconds))
        }
        if case .array(let moments)? = json["planning_ms"], moments.count == 2, let begin = moments[0].integerValue,
            let end = moments[1].integerValue, begin <= end
        {
            planning = Timestamp(epochMilliseconds: begin)..<Timestamp(epochMilliseconds: end)
        }
    }
}
