@testable import Cluster

/// A process of a `WorkerWorld`.
struct SimulatedWorker {
    let name: String
    /// The last number of each of its threads' connections: 0 works, 1 records, 2 beats, 3 runs
    /// errands; the statement it waits for.
    var waiting: [Int?] = [nil, nil, nil, nil]
    /// Killed, or at its end.
    var isGone = false
    var hasJoined = false
    /// Seconds; in the past for one that is not frozen.
    var frozenUntil = -1.0

    var watch = WorkerWatch()
    var gate = SubmissionGate()
    /// The part of the pace that is in force.
    var part = 0
    var memory = CommitMemory()
    var claims = JournalNumbers(), records = JournalNumbers()

    var leasedRange: LeasedRange?
    var claiming: LeasedRange?
    var toSubmit: [(id: Int, redo: Int)] = []
    var inFlight = 0
    var outcomes: [(id: Int, isAccepted: Bool)] = []
    var recording: WorkerWorld.Record?
    var recent: [(at: Double, count: Int)] = []
    var lastSubmission = -100.0

    var seen = WorkerWorld.Observation()
    /// The epoch of the database in which it found nothing missing.
    var comparedEpoch: Int64?
    /// It was there in an epoch of the database that a survivor has confirmed.
    var isSurvivor = false
    /// The last epoch of which it has seen an answer.
    var lookedIncarnation = 0
    var missing: Int64 = 0
    var isLeaving = false
    /// On record as dead, or not there at all.
    var isFenced = false
    var beats: Int64 = 0
    var lastBeat = -10.0, answeredBeatStart = -10.0
    var lastLook: Double?
    var workWaitsUntil = 0.0, errandWaitsUntil = 0.0

    init(name: String) { self.name = name }

    var acknowledged: CommitMemory.Row { .init(claims: claims.confirmed, outcomes: records.confirmed) }
    var mayWork: Bool { seen.state == .sending && missing == 0 && !isLeaving && !isFenced }
    /// Nothing of what it claimed is still to be submitted, under way or to be recorded.
    var isIdle: Bool {
        waiting[0] == nil && waiting[1] == nil && toSubmit.isEmpty && inFlight == 0 && outcomes.isEmpty
            && recording == nil
    }
}
