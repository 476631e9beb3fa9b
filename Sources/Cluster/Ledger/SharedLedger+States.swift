package import Base
import Postgres
package import Runs
import Synchronization

/// Which worker conducts a run, its epochs and states, and what holds its segments: rows of the
/// store that are changed in place.
extension SharedLedger {
    package func lockForSending(isSending: Bool = true) throws {
        let me = try join()
        try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                try passFence(me, connection)
                let row = try row(connection, locking: true)
                if let coordinator = row.coordinator, coordinator != me {
                    throw Diagnostic(
                        "another volley process has this run", file: place,
                        remedy: "`volley report \(plan.id)` shows its progress.",
                        [.watch(run: plan.id)])
                }
                guard row.coordinator == nil else { return }
                try connection.run(
                    "UPDATE volley_run SET conductor = $2, conducts_sending = $3 WHERE number = $1",
                    [.int(run), .int(me), .bool(isSending)], within: asking.answerSeconds)
            }
        }
    }

    /// Locks this worker's row for as long as the transaction lasts.
    /// - Throws: `SendingRevoked` if it was declared dead.
    func passFence(_ me: Int, _ connection: PostgresConnection) throws {
        if try holdFence(me, connection) { return }
        state.withLock { $0.isFenced = true }
        throw SendingRevoked(isCancelled: false)
    }

    package func unlock() { try? leave() }

    func note(_ epoch: NewEpoch, at now: Timestamp) throws -> SendingHistory.Beginning {
        let (reached, claimed) = (try reached(), try claims().made)
        return try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                let row = try row(connection, locking: true)
                let (noted, previous) = (row.noted?["life"]?.stringValue, row.noted?["previous"]?.stringValue)
                let isKnown = noted == nil || epoch.seen == noted || epoch.seen == previous
                guard isKnown, epoch.reached >= reached, epoch.claimed >= claimed else { return .isOutdated }
                let next = JSONValue.object(pairs: [("life", .string(epoch.epoch)), ("previous", .string(epoch.seen))])
                try connection.run(
                    "UPDATE volley_run SET noted = $2 WHERE number = $1", [.int(run), .text(next.text)],
                    within: asking.answerSeconds)
                return .noted
            }
        }
    }

    func begin(epoch: String, at now: Timestamp, from expected: Set<RunState>) throws {
        try lockForSending(isSending: true)
        let firing = firing.withLock { $0 }, known = knownOthers.withLock { $0 }
        try change(to: .running, cause: nil, at: now, from: expected, as: epoch) { connection in
            try connection.run(
                "UPDATE volley_run SET life = $2 WHERE number = $1", [.int(run), .text(epoch)],
                within: asking.answerSeconds)
            try connection.run(
                "UPDATE volley_leg SET cause = '' WHERE run = $1", [.int(run)], within: asking.answerSeconds)
            if let firing, let holder = try Store.claim(firing, by: nil, connection) { throw holder.isTaken }
            if let known { try Store.requireNoOther(thanKnown: known.epochs, of: plan, connection) }
        }
        state.withLock { $0.epoch = epoch }
        try write(.epochBegan(epoch, at: now, from: []), at: now)
    }

    /// Begins an epoch of the run, unless workers send it already, it has finished, or the store
    /// has forgotten something: then this process only takes part, or fetches.
    /// - Parameters:
    ///   - former: the epoch before, as the run's file has it; blank if it has none.
    ///   - isAfterAll: whether a person continues a run that is cancelled according to its file.
    ///   - waiting: called with the machines that are waited for then, at each look.
    package func takeUp(
        epoch: String, after former: String = "", isAfterAll: Bool = false, at now: Timestamp,
        waiting: ([String]) -> Void = { _ in }
    ) throws {
        defer { knownOthers.withLock { $0?.lock?.release() } }
        // A worker may still be recording the last answers, and a killed coordinator may not be
        // declared dead yet.
        if isAfterAll, try ask({ try self.row($0) }).state == .cancelled {
            try requireAbsence(for: "resumed", leavingSeconds: Self.leavingSeconds, silent: waiting)
        }
        try enter(after: former)
        let row = try ask { try self.row($0) }
        // This process is a worker by now.
        if row.state == .finished || row.state == .cancelled && !isAfterAll || row.forgetting != nil { return }
        if row.workers > 1, [.running, .paused].contains(row.state) {
            if row.state == .paused { try change(to: .running, cause: nil, at: now, from: [.paused]) }
            return
        }
        try begin(
            epoch: epoch, at: now,
            from: Set([.planned, .running, .paused, .stopped] + (isAfterAll ? [.cancelled] : [])))
        state.withLock { $0.news = nil }
    }

    /// Takes part in the epoch of the run that continues, as a new worker: after this process was
    /// declared dead.
    package func rejoin() throws {
        unlock()
        try enter()
    }

    /// Joins. From then on the run's file has a worker that a restored store may lack.
    private func enter(after former: String? = nil) throws {
        let me = try join(after: former)
        if hasRunFile { try replica.apply([], marks: [FetchMark(sender: me, writer: 0, number: 0)]) }
    }

    /// Has a time of a schedule begin in the transaction in which the run does.
    package func begins(_ time: SharedFiring?) { firing.withLock { $0 = time } }

    /// Has the run begin only if no other of its campaign has begun or continued since the gate
    /// looked. `takeUp` releases the right to begin.
    /// - Parameter known: those that had begun then; nil if it does not matter.
    package func begins(besides known: JudgedRuns?) { knownOthers.withLock { $0 = known } }

    func confirm(givenUp: Set<String>) throws -> Bool {
        try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                guard let epoch = try row(connection, locking: true).noted?["life"]?.stringValue else { return true }
                try connection.run(
                    "UPDATE volley_run SET noted = $2 WHERE number = $1",
                    [.int(run), .text(JSONValue.object(pairs: [("life", .string(epoch))]).text)],
                    within: asking.answerSeconds)
                return true
            }
        }
    }

    func setState(_ state: RunState, cause: StopCause?, at now: Timestamp, from expected: Set<RunState>?) throws {
        if state == .running { try lockForSending(isSending: true) }
        // An end that is recorded at the same moment as a cancellation must not take its place.
        let expected = expected ?? (state == .stopped || state == .finished ? [.running, .paused, state] : nil)
        try change(to: state, cause: cause, at: now, from: expected)
    }

    func give(_ order: RunOrder, at now: Timestamp) throws {
        guard try ask({ try row($0).workers > 0 }) else {
            throw Diagnostic(
                "no process is sending this run", file: place,
                remedy: "On the machine that has its file, `volley report \(plan.id)` shows its outcome.",
                [.readReport(run: plan.id)])
        }
        try change(to: order.state, cause: order == .cancel ? .cancelled : nil, at: now, from: order.expected)
    }

    /// Has the store take an order that the run's file records, whether or not workers are there at
    /// the moment: more may join.
    /// - Returns: the state that the run has in the store then: another one than was ordered if it
    ///   is not being sent.
    package func passOn(_ order: RunOrder) throws -> RunState {
        let now = Timestamp.now().adding(seconds: try store.clockOffsetSeconds())
        func state() throws -> RunState { try ask { try row($0) }.state }
        guard order.expected.contains(try state()) else { return try state() }
        do {
            try change(to: order.state, cause: order == .cancel ? .cancelled : nil, at: now, from: order.expected)
        } catch {
            // Another process may have passed it on at the same moment.
            guard try !order.expected.contains(state()) else { throw error }
        }
        return try state()
    }

    func finish(at now: Timestamp, unless objection: (RunFigures) -> StopCause?) throws -> StopCause? {
        try refresh()
        let cause = objection(try replica.figures(withGroups: hasRunFile))
        try change(to: cause == nil ? .finished : .stopped, cause: cause, at: now, from: [.running, .paused])
        return cause
    }

    /// Records a state. The row of the run is locked, so that of two orders at the same moment the
    /// second sees the first.
    /// - Parameters:
    ///   - next: the epoch that begins; nil if none does. Where it has begun, an earlier try
    ///     arrived without an answer.
    ///   - alongside: what else is changed in the same transaction.
    func change(
        to state: RunState, cause: StopCause?, at now: Timestamp, from expected: Set<RunState>?, as next: String? = nil,
        alongside: (PostgresConnection) throws -> Void = { _ in }
    ) throws {
        let (me, epoch) = self.state.withLock { ($0.sender, $0.epoch) }
        try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                // A worker that was declared dead has outdated information. A process that is no
                // worker may give orders.
                if let me { try passFence(me, connection) }
                let row = try row(connection, locking: true)
                if let next, row.epoch == next { return }
                if let epoch, epoch != row.epoch { throw takenOver }
                if state == .running, let stop = row.forgetting { throw forgot(stop) }
                if let expected, !expected.contains(row.state) {
                    let wanted = expected.map(\.rawValue).sorted().joined(separator: " or ")
                    throw Diagnostic(
                        "the run is now \(row.state.rawValue), no longer \(wanted)", file: place,
                        remedy: "Another volley has changed it. `volley report \(plan.id)` shows its progress.",
                        [.watch(run: plan.id)])
                }
                // What the store has forgotten stays known when a person cancels the run.
                let cause = state == .cancelled ? row.forgetting.map(StopCause.ledger) ?? cause : cause
                try connection.run(
                    """
                    UPDATE volley_run SET state = $2, cause = $3, changes = changes + 1,
                        started_at = CASE WHEN $4 THEN coalesce(started_at, $6) ELSE started_at END,
                        ended_at = CASE WHEN $5 THEN $6 WHEN $4 THEN NULL ELSE ended_at END,
                        capped = CASE WHEN $5 THEN capped END
                    WHERE number = $1
                    """,
                    [
                        .int(run), .text(state.rawValue), .text(StoredCause.text(cause)), .bool(state == .running),
                        .bool(state.hasEnded),
                        .int(Int(now.epochMilliseconds)),
                    ], within: asking.answerSeconds)
                try alongside(connection)
            }
        }
    }

    private func forgot(_ stop: LedgerStop) -> Diagnostic {
        let what = if case .forgotten = stop { "has forgotten" } else { "may have forgotten" }
        return Diagnostic(
            "the store \(what) what became of this run, so nobody goes on with it here", file: place,
            remedy: "On the machine that has its file, `volley report \(plan.id)` says what to do.",
            [.readReport(run: plan.id)])
    }

    private var takenOver: Diagnostic {
        Diagnostic(
            "another volley has taken over this run", file: place,
            remedy: "`volley report \(plan.id)` shows its progress.",
            [.watch(run: plan.id)])
    }

    // MARK: - Segments

    func segmentStates(_ connection: PostgresConnection) throws -> [Int: SegmentState] {
        var states: [Int: SegmentState] = [:]
        try connection.run(
            "SELECT first, held_until, cause FROM volley_leg WHERE run = $1", [.int(run)], within: asking.answerSeconds
        ) { cells in
            let state = SegmentState(heldUntil: try cells.optionalMoment(1), cause: StoredCause.read(cells.text(2)))
            if state != SegmentState() { states[cells.int(0)] = state }
        }
        return states
    }

    func setState(_ state: SegmentState, of segment: RunSegment) throws {
        guard plan.segments.contains(segment) else { throw broken("\(segment.ids) is no leg of it") }
        let (me, epoch) = self.state.withLock { ($0.sender, $0.epoch) }
        try ask { connection in
            try connection.transaction(within: asking.answerSeconds) {
                if let me {
                    try passFence(me, connection)
                    guard try row(connection, locking: true).epoch == epoch ?? "" else { return }
                }
                try connection.run(
                    "UPDATE volley_leg SET held_until = $3, cause = $4 WHERE run = $1 AND first = $2",
                    [
                        .int(run), .int(segment.ids.lowerBound),
                        .optional(state.heldUntil.map { Int($0.epochMilliseconds) }),
                        .text(StoredCause.text(state.cause)),
                    ], within: asking.answerSeconds)
            }
        }
    }

    // MARK: - Judging

    package func answers(ofService service: Int) throws -> ServiceAnswers {
        try refresh()
        var answers = try replica.answers(ofService: service)
        // Only the machine that has the run's file has those that it retries.
        if !hasRunFile { answers.ofRetried = TokenEvidence() }
        return answers
    }
}
