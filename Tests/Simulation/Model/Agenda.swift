import Base

@testable import Delivery

/// The future events of a campaign, earliest first; events at the same time happen in the order in
/// which they were added.
struct Agenda {
    struct Entry {
        var time: Int64
        var order: Int
        var happening: Happening
    }

    private var heap: [Entry] = []
    private var count = 0

    var earliest: Int64 { heap.isEmpty ? .max : heap[0].time }

    mutating func add(_ happening: Happening, at time: Int64) {
        count += 1
        let entry = Entry(time: time, order: count, happening: happening)
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard Self.isBefore(entry, heap[parent]) else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = entry
    }

    mutating func removeFirst() -> Entry {
        let first = heap[0]
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, Self.isBefore(heap[child + 1], heap[child]) { child += 1 }
            guard Self.isBefore(heap[child], last) else { break }
            heap[parent] = heap[child]
            parent = child
        }
        heap[parent] = last
        return first
    }

    mutating func removeAll() { heap.removeAll(keepingCapacity: true) }

    private static func isBefore(_ left: Entry, _ right: Entry) -> Bool {
        left.time < right.time || (left.time == right.time && left.order < right.order)
    }
}

/// An event at a moment of true time. Pushes and connections are named by the machine's slots; a
/// serial or a generation shows whether it is still the same one.
enum Happening {
    /// A request reaches the server.
    case arrive(loop: Int, push: Int, serial: Int)
    /// A transport reports something.
    case deliver(loop: Int, Delivery)
    case peer(PeerTurn, loop: Int, connection: Int, generation: Int)
    case read
    /// A token is asked for, unless another plan was made since.
    case fetchBegins(plan: Int)
    case fetchEnds(askedAt: Int64)
    /// The namer looks around, unless another plan was made since; has committed names; was
    /// answered.
    case namerLooks(plan: Int)
    case namesCommitted([NameReply])
    case namesDelivered([NameReply])
    case namesFetched(askedAt: Timestamp)
    /// The service has answered the question whether it keeps a text.
    case textKept([UInt8], askedAt: Timestamp)
    case commit
    case interrupt
    case helperStarts
    case gateCloses, gateOpens
    case wallClockSteps
    case machineSleeps
}

/// What the server does with a connection by itself.
enum PeerTurn {
    case changesLimit, goesAway, dies, fallsSilent
}

/// A transport's event on its way to the loop.
enum Delivery {
    case opened(connection: Int, generation: Int)
    case failed(connection: Int, generation: Int, kind: Int)
    case limit(connection: Int, generation: Int, limit: Int)
    case window(connection: Int, generation: Int, room: Int)
    case leaving(connection: Int, generation: Int, isInOrder: Bool)
    case ended(connection: Int, generation: Int)
    case alive(connection: Int, generation: Int)
    /// `targets`: the answer for each push of the request, -1 for none; empty if all have the same.
    case answered(push: Int, serial: Int, answer: Int, targets: [Int])
    case refused(push: Int, serial: Int)
    case reset(push: Int, serial: Int)
    case neverSent(push: Int, serial: Int)
}
