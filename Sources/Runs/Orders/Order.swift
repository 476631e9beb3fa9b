public import Base
import Glibc

/// A request from the console to `volley schedule`: a row next to the runs, which a sender takes
/// and carries out. A run that is being sent gets its orders in its own file (`RunOrder`).
public struct Order: Hashable, Sendable {
    /// What must be done, with what the page showed when it was given.
    public enum Kind: Hashable, Sendable {
        /// Record that the plan may be sent, exactly as it was shown.
        /// - digest: of the plan (`RunFile.planDigest`).
        case approve(run: String, digest: String)
        /// Cancel a plan, with a reason that may be blank.
        case reject(run: String, digest: String, reason: String)
        /// Cancel a plan that was not begun: people that may ask for one may take it back, also
        /// after it was approved.
        case withdraw(run: String)
        /// Send a plan.
        case send(run: String, digest: String)
        /// Send a campaign to the app's test devices.
        /// - file: the campaign file's absolute path.
        /// - digest: SHA-256 of its bytes as they were shown, 64 hex digits.
        /// - choice: the texts and devices that are wanted (`TestChoice`); blank for all.
        case test(file: String, digest: String, choice: String = "")
        /// Freeze a campaign's audience into a plan.
        case plan(file: String, digest: String)
        /// Go on with a run that stopped or is paused.
        case resume(run: String)
        /// Send again to the devices of a run that failed or are unknown.
        case retry(run: String)
        /// Send to the devices of a run that has ended to which it never sent.
        case retryUnsent(run: String)
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
    /// Where and how long after the machine's start it was given. Unlike the clock, that cannot be
    /// set.
    public var uptime: Uptime

