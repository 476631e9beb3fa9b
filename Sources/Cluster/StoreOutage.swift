import Base
import Postgres

/// What is wrong with the store, as all connections of a process find it together: what people are
/// told of it, and when it is waited for no longer. A value without a clock; moments are seconds of
/// this machine since some start.
///
/// Each connection counts by itself. A database whose disk is full still answers beats, which
/// change a row in place, while every claim fails: one that answers says nothing about the others.
struct StoreOutage {
    /// Lengths of time, in seconds.
    struct Limits {
        /// A server that is silent for longer is in trouble.
        var silence = 2.0
        /// People are told of trouble that lasts this long: a restart of the database is often over
        /// sooner. They are told again after `repetition`.
        var notice = 4.0, repetition = 60.0
        /// Once a person has requested the end, the store is waited for this long; then what is
        /// left to do gets `closing` in all.
        var grace = 3.0, closing = 2.0
        /// Where no message is shown, it is waited for this long.
        var unheard = 10.0
    }

    let limits: Limits

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// What people are told.
    enum News: Hashable {
        case isAway(PostgresError), isBack
    }

    private var storeConnections: [ObjectIdentifier: (since: Double, why: PostgresError)] = [:]
    /// When people were told last, and what they were told since the trouble began.
    private var toldAt: Double?
    private var told: Set<String> = []
    private var askedAt: Double?
    private var givenUpAt: Double?

    /// What is wrong; nil while every connection is answered.
    var why: PostgresError? { storeConnections.values.min { $0.since < $1.since }?.why }

    private var since: Double? { storeConnections.values.map(\.since).min() }

    /// A connection gets no answer, or one that it cannot continue with.
    /// - Parameter since: from when on.
    mutating func failed(_ storeConnection: ObjectIdentifier, _ why: PostgresError, since: Double, at now: Double)
        -> News?
    {
        let since = min(storeConnections[storeConnection]?.since ?? since, since)
        storeConnections[storeConnection] = (since, why)
        guard now - since >= limits.notice else { return nil }
        if let toldAt, now - toldAt < (told.contains(why.message) ? limits.repetition : limits.notice) { return nil }
        toldAt = now
        told.insert(why.message)
        return .isAway(why)
    }

    /// A connection was answered, or is of no more use.
    mutating func answered(_ storeConnection: ObjectIdentifier) -> News? {
        storeConnections[storeConnection] = nil
        // What is no longer waited for may be away still.
        guard storeConnections.isEmpty, toldAt != nil, givenUpAt == nil else { return nil }
        (toldAt, told) = (nil, [])
        return .isBack
    }

    /// Whether the store is waited for no longer. That stays so.
    /// - Parameters:
    ///   - isAsked: whether a person has requested the end.
    ///   - isHeard: whether the trouble is shown.
    mutating func isOver(isAsked: Bool, isHeard: Bool, at now: Double) -> Bool {
        if isAsked { askedAt = askedAt ?? now }
        if givenUpAt == nil, let since {
            let isSpent = askedAt.map { now - max(since, $0) >= limits.grace } ?? false
            if isSpent || !isHeard && now - since >= limits.unheard { givenUpAt = now }
        }
        return givenUpAt != nil
    }

    /// Whether a person has requested the end, and something that began at a moment has been waited
    /// for long enough since.
    mutating func isSpent(since start: Double, isAsked: Bool, at now: Double) -> Bool {
        guard isAsked else { return false }
        let asked = askedAt ?? now
        askedAt = asked
        return now - max(start, asked) >= limits.grace
    }

    /// Whether nothing is tried any more.
    func isClosed(at now: Double) -> Bool { givenUpAt.map { now - $0 >= limits.closing } ?? false }
}
