public import Base

/// Where a sign-in attempt comes from. Its description shows no secret.
public struct SignInSource: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// nil if it says nothing about the person (a Unix socket, the loopback).
    public let address: IPAddress?
    /// The secret that the browser got at an earlier sign-in; nil without one.
    let device: String?

    /// - Parameters:
    ///   - address: of the person; nil if it says nothing about them.
    ///   - device: the secret of the browser's own cookie, whether or not an account was ever used
    ///     with it; nil without one.
    public init(address: IPAddress?, device: String? = nil) { (self.address, self.device) = (address, device) }

    /// Shows the address only.
    public var description: String { address?.description ?? "(unknown address)" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Slows down guesses of passwords and of codes, but never blocks permanently. A value without a
/// clock.
///
/// | counted | free | then |
/// |---|---|---|
/// | passwords, by network | 10 | 1 s, doubled with each failure, up to 15 minutes |
/// | passwords, by account and place | 3 | 1 s, doubled with each failure, up to 30 s |
/// | passwords, by account | 40, and 1 more a minute | until the next minute |
/// | codes, by account and place | 3 | 30 s, doubled with each failure, up to 15 minutes |
/// | codes, by account | 10, and 1 more in 5 minutes | until the next five minutes |
///
/// A place is a network, or a browser that signed in to the account before. The counts by account
/// are for places from which its owner never signed in: they limit a guesser with many addresses,
/// and do not keep the owner out at the usual ones. Such a browser is also free of its network's
/// count, until ten failures of its own.
///
/// During a wait, attempts are refused unchecked and do not extend it. Codes are counted apart from
/// passwords, as only a right password leads to them. Sources: OWASP ASVS 4.0.3, 2.2.1 (at most 100
/// failures an hour on an account); OWASP, "Slow Down Online Guessing Attacks with Device Cookies";
/// NIST SP 800-63B section 5.2.2; RFC 6238 section 5.2 and RFC 4226 section 7.3.
public struct SignInThrottle: Sendable {
    /// What is guessed.
    public enum Step: Hashable, Sendable, CaseIterable { case password, code }

    /// Whether a try may go ahead.
    public enum Admission: Sendable {
        /// It counts as a failure until `succeeded` or `takeBack` says otherwise, so that a hundred
        /// attempts at the same moment do not all pass for free.
        case goAhead(Ticket)
        case wait(seconds: Int64)
    }

    /// What a try was counted under.
    public struct Ticket: Sendable {
        fileprivate let name: AccountName?
        fileprivate let source: SignInSource
        fileprivate let place: Place
        fileprivate let keys: [Key]
        /// When the attempt was counted, and when the failure before it was, for each key.
        fileprivate var countedAt: Timestamp?, before: [Timestamp?] = []
    }

    /// The longest wait before a password from an unknown address, seconds.
    public static let longestOfAccount: Int64 = 60
    /// The longest wait of all, seconds.
    public static let longest: Int64 = 15 * 60
    /// The most entries of each kind; beyond that, the oldest are dropped.
    public static let mostEntries = 10_000
    /// A browser that the owner used before is like any other after this number of failures.
    static let mostOfDevice: Int64 = 10
    /// Failures are forgotten after a day without another; seconds.
    static let memory: Int64 = 24 * 3600
    /// How long the place of a sign-in is remembered: 30 days, in seconds.
    public static let memoryOfKnown: Int64 = 30 * 24 * 3600

    fileprivate enum Place: Hashable { case network(IPAddress?), device(String) }

    fileprivate enum Key: Hashable {
        case network(IPAddress)
        /// Failures of an account from a place. A success clears them.
        case pair(Step, AccountName, Place)
        /// Failures of an account from unknown places.
        case account(Step, AccountName)

        /// The number of free failures, and the first and the longest wait, in seconds.
        var waits: (free: Int64, first: Int64, longest: Int64) {
            switch self {
            case .network: (10, 1, SignInThrottle.longest)
            case .pair(.password, _, _): (3, 1, 30)
            case .pair(.code, _, _): (3, 30, SignInThrottle.longest)
            case .account(.password, _): (40, 60, 60)
            case .account(.code, _): (10, 300, 300)
            }
        }

        /// The seconds after which one failure is forgotten; nil for a count that is forgotten as a
        /// whole.
        var secondsPerFailure: Int64? { if case .account = self { waits.first } else { nil } }
    }

    private struct Entry {
        var failures: Int64
        var last: Timestamp
    }

    private struct Known: Hashable { let name: AccountName, place: Place }

    private var entries: [Key: Entry] = [:]
    /// The places where owners signed in, and when last. Strangers cannot add to it, so that a
    /// flood of names cannot displace owners.
    private var known: [Known: Timestamp] = [:]

    /// A brake that has counted no failure.
    public init() {}

    /// The entries in memory.
    var count: Int { entries.count }

    /// Lets an attempt go ahead, or says how long to wait.
    /// - Parameter name: whether or not the account exists; nil if the text cannot be a name, and
    ///   if only the network counts.
    public mutating func attempt(_ step: Step, of name: AccountName?, from source: SignInSource, at now: Timestamp)
        -> Admission
    {
        var ticket = ticket(step, name, source, now)
        let wait = ticket.keys.map { remaining($0, now) }.max() ?? 0
        guard wait == 0 else { return .wait(seconds: wait) }
        (ticket.countedAt, ticket.before) = (now, ticket.keys.map { entries[$0]?.last })
        for key in ticket.keys { add(1, to: key, now) }
        makeRoom(now)
        return .goAhead(ticket)
    }

    /// The seconds for which `attempt` would refuse an attempt; 0 if it may go ahead. Counts
    /// nothing.
    public mutating func wait(_ step: Step, of name: AccountName?, from source: SignInSource, at now: Timestamp)
        -> Int64
    {
        ticket(step, name, source, now).keys.map { remaining($0, now) }.max() ?? 0
    }

    /// Whether the owner of an account signed in from there, by that network or that browser.
    public func isKnown(_ name: AccountName, from source: SignInSource, at now: Timestamp) -> Bool {
        Self.places(source).contains { isKnown(name, $0, now) }
    }

    /// The person showed everything that the account needs: earlier failures of this account from
    /// this place were typing errors.
    public mutating func succeeded(_ ticket: Ticket, at now: Timestamp) {
        guard let name = ticket.name else { return }
        for step in Step.allCases {
            let own = failures(.pair(step, name, ticket.place), now)
            entries[.pair(step, name, ticket.place)] = nil
            let isCharged = ticket.keys.contains { if case .account = $0 { true } else { false } }
            if isCharged { add(-own, to: .account(step, name), now) }
            if step == .password, case .network(let network?) = ticket.place { add(-own, to: .network(network), now) }
        }
        for place in Self.places(ticket.source) { known[Known(name: name, place: place)] = now }
        makeRoom(now)
    }

    /// The attempt was not a failure, and proved nothing: the password was right and a code is
    /// missing, or nothing was checked.
    public mutating func takeBack(_ ticket: Ticket, at now: Timestamp) {
        for (key, before) in zip(ticket.keys, ticket.before) {
            add(-1, to: key, now)
            // The wait counts from the failure before it, unless another came since.
            if let before, entries[key]?.last == ticket.countedAt { entries[key]?.last = before }
        }
    }

    private mutating func ticket(_ step: Step, _ name: AccountName?, _ source: SignInSource, _ now: Timestamp) -> Ticket
    {
        let network = source.address?.clientNetwork
        if let name, let device = source.device, isKnown(name, .device(device), now) {
            let own = Key.pair(step, name, .device(device))
            if failures(own, now) < Self.mostOfDevice {
                return Ticket(name: name, source: source, place: .device(device), keys: [own])
            }
        }
        var keys: [Key] = []
        if step == .password, let network { keys.append(.network(network)) }
        if let name {
            keys.append(.pair(step, name, .network(network)))
            if network == nil || !isKnown(name, .network(network), now) { keys.append(.account(step, name)) }
        }
        return Ticket(name: name, source: source, place: .network(network), keys: keys)
    }

    private static func places(_ source: SignInSource) -> [Place] {
        (source.address.map { [.network($0.clientNetwork)] } ?? []) + (source.device.map { [.device($0)] } ?? [])
    }

    private func isKnown(_ name: AccountName, _ place: Place, _ now: Timestamp) -> Bool {
        known[Known(name: name, place: place)].map { Self.seconds(from: $0, to: now) < Self.memoryOfKnown } ?? false
    }

    private mutating func failures(_ key: Key, _ now: Timestamp) -> Int64 { current(key, now)?.failures ?? 0 }

    private mutating func add(_ number: Int64, to key: Key, _ now: Timestamp) {
        let before = current(key, now)
        // More do not make the wait longer.
        let after = min(100, max(0, (before?.failures ?? 0) + number))
        // Failures that are forgotten one by one keep the moment from which the next is due.
        let isFresh = number > 0 && key.secondsPerFailure == nil
        entries[key] = after == 0 ? nil : Entry(failures: after, last: isFresh ? now : before?.last ?? now)
    }

    /// Seconds, rounded up.
    private mutating func remaining(_ key: Key, _ now: Timestamp) -> Int64 {
        guard let entry = current(key, now) else { return 0 }
        let (free, first, longest) = key.waits
        let beyond = entry.failures - free
        guard beyond >= 0 else { return 0 }
        return max(0, min(longest, first << min(beyond, 20)) - Self.seconds(from: entry.last, to: now))
    }

    /// An entry without the failures that have expired. If the clock was set back, it happened just
    /// now: otherwise the wait would last until the clock is there again.
    private mutating func current(_ key: Key, _ now: Timestamp) -> Entry? {
        guard var entry = entries[key] else { return nil }
        if entry.last > now { entry.last = now }
        if let each = key.secondsPerFailure {
            let forgotten = Self.seconds(from: entry.last, to: now) / each
            entry = Entry(
                failures: entry.failures - forgotten, last: entry.last.adding(seconds: Double(forgotten * each)))
        } else if Self.seconds(from: entry.last, to: now) >= Self.memory {
            entry.failures = 0
        }
        entries[key] = entry.failures > 0 ? entry : nil
        return entries[key]
    }

    /// Whole seconds, rounded down.
    private static func seconds(from start: Timestamp, to end: Timestamp) -> Int64 {
        end.epochSeconds - start.epochSeconds
    }

    /// Drops a tenth at once, so that this is done seldom: first expired entries, then the oldest.
    private mutating func makeRoom(_ now: Timestamp) {
        if entries.count > Self.mostEntries {
            entries = entries.filter { Self.seconds(from: $0.value.last, to: now) < Self.memory }
            let excess = entries.count - Self.mostEntries * 9 / 10
            for (key, _) in entries.sorted(by: { $0.value.last < $1.value.last }).prefix(max(0, excess)) {
                entries[key] = nil
            }
        }
        if known.count > Self.mostEntries {
            known = known.filter { Self.seconds(from: $0.value, to: now) < Self.memoryOfKnown }
            let excess = known.count - Self.mostEntries * 9 / 10
            for (key, _) in known.sorted(by: { $0.value < $1.value }).prefix(max(0, excess)) { known[key] = nil }
        }
    }
}
