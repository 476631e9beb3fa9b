public import Base

/// A request from the console to `volley schedule`: a row next to the runs, which a sender takes and carries out. A run
/// that is being sent gets its orders in its own file (`RunOrder`).
public struct Order: Hashable, Sendable {
    /// What must be done, with what the page showed when it was given.
    public enum Kind: Hashable, Sendable {
        /// Record that the plan may be sent, exactly as it was shown.
        /// - digest: of the plan (`RunFile.planDigest`).
        case approve(run: String, digest: String)
        /// Cancel a plan, with a reason that may be blank.
        case reject(run: String, digest: String, reason: String)
        /// Send a plan.
        case send(run: String, digest: String)
        /// Send a campaign to the app's test devices.
        /// - file: the campaign file's absolute path.
        /// - digest: SHA-256 of its bytes as they were shown, 64 hex digits.
        case test(file: String, digest: String)
        /// Freeze a campaign's audience into a plan.
        case plan(file: String, digest: String)
        /// Go on with a run that stopped or is paused.
        case resume(run: String)
        /// Send again to the devices of a run that failed or are unknown.
        case retry(run: String)
        case pause(run: String)
        case cancel(run: String)
        /// Leave out a time of a schedule before it comes.
        /// - occurrence: the time on the schedule's clock, `2026-12-01T09:00`.
        case skip(campaign: String, occurrence: String)
        /// Approve a time of a schedule before it is planned.
        /// - digest: of the source that was shown (`RunSettings.sourceDigest`).
        /// - mostDevices: the largest audience that it holds for.
        case approveTime(campaign: String, occurrence: String, digest: String, mostDevices: Int)
        /// Take back the approval of a time before it is planned.
        case withdrawApproval(campaign: String, occurrence: String)
    }

    /// The key of the form that it came from: the same form twice is one order. 1 to 200 bytes.
    public var nonce: String
    /// What must be done.
    public var kind: Kind
    /// The name that the person signs in with.
    public var by: String
    /// When it was given, by this machine's clock.
    public var askedAt: Timestamp
    /// When it lapses: what was not begun by then is never done.
    public var lapsesAt: Timestamp
    /// Where and how long after the machine's start it was given. Unlike the clock, that cannot be set.
    public var uptime: Uptime

    /// An order that is given now.
    public init(nonce: String, kind: Kind, by: String, at moment: OrderMoment = .now()) {
        self.init(
            nonce: nonce, kind: kind, by: by, askedAt: moment.time, lapsesAt: moment.time.adding(seconds: kind.timeoutSeconds),
            uptime: moment.uptime)
    }

    init(nonce: String, kind: Kind, by: String, askedAt: Timestamp, lapsesAt: Timestamp, uptime: Uptime) {
        self.nonce = nonce
        self.kind = kind
        self.by = by
        self.askedAt = askedAt
        self.lapsesAt = lapsesAt
        self.uptime = uptime
    }

    /// A clock that is this much behind the moment at which an order was given was set back.
    static let clockToleranceSeconds = 5.0

    /// Whether it may not be begun any more. How long it has waited is known from the machine's uptime, whatever the
    /// clock says: setting the clock forward lets nothing lapse early, and setting it back keeps nothing alive. An
    /// order from before the machine's last start has lapsed, as a clock that has been set since then cannot say how
    /// long ago that was. Where the machine has no number for its start, the clock decides, and an order from the
    /// future has lapsed.
    public func hasLapsed(at moment: OrderMoment) -> Bool {
        guard !moment.uptime.start.isEmpty || !uptime.start.isEmpty else {
            return moment.time >= lapsesAt || moment.time < askedAt.adding(seconds: -Self.clockToleranceSeconds)
        }
        guard let waited = moment.uptime.seconds(since: uptime) else { return true }
        return waited >= Double(lapsesAt.epochMilliseconds - askedAt.epochMilliseconds) / 1000
    }
}

extension Order.Kind {
    /// How long an order may wait for its beginning: ten minutes, so that what was ordered while no sender was there
    /// does not go out at night. What only holds up a run, an hour.
    public var timeoutSeconds: Double { overtakes ? 3600 : 600 }

    /// Whether it is done before all others of its run: an order that stops a run cannot wait.
    public var overtakes: Bool {
        switch self {
        case .pause, .cancel: true
        case .approve, .reject, .send, .test, .plan, .resume, .retry, .skip, .approveTime, .withdrawApproval: false
        }
    }

    /// Whether the sender that takes it is the only one that ever does it. Doing any of the others a second time
    /// changes nothing.
    public var isTakenOnce: Bool {
        switch self {
        case .send, .test, .plan, .resume, .retry: true
        case .approve, .reject, .pause, .cancel, .skip, .approveTime, .withdrawApproval: false
        }
    }

    /// Whether it has the run itself sent, which a later pause or cancellation of that run contradicts.
    public var sendsItsRun: Bool {
        switch self {
        case .send, .resume: true
        case .approve, .reject, .test, .plan, .retry, .pause, .cancel, .skip, .approveTime, .withdrawApproval: false
        }
    }

    /// Whether devices of an audience get pushes because of it.
    public var leadsToPushes: Bool {
        switch self {
        case .approve, .send, .resume, .retry, .approveTime: true
        case .reject, .test, .plan, .pause, .cancel, .skip, .withdrawApproval: false
        }
    }

    /// The run that it is about; nil for a campaign's file and a time.
    public var run: String? { if case .run(let run) = subject { run } else { nil } }

    /// What orders are about.
    public enum Subject: Hashable, Sendable {
        case run(String)
        /// A campaign's file.
        case file(String)
        /// The times of a campaign.
        case campaign(String)
    }

    /// What it is about: orders of one subject begin one after the other.
    public var subject: Subject {
        switch self {
        case .approve(let run, _), .reject(let run, _, _), .send(let run, _), .resume(let run), .retry(let run), .pause(let run),
            .cancel(let run):
            .run(run)
        case .test(let file, _), .plan(let file, _): .file(file)
        case .skip(let campaign, _), .approveTime(let campaign, _, _, _), .withdrawApproval(let campaign, _): .campaign(campaign)
        }
    }

    /// The time of a schedule that it is about; nil for a run and a file.
    public var time: ScheduledRun.Key? {
        switch self {
        case .skip(let campaign, let occurrence), .approveTime(let campaign, let occurrence, _, _),
            .withdrawApproval(let campaign, let occurrence):
            ScheduledRun.Key(campaign: campaign, occurrence: occurrence)
        case .approve, .reject, .send, .test, .plan, .resume, .retry, .pause, .cancel: nil
        }
    }

    /// Its name in `orders.sqlite` and in JSON.
    public var name: String {
        switch self {
        case .approve: "approve"
        case .reject: "reject"
        case .send: "send"
        case .test: "test"
        case .plan: "plan"
        case .resume: "resume"
        case .retry: "retry"
        case .pause: "pause"
        case .cancel: "cancel"
        case .skip: "skip"
        case .approveTime: "approve_time"
        case .withdrawApproval: "withdraw_approval"
        }
    }
}
