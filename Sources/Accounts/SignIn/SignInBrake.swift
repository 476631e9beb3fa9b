public import Base

/// Slows down those who guess passwords: by account and by address, never for good. A value without a clock.
///
/// An account is slowed down by at most 30 s a try, and not at all for an address from which its owner signed in before: whoever keeps
/// guessing cannot lock a colleague out. An address is slowed down up to 15 minutes. While there is something to wait for, tries are
/// turned away unseen and make the wait no longer. A day without failures forgets them all. Source: OWASP ASVS 4.0.3, 2.2.1 (no more than
/// 100 failures an hour on an account); RFC 6238 and NIST SP 800-63B section 5.2.2 ask for such a limit, too.
public struct SignInBrake: Sendable {
    /// So many failures of an account cost nothing: people mistype.
    static let freeOfAccount = 3
    /// So many failures of an address cost nothing: an office shares one.
    static let freeOfAddress = 10
    /// The longest wait for an account, seconds.
    public static let longestOfAccount: Int64 = 30
    /// The longest wait for an address, seconds.
    public static let longestOfAddress: Int64 = 15 * 60
    /// Failures are forgotten so long after the last one; seconds.
    static let memory: Int64 = 24 * 3600
    /// An address from which a person signed in is known so long; seconds.
    static let memoryOfKnown: Int64 = 30 * 24 * 3600
    /// The most entries; beyond that, the oldest go.
    public static let mostEntries = 10_000

    private enum Key: Hashable {
        case account(AccountName)
        case address([UInt8])
        /// Failures of an account from an address, which a success takes back.
        case pair(AccountName, [UInt8])
        /// The account's owner signed in from there.
        case known(AccountName, [UInt8])
    }

    private struct Entry {
        var failures: Int64
        var last: Timestamp
    }

    private var entries: [Key: Entry] = [:]

    /// A brake that knows of no failure.
    public init() {}

    /// The entries in memory.
    var count: Int { entries.count }

    /// Asks for a try. One that may go ahead counts as a failure until `succeeded` or `takeBack` says otherwise, so that a hundred tries at
    /// the same moment are no hundred free ones.
    /// - Parameters:
    ///   - name: whether or not there is such an account; nil for what cannot be a name.
    ///   - address: nil where it says nothing about the person (a Unix socket, the loopback): then only the account is slowed down.
    /// - Returns: the seconds to wait before the next try; 0 if this one may go ahead.
    public mutating func attempt(_ name: AccountName?, from address: IPAddress?, at now: Timestamp) -> Int64 {
        let network = Self.network(address)
        var wait: Int64 = 0
        if let network { wait = remaining(.address(network), now) }
        if let name, !isKnown(name, network, now) { wait = max(wait, remaining(.account(name), now)) }
        guard wait == 0 else { return wait }
        for key in Self.keys(name, network) { add(1, to: key, now) }
        makeRoom(now)
        return 0
    }

    /// The try was right: failures of this account from this address were mistypings.
    public mutating func succeeded(_ name: AccountName, from address: IPAddress?, at now: Timestamp) {
        let network = Self.network(address)
        let own = failures(.pair(name, network ?? []), now)
        for key in Self.keys(name, network) { add(-own, to: key, now) }
        guard let network else { return }
        entries[.known(name, network)] = Entry(failures: 0, last: now)
        makeRoom(now)
    }

    /// Nothing was tried after all.
    public mutating func takeBack(_ name: AccountName?, from address: IPAddress?, at now: Timestamp) {
        for key in Self.keys(name, Self.network(address)) { add(-1, to: key, now) }
    }

    /// What an address counts as. Of IPv6, the 64 bits that a network gets: whoever has them all has 2^64 addresses.
    private static func network(_ address: IPAddress?) -> [UInt8]? {
        guard let address = address?.unmapped else { return nil }
        return address.isIPv4 ? address.bytes : Array(address.bytes.prefix(8))
    }

    private static func keys(_ name: AccountName?, _ network: [UInt8]?) -> [Key] {
        var keys: [Key] = []
        if let network { keys.append(.address(network)) }
        if let name { keys += [.account(name), .pair(name, network ?? [])] }
        return keys
    }

    private mutating func isKnown(_ name: AccountName, _ network: [UInt8]?, _ now: Timestamp) -> Bool {
        guard let network, let entry = current(.known(name, network), now) else { return false }
        return Self.seconds(from: entry.last, to: now) < Self.memoryOfKnown
    }

    private mutating func failures(_ key: Key, _ now: Timestamp) -> Int64 {
        guard let entry = current(key, now), Self.seconds(from: entry.last, to: now) < Self.memory else { return 0 }
        return entry.failures
    }

    private mutating func add(_ number: Int64, to key: Key, _ now: Timestamp) {
        let before = failures(key, now)
        // More do not make the wait longer.
        let after = min(100, max(0, before + number))
        if after == 0 {
            entries[key] = nil
        } else {
            entries[key] = Entry(failures: after, last: number > 0 ? now : entries[key]?.last ?? now)
        }
    }

    /// Seconds, rounded up.
    private mutating func remaining(_ key: Key, _ now: Timestamp) -> Int64 {
        let failures = failures(key, now)
        guard failures > 0, let last = entries[key]?.last else { return 0 }
        let (free, longest) =
            if case .address = key { (Self.freeOfAddress, Self.longestOfAddress) } else { (Self.freeOfAccount, Self.longestOfAccount) }
        let beyond = failures - Int64(free)
        guard beyond >= 0 else { return 0 }
        let delay = min(longest, 1 << min(beyond, 20))
        return max(0, delay - Self.seconds(from: last, to: now))
    }

    /// An entry. If the clock was set back, it happened just now: otherwise the wait would last until the clock is there again.
    private mutating func current(_ key: Key, _ now: Timestamp) -> Entry? {
        guard let entry = entries[key] else { return nil }
        if entry.last > now { entries[key]?.last = now }
        return entries[key]
    }

    /// Whole seconds, rounded down.
    private static func seconds(from start: Timestamp, to end: Timestamp) -> Int64 { end.epochSeconds - start.epochSeconds }

    /// Drops a tenth at once, so that this is done seldom: what is forgotten anyway, then what is oldest.
    private mutating func makeRoom(_ now: Timestamp) {
        guard entries.count > Self.mostEntries else { return }
        entries = entries.filter { key, entry in
            let memory = if case .known = key { Self.memoryOfKnown } else { Self.memory }
            return Self.seconds(from: entry.last, to: now) < memory
        }
        let excess = entries.count - Self.mostEntries * 9 / 10
        guard excess > 0 else { return }
        for (key, _) in entries.sorted(by: { $0.value.last < $1.value.last }).prefix(excess) { entries[key] = nil }
    }
}
