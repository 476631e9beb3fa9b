@testable import Cluster

/// What really happened, whatever the database remembers.
struct Truth {
    var submitted: [Int8]
    var accepted: [Bool]
    /// The worker whose claim was forgotten, the server that forgot it, and whether that server has
    /// the lease.
    var forgotten: [(worker: Int, incarnation: Int, wasLeased: Bool)?]
    /// Pushed to again because no worker was left that knew.
    var isUnprevented: [Bool]
    /// The last worker that claimed a recipient, and the server on which it did.
    var claimant: [Int?], claimedOn: [Int]
    /// Whether the worker whose claim was forgotten was on record as dead, or not known, when
    /// another claimed the recipient.
    var followsDead: [Bool]
    /// Workers that were there while nothing can have been forgotten, and the servers that one of
    /// them has looked at and found complete.
    var survivors: Set<Int> = [], witnessed: Set<Int> = [0]
    /// Workers that joined before anything can have been forgotten: they are certainly survivors.
    var founders: Set<Int> = []
    var beatAt: [Int: Double] = [:]
    var window: [(at: Double, count: Int)] = []
    /// Entries that were committed and forgotten, of all writers.
    var forgottenEntries: Int64 = 0
    /// Workers that have to notice, each with the server that forgot what it had acknowledged.
    var mustNotice: [Int: Int] = [:]
    var noticedAt: Double?, stoppedAt: Double?, cancelledAt: Double?, overAt: Double?
    var endedCancelled = false, wasOverlooked = false
    var isCanaryOver = false
    var canaryHolders = 0, canarySubmissions = 0

    init(audience: Int) {
        submitted = Array(repeating: 0, count: audience)
        accepted = Array(repeating: false, count: audience)
        isUnprevented = accepted
        forgotten = Array(repeating: nil, count: audience)
        claimant = Array(repeating: nil, count: audience)
        claimedOn = Array(repeating: 0, count: audience)
        followsDead = accepted
    }
}

/// What a history can meet.
enum Situation: Int, CaseIterable {
    case deaths, burials, freezes, fences, losses, lateCommits, returns, outages, takeovers, lagging, departures,
        unsent, orders
    case rejoins, refusals, stops, unwitnessed, resumptions, cancelled, unprevented
}

/// How often things happened: a simulation in which nothing happens proves nothing.
struct Counts {
    private var numbers = Array(repeating: 0, count: Situation.allCases.count)

    subscript(situation: Situation) -> Int {
        get { numbers[situation.rawValue] }
        set { numbers[situation.rawValue] = newValue }
    }

    mutating func add(_ other: Counts) { for situation in Situation.allCases { self[situation] += other[situation] } }
}

/// What is judged while a history is played, and at its end.
extension WorkerWorld {
    mutating func noteBurial(_ worker: Int) {
        let name = workers[worker].name
        let since = truth.beatAt[worker] ?? 0
        let silent =
            now - since - outageTimes.reduce(0) { $0 + max(0, min(now, $1.upperBound) - max(since, $1.lowerBound)) }
        if silent < WorkerWatch.silenceSeconds - 3 {
            fail("\(name) was declared dead \(silent) s after it could be heard")
        }
        let last = now - workers[worker].lastSubmission
        if !workers[worker].isGone, last < SubmissionGate.settlingSeconds {
            fail("\(name) was declared dead \(last) s after it had handed something over")
        }
    }

    /// The constraint on overlapping claims is the last wall: nothing may need it.
    mutating func noteClaim(_ leasedRange: LeasedRange, of worker: Int, order: SharedTables.State) {
        for id in leasedRange.range {
            if tables.claimed[id] >= leasedRange.redo {
                fail("only the constraint keeps \(workers[worker].name) from claiming \(id)")
            }
            truth.claimant[id] = worker
            truth.claimedOn[id] = incarnation
            truth.followsDead[id] = truth.forgotten[id].map { !tables.isAlive($0.worker) } ?? false
        }
        if order != .sending { fail("\(workers[worker].name) claims although the run is \(order)") }
    }

    mutating func noteSubmission(_ ids: [Int], by worker: Int) {
        let name = workers[worker].name
        tell("\(name) submits \(ids)")
        if worker < tables.rows.count, tables.rows[worker].isDead { fail("\(name) submits after it was declared dead") }
        let moment = now
        truth.window.removeAll { moment - $0.at >= 1 }
        truth.window.append((now, ids.count))
        let sum = truth.window.reduce(0) { $0 + $1.count }
        if sum > pace { fail("\(sum) pushes within a second, at a pace of \(pace)") }
        for after in [truth.stoppedAt, truth.cancelledAt] {
            if let after, now > after + SubmissionGate.longestAgeSeconds {
                fail("\(name) submits \(now - after) s after the order")
            }
        }
        if !truth.isCanaryOver { noteCanary(ids.count, by: worker) }
        for id in ids {
            truth.submitted[id] += 1
            if truth.submitted[id] > 1 { noteSecond(id, by: worker) }
        }
    }

    private mutating func noteCanary(_ count: Int, by worker: Int) {
        truth.canarySubmissions += count
        if truth.canarySubmissions > Self.canarySize * truth.canaryHolders {
            fail("\(truth.canarySubmissions) pushes before the canary is over")
        }
        if incarnation == 0, tables.canary != worker { fail("\(workers[worker].name) sends beside the canary") }
    }

