public import Base
public import PushServices

/// What a plan freezes about a run, in addition to its recipients. Secrets never enter it.
public struct RunPlan: Sendable, Hashable {
    /// `20261201-090000-spring-sale-7f3a`
    public var id: String
    /// The campaign's name.
    public var campaign: String
    /// The app's name.
    public var app: String
    /// The campaign file's path and text.
    public var campaignFile: String, campaignSource: String
    /// volley.yaml's path: where credentials are found again.
    public var projectFile: String
    /// 128 random bits behind the ids of all pushes.
    public var seed: RunSeed
    /// The columns whose cells recipients carry, in order.
    public var fields: [String]
    /// When the plan was made.
    public var plannedAt: Timestamp
    /// Equal for equal campaign, export and rules.
    public var planHash: String
    /// Rows read.
    public var rows: Int
    /// Recipients: ids are 0 ..< audience.
    public var audience: Int
    /// Rows by skip reason.
    public var skipped: [SkipReason: Int]
    /// What sending needs in addition to recipients and campaign: where to, how fast. Secrets are
    /// named by file only. A failure when the run file holds settings that something else wrote:
    /// such a run can be listed and reported, but neither sent nor stored again.
    public var settings: Result<RunSettings, Diagnostic>
    /// The preview as JSON, so that a report can show what was promised.
    public var preview: JSONValue
    /// The preview as text, for the person that approves the plan; empty in plans of older
    /// versions.
    public var previewText: String
    /// The run to some of whose recipients this one sends again; nil for a run that is not a retry.
    public var retryOf: String?
    /// Whether it goes to the app's test devices instead of the audience: such a run is not one to
    /// compare others with.
    public var isTest: Bool

    /// When recipients are sent to, in the order of ids and without a gap; empty when all go out as
    /// soon as the run is sent.
    public var waves: [RunWave]

    /// The segments of a run of several services, in the order of ids and without a gap; empty when
    /// one service takes all.
    public var serviceSegments: [RunSegment]

    /// A plan.
    public init(
        id: String, campaign: String, app: String, campaignFile: String, campaignSource: String, projectFile: String,
        seed: RunSeed,
        fields: [String], plannedAt: Timestamp, planHash: String, rows: Int, audience: Int, skipped: [SkipReason: Int],
        settings: Result<RunSettings, Diagnostic>, preview: JSONValue, previewText: String = "", retryOf: String? = nil,
        isTest: Bool = false, waves: [RunWave] = [], serviceSegments: [RunSegment] = []
    ) {
        self.id = id
        self.campaign = campaign
        self.app = app
        self.campaignFile = campaignFile
        self.campaignSource = campaignSource
        self.projectFile = projectFile
        self.seed = seed
        self.fields = fields
        self.plannedAt = plannedAt
        self.planHash = planHash
        self.rows = rows
        self.audience = audience
        self.skipped = skipped
        self.settings = settings
        self.preview = preview
        self.previewText = previewText
        self.retryOf = retryOf
        self.isTest = isTest
        self.waves = waves
        self.serviceSegments = serviceSegments
    }
}

extension RunPlan {
    /// Whether its campaign has times. Each goes out once, so `volley send` sends a new plan only
    /// with `--now`, or at another time. That is also known of a run that was sent with `--now`
    /// itself.
    public var hasTimes: Bool {
        (try? settings.get().schedule?.occurrence) != nil || preview["schedule"]?["ignored"] == .bool(true)
    }

    /// Which devices a retry leaves out because they are suppressed, in words; nil if it leaves out
    /// none, and for other plans.
    public var leftOutOfRetry: String? {
        retryOf == nil ? nil : Self.leftOut(ofRetry: skipped[.suppressed, default: 0])
    }

    /// The same, for a plan that is being made.
    package static func leftOut(ofRetry suppressed: Int) -> String? {
        suppressed == 0
            ? nil
            : "\(TextFormat.counted(suppressed, one: "device is", many: "devices are")) suppressed now, and left out"
    }

    /// Whether those times repeat, so that a new plan gets the next one.
    public var repeats: Bool { preview["schedule"]?["repeat"]?.stringValue != nil }

    /// The segments of the run, in the order of ids and without a gap. With one service a segment
    /// is a wave, or the whole run.
    public var segments: [RunSegment] {
        guard serviceSegments.isEmpty else { return serviceSegments }
        return waves.isEmpty
            ? [RunSegment(ids: 0..<audience, service: 0)] : waves.map { RunSegment(ids: $0.ids, service: 0) }
    }

    /// The segments of some recipients, such as those of a wave: each as far as it covers them.
    public func segments(of ids: Range<Int>) -> [RunSegment] {
        segments.filter { $0.ids.overlaps(ids) }.map { RunSegment(ids: $0.ids.clamped(to: ids), service: $0.service) }
    }

    /// The number of the service that takes the push to a recipient.
    public func service(of id: Int) -> Int {
        serviceSegments.isEmpty ? 0 : serviceSegments.segment(of: id)?.service ?? 0
    }

