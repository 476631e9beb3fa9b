public import Base

/// The order in which runs of a folder were started, resumed and ended, whatever the clock said
/// then: `SendingHistory` numbers each of these.
public struct EpochSequence: Sendable {
    /// A place in the order. A plan keeps the place it was made at, so nothing later is part of it.
    public struct Place: Hashable, Sendable {
        /// From 1 on; 0 before the first.
        public var number: Int
        /// The epoch that began or ended there; it reveals a record that was restored from a
        /// backup.
        public var epoch: String

        /// A place.
        public init(number: Int, epoch: String) { (self.number, self.epoch) = (number, epoch) }
    }

    struct Event {
        let number: Int, run: String, epoch: String
        let isEnd: Bool
        let at: Timestamp
    }

    private let events: [Event]
    private let byRun: [String: [Event]]

    init(_ events: [Event]) { (self.events, byRun) = (events, Dictionary(grouping: events, by: \.run)) }

    /// The place after which the next beginning comes.
    public var last: Place {
        events.last.map { Place(number: $0.number, epoch: $0.epoch) } ?? Place(number: 0, epoch: "")
    }

    /// Where the first of some runs began; nil when that is not on record.
    public func beginning(ofAny runs: Set<String>) -> Place? {
        events.first { runs.contains($0.run) }.map { Place(number: $0.number, epoch: $0.epoch) }
    }

    /// The moment, by the clock of a run's own epochs, from which on its actions came after a
    /// place.
    /// - Parameters:
    ///   - epoch: the last one that the run's file records; blank when it records none.
    ///   - place: nil when it is not known.
    ///   - moment: of the place, which decides where the order is not on record, or the run was
    ///     being sent, or was cut off, at the place.
    /// - Returns: nil when it did nothing after it.
    public func start(of run: String, epoch: String, after place: Place?, at moment: Timestamp) -> Timestamp? {
        guard let place, isOnRecord(place), let own = byRun[run] else { return moment }
        let next = own.first { $0.number > place.number && !$0.isEnd }?.at
        // The record was restored from before that epoch began: only the clock is left.
        let unknown = epoch.isEmpty || own.contains { $0.epoch == epoch } ? nil : moment
        let before = own.last { $0.number <= place.number }
        guard
            let earliest = before?.isEnd ?? true
                ? [next, unknown].compactMap(\.self).min() : min(next ?? moment, moment)
        else {
            return nil
        }
        // If it began after the place, everything came later, whatever the clock said. Where the
        // clock was set back, the order is not known.
        return before == nil || isClockSetBack(after: place, at: moment) ? Timestamp(epochMilliseconds: 0) : earliest
    }

    /// Whether the clock said less, at some beginning or end after a place, than before. Clocks of
    /// one machine are corrected by less than a second.
    private func isClockSetBack(after place: Place, at moment: Timestamp) -> Bool {
        var last = moment
        return events.contains { event in
            guard event.number > place.number else { return false }
            defer { last = event.at }
            return event.at < last.adding(seconds: -1)
        }
    }

    /// When the last epoch of a run ended; nil while it continues, or when that is not on record.
    package func end(of run: String) -> Timestamp? { byRun[run]?.last.flatMap { $0.isEnd ? $0.at : nil } }

    /// Whether a run was started or resumed after a place; nil when that is not on record.
    public func hasBegun(_ run: String, after place: Place?) -> Bool? {
        guard let place, isOnRecord(place), let own = byRun[run] else { return nil }
        return own.contains { !$0.isEnd && $0.number > place.number }
    }

    private func isOnRecord(_ place: Place) -> Bool {
        place.number == 0 || events.contains { $0.number == place.number && $0.epoch == place.epoch }
    }

    init() { self.init([]) }
}