    /// A second push is only for what was leased and claimed in what was forgotten, by a worker
    /// that has not told since, and is on record as dead or not known at all (a standby that takes
    /// over after the claim may have forgotten that, too); only until others could notice; and only
    /// where a worker was left that could have.
    private mutating func noteSecond(_ id: Int, by worker: Int) {
        guard let forgotten = truth.forgotten[id], !forgotten.wasLeased,
            truth.followsDead[id] || !tables.isAlive(forgotten.worker),
            hasNotTold(forgotten.worker, forgotten.incarnation),
            workers[worker].answeredBeatStart <= truth.stoppedAt ?? now, truth.witnessed.contains(truth.claimedOn[id])
        else {
            return fail("\(id) was pushed to \(truth.submitted[id]) times")
        }
        counts[.unprevented] += 1
        truth.isUnprevented[id] = true
    }

    /// Whether a worker has not come back since, or has, and could not say so.
    func hasNotTold(_ worker: Int, _ incarnation: Int) -> Bool {
        let owner = workers[worker]
        return owner.lookedIncarnation < incarnation || owner.missing > 0
    }

    // MARK: - A database that forgets

    /// A standby takes over that has only this.
    mutating func noteForgotten(_ standby: SharedTables) {
        var forgotten = tables.version - standby.version
        for worker in tables.rows.indices {
            let kept = standby.entries(of: worker)
            forgotten += tables.entries(of: worker)?.missing(in: kept) ?? 0
            if !workers[worker].isGone, workers[worker].hasJoined, workers[worker].acknowledged.missing(in: kept) > 0 {
                truth.mustNotice[worker] = incarnation
            }
        }
        for id in 0..<audience where tables.claimed[id] > standby.claimed[id] {
            guard let claimant = truth.claimant[id] else { continue }
            if let former = truth.forgotten[id], !former.wasLeased, hasNotTold(former.worker, former.incarnation) {
                continue
            }
            let isKnown =
                claimant < standby.rows.count && standby.rows[claimant].open.contains { $0.range.contains(id) }
            truth.forgotten[id] = (claimant, incarnation, isKnown)
        }
        if forgotten > 0 { counts[.lagging] += 1 }
        truth.forgottenEntries += forgotten
        if standby.state != .cancelled { truth.cancelledAt = nil }
        // The note that no worker could say whether something is missing may also be forgotten.
        if standby.state != .stopped { truth.stoppedAt = nil }
    }

    /// A worker joins.
    mutating func noteJoin(_ worker: Int) {
        if truth.witnessed.contains(incarnation) { truth.survivors.insert(worker) }
    }

    /// The run stops because no survivor is left.
    mutating func noteUnwitnessed() {
        counts[.unwitnessed] += 1
        if let survivor = truth.founders.first(where: { tables.isAlive($0) }) {
            fail("the run stops without a witness, although \(workers[survivor].name) is there")
        }
    }

    /// A worker has compared.
    mutating func noteLook(_ worker: Int, missing: Int64, state: SharedTables.State) {
        if missing > truth.forgottenEntries {
            fail("\(workers[worker].name) misses \(missing) entries; \(truth.forgottenEntries) are forgotten")
        }
        if missing > 0 { truth.noticedAt = truth.noticedAt ?? now }
        if missing == 0, workers[worker].lookedIncarnation == incarnation {
            if truth.survivors.contains(worker) { truth.witnessed.insert(incarnation) } else { noteJoin(worker) }
        }
        if workers[worker].missing == 0, tables.missing == 0, state != .ended, state != .stopped,
            let since = truth.mustNotice[worker],
            since <= workers[worker].lookedIncarnation
        {
            truth.wasOverlooked = true
        }
    }

    // MARK: - The end

    mutating func noteEnd() {
        if !truth.endedCancelled, !tables.hasSettledAll {
            fail("the end is recorded while \(tables.settledCount) of \(audience) are settled")
        }
        if tables.ends > 1 { fail("the end is recorded \(tables.ends) times") }
    }

    mutating func judge() {
        guard failures.isEmpty else { return }
        guard let over = truth.overAt else {
            return fail(
                "not settled in the end: \(tables.state), \(tables.next) leased, \(tables.settledCount) of \(audience) settled"
            )
        }
        if over > lastTrouble + 300 { fail("ended \(over - lastTrouble) s after the last trouble") }
        if truth.wasOverlooked { fail("a member has compared, and did not miss what was forgotten") }
        if tables.state == .stopped {
            counts[.stops] += 1
            if !tables.isUnwitnessed, tables.missing < 1 || tables.missing > truth.forgottenEntries {
                fail("\(tables.missing) entries are said to be missing, of \(truth.forgottenEntries)")
            }
            return
        }
        if truth.endedCancelled { counts[.cancelled] += 1 }
        for id in 0..<audience { judge(id) }
        // A process that was neither killed nor interrupted has in the end all that the others did,
        // however long it stood still.
        guard !wasHostEnded, truth.forgottenEntries == 0 else { return }
        for id in 0..<audience where truth.accepted[id] && !file.mayBeSent[id] {
            fail("\(id) was accepted, and the run's file says that it was never sent to")
        }
    }

    private mutating func judge(_ id: Int) {
        let settled = tables.settled[id]
        if settled > 1 { fail("\(id) is settled \(settled) times") }
        if settled == 0, !truth.endedCancelled || (truth.submitted[id] > 0 && truth.forgotten[id] == nil) {
            fail("\(id) is not settled")
        }
        if tables.recordedAccepted[id], !truth.accepted[id] {
            fail("\(id) is recorded as accepted without having been")
        }
        if truth.accepted[id], !tables.recordedAccepted[id], !tables.unknown[id], truth.forgotten[id] == nil {
            fail("\(id) was accepted, and is neither recorded nor unknown")
        }
    }
}