    /// An order that is given now.
    public init(nonce: String, kind: Kind, by: String, at moment: OrderMoment = .now()) {
        self.init(
            nonce: nonce, kind: kind, by: by, askedAt: moment.time,
            lapsesAt: moment.time.adding(seconds: kind.timeoutSeconds),
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

    /// Whether it may not be begun any more. How long it has waited is known from the machine's
    /// uptime, whatever the clock says: setting the clock forward lets nothing lapse early, and
    /// setting it back keeps nothing alive. An order from before the machine's last start has
    /// lapsed, as a clock that has been set since then cannot say how long ago that was. Where the
    /// machine has no number for its start, the clock decides, and an order from the future has
    /// lapsed.
    public func hasLapsed(at moment: OrderMoment) -> Bool {
        guard !moment.uptime.start.isEmpty || !uptime.start.isEmpty else {
            return moment.time >= lapsesAt || moment.time < askedAt.adding(seconds: -Self.clockToleranceSeconds)
        }
        guard let waited = moment.uptime.seconds(since: uptime) else { return true }
        return waited >= Double(lapsesAt.epochMilliseconds - askedAt.epochMilliseconds) / 1000
    }
}

/// The table of kinds: a row for each. `orders.sqlite`, lists, words and the queue follow from it.
extension Order.Kind {
    /// What an order of any kind may hold: the columns of `orders.sqlite`, and the members of its
    /// JSON.
    public struct Values: Hashable, Sendable {
        /// What it is about: a run, a campaign's file, or a time of a campaign.
        public var run: String?, file: String?, campaign: String?, occurrence: String?
        /// What the page showed when it was given; `reason` is what the person wrote, or chose for
        /// a test.
        public var digest: String?, reason: String?, mostDevices: Int?

        /// The texts, which come from outside.
        var texts: [String] { [run, file, campaign, occurrence, digest, reason].compactMap(\.self) }
    }

    /// The names of the kinds, in `orders.sqlite` and in JSON.
    enum Name: String, CaseIterable {
        case approve, reject, withdraw, send, test, plan, resume, retry, pause, cancel, skip, approveTime =
            "approve_time"
        case withdrawApproval = "withdraw_approval", retryUnsent = "retry_unsent"
    }

    private struct Row {
        let name: Name, values: Values
        var overtakes = false, isTakenOnce = false, sendsItsRun = false, leadsToPushes = false
    }

    private var row: Row {
        switch self {
        case .approve(let run, let digest):
            Row(name: .approve, values: Values(run: run, digest: digest), leadsToPushes: true)
        case .reject(let run, let digest, let reason):
            Row(name: .reject, values: Values(run: run, digest: digest, reason: reason))
        case .withdraw(let run): Row(name: .withdraw, values: Values(run: run), overtakes: true)
        case .send(let run, let digest):
            Row(
                name: .send, values: Values(run: run, digest: digest), isTakenOnce: true, sendsItsRun: true,
                leadsToPushes: true)
        case .test(let file, let digest, let choice):
            Row(
                name: .test, values: Values(file: file, digest: digest, reason: choice.isEmpty ? nil : choice),
                isTakenOnce: true)
        case .plan(let file, let digest):
            Row(name: .plan, values: Values(file: file, digest: digest), isTakenOnce: true)
        case .resume(let run):
            Row(name: .resume, values: Values(run: run), isTakenOnce: true, sendsItsRun: true, leadsToPushes: true)
        case .retry(let run): Row(name: .retry, values: Values(run: run), isTakenOnce: true, leadsToPushes: true)
        case .retryUnsent(let run):
            Row(name: .retryUnsent, values: Values(run: run), isTakenOnce: true, leadsToPushes: true)
        case .pause(let run): Row(name: .pause, values: Values(run: run), overtakes: true)
        case .cancel(let run): Row(name: .cancel, values: Values(run: run), overtakes: true)
        case .skip(let campaign, let occurrence):
            Row(name: .skip, values: Values(campaign: campaign, occurrence: occurrence))
        case .approveTime(let campaign, let occurrence, let digest, let most):
            Row(
                name: .approveTime,
                values: Values(campaign: campaign, occurrence: occurrence, digest: digest, mostDevices: most),
                leadsToPushes: true)
        case .withdrawApproval(let campaign, let occurrence):
            Row(name: .withdrawApproval, values: Values(campaign: campaign, occurrence: occurrence))
        }
    }

    /// The kind of this name with these values; nil if there is none, or a value is missing.
    init?(name: String, _ values: Values) {
        func both<First, Second>(_ first: First?, _ second: Second?, _ make: (First, Second) -> Self?) -> Self? {
            first.flatMap { first in second.flatMap { make(first, $0) } }
        }
        let (run, file, digest) = (values.run, values.file, values.digest)
        let kind: Self? =
            switch Name(rawValue: name) {
            case .approve: both(run, digest) { .approve(run: $0, digest: $1) }
            case .reject: both(run, digest) { .reject(run: $0, digest: $1, reason: values.reason ?? "") }
            case .withdraw: run.map { .withdraw(run: $0) }
            case .send: both(run, digest) { .send(run: $0, digest: $1) }
            case .test: both(file, digest) { .test(file: $0, digest: $1, choice: values.reason ?? "") }
            case .plan: both(file, digest) { .plan(file: $0, digest: $1) }
            case .resume: run.map { .resume(run: $0) }
            case .retry: run.map { .retry(run: $0) }
            case .retryUnsent: run.map { .retryUnsent(run: $0) }
            case .pause: run.map { .pause(run: $0) }
            case .cancel: run.map { .cancel(run: $0) }
            case .skip: both(values.campaign, values.occurrence) { .skip(campaign: $0, occurrence: $1) }
            case .approveTime:
                both(values.campaign, values.occurrence) { campaign, occurrence in
                    both(digest, values.mostDevices) {
                        .approveTime(campaign: campaign, occurrence: occurrence, digest: $0, mostDevices: $1)
                    }
                }
            case .withdrawApproval:
                both(values.campaign, values.occurrence) { .withdrawApproval(campaign: $0, occurrence: $1) }
            case nil: nil
            }
        guard let kind else { return nil }
        self = kind
    }

    /// Its name in `orders.sqlite` and in JSON.
    public var name: String { row.name.rawValue }

    /// What it holds.
    public var values: Values { row.values }

    /// How long an order may wait for its beginning: ten minutes, so that what was ordered while no
    /// sender was there does not go out at night. What only holds up a run, an hour.
    public var timeoutSeconds: Double { overtakes ? 3600 : 600 }

    /// Whether it is done before all others of its run: an order that stops a run cannot wait.
    public var overtakes: Bool { row.overtakes }

    /// Whether the sender that takes it is the only one that ever does it: it sends its run, or
    /// notes a run that it made, by which the next sender sees how far it came. Doing any of the
    /// others a second time changes nothing.
    public var isTakenOnce: Bool { row.isTakenOnce }

    /// Whether it has the run itself sent, which a later pause or cancellation of that run
    /// contradicts.
    public var sendsItsRun: Bool { row.sendsItsRun }

    /// Whether devices of an audience get pushes because of it.
    public var leadsToPushes: Bool { row.leadsToPushes }

    /// The run that it is about; nil for a campaign's file and a time.
    public var run: String? { values.run }

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
        let values = values
        return values.run.map { .run($0) } ?? values.file.map { .file($0) } ?? .campaign(values.campaign ?? "")
    }

    /// The time of a schedule that it is about; nil for a run and a file.
    public var time: ScheduledRun.Key? {
        let values = values
        return values.campaign.flatMap { campaign in
            values.occurrence.map { ScheduledRun.Key(campaign: campaign, occurrence: $0) }
        }
    }
}

/// How long a machine has been running, its sleep included (CLOCK_BOOTTIME), and since which start.
public struct Uptime: Hashable, Sendable {
    /// The start, by the number that the kernel gave it (/proc/sys/kernel/random/boot_id); blank if
    /// it cannot be read.
    public var start: String
    /// Since then.
    public var milliseconds: Int64

