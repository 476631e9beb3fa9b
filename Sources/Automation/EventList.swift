import Base
import Synchronization

/// What threads tell the main loop, in the order in which they told it.
final class EventList<Event: Sendable>: Sendable {
    private let events = Mutex<[Event]>([])
    /// Woken by each event.
    let added: Wakeup

    init() throws(Diagnostic) { added = try Wakeup() }

    func add(_ event: Event) {
        events.withLock { $0.append(event) }
        added.wake()
    }

    func take() -> [Event] {
        added.clear()
        return events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
