import Base

/// What a connection has to do at a later time.
struct ConnectionAlarms {
    /// Something to be done.
    enum Alarm: CaseIterable {
        /// GOAWAY is due: the second of two, or the one that leaves out fewer pushes than it was to.
        case goAway
        /// The stream limit rises again.
        case streamLimit
        /// Windows are given back.
        case windows
        /// A client that does not close its side is waited for no longer.
        case abandonment
    }

    private var due: [Alarm: Timestamp] = [:]

    /// The earliest; nil when there is none.
    var next: Timestamp? { due.isEmpty ? nil : due.values.min() }

    mutating func set(_ alarm: Alarm, _ moment: Timestamp) { due[alarm] = moment }

    /// One that is due, which is then forgotten.
    mutating func takeDue(at now: Timestamp) -> Alarm? {
        guard let alarm = Alarm.allCases.first(where: { alarm in due[alarm].map { $0 <= now } ?? false }) else { return nil }
        due[alarm] = nil
        return alarm
    }

    mutating func removeAll() { due = [:] }
}

/// Bytes of windows that are given back late, and of the connection's window never.
struct OwedWindows {
    /// Bytes of one piece of a payload.
    struct Entry {
        let due: Timestamp
        let streamID: Int32
        let streamBytes: Int
        let connectionBytes: Int
    }

    /// What HTTP/2 begins with: RFC 9113 section 6.9.2.
    private static let firstConnectionBytes = 65535

    private let windows: SimulatedWindows
    /// Bytes of the connection's first window that are kept when they are used.
    private var excess: Int
    private var entries: [Entry] = []

    init(_ windows: SimulatedWindows) {
        self.windows = windows
        excess = max(0, Self.firstConnectionBytes - windows.connectionBytes)
    }

    /// When the next are due.
    var nextDue: Timestamp? { entries.first?.due }

    mutating func append(_ bytes: Int, streamID: Int32, now: Timestamp) {
        let kept = min(excess, bytes)
        excess -= kept
        let due = Timestamp(epochMilliseconds: now.epochMilliseconds + Int64(windows.delayMilliseconds))
        entries.append(Entry(due: due, streamID: streamID, streamBytes: bytes, connectionBytes: bytes - kept))
    }

    /// Those that are due, which are then forgotten.
    mutating func takeDue(at now: Timestamp) -> ArraySlice<Entry> {
        let taken = entries.prefix { $0.due <= now }
        entries.removeFirst(taken.count)
        return taken
    }
}
