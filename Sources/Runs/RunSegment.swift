public import Base

/// Consecutive recipients that get the push through one service at one time. Ids are sorted by wave, and within each
/// wave by service, so the service of a recipient follows from its id.
public struct RunSegment: Hashable, Sendable {
    /// The recipients in it.
    public var ids: Range<Int>
    /// The number of the service in `RunSettings.services`.
    public var service: Int

    /// A segment.
    public init(ids: Range<Int>, service: Int) {
        self.ids = ids
        self.service = service
    }
}

/// What holds a segment, or stopped it, while other segments continue.
public struct SegmentState: Hashable, Sendable {
    /// Its service takes no pushes before then; nil when it does.
    public var heldUntil: Timestamp?
    /// Why nothing more is sent in it; nil when it did not stop.
    public var cause: StopCause?

    /// A state.
    public init(heldUntil: Timestamp? = nil, cause: StopCause? = nil) {
        self.heldUntil = heldUntil
        self.cause = cause
    }
}

extension [RunSegment] {
    /// The segment that an id is in; nil when it is in none.
    func segment(of id: Int) -> RunSegment? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].ids.upperBound > id { high = middle } else { low = middle + 1 }
        }
        return low < count && self[low].ids.contains(id) ? self[low] : nil
    }
}

/// Finds the services of many recipients whose ids are close together, mostly ascending.
struct ServiceCursor {
    private let segments: [RunSegment]
    /// The ids for which `service` is known.
    private var ids: Range<Int>
    /// That of the id that was looked up last.
    private(set) var service = 0

    init(_ plan: RunPlan) {
        segments = plan.serviceSegments
        ids = segments.isEmpty ? .min..<(.max) : 0..<0
    }

    /// - Returns: whether it is another one than that of the id before.
    @inline(__always) @discardableResult mutating func move(to id: Int) -> Bool {
        if ids.contains(id) { return false }
        return search(id)
    }

    private mutating func search(_ id: Int) -> Bool {
        let before = service
        // Outside the audience are only ids of damaged files.
        if let segment = segments.segment(of: id) {
            (ids, service) = (segment.ids, segment.service)
        } else {
            (ids, service) = (id..<id + 1, 0)
        }
        return service != before
    }
}
