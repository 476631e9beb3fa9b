import Base

/// The times when a connection must do something.
struct ConnectionAlarms {
    /// Something to do later.
    enum Alarm: CaseIterable {
        /// Send GOAWAY: the second of two, or one that leaves out fewer pushes than intended.
        case goAway
        /// Raise the stream limit again.
        case streamLimit
        /// Give windows back.
        case windows
        /// Stop waiting for a client that does not close its side.
        case abandonment
    }

    private var due: [Alarm: Timestamp] = [:]

    /// The time of the earliest alarm; nil if there is none.
    var next: Timestamp? { due.isEmpty ? nil : due.values.min() }

    mutating func set(_ alarm: Alarm, moment: Timestamp) { due[alarm] = moment }

    /// Removes and returns an alarm that is due; nil if there is none.
    mutating func takeDue(at now: Timestamp) -> Alarm? {
        guard let alarm = Alarm.allCases.first(where: { alarm in due[alarm].map { $0 <= now } ?? false }) else { return nil }
        due[alarm] = nil
        return alarm
    }

    mutating func removeAll() { due = [:] }
}

/// Bytes of flow-control windows that are given back late. Some bytes of the connection's first window are never given back.
struct OwedWindows {
    /// The bytes of one piece of a payload.
    struct Entry {
        let due: Timestamp
        let streamID: Int32
        let streamBytes: Int
        let connectionBytes: Int
    }

    /// The connection's first window in HTTP/2: RFC 9113 section 6.9.2.
    private static let firstConnectionBytes = 65535

    private let windows: SimulatedWindows
    /// Bytes of the connection's first window that are still to be kept when they are used.
    private var excess: Int
    private var entries: [Entry] = []

    init(_ windows: SimulatedWindows) {
        self.windows = windows
        excess = max(0, Self.firstConnectionBytes - windows.connectionBytes)
    }

    /// When the next entry is due; nil if there is none.
    var nextDue: Timestamp? { entries.first?.due }

    mutating func append(_ bytes: Int, streamID: Int32, now: Timestamp) {
        let kept = min(excess, bytes)
        excess -= kept
        let due = Timestamp(epochMilliseconds: now.epochMilliseconds + Int64(windows.delayMilliseconds))
        entries.append(Entry(due: due, streamID: streamID, streamBytes: bytes, connectionBytes: bytes - kept))
    }

    /// Removes and returns the entries that are due.
    mutating func takeDue(at now: Timestamp) -> ArraySlice<Entry> {
        let taken = entries.prefix { $0.due <= now }
        entries.removeFirst(taken.count)
        return taken
    }
}
