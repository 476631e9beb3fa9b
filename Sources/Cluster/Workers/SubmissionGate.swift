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

/// Which workers of a run are dead, as one of them judges: those whose beat did not change for long
/// while it could have seen it move.
///
/// Time is the observer's own, by a clock that cannot be set, and counts only while it was
/// connected: an observer that comes back from a long sleep, or from a database that was away,
/// declares no worker dead for it. No clock of two machines is compared. A value without a clock.
struct WorkerWatch {
    /// A worker is dead when its beat has not changed for this long; seconds.
    static let silenceSeconds = 30.0
    /// The most that counts between two looks, which are a second apart; seconds. What is longer
    /// was a sleep of the observer.
    static let longestStepSeconds = 2.0

    /// A worker as it was seen.
    struct Silence: Hashable {
        var worker: String
        /// Its last beat. It is dead only if that has not changed when its death is recorded.
        var beat: Int64
    }

    private var silences: [String: (beat: Int64, seconds: Double)] = [:]
    private var lastLook: Double?
    private var epoch: Int64 = 0

    /// Takes the beats of the others as the database shows them.
    /// - Parameters:
    ///   - beats: of the workers that are not on record as dead.
    ///   - epoch: of the database (`RecoveryBarrier`). In another one beats may have been
    ///     forgotten, and a worker that seems silent may have beaten: silences begin anew.
    ///   - seconds: the observer's own time.
    /// - Returns: those that are silent for too long, sorted.
    mutating func look(at beats: [String: Int64], epoch: Int64 = 0, _ seconds: Double) -> [Silence] {
        let step = lastLook.map { min(max(0, seconds - $0), Self.longestStepSeconds) } ?? 0
        lastLook = seconds
        if epoch != self.epoch { silences = [:] }
        self.epoch = epoch
        silences = beats.reduce(into: [:]) { next, entry in
            let (worker, beat) = entry
            let known = silences[worker].flatMap { $0.beat == beat ? $0.seconds + step : nil } ?? 0
            next[worker] = (beat, known)
        }
        return silences.filter { $0.value.seconds >= Self.silenceSeconds }
            .map { Silence(worker: $0.key, beat: $0.value.beat) }.sorted { $0.worker < $1.worker }
    }

    /// The database could not be queried: what passes until it can be does not count.
    mutating func disconnected() { lastLook = nil }
}