    /// An uptime.
    public init(start: String, milliseconds: Int64) {
        self.start = start
        self.milliseconds = milliseconds
    }

    /// The seconds between two moments since one start; nil if they cannot be compared: the machine
    /// was started again, or it is another one.
    func seconds(since earlier: Uptime) -> Double? {
        guard !start.isEmpty, start == earlier.start, milliseconds >= earlier.milliseconds else { return nil }
        return Double(milliseconds - earlier.milliseconds) / 1000
    }
}

/// A moment, by the clock and by the machine's uptime.
public struct OrderMoment: Hashable, Sendable {
    /// By the clock, which can be set.
    public var time: Timestamp
    /// By the uptime, which cannot.
    public var uptime: Uptime

    /// A moment.
    public init(time: Timestamp, uptime: Uptime) {
        self.time = time
        self.uptime = uptime
    }

    /// The present moment.
    public static func now() -> OrderMoment {
        var since = timespec()
        clock_gettime(CLOCK_BOOTTIME, &since)
        // A file of /proc has no size, but can be read like any other.
        let bytes = (try? RegularFile.bytes(of: "/proc/sys/kernel/random/boot_id", atMost: 64)) ?? []
        let start = String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
        return OrderMoment(
            time: .now(),
            uptime: Uptime(start: start, milliseconds: Int64(since.tv_sec) * 1000 + Int64(since.tv_nsec) / 1_000_000))
    }
}

/// An order as it is on record.
public struct PlacedOrder: Hashable, Sendable {
    /// Its place among all orders: later ones have larger numbers.
    public var number: Int64
    /// What was asked.
    public var order: Order
    /// How far it is.
    public var state: OrderState
    /// The run that it made: of a test, a plan or a retry; nil until it is made.
    public var made: String?
    /// When its state was written.
    public var changedAt: Timestamp

    /// An order on record.
    public init(number: Int64, order: Order, state: OrderState, made: String? = nil, changedAt: Timestamp) {
        self.number = number
        self.order = order
        self.state = state
        self.made = made
        self.changedAt = changedAt
    }

    /// The run that it is about or has made.
    public var run: String? { order.kind.run ?? made }
}

/// Rows of the record of orders, each read by itself.
public struct OrderListing: Hashable, Sendable {
    /// Those that can be read.
    public var orders: [PlacedOrder]
    /// Those that cannot.
    public var damaged: [DamagedOrder]

    /// Rows in the order in which the orders were given.
    public init(_ orders: [PlacedOrder] = [], damaged: [DamagedOrder] = []) {
        self.orders = orders
        self.damaged = damaged
    }
}

/// An order whose row cannot be read: it may have been of any kind.
public struct DamagedOrder: Hashable, Sendable {
    /// Its place among all orders.
    public var number: Int64
    /// What it is about; nil if that cannot be read, so that it may be about anything.
    public var subject: Order.Kind.Subject?
    /// What is wrong, with the file, the row and what to do.
    public var mistake: Diagnostic

    /// A row that cannot be read.
    public init(number: Int64, subject: Order.Kind.Subject?, mistake: Diagnostic) {
        self.number = number
        self.subject = subject
        self.mistake = mistake
    }

    /// Whether it may have held up what another order has sent: as a pause, a cancellation, a
    /// refusal, or an approval taken back.
    public func mayForbid(_ kind: Order.Kind) -> Bool {
        guard kind.leadsToPushes else { return false }
        return subject.map { $0 == kind.subject } ?? true
    }
}

/// The orders next to the runs of one place: the console places them, `volley schedule` takes them.
public struct OrderRecords: Sendable {
    private let folder: String

    /// - Parameter folder: of runs. Nothing is opened or made.
    public init(folder: String) { self.folder = folder }

    /// Where they are, or would be, for messages.
    public var place: String { OrderStore.path(in: folder) }

    /// Whether any were ever placed here.
    public var isThere: Bool { DatabaseFile.kind(place) != .missing }

    /// Opens them; makes a missing file.
    /// - Throws: `Diagnostic`: it is damaged, of a newer version, something else, not permitted;
    ///   the disk is full.
    public func open() throws -> OrderStore { try OrderStore(folder: folder) }

    /// The newest orders, newest first, whether or not processes work with them; none when there is
    /// no file.
    /// - Parameters:
    ///   - number: only orders before this one; nil for the newest.
    ///   - limit: the most orders to return; at least 1.
    /// - Throws: as `open`.
    public func read(before number: Int64? = nil, atMost limit: Int = 100) throws -> OrderListing {
        try OrderStore.read(folder: folder, before: number, atMost: limit)
    }
}