    /// The ids of all recipients of a service.
    public func ids(ofService number: Int) -> ClaimSet {
        ClaimSet(
            serviceSegments.isEmpty && number == 0
                ? [0..<audience] : serviceSegments.filter { $0.service == number }.map(\.ids))
    }

    /// How many services take its pushes. Where its settings cannot be read, as many as its
    /// segments name.
    public var serviceCount: Int {
        (try? settings.get().services.count) ?? (serviceSegments.map(\.service).max() ?? 0) + 1
    }

    /// The facts of its services, by their numbers; the standard service's where its settings
    /// cannot be read.
    public var services: [any PushService] {
        (try? settings.get().services.map(\.service)) ?? (0..<serviceCount).map { _ in PushServices.standard }
    }

    /// The number in this plan of a service of another one, such as that of a retry; nil when this
    /// one does not have it.
    func number(ofService service: Int, of other: RunPlan) -> Int? {
        guard let own = try? settings.get().services, let others = try? other.settings.get().services else {
            return service < serviceCount ? service : nil
        }
        return own.firstIndex { $0.serviceName == others[service].serviceName }
    }

    /// The first service's facts.
    public var service: any PushService { (try? settings.get().service) ?? PushServices.standard }
}

/// A part of a run's recipients with its own sending time, for example each device at nine by its
/// own clock. Waves follow one another in the order of ids.
public struct RunWave: Hashable, Sendable {
    /// The recipients in it; never empty.
    public var ids: Range<Int>
    /// A zone whose clock its devices share, as the tz database calls it: other zones that show the
    /// same time at these hours are in it too.
    public var zone: String
    /// When it goes out at the earliest.
    public var due: Timestamp

    /// A wave.
    public init(ids: Range<Int>, zone: String, due: Timestamp) {
        self.ids = ids
        self.zone = zone
        self.due = due
    }
}

/// Consecutive recipients that get the push through one service at one time. Ids are sorted by
/// wave, and within each wave by service, so the service of a recipient follows from its id.
public struct RunSegment: Hashable, Sendable {
    /// The recipients in it.
    public var ids: Range<Int>
    /// The number of the service in `RunSettings.services`.
    public var service: Int

    /// A segment.
    public init(ids: Range<Int>, service: Int) {
        self.ids = ids
        self.service = service
    }
}

/// What holds a segment, or stopped it, while other segments continue.
public struct SegmentState: Hashable, Sendable {
    /// Its service takes no pushes before then; nil when it does.
    public var heldUntil: Timestamp?
    /// Why nothing more is sent in it; nil when it did not stop.
    public var cause: StopCause?

    /// A state.
    public init(heldUntil: Timestamp? = nil, cause: StopCause? = nil) {
        self.heldUntil = heldUntil
        self.cause = cause
    }
}

extension [RunSegment] {
    /// The segment that an id is in; nil when it is in none.
    func segment(of id: Int) -> RunSegment? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].ids.upperBound > id { high = middle } else { low = middle + 1 }
        }
        return low < count && self[low].ids.contains(id) ? self[low] : nil
    }
}

/// Finds the services of many recipients whose ids are close together, mostly ascending.
struct ServiceCursor {
    private let segments: [RunSegment]
    /// The ids for which `service` is known.
    private var ids: Range<Int>
    /// That of the id that was looked up last.
    private(set) var service = 0

    init(_ plan: RunPlan) {
        segments = plan.serviceSegments
        ids = segments.isEmpty ? .min..<(.max) : 0..<0
    }

    /// - Returns: whether it is another one than that of the id before.
    @inline(__always) @discardableResult mutating func move(to id: Int) -> Bool {
        if ids.contains(id) { return false }
        return search(id)
    }

    private mutating func search(_ id: Int) -> Bool {
        let before = service
        // Outside the audience are only ids of damaged files.
        if let segment = segments.segment(of: id) {
            (ids, service) = (segment.ids, segment.service)
        } else {
            (ids, service) = (id..<id + 1, 0)
        }
        return service != before
    }
}

/// The approval of a plan, with the name of the approver.
public struct RunApproval: Hashable, Sendable {
    /// As given, one line.
    public var name: String
    /// When.
    public var approvedAt: Timestamp

    /// An approval.
    public init(name: String, approvedAt: Timestamp) {
        self.name = name
        self.approvedAt = approvedAt
    }
}

/// The names of a campaign's variants, and which device falls into which.
public final class VariantNames {
    private let names: [UnsafeBufferPointer<UInt8>]
    private let number: (RecipientRecord) -> Int

    /// - Parameters:
    ///   - names: at least one.
    ///   - number: the place in `names` of a recipient's variant.
    public init(_ names: [String], number: @escaping (RecipientRecord) -> Int) {
        self.number = number
        self.names = names.map { name in
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: name.utf8.count)
            _ = bytes.initialize(from: name.utf8)
            return UnsafeBufferPointer(bytes)
        }
    }

    deinit { for name in names { name.deallocate() } }

    /// The name of a recipient's variant, which stays at its address.
    func name(of recipient: RecipientRecord) -> UnsafeBufferPointer<UInt8> { names[number(recipient)] }
}
