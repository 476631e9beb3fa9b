public import Base

/// What an app and a campaign set for all pushes of a run, as far as requests carry it.
public struct PushOptions: Hashable, Sendable {
    /// The app's name at the service, with the suffix that the push type adds.
    public var topic: String
    /// What kind of push it is.
    public var pushType: PushType
    /// How urgent it is.
    public var priority: PushPriority
    /// When the push is no longer worth delivering: epoch seconds, 0 = try once; nil leaves this to
    /// the service.
    public var expiration: Int64?
    /// A push replaces an earlier one with the same id on a device: at most 64 bytes; nil for none.
    public var collapseID: String?
    /// The broadcast channel that the only push of a run goes to; nil for pushes to devices.
    public var channel: String?
    /// Whether its devices are those of people rather than of developers.
    public var isProduction = true
    /// The run's name, for services that count pushes by it: letters, digits and hyphens; blank for
    /// none.
    public var label = ""

    /// Options of a run.
    public init(
        topic: String, pushType: PushType, priority: PushPriority, expiration: Int64? = nil, collapseID: String? = nil
    ) {
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
    }
}

/// What all requests of a run have in common: POST over HTTPS.
public struct RequestTemplate: Sendable {
    /// Appends the body of a request to `bytes`: the pushes that it carries, in their order.
    /// - Parameter now: epoch seconds, for services that are told how long a push lives rather than
    ///   until when.
    public typealias Body = @Sendable (_ pushes: RequestCall, _ now: Int64, _ bytes: inout [UInt8]) -> Void

    /// The end of a request's path, where that depends on what it carries.
    public typealias PathEnd = @Sendable (_ pushes: RequestCall) -> String

    /// A header field.
    public struct Header: Hashable, Sendable {
        /// In lower-case letters, as HTTP/2 requires.
        public var name: String
        /// Never a secret: the credential identifies the sender.
        public var value: String

        /// A header field.
        public init(_ name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The path. Without a `body`, the part before the target, which is then the last component.
    public var pathPrefix: String
    /// Fields in the order in which they are sent.
    public var headers: [Header]
    /// The field that carries the request's id, which is the id of its first push. Answers repeat
    /// it if the service's `answersCarryID` says so. For a service without ids, name a harmless
    /// one, such as `x-request-id`.
    public var idHeader: String
    /// Makes the body; nil if the payload is the body and the path names the target.
    public var body: Body?
    /// What follows `pathPrefix` where there is a body; nil for nothing.
    public var pathEnd: PathEnd?
    /// How the service is handed texts that it keeps; nil if requests hold all that they send.
    public var keptTexts: KeptTexts?

    /// Requests of a run.
    public init(
        pathPrefix: String, headers: [Header], idHeader: String, body: Body? = nil, pathEnd: PathEnd? = nil,
        keptTexts: KeptTexts? = nil
    ) {
        self.pathPrefix = pathPrefix
        self.headers = headers
        self.idHeader = idHeader
        self.body = body
        self.pathEnd = pathEnd
        self.keptTexts = keptTexts
    }
}

extension RequestTemplate {
    /// The path and the body of a request that carries one push.
    /// - Parameter now: when it is sent, in epoch seconds.
    public func single(_ push: RequestPush, at now: Int64) -> (path: String, body: [UInt8]) {
        guard let body else { return (pathPrefix + String(decoding: push.target, as: UTF8.self), Array(push.payload)) }
        var bytes: [UInt8] = []
        let call = RequestCall([push])
        body(call, now, &bytes)
        return (pathPrefix + (pathEnd?(call) ?? ""), bytes)
    }
}

/// A push that reaches no device; it tests the connection and the credentials.
public struct ProbePush: Hashable, Sendable {
    /// A target that no device has.
    public var target: String
    /// Shows nothing on any device.
    public var payload: String

