/// Whether a worker may still hand pushes to the wire: only while it is certain that it has not
/// been declared dead.
///
/// Its last beat is as old as the moment at which it was sent, not that of its answer: the database
/// wrote it somewhere in between. So a worker falls silent before another may take over what it
/// has. A value without a clock.
struct SubmissionGate {
    /// Nothing is handed over later than this after the start of the last beat that succeeded;
    /// seconds. What is handed over then is answered or given up within `settlingSeconds`.
    static let longestAgeSeconds = 10.0
    /// The longest that a push that was handed over waits in a queue; seconds.
    static let queueSeconds = 2.0
    /// The longest that a push stays within the process and under way, with 15 s for its answer;
    /// seconds.
    static let settlingSeconds = queueSeconds + 15

    private var lastBeat: Double?

    /// A beat succeeded.
    /// - Parameter start: when it was sent, by the worker's own clock, which counts on while the
    ///   machine sleeps; seconds.
    mutating func beat(begunAt start: Double) { lastBeat = max(lastBeat ?? start, start) }

    /// Whether pushes may be handed over.
    func isOpen(at now: Double) -> Bool { closesAt.map { now < $0 } ?? false }

    /// When it closes unless another beat succeeds; nil before the first one.
    var closesAt: Double? { lastBeat.map { $0 + Self.longestAgeSeconds } }
}
