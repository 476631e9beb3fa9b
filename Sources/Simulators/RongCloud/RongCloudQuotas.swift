import Base

/// How many recipients an app may send to in each second of the clock.
/// Source: RongCloud, "send a push to users": 100 a second, where a call to 100 users counts
/// as 100. That seconds are counted from clock tick to clock tick is a guess.
struct RecipientQuota {
    static let usual = 100

    let limit: Int
    private var second = Int64.min
    private var count = 0

    init(limit: Int) { self.limit = limit }

    /// Whether this many more recipients may be sent to now.
    func allows(_ recipients: Int, at now: Timestamp) -> Bool {
        (second == now.epochSeconds ? count : 0) + recipients <= limit
    }

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

extension StandIn {
    /// A strict stand-in for the part of RongCloud's server API that sends pushes, on a loopback
    /// port, with its own thread.
    ///
    /// `RongCloudCall` documents what it demands of bodies, `RequestSignatures` of callers,
    /// `UserRules` the users with fixed answers, and `SimulatorFaults` the faults that you can
    /// configure.
    public static let rongcloud = StandIn(
        service: "rongcloud", displayName: "RongCloud",
        rules: """
            Requests are signed with the app secret of volley.yaml, or with a new one for the app key volleysimulator, which is written to a \
            file. It takes 100 recipients a second, or as many as --limit-per-minute says. A request to a user whose ID begins with 0000 and a \
            code gets that code: 00001002 is 400, 00001005 400, 00001009 430, 00002007 403, 00001050 504; 00001000 (500) and 00001008 (429) are \
            refused once and then accepted. Whether a user exists is never said.
            """,
        credential: .secret(app: StandInName("app_key", "volleysimulator"), names: [], key: "app_secret"),
        keyFile: "app-secret.txt",
        ignoresCase: false, gone: nil, unknown: nil, isLimited: true,
        makeRules: { configuration, _ in RongCloudRules(configuration) })
}