    /// As a request carries it.
    public func push(_ id: PushID) -> RequestPush {
        RequestPush(id: id, target: Array(target.utf8)[...], payload: Array(payload.utf8)[...])
    }
}

/// What the body of an answer says.
public struct AnswerDetails: Hashable, Sendable {
    /// The reason, as the service wrote it; blank when it gave none.
    public var reason = ""
    /// When the target stopped being valid.
    public var invalidSince: Timestamp?
    /// The id under which the service can be asked about the pushes later
    /// (`PushService.statistics`); blank for none.
    public var receipt = ""
    /// What the answer says about single targets of the request, in the service's words, by target
    /// as the request named it; empty if the answer is for the request as a whole.
    public var targets: [String: String] = [:]
    /// The name of the server that takes the app's requests, where the answer sends them elsewhere;
    /// nil if it names none of the service's.
    public var server: String?

    /// No details.
    public init() {}
}

/// How a service is handed a text once, so that requests name it and hold nothing but their
/// targets: POST, with the same credential and the same headers as pushes.
///
/// Such requests are for more targets than fit into one that holds the texts
/// (`Batching.namesText`). The service does not recognize one that comes again, so that a lost
/// answer leaves its pushes in doubt.
public struct KeptTexts: Sendable {
    /// Appends the body with the text of a payload to `bytes`.
    /// - Parameter now: in epoch seconds.
    public typealias Body = @Sendable (_ payload: ArraySlice<UInt8>, _ now: Int64, _ bytes: inout [UInt8]) -> Void

    /// The whole path.
    public let path: String
    /// Makes the body.
    public let body: Body
    /// How long a name is used that the service gave out at a moment, at least a second: less than
    /// the service keeps the text. `now`: in epoch seconds.
    public let usableSeconds: @Sendable (_ now: Int64) -> Double
    /// Reads the text's name from the body of an answer; nil if it holds none.
    public let read: @Sendable (_ body: JSONValue) -> String?

    /// How a service is handed texts.
    public init(
        path: String, body: @escaping Body, usableSeconds: @escaping @Sendable (_ now: Int64) -> Double,
        read: @escaping @Sendable (_ body: JSONValue) -> String?
    ) {
        self.path = path
        self.body = body
        self.usableSeconds = usableSeconds
        self.read = read
    }
}

/// How many pushes a request to a service carries, and what a pace counts there.
public struct Batching: Hashable, Sendable {
    /// What a pace limits.
    public enum PaceUnit: Hashable, Sendable {
        /// Requests, however many targets each has (JPush: 600 a minute).
        case requests
        /// Targets, however many requests carry them (RongCloud: 100 a second).
        case targets
    }

    /// The most targets that a request may have, at least 1.
    public var largestTargets: Int
    /// The most targets that a request may have if their texts differ: `largestTargets` where each
    /// may have its own text, and otherwise 1, unless the service has two kinds of requests
    /// (`KeptTexts`).
    public var largestWithOwnTexts: Int
    /// Whether each target of a request may have its own text; otherwise all have the same.
    public var hasOwnTexts: Bool
    /// What the service's own pace counts. Other paces count targets.
    public var paceUnit: PaceUnit

    /// - Parameters:
    ///   - largestTargets: at least 1.
    ///   - largestWithOwnTexts: where requests with one text may have more targets: the most of
    ///     those with several, at least 1.
    public init(largestTargets: Int, hasOwnTexts: Bool, paceUnit: PaceUnit, largestWithOwnTexts: Int? = nil) {
        precondition(largestTargets >= 1 && largestWithOwnTexts ?? 1 >= 1, "a request has a target")
        self.largestTargets = largestTargets
        self.largestWithOwnTexts = largestWithOwnTexts ?? (hasOwnTexts ? largestTargets : 1)
        self.hasOwnTexts = hasOwnTexts
        self.paceUnit = paceUnit
    }

    /// Each request carries one push.
    public static let single = Batching(largestTargets: 1, hasOwnTexts: true, paceUnit: .requests)

    /// Whether the service's own pace counts requests for several targets, so that it does not say
    /// how many targets are reached.
    public var isPacedByCalls: Bool { paceUnit == .requests && largestTargets > 1 }

