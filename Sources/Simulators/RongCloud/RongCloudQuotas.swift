public import Base

/// How many recipients an app may send to in each second of the clock.
/// Source: RongCloud, "send a push to users": 100 a second, where a call to 100 users counts as 100. That seconds are counted from clock
/// tick to clock tick is a guess.
struct RecipientQuota {
    static let usual = 100

    let limit: Int
    private var second = Int64.min
    private var count = 0

    init(limit: Int) { self.limit = limit }

    /// Whether this many more recipients may be sent to now.
    func allows(_ recipients: Int, at now: Timestamp) -> Bool { (second == now.epochSeconds ? count : 0) + recipients <= limit }

    mutating func take(_ recipients: Int, at now: Timestamp) {
        if second != now.epochSeconds { (second, count) = (now.epochSeconds, 0) }
        count += recipients
    }
}

/// How often an app may make a call, in any hour and on each day of the calendar in Beijing.
/// Source: RongCloud, "send a push to all users" and "Push Plus".
struct CallQuota {
    private static let offsetOfBeijing: Int64 = 8 * 3600, day: Int64 = 86400, hour: Int64 = 3600

    private let perHour: Int, perDay: Int
    private var seconds: [Int64] = []

    init(perHour: Int, perDay: Int) { (self.perHour, self.perDay) = (perHour, perDay) }

    /// Whether another call may be made now.
    func allows(at now: Timestamp) -> Bool {
        let today = Self.dayNumber(now.epochSeconds)
        return seconds.count(where: { $0 > now.epochSeconds - Self.hour }) < perHour
            && seconds.count(where: { Self.dayNumber($0) == today }) < perDay
    }

    mutating func take(at now: Timestamp) {
        seconds.removeAll { $0 <= now.epochSeconds - Self.day }
        seconds.append(now.epochSeconds)
    }

    private static func dayNumber(_ seconds: Int64) -> Int64 { (seconds + offsetOfBeijing) / day }
}

/// A strict stand-in for the part of RongCloud's server API that sends pushes, on a loopback port, with its own thread.
///
/// `RongCloudCall` documents what it demands of bodies, `RequestSignatures` of callers, `UserRules` the users with fixed answers, and
/// `SimulatorFaults` the faults that you can configure.
public final class RongCloudSimulator: ServiceSimulator {
    private let server: RunningServer

    /// Makes a certificate authority and a server certificate unless the configuration has one, binds the port and starts serving.
    /// - Throws: a `Diagnostic` if the port is in use, the ledger cannot be written, or no thread can be started.
    public init(_ configuration: SimulatorConfiguration) throws(Diagnostic) {
        var configuration = configuration
        // APNs alone has these: a limit that rises with the first accepted push, and an end after many refusals.
        configuration.faults.firstStreamLimit = configuration.faults.streamLimit
        configuration.faults.rejectionsBeforeGoAway = 0
        configuration.acceptsClientCertificates = false
        let settled = configuration
        server = try RunningServer(settled) { _ in RongCloudRules(settled) }
    }

    /// The port it listens on.
    public var port: Int { server.port }
    /// The certificate that clients must trust, as PEM: the authority's, or the server's own if the configuration has one.
    public var certificateAuthorityPEM: String { server.certificateAuthorityPEM }

    /// What the simulator saw so far. A push is counted before its answer is sent.
    public var summary: LedgerSummary { server.summary }

    /// Closes all connections, finishes the ledger, and waits for the thread.
    @discardableResult
    public func stop() -> LedgerSummary { server.stop() }
}

extension StandIn {
    static let rongcloud = StandIn(
        service: "rongcloud", displayName: "RongCloud",
        rules: """
            Requests are signed with the app secret of volley.yaml, or with a new one for the app key volleysimulator, which is written to a \
            file. It takes 100 recipients a second, or as many as --limit-per-minute says. A request to a user whose ID begins with 0000 and a \
            code gets that code: 00001002 is 400, 00001005 400, 00001009 430, 00002007 403, 00001050 504; 00001000 (500) and 00001008 (429) are \
            refused once and then accepted. Whether a user exists is never said.
            """,
        credential: .secret(app: StandInName("app_key", "volleysimulator"), names: [], key: "app_secret"), keyFile: "app-secret.txt",
        ignoresCase: false, gone: nil, unknown: nil, isLimited: true, start: { try RongCloudSimulator($0) })
}