    /// Whether the service has two kinds of requests: those that name a text that it keeps, and
    /// those that hold the texts of their targets.
    public var keepsTexts: Bool { !hasOwnTexts && largestWithOwnTexts > 1 }

    /// Whether a request with this many targets names a text that the service keeps.
    public func namesText(targets: Int) -> Bool { keepsTexts && targets > largestWithOwnTexts }
}

/// A push as the body of a request carries it.
public struct RequestPush: Sendable {
    /// The push's own id, derived from run and recipient.
    public var id: PushID
    /// The target's bytes.
    public var target: ArraySlice<UInt8>
    /// The rendered payload; the same for all pushes of a request where the service takes one text.
    public var payload: ArraySlice<UInt8>
    /// How often the service refused it under another name, where the service recognizes it by a
    /// name that follows from this and its id (`RepeatProtection.derived`); otherwise 0.
    public var generation: Int

    /// A push of a request.
    public init(id: PushID, target: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, generation: Int = 0) {
        self.id = id
        self.target = target
        self.payload = payload
        self.generation = generation
    }
}

/// The pushes that a request carries, in their order.
public struct RequestCall: RandomAccessCollection, Sendable {
    /// The pushes.
    public var pushes: [RequestPush]
    /// The name that the service gave out for the request (`RepeatProtection.fetched`), or for its
    /// text (`KeptTexts`); nil for none.
    public var name: String?

    /// A request.
    public init(_ pushes: [RequestPush], name: String? = nil) {
        self.pushes = pushes
        self.name = name
    }

    /// The first place.
    public var startIndex: Int { 0 }
    /// The place after the last push.
    public var endIndex: Int { pushes.count }
    /// The push at a place.
    public subscript(position: Int) -> RequestPush { pushes[position] }
}

/// What keeps a service from delivering a push twice if a request must be sent again because its
/// answer was lost.
public enum RepeatProtection: Sendable {
    /// Nothing that can be relied on: whether a device has its push is then unknown.
    case none
    /// Each push has a name that follows from its id and its generation (`RequestPush`). The
    /// generation rises after a refusal, because the service may take no name twice; a lost answer
    /// keeps it.
    ///
    /// `windowSeconds`: how long the service recognizes a name at least.
    case derived(windowSeconds: Double)
    /// Each request has a name that the service gave out for it. Sent again under this name, and
    /// with the same targets, it gets the answer of the first time. The service takes such a
    /// request as a whole, or refuses it as a whole: if it took only a part, there would be no safe
    /// way to divide a request in doubt.
    case fetched(FetchedNames)
}

/// How names of requests are fetched from a service: GET, with the same credential as pushes.
public struct FetchedNames: Sendable {
    /// What the service calls a name.
    public let noun: String
    /// The path, with its query, that gives out this many names.
    public let path: @Sendable (_ count: Int) -> String
    /// The most names at a time, at least 1.
    public let mostAtATime: Int
    /// How long the service remembers a name, from when it gave it out.
    public let lifetimeSeconds: Double
    /// Reads the names from the body of an answer with status 200; nil if it holds none.
    public let read: @Sendable (_ body: JSONValue) -> [String]?

    /// How names are fetched.
    /// - Parameter mostAtATime: at least 1.
    public init(
        noun: String = "name", mostAtATime: Int, lifetimeSeconds: Double,
        path: @escaping @Sendable (_ count: Int) -> String,
        read: @escaping @Sendable (_ body: JSONValue) -> [String]?
    ) {
        precondition(mostAtATime >= 1, "a service gives out a name at a time at least")
        self.noun = noun
        self.mostAtATime = mostAtATime
        self.lifetimeSeconds = lifetimeSeconds
        self.path = path
        self.read = read
    }

    /// How long a name is used: clocks differ, and requests are sent again for a while.
    public var usableSeconds: Double { lifetimeSeconds * 23 / 24 }
}
